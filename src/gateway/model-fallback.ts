import type { MaybePromise } from '../accounts/index.ts'
import type { CanonicalError } from '../canonical/error.ts'
import type { CanonicalResult } from '../canonical/result.ts'
import type { FallbackReason } from '../formats/model-facts.ts'
import { deploymentsOf } from '../upstreams/router.ts'
import { expectedTokens } from './admission.ts'
import { toFailure } from './failures.ts'
import { configuredFallbacks, FallbackModels, fallbackReason } from './fallback-models.ts'
import { cannotBeResent } from './read-request.ts'
import { asModel } from './routing.ts'
import type { Services } from './services.ts'
import type { Attempt, Incoming } from './types.ts'

type RequiredServices = Pick<Services, 'access' | 'config' | 'catalogue' | 'channels' | 'running' | 'recorder'>

/**
 * Falls back to other models if no channel of the requested model answers, as long as nothing has been sent to the
 * caller. If neither the model nor the group has fallbacks, this costs two lookups per request.
 */
export class ModelFallback {
  private readonly services: RequiredServices
  private readonly reserve: Reserve

  constructor(services: RequiredServices, reserve: Reserve) {
    this.services = services
    this.reserve = reserve
  }

  /**
   * Reserves the request against its key's limits. If the requested model is over budget, tries the budget fallbacks.
   */
  admit(incoming: Incoming): Incoming | Promise<Incoming> {
    try {
      const reservation = this.reserve(incoming)
      return reservation === undefined ? incoming : this.awaitReservation(reservation, incoming)
    } catch (thrown) {
      return this.admitFallback(incoming, thrown)
    }
  }

  private async awaitReservation(reservation: Promise<void>, incoming: Incoming): Promise<Incoming> {
    try {
      await reservation
      return incoming
    } catch (thrown) {
      return this.admitFallback(incoming, thrown)
    }
  }

  private admitFallback(incoming: Incoming, refusal: unknown): Incoming | Promise<Incoming> {
    const isBudget = fallbackReason(toFailure(refusal).error) === 'budget'
    const fallbacks = isBudget ? this.of(incoming) : undefined
    const model = fallbacks?.next('budget')
    if (fallbacks === undefined || model === undefined) throw refusal
    return this.admit(forFallback({ ...incoming, fallbacks }, model, 'budget'))
  }

  /** Tries the requested model, or a larger one for a request that is too long for it, then the fallbacks in turn. */
  async answer(
    incoming: Incoming,
    fallbacks: FallbackModels,
    tryTargets: (incoming: Incoming) => Promise<void>,
  ): Promise<void> {
    const original: Incoming = { ...incoming, fallbacks }
    const isTooLong = fallbacks.has('context') && fallbacks.exceedsContext(expectedTokens(incoming.request).input)
    const larger = isTooLong ? await this.next(original, fallbacks, TOO_LONG) : undefined
    await this.tryModels(larger ?? original, fallbacks, tryTargets)
  }

  private async tryModels(
    original: Incoming,
    fallbacks: FallbackModels,
    tryTargets: (incoming: Incoming) => Promise<void>,
  ): Promise<void> {
    let incoming: Incoming | undefined = original
    while (incoming !== undefined) {
      try {
        return await tryTargets(incoming)
      } catch (thrown) {
        fallbacks.failure ??= thrown
        incoming = this.mayFallBack(original)
          ? await this.next(incoming, fallbacks, toFailure(thrown).error)
          : undefined
      }
    }
    if (fallbacks.sendRefusal === undefined || !this.mayFallBack(original)) throw fallbacks.failure
    await fallbacks.sendRefusal()
  }

  /** Returns true if nothing has been sent to the caller yet and the request can be sent again. */
  private mayFallBack(incoming: Incoming): boolean {
    const { started, gone } = incoming.call.reply
    return !started && !gone && !cannotBeResent(incoming) && this.services.running.endOf(incoming.call) === undefined
  }

  /** Returns the request for the next fallback that the caller's budget covers, or undefined if there is none. */
  private async next(
    incoming: Incoming,
    fallbacks: FallbackModels,
    error: CanonicalError,
  ): Promise<Incoming | undefined> {
    const reason = fallbackReason(error)
    const { caller, report } = incoming
    const { recorder, channels } = this.services
    while (reason !== undefined) {
      const model = fallbacks.next(reason, error)
      if (model === undefined) return undefined
      try {
        await report.reservation?.cover(tokens =>
          recorder.estimate(tokens, incoming.request, caller, channels.all, model),
        )
        return forFallback(incoming, model, reason)
      } catch (thrown) {
        if (fallbackReason(toFailure(thrown).error) !== 'budget') throw thrown
      }
    }
    return undefined
  }

  /** Returns a request's fallback models that have not been tried yet, or undefined if it has no fallbacks. */
  of({ fallbacks, request, caller }: Incoming): FallbackModels | undefined {
    if (fallbacks !== undefined) return fallbacks
    const configured = configuredFallbacks(this.services, request, caller)
    return configured && new FallbackModels(request.model, configured, { caller, contextOf: this.contextOf })
  }

  private readonly contextOf = (model: string): number | undefined => {
    const { catalogue, channels } = this.services
    const [original] = deploymentsOf(model, channels.all)
    const account = original && { provider: original.channel.provider, upstreamModel: original.upstreamModel }
    return catalogue.about(model, account).context
  }
}

/** Error of a request that is certainly too long for its model. */
const TOO_LONG: CanonicalError = { kind: 'context-too-long', message: 'The request is too long for the model.' }

/** Reserves a request against its key's limits. */
type Reserve = (incoming: Incoming) => MaybePromise

/** Returns the request addressed to a fallback model. */
function forFallback(incoming: Incoming, model: string, reason: FallbackReason): Incoming {
  const { request, report, fallbacks } = incoming
  report.recordFallback(model, { from: fallbacks?.requested ?? request.model, reason })
  return { ...incoming, request: asModel(request, model) }
}

/**
 * Stores an answer in which the model refused. `send` sends it if no fallback answers. Returns false if the answer is
 * not a refusal or no fallback remains.
 */
export function keepRefusal(attempt: Attempt, result: CanonicalResult, send: () => Promise<void>): boolean {
  const { incoming, target, request } = attempt
  const { report, fallbacks } = incoming
  if (fallbacks === undefined) return false
  return fallbacks.storeRefusal(result, () => {
    report.startAttempt(target)
    report.forgetUnsent()
    report.model = request.model
    report.fallback = undefined
    return send()
  })
}
