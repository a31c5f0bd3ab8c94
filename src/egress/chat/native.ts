import type { Part, ReasoningPart } from '../../canonical/content.ts'
import { append } from '../../canonical/lists.ts'
import { Losses, type Path, type Written } from '../../canonical/loss.ts'
import { type Json, type JsonObject, type WireSource, wireSourceOf } from '../../canonical/node.ts'
import type { CanonicalRequest, Message } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { type ChatDialect, chatDialect } from '../../formats/dialects/chat.ts'
import { spellingFor } from '../fields.ts'
import type { NativeRequest } from '../native.ts'
import { nativeRequestBody } from '../stream-options.ts'
import type { ReasoningTarget, WriteOptions } from '../writer.ts'
import { withAcceptedFields } from './accepted.ts'
import { isOfUpstream, signatureExtra } from './answer.ts'
import { SEPARATOR, thinkingPart } from './assistant.ts'
import { FORMAT, type WriteContext } from './content.ts'
import { demandedFrom, withDemandedReasoning } from './demanded-reasoning.ts'
import { answerTools, withLegalIds, writeMessages } from './messages.ts'
import { withEffortForModel, withoutRefusedFields } from './native-settings.ts'
import { detailsIn } from './reasoning-details.ts'
import { hasOtherField, withOwnField } from './reasoning-field.ts'
import { withNativeSwitch } from './reasoning-settings.ts'
import { withoutUnknownFields } from './refused-fields.ts'
import { withNativeTemperature } from './temperature.ts'

export const PATH = '/chat/completions'

/**
 * Passes on a request of this format as received, except for the gateway's changes and the fields that the dialect
 * excludes.
 */
export function writeNativeRequest(
  request: CanonicalRequest,
  source: NativeRequest,
  options: WriteOptions,
): Written<WireRequest> {
  const dialect = chatDialect(options.dialect)
  const losses = new Losses()
  const context = { dialect, losses, reasoningFrom: demandedFrom(request, dialect) }
  const messages = nativeMessages(request, source.node, context)
  const changedFields = messages === undefined ? {} : { messages }
  const nativeBody = nativeRequestBody(request, source, dialect.include_usage === true, changedFields)
  const switched = withNativeSwitch(nativeBody, request, source, context)
  const settled = options.otherModel === true ? withEffortForModel(request, switched, context) : switched
  const chosen = withNativeTemperature(request, withoutRefusedFields(request, settled, context), context)
  const taken = withAcceptedFields(chosen, context)
  const body = withoutUnknownFields(taken, request, context)
  return { wire: { path: PATH, query: {}, headers: {}, body }, losses: losses.list }
}

/** Roles of messages in which the gateway changes only call ids and reasoning. */
const CHANGEABLE_ROLES: ReadonlySet<Message['role']> = new Set(['assistant', 'tool'])

/** Writes the messages and rewrites those that changed. Returns undefined if none has changed. */
function nativeMessages(
  request: CanonicalRequest,
  originalRequest: CanonicalRequest,
  context: WriteContext,
): Json | undefined {
  const messages = withLegalIds(request.messages, context)
  const isChanged =
    messages.length !== originalRequest.messages.length ||
    messages.some(
      (originalMessage, at) =>
        originalMessage !== originalRequest.messages[at] ||
        hasWrappedSignature(originalMessage) ||
        isMisplaced(originalMessage, context.dialect),
    )
  if (!isChanged && context.dialect.after_tools !== 'assistant' && context.reasoningFrom === undefined) return undefined
  const wire: JsonObject[] = []
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'tool' && message.role !== 'assistant') answerTools(index, wire, context)
    const source = wireSourceOf<JsonObject, Message>(message, FORMAT)
    if (source === undefined || (source.node !== message && !CHANGEABLE_ROLES.has(message.role)))
      append(wire, writeMessages([message], { ...context, reasoningFrom: undefined }))
    else {
      const isUnchanged = source.node === message && !hasWrappedSignature(message)
      const turn = isUnchanged ? source.wire : nativeTurn(message, source, context, ['messages', index])
      wire.push(withDemandedReasoning(withOwnField(turn, context.dialect), messages, [index], context))
    }
  }
  return wire
}

/** Returns true if a turn came with reasoning in a field that the upstream does not read. */
function isMisplaced(message: Message, dialect: ChatDialect): boolean {
  const source = wireSourceOf<JsonObject, Message>(message, FORMAT)
  return source !== undefined && hasOtherField(source.wire, dialect)
}

/** Returns true if a call has a signature that the gateway wrapped, because another upstream issued it. */
const hasWrappedSignature = ({ role, content }: Message): boolean => role === 'assistant' && content.some(isWrapped)

