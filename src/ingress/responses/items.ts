import { AnswerIds } from '../../canonical/call-ids.ts'
import type { Part, ReasoningPart, ToolCallPart, ToolResultPart } from '../../canonical/content.ts'
import { isObject, type Json, type JsonObject, wireSourceOf } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { isEncrypted, unwrapReasoning, type WrappedReasoning } from '../../canonical/signature.ts'
import { anyText, defined, definedIfAny, extrasOf, isMaybe, objects, required, text, WrongType } from '../fields.ts'
import { readContent } from './content.ts'
import { readImageCall } from './images.ts'
import { readSearch } from './search.ts'
import { FORMAT, kindOfItem } from './wire.ts'

/** The known fields of a message. */
export const MESSAGE: ReadonlySet<string> = new Set(['type', 'role', 'content', 'id', 'status'])

const KNOWN_FIELDS = {
  reasoning: new Set(['type', 'role', 'id', 'status', 'summary', 'content', 'encrypted_content']),
  function_call: new Set(['type', 'role', 'id', 'status', 'call_id', 'name', 'arguments', 'namespace']),
  custom_tool_call: new Set(['type', 'role', 'id', 'status', 'call_id', 'name', 'input', 'namespace']),
  output: new Set(['type', 'role', 'id', 'status', 'call_id', 'output', 'name']),
}

/**
 * Reads the parts of an assistant item. Unknown fields of a message become extras of its first part, under `message`. A
 * search becomes a call, its results or both. An item of an unknown type becomes one opaque part.
 */
export function readItem(wire: JsonObject, content: typeof readContent = readContent): readonly Part[] {
  switch (kindOfItem(wire)) {
    case 'message':
      return readAssistantMessage(wire, content)
    case 'reasoning':
      return [readReasoning(wire)]
    case 'function_call':
      return [readFunctionCall(wire)]
    case 'custom_tool_call':
      return [readCustomCall(wire)]
    default:
      text(wire['type'])
      return readSearch(wire) ?? [readImageCall(wire) ?? opaqueItem(wire)]
  }
}

/** Creates an opaque part from an item. */
export const opaqueItem = (value: JsonObject): Part => ({
  type: 'opaque',
  format: FORMAT,
  value,
  ...(REFERENCES.has(value['type']) ? { reference: true } : {}),
  ...(value['type'] === 'compaction' && isEncrypted(value['encrypted_content'])
    ? { encrypted: value['encrypted_content'] }
    : {}),
})

/** Types of items that refer to other turns, which the upstream has stored or compacted. */
const REFERENCES = new Set<Json | undefined>(['item_reference', 'compaction', 'compaction_summary'])

/**
 * Like `readItem`, but for an upstream's items. A malformed item becomes opaque. The first part records the item for
 * callers of the same format.
 *
 * @param mark the spelling under which the item is recorded: `item` if it is complete, `begun` if it has just started.
 */
export function readAnyItem(
  wire: JsonObject,
  content: typeof readContent,
  mark: 'item' | 'begun' = 'item',
): readonly Part[] {
  const parts = readLeniently(wire, content)
  const first = parts[0]!
  const marks = first.spelling?.[FORMAT]
  if (first.type === 'opaque' && marks === undefined) return parts
  const item = first.type === 'reasoning' ? withoutReasoningText(wire, mark === 'begun') : wire
  return [{ ...first, spelling: { [FORMAT]: { ...marks, [mark]: item } } }, ...parts.slice(1)]
}

function readLeniently(wire: JsonObject, content: typeof readContent): readonly Part[] {
  if (kindOfItem(wire) === 'message' && (wire['role'] ?? 'assistant') !== 'assistant') return [opaqueItem(wire)]
  const image = readImageCall(wire)
  if (image !== undefined) return [image]
  try {
    // An id of another type counts as missing, so that the call is not lost.
    return readItem(isMaybe(wire['call_id'], 'string') ? wire : { ...wire, call_id: null }, content)
  } catch (thrown) {
    if (thrown instanceof WrongType) return [opaqueItem(wire)]
    throw thrown
  }
}

/**
 * Returns a reasoning item without the text and signature that the part already has, because remembered reasoning would
 * otherwise take twice the memory.
 */
function withoutReasoningText(wire: JsonObject, isStart: boolean): JsonObject {
  const { encrypted_content: signature, ...frame } = { ...wire }
  if (Array.isArray(frame['summary'])) frame['summary'] = []
  if (Array.isArray(frame['content'])) frame['content'] = []
  return signature === undefined || (typeof signature === 'string' && !isStart)
    ? frame
    : { ...frame, encrypted_content: signature }
}

/**
 * Checks that an item's id and status are strings. Neither has a meaning in a history.
 *
 * @throws WrongType.
 */
export function checkIdAndStatus({ id, status }: JsonObject): void {
  text(id)
  text(status)
}

