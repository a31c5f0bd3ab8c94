import type { WireEvent } from '../canonical/wire.ts'
import { EVENT_STREAM, streamHeaders } from '../egress/transport/sse.ts'
import { drained } from '../gateway/backpressure.ts'
import type { Reply } from '../gateway/call.ts'

/** Some events of a stream that is told again, or as it goes on. */
export interface Batch {
  /** Empty where there are none yet. */
  readonly texts: readonly string[]
  /** They are the last. */
  readonly over: boolean
}

/** Where the events of a stream are had from. */
export interface EventSource {
  /** The events from that number on, as many as are at hand. Rejects where they are lost. */
  from(number: number): Promise<Batch>
  /** Settles when it is worth asking for that event. */
  until(number: number): Promise<void>
}

/** Ends the stream, as the streams do that are written here and not told again. */
const DONE = EVENT_STREAM.frame({ data: '[DONE]' }, false)

/**
 * Tells the events after the number to a caller, as they come, until the last or until the caller leaves; one that is
 * slow to take them holds up nobody else, and is gone when it takes nothing for too long.
 *
 * @param heartbeat milliseconds between signs of life on a silent stream.
 */
export async function play(source: EventSource, reply: Reply, after: number, heartbeat: number): Promise<void> {
  reply.begin(streamHeaders(EVENT_STREAM))
  let next = Math.max(after + 1, 0)
  let spoke = performance.now()
  while (!reply.gone) {
    const { texts, over } = await source.from(next)
    next += texts.length
    const text = texts.map(data => EVENT_STREAM.frame(eventOf(data), false)).join('')
    if (over) {
      reply.end(text + DONE)
      return
    }
    const silence = performance.now() - spoke
    const said = text === '' && silence >= heartbeat ? EVENT_STREAM.sign : text
    if (said !== '') spoke = performance.now()
    if (said !== '' && !reply.write(said)) await drained(reply, heartbeat)
    else if (text === '') await orGone(source.until(next), reply, Math.max(heartbeat - silence, 1))
  }
}

/** Waits for more to be said, for the caller to leave, or so many milliseconds. */
async function orGone(said: Promise<void>, reply: Reply, most: number): Promise<void> {
  const gone = Promise.withResolvers<void>()
  reply.worker = { abort: () => gone.resolve() }
  const timer = setTimeout(gone.resolve, most)
  await Promise.race([said, gone.promise])
  clearTimeout(timer)
}

const NAME = /^\{"type":"([a-z_.]+)"/

const eventOf = (data: string): WireEvent => {
  const event = NAME.exec(data)?.[1]
  return event === undefined ? { data } : { event, data }
}