const isWrapped = (part: Part): boolean =>
  part.type === 'reasoning' && part.signature?.format === 'contents' && part.text === '' && !isOfUpstream(part)

/**
 * Writes a message with replaced call ids or restored reasoning, and without wrapped signatures, which the upstream only
 * gets if it takes them. Everything else is unchanged.
 */
function nativeTurn(
  { role, content }: Message,
  { node, wire }: WireSource<Message, JsonObject>,
  { dialect, losses }: WriteContext,
  path: Path,
): JsonObject {
  const [first] = content
  if (role === 'tool' && first?.type === 'tool-result')
    return wire['role'] === 'tool' ? { ...wire, tool_call_id: first.id } : wire
  const originalParts = new Set(node.content)
  const restoredReasoning: ReasoningPart[] = []
  const restoredDetails: JsonObject[] = []
  const calls: JsonObject[] = []
  const wrappedCalls = new Set(node.content.filter((_, at) => at > 0 && isWrapped(node.content[at - 1]!)))
  let signatureFields: JsonObject = {}
  for (const [at, part] of content.entries())
    if (part.type === 'tool-call') {
      const call = wireSourceOf<JsonObject, typeof part>(part, FORMAT)
      if (call !== undefined) {
        const { extra_content: _, ...unsigned } = call.wire
        const callFields = wrappedCalls.has(call.node) ? unsigned : call.wire
        calls.push({ ...callFields, ...(part.id === call.node.id ? {} : { id: part.id }), ...signatureFields })
      }
      signatureFields = {}
    } else if (isWrapped(part) && originalParts.has(part)) {
      if (dialect.call_signatures === true) signatureFields = signatureExtra((part as ReasoningPart).signature!.value)
      else losses.drop([...path, 'content', at], 'signed-by-another')
    } else if (part.type === 'reasoning' && !originalParts.has(part)) {
      const details = detailsIn(part.signature)
      if (details !== undefined) append(restoredDetails, details)
      else if (part.signature !== undefined) signatureFields = signatureExtra(part.signature.value)
      if (part.spelling !== undefined && (details === undefined || part.text !== '')) restoredReasoning.push(part)
    }
  const isOfAnother = node.content.some(part => isDetailed(part) && !content.includes(part))
  const { reasoning_details: _, ...others } = wire
  return {
    ...(isOfAnother ? others : wire),
    ...reasoningFields(restoredReasoning, wire['content']),
    ...(restoredDetails.length === 0 ? {} : { reasoning_details: restoredDetails }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  }
}

/** Returns true for reasoning with details, which `withOwnSignatures` removes if another account issued them. */
const isDetailed = (part: Part): boolean => part.type === 'reasoning' && detailsIn(part.signature) !== undefined

/** Writes restored reasoning to the field that the upstream reads. */
function reasoningFields(restoredReasoning: readonly ReasoningPart[], content: Json | undefined): JsonObject {
  if (restoredReasoning.length === 0) return {}
  const { field, value } = spellingFor(restoredReasoning[0], FORMAT)
  if (value === undefined) return { [field as string]: restoredReasoning.map(({ text }) => text).join(SEPARATOR) }
  const parts = restoredReasoning.map(reasoning => spellingFor(reasoning, FORMAT)['value']!)
  if (Array.isArray(content)) return { content: [...parts, ...content] }
  return { content: content ? [...parts, { type: 'text', text: content }] : parts }
}

/**
 * Returns reasoning to the upstream in the field that the dialect declares. Any model's reasoning can be returned,
 * because its text is unsigned in this format (traps 35, 36). Google's signature of a call replaces the caller's, but is
 * only returned to Google (trap 31), as are details to their issuer.
 */
export function reasoningForHistory(
  reasoning: ReasoningPart,
  { dialect, native, toIssuer }: ReasoningTarget,
): ReasoningPart | undefined {
  const { text, signature, redacted } = reasoning
  const { reasoning_field: field = 'none', call_signatures } = chatDialect(dialect)
  if (text === '' && signature?.format === 'contents')
    return toIssuer && (native || call_signatures === true) ? { type: 'reasoning', text, signature } : undefined
  const signed = toIssuer && detailsIn(signature) !== undefined ? { signature: signature! } : undefined
  if (redacted || (text === '' && !toIssuer)) return undefined
  if (field === 'none') return signed && { type: 'reasoning', text, ...signed }
  if (!native) return { type: 'reasoning', text, ...signed }
  const value = spellingFor(reasoning, FORMAT)['value'] ?? thinkingPart(text)
  return { type: 'reasoning', text, ...signed, spelling: { [FORMAT]: field === 'parts' ? { value } : { field } } }
}
