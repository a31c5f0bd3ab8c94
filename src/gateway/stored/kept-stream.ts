import { isObject, type JsonObject, parseObject } from '../../canonical/node.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import type { EventStream } from '../../egress/transport/sse.ts'
import { unkept } from './response-echo.ts'

/** Destination of an answer's events. */
export interface Sink extends Pick<EventStream, 'push' | 'beat' | 'end' | 'stop'> {
  /** Resolves when no event is held back; absent if none ever is. */
  readonly settled?: Promise<void>
}

const TERMINAL: ReadonlySet<string | undefined> = new Set([
  ...['response.completed', 'response.incomplete', 'response.failed', 'response.cancelled'],
])

/** The response in the final event of a stream; undefined for any other event. */
export function responseIn({ event, data }: WireEvent): JsonObject | undefined {
  if (!TERMINAL.has(event)) return undefined
  const response = parseObject(data)?.['response']
  return isObject(response) ? response : undefined
}

/** Marks the final event's response as not stored. */
function unkeptIn(event: WireEvent): WireEvent {
  const body = parseObject(event.data)!
  return { ...event, data: JSON.stringify({ ...body, response: unkept(body['response'] as JsonObject) }) }
}

/** Holds the final event back until the answer is stored, so that the next request finds it (trap 70). */
export class KeptStream implements Sink {
  settled: Promise<void> = Promise.resolve()
  private readonly to: Sink
  private readonly keep: (response: JsonObject) => Promise<boolean>
  private held: WireEvent[] | undefined
  private ended = false

  /** @param keep stores the response and returns whether it succeeded; never rejects. */
  constructor(to: Sink, keep: (response: JsonObject) => Promise<boolean>) {
    this.to = to
    this.keep = keep
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
    this.settled = this.keep(response).then(kept => {
      if (!kept) this.held![0] = unkeptIn(events[last]!)
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
