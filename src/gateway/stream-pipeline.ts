import { type CanonicalError, GatewayError } from '../canonical/error.ts'
import type { CanonicalEvent, ResultStart } from '../canonical/event.ts'
import type { Loss } from '../canonical/loss.ts'
import type { EventReader, Transducer } from '../canonical/transducer.ts'
import type { WireEvent } from '../canonical/wire.ts'
import type { Exchange, Taker } from '../channel/index.ts'
import type { EventWriter, OwnEventWriter } from '../egress/writer.ts'
import { eventParser } from '../ingress/transport/sse.ts'
import type { Sink } from '../stored/index.ts'
import type { Worker } from './call.ts'
import { eventWriter, ownEventWriter } from './event-writer.ts'
import { answerFailure, GONE } from './failures.ts'
import { publicEvent, timed, withHead } from './public-answer.ts'
import { beginStream, type Gate, NO_SOURCE } from './stream-head.ts'
import type { Collector } from './thoughts/collector.ts'
import type { Attempt, WholeAnswer } from './types.ts'

/** What a streamed answer is made of. */
export interface StreamParts {
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
 * public, written in the caller's format and sent. Until its first content it is held back, so that a failure can still
 * be answered by another channel; after it, a failure is an event of the caller's format.
 */
export class StreamPipeline implements Taker, Worker {
  /** Settles with the end of the answer; rejects with GatewayError where nothing was sent to the caller. */
  readonly done: Promise<void>
  private resolve!: (settled?: Promise<void>) => void
  private reject!: (failure: GatewayError) => void
  private readonly attempt: Attempt
  private readonly parts: StreamParts
  private readonly write: EventWriter
  /** The same, where events may pass as they came. */
  private readonly relays: OwnEventWriter | undefined
  private readonly parser = eventParser()
  private readonly began = performance.now()
  private timer: NodeJS.Timeout | undefined
  /** Why the gateway itself ended the answer, which no upstream is to blame for. */
  private own: CanonicalError | undefined
  /** What the upstream ended a begun answer with instead of its end. */
  failure: GatewayError | undefined
  private held: Held[] = []
  /** UTF-16 units of text held back. */
  private heldText = 0
  private stream: Sink | undefined
  /** The answer's beginning, once something of it was sent. */
  private head: ResultStart | undefined
  private over = false
  /** Events pass as they came, until one has to be written anew. */
  private isRelayed: boolean

  constructor(attempt: Attempt, parts: StreamParts) {
    this.attempt = attempt
    this.parts = parts
    this.relays = attempt.candidate.native && parts.restore === undefined ? ownEventWriter(attempt) : undefined
    this.write = this.relays ?? eventWriter(attempt)
    this.isRelayed = this.relays !== undefined
    this.done = new Promise((resolve, reject) => {
      this.resolve = resolve
      this.reject = reject
    })
    this.done.catch(() => {})
  }

  take(bytes: Uint8Array): void {
    if (this.over) return
    this.guarded(() => {
      for (const event of this.parser.push(bytes)) this.pass(this.parts.read.push(event), event)
      if (this.parser.overflowed) this.break(OVERFLOW)
      this.arm()
    })
  }

  end(): void {
    if (this.over) return
    this.guarded(() => {
      for (const event of this.parser.end()) this.pass(this.parts.read.push(event), event)
      this.pass(this.parts.read.end())
      if (this.over) return
      if (this.stream === undefined) this.break(EMPTY)
      else this.finish()
    })
  }

  /** The caller left, or the gateway ends the answer, which is its last event then. */
  abort(why?: GatewayError): void {
    this.own = why?.error
    if (why === undefined) this.leave(GONE)
    else this.fail(why)
    this.parts.exchange?.abort()
    this.parts.gate?.resume()
  }

  /** The exchange broke. */
  fail(failure: GatewayError): void {
    if (!this.over) this.guarded(() => this.break(failure.error))
  }

  /** The caller left, or there is nothing to write but what another channel may do better: nothing more is written. */
  leave(failure: GatewayError): void {
    if (this.over) return
    this.close()
    this.stream?.stop()
    this.reject(failure)
  }

  /** The events of an answer that came whole. */
  takeWhole(events: Iterable<CanonicalEvent>): void {
    this.guarded(() => {
      for (const event of events) this.pass([event])
      if (!this.over) this.finish()
    })
  }

  /** The events of an answer that is still coming; they wait where the caller is behind. */
  async takeComing(events: AsyncIterable<CanonicalEvent>): Promise<void> {
    try {
      for await (const event of events) {
        this.guarded(() => this.pass([event]))
        if (this.over) return
        this.arm()
        await this.parts.gate?.free
      }
    } catch (thrown) {
      if (thrown instanceof GatewayError) this.fail(thrown)
      else this.broke(thrown)
    }
  }

  /** Lets what is held back through after one heartbeat (trap 85); most answers have content at once. */
  private arm(): void {
    if (this.stream !== undefined || this.over || this.held.length === 0 || this.timer !== undefined) return
    const left = this.attempt.heartbeat - (performance.now() - this.began)
    this.timer = setTimeout(() => this.guarded(this.letThrough), Math.max(left, 1))
  }

  /** @param wire the event of the upstream that this was read of. */
  private pass(events: readonly CanonicalEvent[], wire?: WireEvent): void {
    const { restore } = this.parts
    if (wire !== undefined && this.stream === undefined) this.heldText += wire.data.length
    if (this.isRelayed && wire !== undefined) this.relay(events, wire)
    else if (restore === undefined) for (const event of events) this.one(event)
    else for (const event of events) for (const restored of restore.push(event)) this.one(restored)
  }

