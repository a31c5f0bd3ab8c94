import { type CanonicalError, GatewayError, upstreamFailed } from '../canonical/error.ts'
import type { CanonicalEvent } from '../canonical/event.ts'
import type { Loss } from '../canonical/loss.ts'
import { ReasoningFilter } from '../canonical/shown-reasoning.ts'
import type { EventReader, Transducer } from '../canonical/transducer.ts'
import type { WireEvent } from '../canonical/wire.ts'
import { eventParser } from '../ingress/transport/sse.ts'
import type { Consumer, Exchange } from '../upstreams/channel/index.ts'
import type { Abortable } from './call.ts'
import { GONE } from './failures.ts'
import { publicEvent, timed, withHead } from './public-answer.ts'
import { reasoningShown } from './shown-reasoning.ts'
import { type Gate, NO_SOURCE } from './stream-head.ts'
import { StreamOutput } from './stream-output.ts'
import type { Collector } from './thoughts/collector.ts'
import type { Attempt, WholeAnswer } from './types.ts'

/** What a streamed answer passes on its way, and what it comes with. */
export interface StreamStages {
  /** The upstream's format to canonical. */
  readonly read: EventReader<WireEvent, CanonicalEvent>
  /** Undoes the renaming of the request's tools. */
  readonly restore: Transducer<CanonicalEvent, CanonicalEvent> | undefined
  /** Keeps the reasoning before calls for the next turn. */
  readonly thoughts: Collector | undefined
  readonly losses: readonly Loss[]
  readonly headers: WholeAnswer['headers']
  /** The upstream, where the events are still on their way. */
  readonly exchange: Exchange | undefined
  /** Held up instead of the exchange where another reader stands between. */
  readonly gate: Gate | undefined
}

/**
 * A streamed answer on its way from upstream to caller: bytes are parsed, read as canonical events, restored, made
 * public, and given to its output, which holds them until there is content.
 */
export class StreamPipeline implements Consumer, Abortable {
  /** What the upstream ended a begun answer with instead of its end. */
  failure: GatewayError | undefined
  private readonly attempt: Attempt
  private readonly stages: StreamStages
  private readonly output: StreamOutput
  private readonly parser = eventParser()
  /** Why the gateway itself ended the answer, which no upstream is to blame for. */
  private ownError: CanonicalError | undefined
  /** Leaves out the reasoning that the caller did not ask for; undefined where all of it is shown. */
  private readonly filter: ReasoningFilter | undefined
  /** Events pass as they came, until one has to be written anew. */
  private isRelayed: boolean

  constructor(attempt: Attempt, stages: StreamStages) {
    const { losses, headers, gate, exchange, restore } = stages
    this.attempt = attempt
    this.stages = stages
    this.output = new StreamOutput(attempt, {
      ...{ losses, headers, source: gate ?? exchange ?? NO_SOURCE },
      mayRelay: attempt.target.native && restore === undefined,
    })
    this.isRelayed = this.output.canRelay
    const shown = reasoningShown(attempt)
    this.filter = shown === 'all' ? undefined : new ReasoningFilter(shown)
  }

  /** Settles with the end of the answer; rejects with GatewayError where nothing was sent to the caller. */
  get done(): Promise<void> {
    return this.output.done
  }

  onData(bytes: Uint8Array): void {
    if (this.output.isOver) return
    this.guarded(() => {
      for (const event of this.parser.push(bytes)) this.pass(this.stages.read.push(event), event)
      if (this.parser.overflowed) this.endWith(OVERFLOW)
      this.output.letThroughInTime(bytes.length)
    })
  }

  onEnd(): void {
    if (this.output.isOver) return
    this.guarded(() => {
      for (const event of this.parser.end()) this.pass(this.stages.read.push(event), event)
      this.pass(this.stages.read.end())
      if (this.output.isOver) return
      if (this.output.hasBegun) this.output.finish()
      else this.endWith(EMPTY)
    })
  }

  /** The exchange broke. */
  onError(failure: GatewayError): void {
    if (!this.output.isOver) this.guarded(() => this.endWith(failure.error))
  }

