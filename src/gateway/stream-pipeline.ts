import { type CanonicalError, GatewayError, upstreamFailed } from '../canonical/error.ts'
import type { CanonicalEvent } from '../canonical/event.ts'
import type { Loss } from '../canonical/loss.ts'
import type { CanonicalResult } from '../canonical/result.ts'
import { ReasoningFilter } from '../canonical/shown-reasoning.ts'
import type { EventReader, Transducer } from '../canonical/transducer.ts'
import type { WireEvent } from '../canonical/wire.ts'
import { type EventParser, eventParser } from '../ingress/transport/event-parser.ts'
import type { Consumer, Exchange } from '../upstreams/channel/index.ts'
import type { Abortable } from './call.ts'
import { CALLER_GONE, toFailure } from './failures.ts'
import { refusedByModel } from './fallback-models.ts'
import { type HeldEvents, HeldRefusal } from './held-refusal.ts'
import type { PausedStream } from './paused-stream.ts'
import { publicEvent, withCompletionTime, withHead } from './public-answer.ts'
import { reasoningShown } from './shown-reasoning.ts'
import { type Gate, NO_SOURCE } from './stream-head.ts'
import { StreamOutput } from './stream-output.ts'
import type { EventWatcher } from './thoughts/own-signatures.ts'
import type { Attempt, WholeAnswer } from './types.ts'

/** Steps of a streamed answer, and the data for its head. */
export interface StreamStages {
  /** Reads the upstream's events as canonical events. */
  readonly read: EventReader<WireEvent, CanonicalEvent>
  /** Undoes the renaming of the request's tools. */
  readonly restore: Transducer<CanonicalEvent, CanonicalEvent> | undefined
  /** Collects the reasoning before tool calls for the next turn. */
  readonly reasoning: EventWatcher | undefined
  readonly losses: readonly Loss[]
  readonly headers: WholeAnswer['headers']
  /** Exchange with the upstream, if its events are still arriving. */
  readonly exchange: Pick<Exchange, 'abort' | 'pause' | 'resume'> | undefined
  /** Reader and exchange in one, if the model may pause: `read` and `exchange` are then this object. */
  readonly pauses?: PausedStream | undefined
  /** Gate that is paused instead of the exchange if another reader pulls the events. */
  readonly gate: Gate | undefined
  /**
   * Called with an answer in which the model refused before any content, and with the function that sends it. Returns
   * whether a fallback model may answer instead. Returns undefined if there is no fallback for refusals.
   */
  readonly refused?: ((result: CanonicalResult, send: () => Promise<void>) => boolean) | undefined
  /** Parser for the upstream's bytes. Default: the parser for server-sent events. */
  readonly parser?: EventParser
}

/**
 * Passes a streamed answer from the upstream to the caller: parses bytes, reads canonical events, restores names,
 * removes everything that reveals the upstream, and writes to the output, which buffers until there is content.
 */
export class StreamPipeline implements Consumer, Abortable {
  /** Error with which the upstream broke off the answer after it had started. */
  failure: GatewayError | undefined
  private readonly attempt: Attempt
  private readonly stages: StreamStages
  private readonly output: StreamOutput
  private parser: EventParser
  /** Error with which the gateway itself ended the answer. Not a failure of the upstream. */
  private gatewayError: CanonicalError | undefined
  /** Removes reasoning that the caller did not request, or undefined if all of it is shown. */
  private readonly filter: ReasoningFilter | undefined
  /** True if events are passed on unchanged, until one must be rewritten. */
  private isRelayed: boolean
  /** Holds events until the first content arrives. Undefined once they are sent, or if refusals have no fallback. */
  private hold: HeldRefusal | undefined
  private holdTimer: NodeJS.Timeout | undefined

  constructor(attempt: Attempt, stages: StreamStages) {
    const { losses, headers, gate, exchange, restore } = stages
    this.attempt = attempt
    this.stages = stages
    this.parser = stages.parser ?? eventParser()
    this.output = new StreamOutput(attempt, {
      ...{ losses, headers, source: gate ?? exchange ?? NO_SOURCE },
      mayRelay: attempt.target.native && restore === undefined,
    })
    this.isRelayed = this.output.canRelay
    const shownReasoning = reasoningShown(attempt)
    this.filter = shownReasoning === 'all' ? undefined : new ReasoningFilter(shownReasoning)
    if (stages.refused === undefined) return
    this.hold = new HeldRefusal(shownReasoning === 'all')
    this.holdTimer = setTimeout(() => this.runGuarded(() => this.release()), attempt.heartbeat).unref()
  }

