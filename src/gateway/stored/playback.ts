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
import { responseIn } from './kept-stream.ts'

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

/** The text of an event that holds a whole response. */
export const eventText = (type: string, response: JsonObject, sequence_number = 0): string =>
  JSON.stringify({ type, response, sequence_number })

/** The text of the last event of a stream. */
export const ending = (response: JsonObject, number: number): string =>
  eventText(`response.${response['status'] as string}`, response, number)

/** Milliseconds between two looks at a response another process works on: the longer, the fewer events it has. */
const LOOK = { least: 250, most: 1000 } as const

/**
 * The events of a response that has ended, or that another process works on, out of the store.
 *
 * @param turn the response as it stands.
 */
export function storedEvents(owner: string, id: string, events: Events, turn: () => Promise<Turn>): EventSource {
  let wait: number = LOOK.least
  return {
    from: async number => {
      const texts = await events.from(owner, id, number)
      if (texts.length > 0) {
        wait = LOOK.least
        return { texts, over: false }
      }
      const { lease, response } = await turn()
      if (lease !== undefined) return { texts, over: false }
      // Its last events were kept before it ended, and may have come since the look for them.
      const last = await events.from(owner, id, number)
      if (last.length > 0) return { texts: last, over: false }
      const count = await events.count(owner, id)
      return { texts: number > count ? [] : [ending(response, count)], over: true }
    },
    until: () => {
      const now = wait
      wait = Math.min(wait * 2, LOOK.most)
      return pause(now)
    },
  }
}

/** The events of a response that was sent whole, as if it had been streamed. */
export function replayedResult(response: JsonObject): EventSource {
  const before = replayedEvents(response).map(({ data }) => data)
  const texts = [...before, ending(response, before.length)]
  return { from: async number => ({ texts: texts.slice(number), over: true }), until: async () => {} }
}

/** The stream of a whole answer, all but its last event. */
export function replayedEvents(response: JsonObject): readonly WireEvent[] {
  const request = { model: '', messages: [], output: {}, sampling: {}, stream: true }
  const result = READERS[STORED_FORMAT]!.result!({ status: 200, headers: {}, body: response }, request)
  const output = Array.isArray(response['output']) ? response['output'] : []
  const writer = WRITERS[STORED_FORMAT]!.events!(request)
  const events = [...unfold(result)].flatMap(event => [...writer.push(event)])
  return [...events, ...writer.end()]
    .filter(event => event.event !== undefined && responseIn(event) === undefined)
    .map(event => asOf(event, { ...response, ...BEGUN }, output))
}

/** A response before anything has come of it. */
const BEGUN: JsonObject = {
  ...{ status: 'in_progress', completed_at: null, error: null, incomplete_details: null },
  ...{ output: [], usage: null },
}

/** The beginning holds the response as it was then, and the end of an item the item as it is stored. */
function asOf(event: WireEvent, begun: JsonObject, output: readonly Json[]): WireEvent {
  if (!WHOLE.has(event.event)) return event
  const fields = parseObject(event.data)!
  const { response, item, output_index } = fields
  const kept = output[Number(output_index)]
  if (response !== undefined) return { ...event, data: JSON.stringify({ ...fields, response: begun }) }
  if (!isObject(item) || !isObject(kept) || kept['id'] !== item['id']) return event
  return { ...event, data: JSON.stringify({ ...fields, item: kept }) }
}

/** Events that hold a whole response or item. */
const WHOLE: ReadonlySet<string | undefined> = new Set([
  ...['response.created', 'response.in_progress', 'response.output_item.done'],
])
