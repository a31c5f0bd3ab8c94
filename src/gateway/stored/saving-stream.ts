import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import type { EventStream } from '../../egress/transport/sse.ts'
import type { AnswerCollector, StoredFormat } from './stored-format.ts'

/** Destination of an answer's events. */
export interface Sink extends Pick<EventStream, 'push' | 'beat' | 'end' | 'stop'> {
  /** Resolves when no event is held back any more. Absent if no event is ever held back. */
  readonly settled?: Promise<void>
}

/** Holds the final event back until the answer is stored, so that the next request finds the answer (trap 70). */
export class SavingStream implements Sink {
  settled: Promise<void> = Promise.resolve()
  private readonly sink: Sink
  private readonly save: (response: JsonObject) => Promise<boolean>
  private readonly format: StoredFormat
  private readonly collector: AnswerCollector
  private heldEvents: WireEvent[] | undefined
  private hasEnded = false

  /** @param save stores the response and returns whether it succeeded. Never rejects. */
  constructor(
    sink: Sink,
    save: (response: JsonObject) => Promise<boolean>,
    format: StoredFormat,
    request: CanonicalRequest,
  ) {
    this.sink = sink
    this.save = save
    this.format = format
    this.collector = format.collector(request, false)
  }

  push(events: readonly WireEvent[]): void {
    if (this.heldEvents !== undefined) {
      for (const event of events) this.heldEvents.push(event)
      return
    }
    const { last, response } = this.collect(events)
    if (response === undefined) {
      this.sink.push(events)
      return
    }
    this.sink.push(events.slice(0, last))
    this.heldEvents = events.slice(last)
    this.settled = this.save(response).then(isSaved => {
      if (!isSaved) this.heldEvents![0] = this.format.markedUnstored(events[last]!)
      this.release()
    })
  }

  /** Returns the index of the stream's last event and the whole answer, if the last event is among these. */
  private collect(events: readonly WireEvent[]): { readonly last: number; readonly response?: JsonObject } {
    for (let last = 0; last < events.length; last++) {
      const response = this.collector.take(events[last]!)
      if (response !== undefined) return { last, response }
    }
    return { last: -1 }
  }

  beat(): void {
    this.sink.beat()
  }

  end(): void {
    if (this.heldEvents === undefined) this.sink.end()
    else this.hasEnded = true
  }

  stop(): void {
    this.sink.stop()
  }

  private release(): void {
    const { heldEvents } = this
    this.heldEvents = undefined
    this.sink.push(heldEvents ?? [])
    if (this.hasEnded) this.sink.end()
  }
}
