import { type CanonicalError, GatewayError } from '../canonical/error.ts'
import type { CanonicalEvent, ResultStart } from '../canonical/event.ts'
import { append } from '../canonical/lists.ts'
import type { Loss } from '../canonical/loss.ts'
import type { WireEvent } from '../canonical/wire.ts'
import { shownLosses, withoutAdditions } from '../egress/losses.ts'
import type { Source } from '../egress/transport/sse.ts'
import type { EventWriter, NativeEventWriter } from '../egress/writer.ts'
import { reportedAnswerLosses } from './answer-losses.ts'
import { answerFailure } from './failures.ts'
import { headersOfLosses } from './locate-losses.ts'
import type { Sink } from './stored/index.ts'
import { beginStream, eventWriter, nativeEventWriter } from './stream-head.ts'
import type { Attempt, WholeAnswer } from './types.ts'

/** Options of `StreamOutput`. */
export interface OutputOptions {
  /** Losses of the request and headers of the upstream, for the head of the answer. */
  readonly losses: readonly Loss[]
  readonly headers: WholeAnswer['headers']
  /** Source that is paused while the caller reads nothing. */
  readonly source: Source
  /** True if events of the caller's own format may be passed on unchanged. */
  readonly mayRelay: boolean
}

/**
 * Writes a streamed answer in the caller's format and sends it. Buffers events until the first content, so that another
 * channel can still answer after a failure. Later failures are sent as events.
 */
export class StreamOutput {
  /** Resolves at the end of the answer. Rejects with GatewayError if it fails before anything is sent. */
  readonly done: Promise<void>
  private readonly completion = Promise.withResolvers<void>()
  private readonly attempt: Attempt
  private readonly options: OutputOptions
  private readonly writer: EventWriter
  /** The same object as `writer`, if events may be passed on unchanged. */
  private readonly relayWriter: NativeEventWriter | undefined
  private readonly startTime = performance.now()
  private timer: NodeJS.Timeout | undefined
  private buffered: BufferedEvents[] = []
  /** Number of bytes of the upstream's answer since the first buffered event. */
  private bufferedBytes = 0
  private sink: Sink | undefined
  /** First event of the answer, once it has been sent. */
  private head: ResultStart | undefined
  /** True once nothing more will be written. */
  isOver = false

  constructor(attempt: Attempt, options: OutputOptions) {
    this.attempt = attempt
    this.options = options
    this.relayWriter = options.mayRelay ? nativeEventWriter(attempt) : undefined
    this.writer = this.relayWriter ?? eventWriter(attempt)
    this.done = this.completion.promise
    this.done.catch(() => {})
  }

  get canRelay(): boolean {
    return this.relayWriter !== undefined
  }

  /** True if something has been sent, so that a failure can only be an event. */
  get hasBegun(): boolean {
    return this.sink !== undefined
  }

  /**
   * Writes an event in the caller's format. An error before anything is sent rejects `done`, so that another channel
   * can answer.
   */
  write(event: CanonicalEvent): void {
    if (this.isOver) return
    if (this.sink !== undefined) this.sink.push(this.writer.push(event))
    else if (event.type === 'error') return this.refuse(new GatewayError(event.error))
    else this.buffer({ events: [event], wire: undefined })
    if (event.type === 'result-end' || event.type === 'error') this.finish()
  }

  /** Passes an event of the caller's own format on unchanged. `events` are its canonical form. */
  relay(events: readonly CanonicalEvent[], wire: WireEvent): void {
    if (this.isOver) return
    if (this.sink === undefined) this.buffer({ events, wire })
    else this.sink.push(this.relayWriter!.relay(wire, events))
    if (events.at(-1)?.type === 'result-end') this.finish()
  }

  /**
   * Sends buffered events after one heartbeat (trap 85), or immediately if the upstream has sent much without content.
   * Most answers start with content and never need this.
   *
   * @param bytes number of bytes of the upstream's answer since the last call. Counted while events are buffered.
   */
  flushInTime(bytes = 0): void {
    if (this.sink !== undefined || this.isOver || this.buffered.length === 0) return
    this.bufferedBytes += bytes
    if (this.bufferedBytes > BUFFER_LIMIT) return this.flush()
    if (this.timer !== undefined) return
    const remaining = this.attempt.heartbeat - (performance.now() - this.startTime)
    this.timer = setTimeout(this.flushLate, Math.max(remaining, 1))
  }

