import type { Access, Caller } from '../accounts/index.ts'
import { type CanonicalError, type ErrorKind, GatewayFailure } from '../canonical/error.ts'
import { rowOf } from '../canonical/maps.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { CanonicalResult } from '../canonical/result.ts'
import { workOf } from '../canonical/work.ts'
import type { Config } from '../config/index.ts'
import type { FallbackModel, FallbackReason } from '../formats/model-facts.ts'
import { PRICE_UNKNOWN } from './priced.ts'

/** The model that another model answers for, and the reason. */
export interface FallbackOrigin {
  /** Public id of the model that the caller requested. */
  readonly from: string
  readonly reason: FallbackReason
}

/** Facts that decide whether a fallback model may be tried. */
export interface FallbackFacts {
  readonly caller: Caller
  /** Returns the size of a model's context window in tokens, or undefined if it is unknown. */
  contextOf(model: string): number | undefined
}

/** Reasons by kind of failure. All other failures are the caller's fault and would recur with every model. */
const REASONS_BY_KIND: { readonly [K in ErrorKind]?: FallbackReason } = {
  'rate-limited': 'rate-limit',
  'context-too-long': 'context',
  'too-large': 'context',
  'not-found': 'failure',
  overloaded: 'failure',
  'upstream-failed': 'failure',
  unreachable: 'failure',
  'timed-out': 'failure',
  'upstream-account': 'failure',
  'cannot-express': 'failure',
}

/** Reasons by error code, which is more precise than the kind. */
const REASONS_BY_CODE: { readonly [code: string]: FallbackReason } = {
  content_policy_violation: 'refusal',
  content_filter: 'refusal',
  moderation_blocked: 'refusal',
  data_inspection_failed: 'refusal',
  insufficient_quota: 'budget',
  [PRICE_UNKNOWN]: 'budget',
}

/** Returns the reason to try a fallback model after a failure, or undefined if no fallback may be tried. */
export const fallbackReason = ({ kind, code = '' }: CanonicalError): FallbackReason | undefined =>
  rowOf(REASONS_BY_CODE, code) ?? REASONS_BY_KIND[kind]

/** The fallback models of one request that have not been tried yet. */
export class FallbackModels {
  /** Model that the caller requested. */
  readonly requested: string
  /** Sends the stored refusal if no fallback answers. */
  sendRefusal: (() => Promise<void>) | undefined
  /** Failure of the requested model. */
  failure: unknown
  private readonly facts: FallbackFacts
  private readonly remaining: FallbackModel[]
  private current: string

  constructor(requested: string, models: readonly FallbackModel[], facts: FallbackFacts) {
    this.requested = requested
    this.current = requested
    this.facts = facts
    this.remaining = models.filter(({ model }) => model !== requested && facts.caller.permissions.allowsModel(model))
  }

  /** Removes and returns the first remaining model for this reason. Returns undefined if there is none. */
  next(reason: FallbackReason, { context }: Pick<CanonicalError, 'context'> = {}): string | undefined {
    const minContext = reason === 'context' ? (context?.tokens ?? context?.maximum ?? this.contextOfCurrent) : undefined
    const index = this.remaining.findIndex(({ on, model }) => on.has(reason) && this.isLarger(model, minContext))
    if (index < 0) return undefined
    const [next] = this.remaining.splice(index, 1)
    this.current = next!.model
    return this.current
  }

  /** Returns true if a model remains for this reason. */
  has(reason: FallbackReason): boolean {
    return this.remaining.some(({ on }) => on.has(reason))
  }

  /**
   * Stores a refusal, to be sent if no fallback answers. Returns false if the answer is not a refusal or no fallback
   * remains.
   */
  storeRefusal(result: CanonicalResult, send: () => Promise<void>): boolean {
    if (!this.has('refusal') || !isRefusal(result)) return false
    this.sendRefusal ??= send
    return true
  }

  /** Returns true if a request with this many tokens certainly exceeds the current model's known context window. */
  exceedsContext(tokens: number): boolean {
    return tokens > (this.contextOfCurrent ?? Number.POSITIVE_INFINITY) * CERTAINTY_FACTOR
  }

  private get contextOfCurrent(): number | undefined {
    return this.facts.contextOf(this.current)
  }

  /** Returns true if a model's context window is larger than `minContext` or unknown. */
  private isLarger(model: string, minContext: number | undefined): boolean {
    return minContext === undefined || (this.facts.contextOf(model) ?? Number.POSITIVE_INFINITY) > minContext
  }
}

/** Factor by which an estimate must exceed a context window, because estimates are inexact. */
const CERTAINTY_FACTOR = 1.25

/**
 * Returns the fallbacks of a request's model, or else of the caller's group, or undefined if neither has any. A group's
 * fallbacks make no vectors, because those of two models cannot be compared.
 */
export function configuredFallbacks(
  { config, access }: { readonly config: Config; readonly access: Pick<Access, 'fallbacksOf'> },
  request: CanonicalRequest,
  { group }: Caller,
): readonly FallbackModel[] | undefined {
  const ofModel = config.models.get(request.model)?.fallbacks
  if (ofModel !== undefined) return ofModel
  const ofGroup = access.fallbacksOf(group)
  return ofGroup !== undefined && workOf(request) === 'embedding' ? undefined : ofGroup
}

/** Returns true if the model or its filter refused in the answer. */
export const isRefusal = ({ candidates: [first] }: CanonicalResult): boolean => first?.finish?.reason === 'refused'

/** Creates the failure with which a refusal leads to a fallback model. It does not rest the channel. */
export const refusedByModel = (): GatewayFailure =>
  new GatewayFailure({
    kind: 'invalid-request',
    message: 'The model refused to answer.',
    code: 'content_policy_violation',
  })