function readAssistantMessage(wire: JsonObject, content: typeof readContent): readonly Part[] {
  checkIdAndStatus(wire)
  const [first = { type: 'text', text: '' } as const, ...others] = content(wire['content'])
  const message = extrasOf(FORMAT, wire, MESSAGE).extras?.[FORMAT]
  if (message === undefined) return [first, ...others]
  if (first.extras?.[FORMAT]?.['message'] !== undefined) return [opaqueItem(wire)]
  return [{ ...first, extras: { [FORMAT]: { ...first.extras?.[FORMAT], message } } }, ...others]
}

/**
 * Creates the ids for the calls of an answer. Callers of this format get the ids of the upstream as they are, because
 * they match calls by item.
 */
export const callIdsFor = (request: CanonicalRequest): AnswerIds | undefined =>
  wireSourceOf(request, FORMAT) === undefined ? new AnswerIds(request) : undefined

/** Gives a new id to a call whose id is missing, repeated or in the history, because callers match by id (trap 6). */
export const withCallId = (part: Part, ids: AnswerIds | undefined): Part =>
  ids === undefined || part.type !== 'tool-call' ? part : { ...part, id: ids.call(part.id, part.name) }

/** Separator between the texts of one reasoning item: an empty line. */
export const SEPARATOR = '\n\n'

function readReasoning(wire: JsonObject): ReasoningPart {
  checkIdAndStatus(wire)
  const summary = objects(wire['summary'])
  const content = objects(wire['content'])
  const signature = text(wire['encrypted_content'])
  const entries = summary !== undefined && summary.length > 0 ? summary : (content ?? [])
  const inContent = entries.length > 0 && entries === content
  const unreadFields: string[] = []
  const texts = textsOf(entries, inContent ? 'reasoning_text' : 'summary_text')
  if (!texts.plain) unreadFields.push(inContent ? 'content' : 'summary')
  if (!inContent && content !== undefined && content.length > 0) unreadFields.push('content')
  if (signature === '') unreadFields.push('encrypted_content')
  const marks = definedIfAny({ as: inContent ? 'content' : undefined, cuts: texts.cuts })
  return {
    type: 'reasoning',
    text: texts.text,
    ...readEncryptedContent(signature ?? ''),
    ...extrasOf(FORMAT, wire, KNOWN_FIELDS.reasoning, unreadFields),
    ...(marks === undefined ? {} : { spelling: { [FORMAT]: marks } }),
  }
}

/**
 * Joins the texts of reasoning. Records the offsets of the boundaries if they cannot be derived from the joined text.
 */
function textsOf(entries: readonly JsonObject[], type: string) {
  const cuts: number[] = []
  let joinedText = ''
  let plain = true
  for (const [index, entry] of entries.entries()) {
    if (index > 0) {
      cuts.push(joinedText.length)
      joinedText += SEPARATOR
    }
    joinedText += anyText(entry['text']) ?? ''
    plain &&= entry['type'] === type && typeof entry['text'] === 'string' && Object.keys(entry).length === 2
  }
  const needsCuts = cuts.length > 0 || (entries.length === 1 && joinedText === '')
  return { text: joinedText, plain, cuts: needsCuts ? cuts : undefined }
}

/**
 * Reads `encrypted_content`. A wrapped signature contains the reasoning that was signed, which replaces the text that
 * the client sent.
 */
const readEncryptedContent = (signature: string): WrappedReasoning =>
  signature === '' ? {} : (unwrapReasoning(signature, FORMAT)[0] ?? {})

function readFunctionCall(wire: JsonObject): ToolCallPart {
  const argumentsValue = wire['arguments'] ?? undefined
  return {
    ...readCallHead(wire),
    arguments: isObject(argumentsValue) ? JSON.stringify(argumentsValue) : (text(argumentsValue) ?? ''),
    ...extrasOf(FORMAT, wire, KNOWN_FIELDS.function_call),
  }
}

const readCustomCall = (wire: JsonObject): ToolCallPart => ({
  ...readCallHead(wire),
  arguments: text(wire['input']) ?? '',
  freeform: true,
  ...extrasOf(FORMAT, wire, KNOWN_FIELDS.custom_tool_call),
})

function readCallHead(wire: JsonObject) {
  checkIdAndStatus(wire)
  return {
    type: 'tool-call',
    id: text(wire['call_id']) ?? text(wire['id']) ?? '',
    name: required(text(wire['name'])),
    ...defined({ namespace: text(wire['namespace']) }),
  } as const
}

/** Reads the result of a tool call. */
export function readOutput(wire: JsonObject): ToolResultPart {
  checkIdAndStatus(wire)
  return {
    type: 'tool-result',
    id: text(wire['call_id']) ?? '',
    ...defined({ name: text(wire['name']) }),
    content: readContent(wire['output']),
    ...(wire['type'] === 'custom_tool_call_output' ? { freeform: true as const } : {}),
    ...extrasOf(FORMAT, wire, KNOWN_FIELDS.output),
  }
}
