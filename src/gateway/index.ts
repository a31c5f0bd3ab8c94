import type { Caller, ExpectedTokens, MaybePromise } from '../accounts/index.ts'
import type { GatewayError } from '../canonical/error.ts'
import { loadOnce } from '../canonical/load-once.ts'
import { type CanonicalRequest, isTextOnly } from '../canonical/request.ts'
import { workOf } from '../canonical/work.ts'
import { readJson } from '../ingress/transport/body.ts'
import { FORM_LIMIT } from '../ingress/transport/form.ts'
import { UNAVAILABLE } from '../store/fault.ts'
import type { Target } from '../upstreams/router.ts'
import { coverRemix, expectedTokens, maxInputTokens, reservationOf, settle } from './admission.ts'
import type { PaidAnswer } from './answer-cost.ts'
import type { Call } from './call.ts'
import type { Capture } from './capture/capture.ts'
import type { RecordedCall } from './capture/key-recordings.ts'
import { emulate, emulationOf } from './emulations.ts'
import { Failover } from './failover.ts'
import { answerFailure, toFailure } from './failures.ts'
import { refusedByModel } from './fallback-models.ts'
import { Lookups } from './lookups.ts'
import { keepRefusal, ModelFallback } from './model-fallback.ts'
import { readWholeAnswer } from './paused-answer.ts'
import { writeRequest } from './prepare.ts'
import { isForm, onLossOf, RequestReader, readFormRequest } from './read-request.ts'
import { Report } from './report.ts'
import type { Weigh } from './request-memory.ts'
import { asModel, type Destinations, maySendEarly, routeIncoming } from './routing.ts'
import type { RunningCall } from './running.ts'
import { send } from './send.ts'
import type { Services } from './services.ts'
import { isStored, type ResponseSaver } from './stored/index.ts'
import { EarlyHead, mayBeginEarly, writeErrorStream } from './stream-head.ts'
import { streamEmptyResult, streamResult, streamWholeResult } from './stream-result.ts'
import { targetFailure } from './target-failure.ts'
import { submit } from './tasks/submit.ts'
import { NO_SIGNATURES, noteSignatures, preferSigner, signaturesIn } from './thoughts/own-signatures.ts'
import { mayHoldReasoning } from './thoughts/reasoning-memory.ts'
import { needsTokenTexts, withTokenTexts } from './token-inputs.ts'
import type { Attempt, Incoming } from './types.ts'
import { writeResult } from './write-result.ts'

export { MAX_MISSED_HEARTBEATS } from '../egress/transport/sse.ts'
export type { Log } from '../log.ts'
export { authenticate } from './admission.ts'
export type { Abortable, Call, HeaderSource, Reply } from './call.ts'
export type { CallerRequest, CallerRequests } from './caller-requests.ts'
export type { ErrorAnswer } from './failures.ts'
export { IMAGES_PATH } from './image-delivery.ts'
export type {
  OpenedVoiceSession as OpenedSession,
  Realtime,
  VoiceSession as LiveSession,
  VoiceSessionCall,
} from './realtime/realtime.ts'
export type { ActionName } from './stored/index.ts'
export type { TaskAction } from './tasks/index.ts'

/** Passes every request from its endpoint to an upstream, and the answer back to the caller. */
export class Gateway {
  readonly services: Services
  /** Answers requests that need no model. */
  readonly lookups: Lookups
  private readonly fallback: ModelFallback

  constructor(services: Services) {
    this.services = services
    this.lookups = new Lookups(services)
    this.fallback = new ModelFallback(services, incoming => this.reserve(incoming))
  }

  /** Realtime voice sessions, loaded on first use. Requests of a cascade are answered and recorded like any other. */
  readonly realtime = loadOnce(async () => {
    const { Realtime } = await import('./realtime/realtime.ts')
    return new Realtime(this.services, {
      reserve: incoming => this.reserve(incoming),
      answer: incoming => this.answer(incoming),
      finish: report => this.finishReport(report),
    })
  })

