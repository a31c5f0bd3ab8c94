import type fc from 'fast-check'
import type { WireRequest } from '../../../src/canonical/wire.ts'
import { workOf } from '../../../src/canonical/work.ts'
import { READERS } from '../../../src/ingress/index.ts'
import { WIRES } from '../../laws/wires.ts'

/** Formats of the library. */
export const FORMATS = ['chat', 'messages', 'contents', 'responses'] as const
export type ConversationFormat = (typeof FORMATS)[number]
export const PAIRS = FORMATS.flatMap(from => FORMATS.filter(to => to !== from).map(to => [from, to] as const))

/** Requests of a format that need neither a store nor the contexts of models, which the library does not have. */
export const requests = (from: ConversationFormat): fc.Arbitrary<WireRequest> =>
  WIRES[from]!.request.map(wire => {
    const { previous_response_id: _, conversation: __, background: ___, truncation: ____, ...body } = wire.body
    if (from === 'contents') return { ...wire, path: wire.path.replace(/^.*:/, '/v1beta/models/m:') }
    return { ...wire, body: { ...body, model: 'm', ...(from === 'responses' ? { store: false } : {}) } }
  }).filter(wire => isConversation(from, wire))

/** Whether the request asks for a conversation, if it can be read at all. */
function isConversation(from: ConversationFormat, wire: WireRequest): boolean {
  if (/count|embed|compact|input_tokens/i.test(wire.path)) return false
  try {
    return workOf(READERS[from]!.request!(wire)) === 'conversation'
  } catch {
    return true
  }
}