  /** Resolves at the end of the answer. Rejects with GatewayError if it fails before anything is sent. */
  get done(): Promise<void> {
    return this.output.done
  }

  onData(bytes: Uint8Array): void {
    if (this.output.isOver) return
    this.runGuarded(() => {
      for (const event of this.parser.push(bytes)) this.pass(this.stages.read.push(event), event)
      if (this.parser.overflowed) this.endWith(EVENT_TOO_LARGE)
      if (this.hold !== undefined) this.countHeld(bytes.length)
      this.output.flushInTime(bytes.length)
    })
  }

  onEnd(): void {
    if (this.output.isOver) return
    this.runGuarded(() => {
      for (const event of this.parser.end()) this.pass(this.stages.read.push(event), event)
      this.pass(this.stages.read.end())
      this.release()
      if (this.output.isOver || this.goesOn()) return
      if (this.output.hasBegun) this.output.finish()
      else this.endWith(NO_CONTENT)
    })
  }

  /** Reads on if the model paused. Returns false if the answer is complete. */
  private goesOn(): boolean {
    const next = this.stages.pauses?.next()
    if (next === undefined) return false
    next.then(
      ({ answer, parser }) => {
        this.parser = parser
        answer.pipeTo(this)
      },
      thrown => this.onError(toFailure(thrown)),
    )
    return true
  }

  /** Called when the exchange breaks off. */
  onError(failure: GatewayError): void {
    if (!this.output.isOver) this.runGuarded(() => this.endWith(failure.error))
  }

  /** Stops the answer: silently if the caller left, or with the gateway's error `why` as its last event. */
  abort(why?: GatewayError): void {
    this.gatewayError = why?.error
    if (why === undefined) this.refuse(CALLER_GONE)
    else this.onError(why)
    this.stages.exchange?.abort()
    this.stages.gate?.resume()
  }

  /**
   * Ends the answer without an error event, because the caller left, or because nothing has been sent yet and another
   * channel may answer.
   */
  refuse(failure: GatewayError): void {
    clearTimeout(this.holdTimer)
    this.output.refuse(failure)
  }

  /** Passes on the events of a complete answer. */
  passResult(events: Iterable<CanonicalEvent>): void {
    this.runGuarded(() => {
      for (const event of events) this.pass([event])
      this.output.finish()
    })
  }

  /** Passes on events as they arrive. Stops pulling while the caller reads nothing. */
  async passStream(events: AsyncIterable<CanonicalEvent>): Promise<void> {
    try {
      for await (const event of events) {
        this.runGuarded(() => this.pass([event]))
        if (this.output.isOver) return
        this.output.flushInTime()
        await this.stages.gate?.opening
      }
    } catch (thrown) {
      if (thrown instanceof GatewayError) this.onError(thrown)
      else this.output.handleFault(thrown)
    }
  }

  private pass(events: readonly CanonicalEvent[], wire?: WireEvent): void {
    const { hold } = this
    if (hold === undefined) return this.forward(events, wire)
    hold.push(events, wire)
    if (hold.decision !== undefined) this.release()
  }

  /** Ends the hold: forwards the held events, unless the answer is a refusal and a fallback may answer. */
  private release(): void {
    const { hold, attempt, stages } = this
    if (hold === undefined) return
    clearTimeout(this.holdTimer)
    this.hold = undefined
    const { heldEvents: held, decision, refusal } = hold
    if (
      refusal !== undefined &&
      !attempt.incoming.call.reply.started &&
      stages.refused!(refusal, () => this.resend(held))
    )
      return this.refuse(refusedByModel())
    for (const { events, wire } of held) {
      if (decision !== 'failed') this.forward(events, wire)
      else for (const event of events) if (event.type === 'error') this.forward([event])
    }
  }

