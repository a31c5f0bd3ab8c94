import { isObject, type JsonObject, parseObject } from '../../canonical/node.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import type { EventStream } from '../../egress/transport/sse.ts'
import { markedUnstored } from './response-echo.ts'

/** Destination of an answer's events. */
export interface Sink extends Pick<EventStream, 'push' | 'beat' | 'end' | 'stop'> {
  /** Resolves when no event is held back. Absent if none ever is. */
  readonly settled?: Promise<void>
}

const TERMINAL: ReadonlySet<string | undefined> = new Set([
  ...['response.completed', 'response.incomplete', 'response.failed', 'response.cancelled'],
])

/** Returns the response in the final event of a stream. Undefined for any other event. */
export function responseIn({ event, data }: WireEvent): JsonObject | undefined {
  if (!TERMINAL.has(event)) return undefined
  const response = parseObject(data)?.['response']
  return isObject(response) ? response : undefined
}

/** Marks the final event's response as not stored. */
function markUnstored(event: WireEvent): WireEvent {
  const body = parseObject(event.data)!
  return { ...event, data: JSON.stringify({ ...body, response: markedUnstored(body['response'] as JsonObject) }) }
}

/** Holds the final event back until the answer is stored, so that the next request finds it (trap 70). */
export class SavingStream implements Sink {
  settled: Promise<void> = Promise.resolve()
  private readonly to: Sink
  private readonly save: (response: JsonObject) => Promise<boolean>
  private held: WireEvent[] | undefined
  private ended = false

  /** @param save stores the response and returns whether it succeeded. Never rejects. */
  constructor(to: Sink, save: (response: JsonObject) => Promise<boolean>) {
    this.to = to
    this.save = save
  }

  push(events: readonly WireEvent[]): void {
    if (this.held !== undefined) {
      for (const one of events) this.held.push(one)
      return
    }
    const last = events.findIndex(event => TERMINAL.has(event.event))
    const response = last < 0 ? undefined : responseIn(events[last]!)
    if (response === undefined) {
      this.to.push(events)
      return
    }
    this.to.push(events.slice(0, last))
    this.held = events.slice(last)
    this.settled = this.save(response).then(isSaved => {
      if (!isSaved) this.held![0] = markUnstored(events[last]!)
      this.release()
    })
  }

  beat(): void {
    this.to.beat()
  }

  end(): void {
    if (this.held === undefined) this.to.end()
    else this.ended = true
  }

  stop(): void {
    this.to.stop()
  }

  private release(): void {
    const { held } = this
    this.held = undefined
    this.to.push(held ?? [])
    if (this.ended) this.to.end()
  }
}
