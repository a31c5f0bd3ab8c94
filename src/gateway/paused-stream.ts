import type { CanonicalEvent } from '../canonical/event.ts'
import { applyEvent, fold } from '../canonical/fold.ts'
import { type CanonicalResult, totalUsage, type Usage } from '../canonical/result.ts'
import type { EventReader } from '../canonical/transducer.ts'
import type { WireEvent } from '../canonical/wire.ts'
import type { Source } from '../egress/transport/sse.ts'
import type { EventParser } from '../ingress/transport/event-parser.ts'
import type { Answer } from '../upstreams/channel/index.ts'
import { eventParserOf } from './answer-shape.ts'
import { continuationOf, MAX_CONTINUATIONS } from './paused-answer.ts'
import type { Prepared } from './prepare.ts'
import { type AcceptedRequest, send } from './send.ts'

/** The upstream's answer to the request to go on, and the parser for its bytes. */
interface NextAnswer {
  readonly answer: Answer
  readonly parser: EventParser
}

/**
 * Reads a streamed answer whose model pauses and goes on as one answer: hides the end of a part that pauses and the
 * start of the part after it, and numbers the content throughout.
 */
export class PausedStream implements EventReader<WireEvent, CanonicalEvent>, Source {
  private current: AcceptedRequest
  private prepared: Prepared
  private reader: EventReader<WireEvent, CanonicalEvent>
  /** Current part of the answer, as far as it has arrived. */
  private part: CanonicalResult = fold([])
  /** Request that continues the current part, once the model has paused. */
  private continuation: Prepared | undefined
  private continuationCount = 0
  /** Content and usage of earlier parts of the answer. */
  private contentCount = 0
  private earlierUsage: Usage | undefined
  /** True while the caller does not read. */
  private isHeld = false
  private readonly first: AcceptedRequest
  private readonly controller = new AbortController()

  constructor(accepted: AcceptedRequest) {
    this.first = accepted
    this.current = accepted
    this.prepared = accepted.prepared
    this.reader = accepted.reader.events!(accepted.prepared.request)
  }

  push(event: WireEvent): readonly CanonicalEvent[] {
    return this.withoutPauses(this.reader.push(event))
  }

  end(): readonly CanonicalEvent[] {
    return this.withoutPauses(this.reader.end())
  }

  pause(): void {
    this.isHeld = true
    this.current.exchange.pause()
  }

  resume(): void {
    this.isHeld = false
    this.current.exchange.resume()
  }

  abort(): void {
    this.controller.abort()
    this.current.exchange.abort()
  }

  /** Returns the usage of the whole answer so far. */
  total(usage: Usage): Usage {
    return this.earlierUsage === undefined ? usage : totalUsage([this.earlierUsage, usage])!
  }

  /** Has the model go on if it paused. Returns undefined if the answer is complete. Rejects with GatewayError. */
  next(): Promise<NextAnswer> | undefined {
    const { continuation } = this
    if (continuation === undefined) return undefined
    this.beginPart(continuation)
    return this.send(continuation)
  }

  /** Ends the last exchange. The first one belongs to the function that began it. */
  close(hasSucceeded: boolean): void {
    if (this.current === this.first) return
    if (hasSucceeded) this.current.recordSuccess()
    this.current.close()
  }

  private withoutPauses(events: readonly CanonicalEvent[]): readonly CanonicalEvent[] {
    const shown: CanonicalEvent[] = []
    for (const event of events) {
      this.part = applyEvent(this.part, event, true)
      if (event.type === 'candidate-end') this.continuation = this.continuationOf()
      if (!this.isHidden(event)) shown.push(this.numbered(event))
    }
    return shown
  }

  private continuationOf(): Prepared | undefined {
    if (this.continuationCount === MAX_CONTINUATIONS) return undefined
    return continuationOf(this.prepared, this.first.attempt, this.part)
  }

  private isHidden({ type }: CanonicalEvent): boolean {
    if (type === 'result-start') return this.continuationCount > 0
    return this.continuation !== undefined && (type === 'candidate-end' || type === 'result-end')
  }

  private numbered(event: CanonicalEvent): CanonicalEvent {
    if (!('at' in event) || this.contentCount === 0) return event
    return { ...event, at: { ...event.at, part: event.at.part + this.contentCount } }
  }

  private beginPart(continuation: Prepared): void {
    const { part } = this
    this.first.attempt.incoming.report.recordUnsent(part, true)
    if (part.usage !== undefined) this.earlierUsage = this.total(part.usage)
    this.contentCount += part.candidates[0]?.content.length ?? 0
    this.continuationCount++
    this.part = fold([])
    this.prepared = continuation
    this.continuation = undefined
    this.reader = this.first.reader.events!(continuation.request)
  }

  private async send(continuation: Prepared): Promise<NextAnswer> {
    const next = await send(this.first.attempt, continuation, this.controller.signal)
    this.close(true)
    this.current = next
    if (this.isHeld) next.exchange.pause()
    return { answer: next.answer, parser: await eventParserOf(next.answer) }
  }
}
