import type { Part } from '../../canonical/content.ts'
import { Losses, type Path, type Written } from '../../canonical/loss.ts'
import { asRead, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Message } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { type ReadRequest, withFields } from '../own.ts'
import { FORMAT, type WriteContext } from './content.ts'
import { writeMessage, writeThought } from './input.ts'
import { FOREIGN_THOUGHT } from './items.ts'

/** What was changed of a request that still goes out as it came. */
export const REWRITTEN: ReadonlySet<string> = new Set(['model', 'messages', 'stream', 'state'])

/** A request as it came, but for what the gateway changed, and for thoughts that only another upstream could read. */
export function writeOwnRequest(request: CanonicalRequest, { node, wire }: ReadRequest): Written<WireRequest> {
  const { model, messages, stream, state } = request
  const context: WriteContext = { dialect: {}, losses: new Losses() }
  const fields = {
    ...(model === node.model ? {} : { model }),
    ...(stream === node.stream ? {} : { stream }),
    ...(messages.length === node.messages.length &&
    messages.every((message, at) => message === node.messages[at] && isTaken(message))
      ? {}
      : { input: messages.flatMap((message, at) => ownItems(message, ['messages', at], wire.body, context)) }),
  }
  // The gateway works in the background itself.
  const gone = state?.background === node.state?.background ? [] : ['background']
  const path = wire.path.replace(/^\/v1(?=\/)/, '')
  return { wire: { ...wire, path, body: withFields(wire.body, fields, gone) }, losses: context.losses.list }
}

const isTaken = ({ role, content }: Message): boolean =>
  role !== 'assistant' || content.every(part => part.type !== 'reasoning' || ownItem(part) !== undefined)

/** The item that a part of the assistant began with; undefined for a thought from an envelope, or without its proof. */
function ownItem(part: Part): JsonObject | undefined {
  const item = asRead<JsonObject>(part, FORMAT)
  if (part.type !== 'reasoning' || item === undefined) return item
  const { id, encrypted_content: proof } = item
  if (part.signature !== undefined)
    return part.signature.format === FORMAT && part.signature.value === proof ? item : undefined
  return (proof == null || proof === '') && !String(id).startsWith(`${FOREIGN_THOUGHT}_`) ? item : undefined
}

/** The items of a turn; the instructions are none. */
function ownItems(message: Message, path: Path, body: JsonObject, context: WriteContext): readonly JsonObject[] {
  const whole = asRead<JsonObject>(message, FORMAT)
  if (whole !== undefined) return [whole]
  if (message.role !== 'assistant')
    return path[1] === 0 && body['instructions'] != null ? [] : writeMessage(message, path, context)
  return message.content.flatMap((part, index): readonly JsonObject[] => {
    const item = ownItem(part)
    if (item !== undefined) return [item]
    // Any other part belongs to the message that an earlier one began.
    const thought = part.type === 'reasoning' ? writeThought(part, [...path, 'content', index], context) : undefined
    return thought === undefined ? [] : [thought]
  })
}
