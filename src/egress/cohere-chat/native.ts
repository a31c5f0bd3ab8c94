import { append } from '../../canonical/lists.ts'
import { Losses, type Written } from '../../canonical/loss.ts'
import { type JsonObject, wireSourceOf } from '../../canonical/node.ts'
import type { CanonicalRequest, Message } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import type { CohereChatDialect } from '../../formats/dialects/cohere-chat.ts'
import { nativeSourceOf, REWRITABLE, withFields } from '../native.ts'
import { FORMAT, PATH, type WriteContext } from './context.ts'
import { writeMessages } from './messages.ts'

/**
 * Passes on a request of this format as received, if only the model, the stream setting or messages changed. Returns
 * undefined for all other requests.
 */
export function nativeRequest(request: CanonicalRequest, dialect: CohereChatDialect): Written<WireRequest> | undefined {
  const source = nativeSourceOf(request, FORMAT, REWRITABLE)
  if (source === undefined) return undefined
  const { node, wire } = source
  const context: WriteContext = { dialect: { ...dialect, thinks: true }, losses: new Losses(), documents: [] }
  const isSame =
    request.messages.length === node.messages.length &&
    request.messages.every((message, index) => message === node.messages[index])
  const fields = {
    ...(request.model === node.model ? {} : { model: request.model }),
    ...(request.stream === node.stream ? {} : { stream: request.stream }),
    ...(isSame ? {} : { messages: nativeMessages(request.messages, context) }),
  }
  return {
    wire: { path: PATH, query: {}, headers: {}, body: withFields(wire.body, fields) },
    losses: context.losses.list,
  }
}

/** Writes the messages and rewrites those that changed. The documents next to them never change. */
function nativeMessages(messages: readonly Message[], context: WriteContext): readonly JsonObject[] {
  const wire: JsonObject[] = []
  for (const message of messages) {
    if (message.spelling?.[FORMAT]?.['beside'] === true) continue
    const source = wireSourceOf<JsonObject, Message>(message, FORMAT)
    if (source?.node === message) wire.push(source.wire)
    else
      append(
        wire,
        writeMessages([message], context).map(one => ({ ...source?.wire, ...one })),
      )
  }
  return wire
}