  /**
   * Handles one request from start to end: authorises it, enters the limits of its key, reads it, reserves tokens,
   * answers it and records it. Never rejects: every failure is reported in the caller's format.
   */
  async handle(call: Call): Promise<void> {
    const { services } = this
    const { running, live, captures, recordings, limits, errors } = services
    const entry: RunningCall = call
    const report = new Report(call)
    let capture: Capture | undefined
    let recording: RecordedCall | undefined
    running.add(entry)
    try {
      const callerLookup = services.callerOf(call, call.format)
      // Only the lookup of an unknown key returns a promise.
      const caller = callerLookup instanceof Promise ? await callerLookup : callerLookup
      entry.caller = caller
      if (caller.captureUntil !== undefined) capture = captures.begin(call, caller)
      if (caller.record !== undefined) recording = await recordings.begin(call, caller.record)
      this.begin(report, call, caller)
      report.reservation = reservationOf(limits, caller, call)
      const entering = report.reservation.enter(true, maxInputTokens(call.message))
      // Only limits that another process counts return a promise.
      if (entering !== undefined) await entering
      recording?.recordBytes()
      const incoming = await this.read(call, caller, report, capture)
      if (live.isWatched) live.requestBegan(call, caller, incoming.request, capture !== undefined)
      try {
        const admission = this.fallback.admit(incoming)
        const admitted = admission instanceof Promise ? await admission : admission
        const saver = incoming.request.state?.background === true ? incoming.responseChain?.saver : undefined
        await (saver === undefined ? this.answer(admitted) : this.startBackgroundAnswer(admitted, saver))
      } finally {
        incoming.drop?.()
      }
    } catch (thrown) {
      errors.write(call, await services.delayWrongKey(thrown, call.message), report)
    } finally {
      running.remove(call)
      this.finishReport(report)
      if (capture?.isBackground === false) captures.end(capture, report.failure)
      recording?.end()
    }
  }

  /** Records the caller in the report and starts a trace, if requests are traced. */
  private begin(report: Report, { path, format, message: { headers } }: Call, caller: Caller): void {
    const { tracer } = this.services.traces
    report.caller = caller
    if (tracer !== undefined) report.trace = tracer.begin({ path, format, headers })
  }

  /** Charges the limits and records the finished request. Releases its slot even if this throws. */
  private finishReport(report: Report): void {
    const { reservation } = report
    const { recorder } = this.services
    try {
      const outcome = report.outcome(recorder.pricesFor(report.caller))
      if (reservation !== undefined) settle(reservation, outcome)
      for (const answer of outcome.answers) this.chargeKey(answer)
      recorder.record(outcome)
    } finally {
      reservation?.leave()
      report.releaseMemory()
    }
  }

  /** Counts tokens against the limits of the key that answered, if it belongs to a pool. */
  private chargeKey({ target: { channel }, usage: { input = 0, output = 0 } = {} }: PaidAnswer): void {
    if (channel.pooled !== undefined) this.services.channels.get(channel).limits?.used(input + output)
  }

  /** Reads the body as a request of its format, and resolves the stored state that the request refers to. */
  private async read(call: Call, caller: Caller, report: Report, capture: Capture | undefined): Promise<Incoming> {
    const { config, ciphers, channels, bodiesInMemory, bodiesOnDisk, requestMemory, stored } = this.services
    const { limits } = config.server
    const limit = limits.byFormat.get(call.format)
    const onLoss = onLossOf(call.message, caller)
    const reader = new RequestReader(call, caller, ciphers, capture)
    const memory = () => bodiesInMemory.open(caller.id)
    if (isForm(call)) {
      const meters = { memory, disk: () => bodiesOnDisk.open(caller.id) }
      const form = await readFormRequest(call, {
        ...{ limit: limit ?? FORM_LIMIT, meters, reader },
        maySendEarly: request => maySendEarly(call, caller, request, { channels: channels.all, models: config.models }),
      })
      if (capture !== undefined) capture.request = form.request
      return { call, caller, report, onLoss, ...form, responseChain: undefined, submission: undefined, capture }
    }
    capture?.recordBytes()
    const weigh: Weigh = content => void (report.memory = requestMemory.open(caller.id, content, report.memory))
    const wire = reader.wire(call.body ?? (await readJson(call.message, limit ?? limits.body, memory, weigh)))
    const request = await reader.readWhole(wire)
    if (capture !== undefined) capture.request = request
    const responseChain = isStored(call.format)
      ? await stored.responseChain(call, caller.id, { wire, request, reader, weigh })
      : undefined
    return {
      ...{ call, caller, report, onLoss, request, responseChain, capture },
      ...{ trailing: undefined, drop: undefined, submission: undefined },
    }
  }

  /** Reserves the expected tokens and cost in the limits of the key, beyond the amount reserved on entry. */
  private reserve({ call, caller, report, request, responseChain }: Incoming): MaybePromise {
    report.recordRequest(request)
    const inputAtMost = responseChain === undefined ? maxInputTokens(call.message) : undefined
    report.expected = (): ExpectedTokens => expectedTokens(responseChain?.fullRequest ?? request)
    const { recorder, channels } = this.services
    return report.reservation!.reserve(report.expected, inputAtMost, tokens =>
      recorder.estimate(tokens, request, caller, channels.all),
    )
  }

