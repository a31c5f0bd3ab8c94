import { unfold } from '../canonical/fold.ts'
import { isObject, type Json, type JsonObject, parseObject } from '../canonical/node.ts'
import type { WireEvent } from '../canonical/wire.ts'
import { WRITERS } from '../egress/index.ts'
import { READERS } from '../ingress/index.ts'
import { STORED_FORMAT } from './format.ts'
import { responseIn } from './kept-stream.ts'

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
