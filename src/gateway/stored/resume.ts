import { setTimeout as pause } from 'node:timers/promises'
import { tooLarge } from '../../canonical/error.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { EVENT_STREAM, streamHeaders } from '../../egress/transport/sse.ts'
import type { Events } from '../../store/events.ts'
import type { Turn } from '../../store/turns.ts'
import type { Reply } from '../call.ts'
import { waitForDrain } from '../relay.ts'
import type { StoredFormat } from './stored-format.ts'
import { formatOfAnswer } from './stored-formats.ts'

/** A batch of events from a stream that is resumed or still in progress. */
export interface Batch {
  /** Texts of the events, empty if none exist yet. */
  readonly texts: readonly string[]
  /** True if these are the last events. */
  readonly isLast: boolean
}

/** A readable source of a stream's events. */
export interface EventSource {
  /** Returns the available events, starting at a sequence number. Rejects if they are lost. */
  from(number: number): Promise<Batch>
  /** Resolves when the event with this number may be available. */
  until(number: number): Promise<void>
}

/**
 * Streams the events after a sequence number to a caller until the last event, or until the caller disconnects. Slow
 * callers do not delay others, and are dropped if they read nothing for too long.
 *
 * @param heartbeat interval between heartbeats on a silent stream, in milliseconds.
 */
export async function resumeStream(
  format: StoredFormat,
  source: EventSource,
  reply: Reply,
  after: number,
  heartbeat: number,
): Promise<void> {
  reply.begin(streamHeaders(EVENT_STREAM))
  let next = Math.max(after + 1, 0)
  let lastWrite = performance.now()
  while (!reply.gone) {
    const { texts, isLast } = await source.from(next)
    next += texts.length
    const text = texts.map(data => EVENT_STREAM.frame(eventOf(data, format), false)).join('')
    if (isLast) {
      reply.end(text + format.endFrame)
      return
    }
    const silence = performance.now() - lastWrite
    const written = text === '' && silence >= heartbeat ? EVENT_STREAM.defaultHeartbeat : text
    if (written !== '') lastWrite = performance.now()
    if (written !== '' && !reply.write(written)) await waitForDrain(reply, heartbeat)
    else if (text === '') await waitForEvents(source.until(next), reply, Math.max(heartbeat - silence, 1))
  }
}

/** Waits for more events, a disconnect, or a timeout in milliseconds. */
async function waitForEvents(more: Promise<void>, reply: Reply, timeout: number): Promise<void> {
  const gone = Promise.withResolvers<void>()
  reply.abortable = { abort: () => gone.resolve() }
  const timer = setTimeout(gone.resolve, timeout)
  await Promise.race([more, gone.promise])
  clearTimeout(timer)
}

function eventOf(data: string, { nameOf }: StoredFormat): WireEvent {
  const event = nameOf(data)
  return event === undefined ? { data } : { event, data }
}

/**
 * Minimum and maximum interval between reads of a response that another process generates, in milliseconds. The
 * interval grows while no events arrive.
 */
const READ_INTERVALS = { min: 250, max: 1000 } as const

/**
 * Reads the events of a response that has ended, or that another process generates, from the store.
 *
 * @param turn reads the current turn.
 */
export function storedEvents(owner: string, id: string, events: Events, turn: () => Promise<Turn>): EventSource {
  let wait: number = READ_INTERVALS.min
  let known = 0
  return {
    from: async number => {
      const texts = await events.from(owner, id, number)
      if (texts.length > 0) {
        wait = READ_INTERVALS.min
        known = number + texts.length
        return { texts, isLast: false }
      }
      const { lease, response } = await turn()
      if (lease !== undefined) return { texts, isLast: false }
      // The last events are stored before the turn ends, so they may have been stored after the first read.
      const last = await events.from(owner, id, number)
      if (last.length > 0) return { texts: last, isLast: false }
      const count = await events.count(owner, id)
      if (count < known) throw LOST
      return { texts: number > count ? [] : [finalEvent(response, count)], isLast: true }
    },
    until: () => {
      const delay = wait
      wait = Math.min(wait * 2, READ_INTERVALS.max)
      return pause(delay)
    },
  }
}

/** Events of a stream were deleted, because there were too many to store all of them. */
export const LOST = tooLarge('The stream has more events than can be replayed.')

/** Builds the events of a response that was not streamed, as if it had been. */
export function replayedResult(response: JsonObject): EventSource {
  const format = formatOfAnswer(response)
  const before = format.replayEvents(response).map(({ data }, index) => format.withNumber(data, index))
  const texts = [...before, finalEvent(response, before.length)]
  return { from: async number => ({ texts: texts.slice(number), isLast: true }), until: async () => {} }
}

/** Returns the text of the final event of a stream. */
function finalEvent(response: JsonObject, number: number): string {
  const format = formatOfAnswer(response)
  return format.withNumber(format.lastEvent(response), number)
}