  private buffer(buffered: BufferedEvents): void {
    this.buffered.push(buffered)
    if (buffered.events.some(({ type }) => DECISIVE_EVENTS.has(type))) this.flush()
  }

  private readonly flushLate = (): void => {
    try {
      this.flush()
    } catch (thrown) {
      this.handleFault(thrown)
    }
  }

  private flush(): void {
    if (this.sink !== undefined || this.isOver || this.buffered.length === 0) return
    clearTimeout(this.timer)
    // Events are written before anything is sent, so that a failing writer still leads to an error status.
    const first: WireEvent[] = []
    for (const buffered of this.buffered) append(first, this.wireEventsOf(buffered))
    const start = this.buffered[0]?.events[0]
    if (start?.type === 'result-start') this.head = start
    this.buffered = []
    this.sink = this.open()
    this.sink.push(first)
  }

  private wireEventsOf({ events, wire }: BufferedEvents): readonly WireEvent[] {
    return wire === undefined ? this.writer.push(events[0]!) : this.relayWriter!.relay(wire, events)
  }

  private open(): Sink {
    const { losses, headers, source } = this.options
    return this.attempt.early?.takeOpenStream(source) ?? beginStream(this.attempt, losses, headers, source)
  }

  /** Ends a complete answer. */
  finish(): void {
    if (this.isOver) return
    this.flush()
    this.close()
    this.sink?.push(this.writer.end())
    this.reportLateLosses()
    this.sink?.end()
    this.completion.resolve(this.sink?.settled)
  }

  /** Reports losses that were found after the headers were sent: in trailers, in the log and in the capture. */
  private reportLateLosses(): void {
    const { lost } = this.writer
    if (lost === undefined || lost.length === 0) return
    const { report, capture, call } = this.attempt.incoming
    const reported = reportedAnswerLosses(lost, report.usage)
    if (call.reply.acceptsTrailers === true) call.reply.trailers = headersOfLosses(reported, this.attempt)
    report.addAnswerLosses(withoutAdditions(reported))
    if (capture !== undefined) capture.answerLosses = shownLosses(lost)
  }

  /** Ends the output without an error event, because the caller left or another channel may answer. Rejects `done`. */
  refuse(failure: GatewayError): void {
    if (this.isOver) return
    this.close()
    this.sink?.stop()
    this.completion.reject(failure)
  }

  /** Handles a bug in the gateway. If the answer has started, ends it with an error event. The cause is logged. */
  handleFault(thrown: unknown): void {
    const failure = answerFailure(thrown)
    this.close()
    if (this.sink === undefined) return this.completion.reject(failure)
    this.attempt.incoming.report.recordFault(failure)
    try {
      this.sink.push(this.errorEvents(failure.error))
      this.sink.end()
      this.completion.resolve(this.sink.settled)
    } catch {
      this.sink.stop()
      this.completion.reject(failure)
    }
  }

  /** Returns the error as events, written by a new writer if the current one throws. */
  private errorEvents(error: CanonicalError): readonly WireEvent[] {
    try {
      return this.writer.push({ type: 'error', error })
    } catch {
      const newWriter = eventWriter(this.attempt)
      newWriter.push(this.head ?? { type: 'result-start' })
      return newWriter.push({ type: 'error', error })
    }
  }

  private close(): void {
    this.isOver = true
    clearTimeout(this.timer)
  }
}

/** One buffered event. If events are passed on: the upstream's event, and the canonical events read from it. */
interface BufferedEvents {
  readonly events: readonly CanonicalEvent[]
  readonly wire: WireEvent | undefined
}

/** Events after which no other channel is tried: content, or the end of the answer. */
const DECISIVE_EVENTS: ReadonlySet<CanonicalEvent['type']> = new Set([
  'part-delta',
  'part-patch',
  'part-end',
  'candidate-end',
  'result-end',
])

/** Number of bytes after which an answer's events are sent even without content. */
const BUFFER_LIMIT = 1024 * 1024