  /** Answers a request. Writes a failure as a stream if clients of the caller's format expect that. */
  private async answer(incoming: Incoming): Promise<void> {
    const { heartbeat, earlyHead } = this.services.config.server
    const early = earlyHead && mayBeginEarly(incoming) ? new EarlyHead(heartbeat) : undefined
    try {
      if (workOf(incoming.request) === 'video') await this.submitTask(incoming)
      else await this.answerByModels(incoming, early)
    } catch (thrown) {
      const failure = toFailure(thrown)
      if (!incoming.call.reply.gone && early?.fail(failure.error) === true) incoming.report.recordOnlyError(failure)
      else if (!writeErrorStream(incoming, failure, heartbeat)) throw thrown
    } finally {
      early?.close()
    }
  }

  /** Has the requested model answer, or else its fallbacks, if there are any. */
  private answerByModels(incoming: Incoming, early: EarlyHead | undefined): Promise<void> {
    const fallbacks = this.fallback.of(incoming)
    return fallbacks === undefined
      ? this.tryTargets(incoming, early)
      : this.fallback.answer(incoming, fallbacks, next => this.tryTargets(next, early))
  }

  /**
   * Submits a video task, unless the same task already exists. A failed submission is reconciled, because the upstream
   * may still have accepted the task.
   */
  private async submitTask(incoming: Incoming): Promise<void> {
    const { tasks } = this.services
    const submission = await tasks.prepare(incoming)
    if (submission === undefined) return
    try {
      await coverRemix(incoming, submission, this.services)
      await this.tryTargets({ ...incoming, request: submission.request, submission }, undefined)
    } catch (thrown) {
      await tasks.reconcile(submission, incoming.call, thrown)
    } finally {
      tasks.end(submission)
    }
  }

  /** Routes a request and tries one target after another, until one answers or no other target may be tried. */
  private async tryTargets(incoming: Incoming, early: EarlyHead | undefined): Promise<void> {
    const { services } = this
    const { call, caller, responseChain } = incoming
    if (responseChain?.isUnstored === true && incoming.onLoss === 'refuse') throw UNAVAILABLE
    const { model } = incoming.request
    const fullRequest = asModel(responseChain?.fullRequest ?? incoming.request, model)
    const textOnly = isTextOnly(fullRequest)
    const reasoning = mayHoldReasoning(fullRequest, textOnly) ? services.reasoning.of(caller.id) : undefined
    if (reasoning?.isShared === true && !textOnly) await reasoning.fetch(fullRequest, call.format)
    const cipher = services.ciphers.of(caller.id)
    const { images, channels, media } = services
    const { heartbeat } = services.config.server
    const signers = services.signers.ifNeeded
    const signatures = signers === undefined || textOnly ? NO_SIGNATURES : signaturesIn(fullRequest)
    const signerLookup = signatures.length === 0 ? undefined : signers!.fetch(signatures)
    if (signerLookup !== undefined) await signerLookup
    const routedTargets = routeIncoming(incoming, this.destinations, reasoning)
    const targets = signatures.length === 0 ? routedTargets : preferSigner(routedTargets, signatures, signers!)
    const failover = new Failover(incoming, targets, services.running, services.log)
    for (let target = failover.next(); target !== undefined; target = failover.next()) {
      const asked = asModel(responseChain?.targetRequest(target) ?? incoming.request, model)
      const targetRequest = needsTokenTexts(asked, target) ? await withTokenTexts(asked) : asked
      const hasFullHistory = targetRequest.messages === fullRequest.messages
      const concern = (hasFullHistory ? textOnly : isTextOnly(targetRequest))
        ? undefined
        : media.concerns(targetRequest, target)
      const request =
        concern === undefined ? targetRequest : await this.withMedia(targetRequest, concern, target, incoming, failover)
      if (request === undefined) continue
      const channel = channels.get(target.channel)
      const attempt: Attempt = {
        incoming,
        request,
        target,
        channel,
        ...{ heartbeat, early },
        stored: responseChain?.stored(target),
        echo: responseChain?.echo(target),
        images,
        cipher,
        reasoning,
        signers,
        mayBeSigned: signatures.length > 0 || !hasFullHistory,
      }
      try {
        await this.respond(attempt)
        return failover.rememberFallback(attempt)
      } catch (thrown) {
        early?.withdraw()
        incoming.capture?.recordFailure(attempt, toFailure(thrown).error)
        failover.recordFailure(thrown, attempt)
      }
    }
    throw failover.failure
  }