  /** Passes an event of an upstream of the caller's own format on as it came, unless what was read of it was changed. */
  private relay(events: readonly CanonicalEvent[], wire: WireEvent): void {
    if (this.over) return
    const seen = this.allVisible(events)
    this.isRelayed = this.parts.read.mended !== true && !isChanged(seen, events)
    if (!this.isRelayed) for (const event of seen) this.send(event)
    else if (this.stream === undefined) this.hold(seen, wire)
    else this.stream.push(this.relays!.relay(wire, seen))
    if (this.isRelayed && seen.at(-1)?.type === 'result-end') this.finish()
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

  private one(raw: CanonicalEvent): void {
    if (!this.over) this.send(this.visible(raw))
  }

  private send(event: CanonicalEvent): void {
    if (this.over) return
    if (this.stream !== undefined) this.stream.push(this.write.push(event))
    else if (event.type === 'error') this.leave(new GatewayError(event.error))
    else this.hold([event])
    if (!this.over && (event.type === 'result-end' || event.type === 'error')) this.finish()
  }

  private hold(events: readonly CanonicalEvent[], wire?: WireEvent): void {
    this.held.push({ events, wire })
    if (this.heldText > HELD_LIMIT || events.some(({ type }) => DECIDING.has(type))) this.letThrough()
  }

  private written({ events, wire }: Held): readonly WireEvent[] {
    return wire === undefined ? events.flatMap(event => this.write.push(event)) : this.relays!.relay(wire, events)
  }

  /** The event as the caller may see it; the log and the next turn get what they need of it. */
  private visible(raw: CanonicalEvent): CanonicalEvent {
    const { call, request, candidate, report, echo } = this.attempt
    const isOwn = raw.type === 'error' && raw.error === this.own
    if (raw.type === 'error' && !isOwn) this.failure = new GatewayError(raw.error)
    const event = isOwn ? raw : publicEvent(raw, candidate, request.model)
    report.saw(event)
    this.parts.thoughts?.saw(event)
    if (event.type === 'result-end') {
      const end = timed(event, call)
      return echo?.apply(end) ?? end
    }
    return event.type === 'result-start' ? withHead(event, this.attempt) : event
  }

  private readonly letThrough = (): void => {
    if (this.stream !== undefined || this.over || this.held.length === 0) return
    clearTimeout(this.timer)
    // Written before anything is sent: a writer that fails at once is still a failure with a status.
    const first = this.held.flatMap(held => this.written(held))
    const start = this.held[0]?.events[0]
    if (start?.type === 'result-start') this.head = start
    this.held = []
    this.stream = this.open()
    this.stream.push(first)
    this.stream.send()
  }

  private open(): Sink {
    const { losses, headers, gate, exchange } = this.parts
    const source = gate ?? exchange ?? NO_SOURCE
    return this.attempt.early?.take(source) ?? beginStream(this.attempt, losses, headers, source)
  }

  private break(error: CanonicalError): void {
    this.one({ type: 'error', error })
  }

  private finish(): void {
    this.letThrough()
    this.close()
    this.stream?.push(this.write.end())
    this.stream?.end()
    this.resolve(this.stream?.settled)
  }

  private close(): void {
    this.over = true
    clearTimeout(this.timer)
  }

  /** A bug in a reader or writer ends this answer, not the process. */
  private guarded(work: () => void): void {
    try {
      work()
    } catch (thrown) {
      this.broke(thrown)
    }
  }

  /** A fault of ours: where the answer has begun, it ends with an error of its format, and the cause is logged. */
  private broke(thrown: unknown): void {
    const failure = answerFailure(thrown)
    this.close()
    if (this.stream === undefined) {
      this.reject(failure)
      return
    }
    this.attempt.report.broke(failure)
    try {
      this.stream.push(this.errorEvents(failure.error))
      this.stream.end()
      this.resolve(this.stream.settled)
    } catch {
      this.stream.stop()
      this.reject(failure)
    }
  }

  /** The error as events: of a fresh writer where this one is broken. */
  private errorEvents(error: CanonicalError): readonly WireEvent[] {
    try {
      return this.write.push({ type: 'error', error })
    } catch {
      const another = eventWriter(this.attempt)
      another.push(this.head ?? { type: 'result-start' })
      return another.push({ type: 'error', error })
    }
  }
}

/** Events that are not sent yet, and the event that they were read of where that is sent for them. */
interface Held {
  readonly events: readonly CanonicalEvent[]
  readonly wire: WireEvent | undefined
}

/** Whether something was changed that a writer does not make good in an event that it passes on: id, model and time. */
const isChanged = (seen: readonly CanonicalEvent[], events: readonly CanonicalEvent[]): boolean =>
  seen !== events && seen.some((event, at) => event !== events[at] && event.type !== 'result-start')

/** Events that settle that this channel answers: content, or the end. */
const DECIDING: ReadonlySet<CanonicalEvent['type']> = new Set([
  'part-delta',
  'part-patch',
  'part-end',
  'candidate-end',
  'result-end',
])

/** How much text is held back before there is content, in UTF-16 units. */
const HELD_LIMIT = 1024 * 1024

const OVERFLOW: CanonicalError = {
  kind: 'upstream-failed',
  message: 'The upstream sent an event larger than the gateway takes.',
}
const EMPTY: CanonicalError = { kind: 'upstream-failed', message: 'The upstream ended its answer before it began.' }