  /** The caller left, or the gateway ends the answer, which is its last event then. */
  abort(why?: GatewayError): void {
    this.ownError = why?.error
    if (why === undefined) this.refuse(GONE)
    else this.onError(why)
    this.stages.exchange?.abort()
    this.stages.gate?.resume()
  }

  /** Ends the answer without another word: the caller left, or nothing was sent yet and another channel may answer. */
  refuse(failure: GatewayError): void {
    this.output.refuse(failure)
  }

  /** The events of an answer that came whole. */
  takeWhole(events: Iterable<CanonicalEvent>): void {
    this.guarded(() => {
      for (const event of events) this.pass([event])
      this.output.finish()
    })
  }

  /** The events of an answer that is still coming; they wait where the caller is behind. */
  async takeComing(events: AsyncIterable<CanonicalEvent>): Promise<void> {
    try {
      for await (const event of events) {
        this.guarded(() => this.pass([event]))
        if (this.output.isOver) return
        this.output.letThroughInTime()
        await this.stages.gate?.free
      }
    } catch (thrown) {
      if (thrown instanceof GatewayError) this.onError(thrown)
      else this.output.fault(thrown)
    }
  }

  /** @param wire the event of the upstream that this was read of; where events are relayed, it is sent instead of them. */
  private pass(events: readonly CanonicalEvent[], wire?: WireEvent): void {
    const { restore } = this.stages
    if (this.isRelayed && wire !== undefined) this.relay(events, wire)
    else if (restore === undefined) for (const event of events) this.passOne(event)
    else for (const event of events) for (const restored of restore.push(event)) this.passOne(restored)
  }

  private passOne(event: CanonicalEvent): void {
    if (this.output.isOver) return
    const seen = this.visible(event)
    const shown = this.filter === undefined ? seen : this.filter.pass(seen)
    if (shown !== undefined) this.output.write(shown)
  }

  /** Passes an event of an upstream of the caller's own format on as it came, unless what was read of it was changed. */
  private relay(events: readonly CanonicalEvent[], wire: WireEvent): void {
    if (this.output.isOver) return
    const seen = this.allVisible(events)
    this.isRelayed = this.stages.read.irregular !== true && !isChanged(seen, events)
    if (this.isRelayed) this.output.relay(seen, wire)
    else for (const event of seen) this.output.write(event)
  }

  /** The very same list where the caller may see all events as they are. */
  private allVisible(events: readonly CanonicalEvent[]): readonly CanonicalEvent[] {
    let seen: CanonicalEvent[] | undefined
    for (let at = 0; at < events.length; at++) {
      const event = this.visible(events[at]!)
      if (event !== events[at]) (seen ??= [...events])[at] = event
    }
    return seen ?? events
  }

  /** The event as the caller may see it; the log and the next turn get what they need of it. */
  private visible(raw: CanonicalEvent): CanonicalEvent {
    const { call, request, target, report, echo } = this.attempt
    const isOwn = raw.type === 'error' && raw.error === this.ownError
    if (raw.type === 'error' && !isOwn) this.failure = new GatewayError(raw.error)
    const event = isOwn ? raw : publicEvent(raw, target, request.model)
    report.saw(event)
    this.stages.thoughts?.saw(event)
    if (event.type === 'result-end') {
      const end = timed(event, call)
      return echo?.apply(end) ?? end
    }
    return event.type === 'result-start' ? withHead(event, this.attempt) : event
  }

  private endWith(error: CanonicalError): void {
    this.passOne({ type: 'error', error })
  }

  /** A bug in a reader or writer ends this answer, not the process. */
  private guarded(work: () => void): void {
    try {
      work()
    } catch (thrown) {
      this.output.fault(thrown)
    }
  }
}

/** Whether something was changed that a writer does not put into a relayed event: it does so with id, model and time. */
const isChanged = (seen: readonly CanonicalEvent[], events: readonly CanonicalEvent[]): boolean =>
  seen !== events && seen.some((event, at) => event !== events[at] && event.type !== 'result-start')

const OVERFLOW = upstreamFailed('The upstream sent an event larger than the gateway takes.')
const EMPTY = upstreamFailed('The upstream ended its answer before it began.')
