import { setTimeout as pause } from 'node:timers/promises'
import { unfold } from '../../canonical/fold.ts'
import { isObject, type Json, type JsonObject, parseObject } from '../../canonical/node.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { WRITERS } from '../../egress/index.ts'
import { EVENT_STREAM, streamHeaders } from '../../egress/transport/sse.ts'
import { READERS } from '../../ingress/index.ts'
import type { Events } from '../../store/events.ts'
import type { Turn } from '../../store/turns.ts'
import type { Reply } from '../call.ts'
import { drained } from '../relay.ts'
import { STORED_FORMAT } from './items.ts'
import { responseIn } from './saving-stream.ts'

/** A batch of events from a stream that is resumed or still in progress. */
export interface Batch {
  /** Texts of the events. Empty if none exist yet. */
  readonly texts: readonly string[]
  /** Whether these are the last events. */
  readonly over: boolean
}

/** A readable source of a stream's events. */
export interface EventSource {
  /** Returns the available events from a sequence number on. Rejects if they are lost. */
  from(number: number): Promise<Batch>
  /** Resolves when it is worth requesting that event. */
  until(number: number): Promise<void>
}

/** Ends the stream as any other stream of the format ends. */
const DONE = EVENT_STREAM.frame({ data: '[DONE]' }, false)

/**
 * Streams the events after a sequence number to a caller until the last event, or until the caller disconnects. Slow
 * callers do not delay others, and are dropped if they read nothing for too long.
 *
 * @param heartbeat interval between heartbeats on a silent stream, in milliseconds.
 */
export async function resumeStream(source: EventSource, reply: Reply, after: number, heartbeat: number): Promise<void> {
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
    const written = text === '' && silence >= heartbeat ? EVENT_STREAM.defaultHeartbeat : text
    if (written !== '') lastWrite = performance.now()
    if (written !== '' && !reply.write(written)) await drained(reply, heartbeat)
    else if (text === '') await orGone(source.until(next), reply, Math.max(heartbeat - silence, 1))
  }
}

/** Waits for more events, a disconnect, or a timeout in milliseconds. */
async function orGone(more: Promise<void>, reply: Reply, most: number): Promise<void> {
  const gone = Promise.withResolvers<void>()
  reply.abortable = { abort: () => gone.resolve() }
  const timer = setTimeout(gone.resolve, most)
  await Promise.race([more, gone.promise])
  clearTimeout(timer)
}

const NAME = /^\{"type":"([a-z_.]+)"/

const eventOf = (data: string): WireEvent => {
  const event = NAME.exec(data)?.[1]
  return event === undefined ? { data } : { event, data }
}

/** Returns the text of an event that contains an entire response. */
export const eventText = (type: string, response: JsonObject, sequence_number = 0): string =>
  JSON.stringify({ type, response, sequence_number })

/** Returns the text of the final event of a stream. */
export const ending = (response: JsonObject, number: number): string =>
  eventText(`response.${response['status'] as string}`, response, number)

/**
 * Interval between reads of a response that another process generates, in milliseconds. The interval grows while no
 * events arrive.
 */
const READ_INTERVAL = { least: 250, most: 1000 } as const

/**
 * Reads the events of a response that has ended, or that another process generates, from the store.
 *
 * @param turn reads the current turn.
 */
export function storedEvents(owner: string, id: string, events: Events, turn: () => Promise<Turn>): EventSource {
  let wait: number = READ_INTERVAL.least
  return {
    from: async number => {
      const texts = await events.from(owner, id, number)
      if (texts.length > 0) {
        wait = READ_INTERVAL.least
        return { texts, over: false }
      }
      const { lease, response } = await turn()
      if (lease !== undefined) return { texts, over: false }
      // The last events are stored before the turn ends, so that they may have arrived after the first read.
      const last = await events.from(owner, id, number)
      if (last.length > 0) return { texts: last, over: false }
      const count = await events.count(owner, id)
      return { texts: number > count ? [] : [ending(response, count)], over: true }
    },
    until: () => {
      const now = wait
      wait = Math.min(wait * 2, READ_INTERVAL.most)
      return pause(now)
    },
  }
}

/** Builds the events of a response that was not streamed, as if it had been. */
export function replayedResult(response: JsonObject): EventSource {
  const before = replayedEvents(response).map(({ data }) => data)
  const texts = [...before, ending(response, before.length)]
  return { from: async number => ({ texts: texts.slice(number), over: true }), until: async () => {} }
}

/** Returns the stream of a complete answer, without its final event. */
export function replayedEvents(response: JsonObject): readonly WireEvent[] {
  const request = { model: '', messages: [], output: {}, sampling: {}, stream: true }
  const result = READERS[STORED_FORMAT]!.result!({ status: 200, headers: {}, body: response }, request)
  const output = Array.isArray(response['output']) ? response['output'] : []
  const writer = WRITERS[STORED_FORMAT]!.events!(request)
  const events = [...unfold(result)].flatMap(event => [...writer.push(event)])
  return [...events, ...writer.end()]
    .filter(event => event.event !== undefined && responseIn(event) === undefined)
    .map(event => restored(event, { ...response, ...STARTED }, output))
}

/** Fields of a response before any output. */
const STARTED: JsonObject = {
  ...{ status: 'in_progress', completed_at: null, error: null, incomplete_details: null },
  ...{ output: [], usage: null },
}

/**
 * Restores what the canonical form lost. The first events get the response as it started, and the end of an item gets
 * the stored item.
 */
function restored(event: WireEvent, started: JsonObject, output: readonly Json[]): WireEvent {
  if (!WHOLE.has(event.event)) return event
  const fields = parseObject(event.data)!
  const { response, item, output_index } = fields
  const stored = output[Number(output_index)]
  if (response !== undefined) return { ...event, data: JSON.stringify({ ...fields, response: started }) }
  if (!isObject(item) || !isObject(stored) || stored['id'] !== item['id']) return event
  return { ...event, data: JSON.stringify({ ...fields, item: stored }) }
}

/** Events that contain an entire response or item. */
const WHOLE: ReadonlySet<string | undefined> = new Set([
  ...['response.created', 'response.in_progress', 'response.output_item.done'],
])
