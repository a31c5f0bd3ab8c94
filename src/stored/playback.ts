import type { WireEvent } from '../canonical/wire.ts'
import { EVENT_STREAM, streamHeaders } from '../egress/transport/sse.ts'
import { drained } from '../gateway/backpressure.ts'
import type { Reply } from '../gateway/call.ts'

/** Some events of a stream that is replayed, or still in the making. */
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

/** Ends the stream, like streams that are not replayed. */
const DONE = EVENT_STREAM.frame({ data: '[DONE]' }, false)

/**
 * Writes the events after the number to a caller, as they come, until the last or until the caller leaves; one that is
 * slow to take them holds up no other, and is gone when it takes nothing for too long.
 *
 * @param heartbeat milliseconds between signs of life on a silent stream.
 */
export async function play(source: EventSource, reply: Reply, after: number, heartbeat: number): Promise<void> {
  reply.begin(streamHeaders(EVENT_STREAM))
  let next = Math.max(after + 1, 0)
  let lastWrite = performance.now()
  while (!reply.gone) {
    const { texts, over } = await source.from(next)
    next += texts.length
    const text = texts.map(data => EVENT_STREAM.frame(eventOf(data), false)).join('')
    if (over) {
      reply.end(text + DONE)
      return
    }
    const silence = performance.now() - lastWrite
    const written = text === '' && silence >= heartbeat ? EVENT_STREAM.sign : text
    if (written !== '') lastWrite = performance.now()
    if (written !== '' && !reply.write(written)) await drained(reply, heartbeat)
    else if (text === '') await orGone(source.until(next), reply, Math.max(heartbeat - silence, 1))
  }
}

/** Waits for more events, for the caller to leave, or so many milliseconds. */
async function orGone(more: Promise<void>, reply: Reply, most: number): Promise<void> {
  const gone = Promise.withResolvers<void>()
  reply.worker = { abort: () => gone.resolve() }
  const timer = setTimeout(gone.resolve, most)
  await Promise.race([more, gone.promise])
  clearTimeout(timer)
}

const NAME = /^\{"type":"([a-z_.]+)"/

const eventOf = (data: string): WireEvent => {
  const event = NAME.exec(data)?.[1]
  return event === undefined ? { data } : { event, data }
}
