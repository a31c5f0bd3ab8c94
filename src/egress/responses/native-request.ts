import type { Part } from '../../canonical/content.ts'
import { Losses, type Path, type Written } from '../../canonical/loss.ts'
import { type JsonObject, stringIn, unchangedWire } from '../../canonical/node.ts'
import type { CanonicalRequest, Message } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { responsesDialect } from '../../formats/dialects/responses.ts'
import { type NativeRequest, withFields } from '../native.ts'
import type { WriteOptions } from '../writer.ts'
import { FORMAT, type WriteContext } from './content.ts'
import { withoutLastReasoning, writeMessage, writeSignedReasoning } from './input.ts'
import { FOREIGN_REASONING } from './items.ts'
import { withLegalTools } from './legal-tools.ts'
import { settingsForModel } from './native-settings.ts'
import { withoutRefusedFields } from './refused-fields.ts'
import { neverReasons } from './settings.ts'

/** Fields that may change while the rest of a native request is passed on as received. */
export const REWRITTEN: ReadonlySet<string> = new Set(['model', 'messages', 'stream', 'state'])

/**
 * Passes on a request of this format as received, except for the gateway's changes and for reasoning that only another
 * upstream can read.
 */
export function writeNativeRequest(
  request: CanonicalRequest,
  { node, wire }: NativeRequest,
  options: WriteOptions,
): Written<WireRequest> {
  const dialect = responsesDialect(options.dialect)
  const { model, messages, stream, state } = request
  const losses = new Losses()
  const context: WriteContext = { dialect: neverReasons(dialect) ? { reasons: false } : {}, losses }
  const reasoning = new Map<JsonObject, Path>()
  const storedContext: WriteContext = { ...context, reasoning }
  // The turns that the gateway stored stand before those of the request, but behind the instructions.
  const stored = messages.length - node.messages.length + (wire.body['instructions'] == null ? 0 : 1)
  const writeInput = (): readonly JsonObject[] =>
    messages.flatMap((message, at) =>
      inputItems(message, ['messages', at], wire.body, at < stored ? storedContext : context),
    )
  const fields = {
    ...(model === node.model ? {} : { model }),
    ...(stream === node.stream ? {} : { stream }),
    ...(messages.length === node.messages.length &&
    messages.every((message, at) => message === node.messages[at] && isAccepted(message, context))
      ? {}
      : { input: withoutLastReasoning(writeInput(), reasoning, losses) }),
    ...(options.otherModel === true ? settingsForModel(request, wire.body, dialect, losses) : {}),
  }
  // The gateway may run background work itself.
  const removed = state?.background === node.state?.background ? [] : BACKGROUND_FIELDS
  if (removed.length > 0) context.losses.dropFields(request.extras?.[FORMAT], ['extras', FORMAT], BACKGROUND_OPTIONS)
  const path = wire.path.replace(/^\/v1(?=\/)/, '')
  const legal = { ...fields, ...withLegalTools(wire.body, dialect, losses) }
  const body = withoutRefusedFields(withFields(wire.body, legal, removed), dialect, losses)
  return { wire: { ...wire, path, body }, losses: losses.list }
}

/** Options of background work, such as a window of hours at a lower price. Upstreams refuse them without it. */
const BACKGROUND_OPTIONS = { background_options: 'gateway-runs-background-work' } as const
const BACKGROUND_FIELDS: readonly string[] = ['background', ...Object.keys(BACKGROUND_OPTIONS)]

/** Returns true if the upstream accepts the message as received. */
const isAccepted = ({ role, content }: Message, { dialect }: WriteContext): boolean =>
  role !== 'assistant' ||
  content.every(part => part.type !== 'reasoning' || (!neverReasons(dialect) && inputItem(part) !== undefined))

/**
 * Returns the item from which a part of an assistant turn was read, or undefined for reasoning that the gateway wrapped
 * or that has no signature.
 */
function inputItem(part: Part): JsonObject | undefined {
  const item = unchangedWire<JsonObject>(part, FORMAT)
  if (part.type !== 'reasoning' || item === undefined) return item
  const { id, encrypted_content: encrypted } = item
  if (part.signature !== undefined)
    return part.signature.format === FORMAT && part.signature.value === encrypted ? item : undefined
  return (encrypted == null || encrypted === '') && !stringIn(id).startsWith(`${FOREIGN_REASONING}_`) ? item : undefined
}

/** Writes the items of a message. The message read from `instructions` has none. */
function inputItems(message: Message, path: Path, body: JsonObject, context: WriteContext): readonly JsonObject[] {
  const originalMessage = unchangedWire<JsonObject>(message, FORMAT)
  if (originalMessage !== undefined) return [originalMessage]
  if (message.role !== 'assistant')
    return path[1] === 0 && body['instructions'] != null ? [] : writeMessage(message, path, context)
  return message.content.flatMap((part, index): readonly JsonObject[] => {
    const at = [...path, 'content', index]
    // Any other part belongs to the message of an earlier part.
    const item =
      (part.type === 'reasoning' && neverReasons(context.dialect) ? undefined : inputItem(part)) ??
      (part.type === 'reasoning' ? writeSignedReasoning(part, at, context) : undefined)
    if (item === undefined) return []
    if (part.type === 'reasoning') context.reasoning?.set(item, at)
    return [item]
  })
}