  /** The router's choices: channels, models and prices. */
  private get destinations(): Destinations {
    const { channels, config, catalogue } = this.services
    const { models, server } = config
    return { channels: channels.all, models, catalogue, prices: catalogue, sessionHeaders: server.sessionHeaders }
  }

  /** Prepares the request's media for a target. Returns undefined if the media cannot be prepared. */
  private async withMedia(
    request: CanonicalRequest,
    concern: 'change' | 'check',
    target: Target,
    { call, caller }: Incoming,
    failover: Failover,
  ): Promise<CanonicalRequest | undefined> {
    const { media, bodiesInMemory } = this.services
    if (concern === 'change' && failover.hasUnfetchedMedia) return undefined
    try {
      return await media.prepared(request, target, { reply: call.reply, meter: () => bodiesInMemory.open(caller.id) })
    } catch (thrown) {
      failover.recordMediaFailure(thrown, concern === 'change')
      return undefined
    }
  }

  /**
   * Has one target answer: writes and sends the request, and passes the answer on, streamed or whole.
   *
   * @throws GatewayError. Another target may be tried as long as nothing has been sent to the caller.
   */
  private async respond(attempt: Attempt): Promise<void> {
    const { incoming, target, request, early, reasoning } = attempt
    const { call, submission } = incoming
    if (call.silent === true) return streamEmptyResult(attempt)
    if (submission !== undefined) return submit(attempt, submission)
    const emulation = workOf(request) === 'conversation' ? undefined : emulationOf(target, request)
    if (emulation !== undefined) {
      const wholeAnswer = await emulate(emulation, attempt)
      return request.stream ? streamWholeResult(attempt, wholeAnswer) : writeResult(attempt, wholeAnswer)
    }
    const prepared = writeRequest(attempt)
    early?.announce(attempt, prepared.losses)
    const accepted = await send(attempt, prepared)
    try {
      if (accepted.attempt.request.stream) {
        const streamFailure = await streamResult(accepted)
        if (streamFailure !== undefined) return this.noteBrokenStream(streamFailure, attempt)
      } else {
        const answer = await readWholeAnswer(accepted)
        reasoning?.save(answer.result, accepted)
        noteSignatures(answer.result, attempt.target, attempt.signers)
        if (keepRefusal(accepted.attempt, answer.result, () => writeResult(accepted.attempt, answer))) {
          accepted.recordSuccess()
          throw refusedByModel()
        }
        await writeResult(accepted.attempt, answer)
      }
      accepted.recordSuccess()
    } catch (thrown) {
      throw answerFailure(thrown)
    } finally {
      accepted.close()
    }
  }

  /**
   * Counts and logs the failure of an upstream that broke off in the middle of an answer. The caller already has the
   * error, and no other target can be tried.
   */
  private noteBrokenStream(failure: GatewayError, { target, channel, request, incoming }: Attempt): void {
    const context = { target, channel, model: request.model, id: incoming.call.id, report: incoming.report }
    targetFailure(failure, { ...context, log: this.services.log })
  }

  /** Answers immediately that the work has started. The work continues in the background even if the caller leaves. */
  private async startBackgroundAnswer(incoming: Incoming, saver: ResponseSaver): Promise<void> {
    const { call, caller, request, capture } = incoming
    const { stored, reasoning, config } = this.services
    routeIncoming(incoming, this.destinations, reasoning.of(caller.id))
    const work = await stored.begin(request, saver)
    if (capture !== undefined) capture.isBackground = true
    stored.background.follow(work, this.answerInBackground({ ...incoming, call: { ...call, reply: work.reply } }))
    // The reservation and the memory now belong to the background work.
    incoming.report.reservation = undefined
    incoming.report.memory = undefined
    await work.announce(request, call.reply, config.server.heartbeat)
  }

  /** Writes the answer to the record of a background response, and logs it in a separate line. Never rejects. */
  private async answerInBackground(incoming: Incoming): Promise<void> {
    const { call, caller, request } = incoming
    const { errors, captures } = this.services
    const report = new Report(call)
    this.begin(report, call, caller)
    report.reservation = incoming.report.reservation
    report.memory = incoming.report.memory
    report.expected = incoming.report.expected
    report.recordRequest(request)
    try {
      await this.answer({ ...incoming, report }).catch(thrown => errors.write(call, thrown, report))
    } finally {
      this.finishReport(report)
      if (incoming.capture !== undefined) captures.end(incoming.capture, report.failure)
    }
  }
}
