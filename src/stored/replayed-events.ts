import { unfold } from '../canonical/fold.ts'
import { isObject, type Json, type JsonObject, parseObject } from '../canonical/node.ts'
import type { WireEvent } from '../canonical/wire.ts'
import { WRITERS } from '../egress/index.ts'
import { READERS } from '../ingress/index.ts'
import { STORED_FORMAT } from './format.ts'
import { responseIn } from './kept-stream.ts'

/** The stream a whole answer could have been told as, all but its last event. */
export function replayedEvents(response: JsonObject): readonly WireEvent[] {
  const asked = { model: '', messages: [], output: {}, sampling: {}, stream: true }
  const result = READERS[STORED_FORMAT]!.result!({ status: 200, headers: {}, body: response }, asked)
  const output = Array.isArray(response['output']) ? response['output'] : []
  const writer = WRITERS[STORED_FORMAT]!.events!(asked)
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

/** The beginning tells the response as it stood then, and the end of an item tells it as it is kept. */
function asOf(event: WireEvent, begun: JsonObject, output: readonly Json[]): WireEvent {
  if (!WHOLE.has(event.event)) return event
  const said = parseObject(event.data)!
  const { response, item, output_index } = said
  const kept = output[Number(output_index)]
  if (response !== undefined) return { ...event, data: JSON.stringify({ ...said, response: begun }) }
  if (!isObject(item) || !isObject(kept) || kept['id'] !== item['id']) return event
  return { ...event, data: JSON.stringify({ ...said, item: kept }) }
}

/** Events that tell a response or an item whole. */
const WHOLE: ReadonlySet<string | undefined> = new Set([
  ...['response.created', 'response.in_progress', 'response.output_item.done'],
])