  private countHeld(bytes: number): void {
    this.hold!.countBytes(bytes)
    if (this.hold!.decision !== undefined) this.release()
  }

  /** Sends the events of a held refusal, because no fallback model answered. */
  private async resend(held: readonly HeldEvents[]): Promise<void> {
    const { attempt, stages } = this
    const pipeline = new StreamPipeline(attempt, {
      ...stages,
      refused: undefined,
      exchange: undefined,
      gate: undefined,
    })
    attempt.incoming.call.reply.abortable = pipeline
    pipeline.runGuarded(() => {
      for (const { events, wire } of held) pipeline.forward(events, wire)
      pipeline.output.finish()
    })
    await pipeline.done
  }

  /**
   * @param wire the upstream's event that `events` were read from. It is sent instead of them if events are passed on
   * unchanged.
   */
  private forward(events: readonly CanonicalEvent[], wire?: WireEvent): void {
    const { restore } = this.stages
    if (this.isRelayed && wire !== undefined) this.relay(events, wire)
    else if (restore === undefined) for (const event of events) this.passOne(event)
    else for (const event of events) for (const restored of restore.push(event)) this.passOne(restored)
  }

  private passOne(event: CanonicalEvent): void {
    if (this.output.isOver) return
    const visible = this.visible(event)
    const shown = this.filter === undefined ? visible : this.filter.pass(visible)
    if (shown !== undefined) this.output.write(shown)
  }

  /**
   * Passes an upstream's event of the caller's own format on unchanged, unless one of its canonical events was changed.
   */
  private relay(events: readonly CanonicalEvent[], wire: WireEvent): void {
    if (this.output.isOver) return
    const visible = this.allVisible(events)
    this.isRelayed = this.stages.read.irregular !== true && !isChanged(visible, events)
    if (this.isRelayed) this.output.relay(visible, wire)
    else for (const event of visible) this.output.write(event)
  }

  /** Returns the events as the caller may see them. The same list if none was changed. */
  private allVisible(events: readonly CanonicalEvent[]): readonly CanonicalEvent[] {
    let visible: CanonicalEvent[] | undefined
    for (let at = 0; at < events.length; at++) {
      const event = this.visible(events[at]!)
      if (event !== events[at]) (visible ??= [...events])[at] = event
    }
    return visible ?? events
  }

  /** Returns an event as the caller may see it. Also feeds the report and the reasoning for the next turn. */
  private visible(raw: CanonicalEvent): CanonicalEvent {
    const { incoming, request, target, echo } = this.attempt
    const isGatewayError = raw.type === 'error' && raw.error === this.gatewayError
    if (raw.type === 'error' && !isGatewayError) this.failure = new GatewayError(raw.error)
    const event = isGatewayError ? raw : publicEvent(raw, target, request.model)
    if (raw.type === 'result-start') incoming.report.recordAnsweredModel(raw.model)
    incoming.report.observe(event)
    this.stages.reasoning?.observe(event)
    if (event.type === 'usage' && this.stages.pauses !== undefined)
      return { ...event, usage: this.stages.pauses.total(event.usage) }
    if (event.type === 'result-end') {
      const end = withCompletionTime(event, incoming.call)
      return echo?.apply(end, true) ?? end
    }
    return event.type === 'result-start' ? withHead(event, this.attempt) : event
  }

  private endWith(error: CanonicalError): void {
    this.passOne({ type: 'error', error })
  }

  /** Ensures that a bug in a reader or writer ends only this answer. */
  private runGuarded(work: () => void): void {
    try {
      work()
    } catch (thrown) {
      this.output.handleFault(thrown)
    }
  }
}

/**
 * Returns true if an event was changed so that it must be rewritten. A changed `result-start` need not be, because the
 * writer itself puts id, model and time into an event that is passed on.
 */
const isChanged = (visible: readonly CanonicalEvent[], events: readonly CanonicalEvent[]): boolean =>
  visible !== events && visible.some((event, at) => event !== events[at] && event.type !== 'result-start')

const EVENT_TOO_LARGE = upstreamFailed('The upstream sent an event larger than the gateway accepts.')
const NO_CONTENT = upstreamFailed('The upstream ended its answer without any content.', 'cut')
