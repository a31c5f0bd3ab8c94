import { unfold } from '../../canonical/fold.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { WRITERS } from '../../egress/index.ts'
import { READERS } from '../../ingress/index.ts'
import { responseIn } from './kept-stream.ts'

const FORMAT = 'responses'

/** The stream a whole answer could have been told as, all but its last event. */
export function replayedEvents(response: JsonObject): readonly WireEvent[] {
  const asked = { model: '', messages: [], output: {}, sampling: {}, stream: true }
  const result = READERS[FORMAT]!.result!({ status: 200, headers: {}, body: response }, asked)
  const writer = WRITERS[FORMAT]!.events!(asked)
  const events = [...unfold(result)].flatMap(event => [...writer.push(event)])
  return [...events, ...writer.end()].filter(event => event.event !== undefined && responseIn(event) === undefined)
}
