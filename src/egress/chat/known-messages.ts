import type { Part } from '../../canonical/content.ts'
import type { Losses, Path } from '../../canonical/loss.ts'
import { isObject, type Json, type JsonObject, type Node, stringIn } from '../../canonical/node.ts'
import type { CanonicalRequest, Message } from '../../canonical/request.ts'
import { withFields } from '../native.ts'
import { FORMAT } from './content.ts'

/** Returns true for a field that the upstream takes in an object of this kind. */
type Takes = (field: string) => boolean

/** Fields that an upstream takes in messages, in their parts and in calls. */
export interface KnownFields {
  readonly message: Takes
  readonly part: Takes
  readonly call: Takes
}

const all: Takes = () => true
const among = (...fields: readonly string[]): Takes => {
  const known = new Set(fields)
  return field => known.has(field)
}

/** Types of parts and calls whose fields are known. Any other is refused or taken as a whole. */
const CONTENTS = ['text', 'image_url', 'video_url', 'input_audio', 'file', 'refusal'] as const
const PART_TYPES: ReadonlySet<string> = new Set(CONTENTS)
const CALL_TYPES: ReadonlySet<string> = new Set(['function'])

/** Messages have no names, as at Groq. */
export const ALL_BUT_NAMES: KnownFields = { message: field => field !== 'name', part: all, call: all }

/**
 * Fields of the schemas `ChatMessage`, `ChatMessageContent` and `ChatCompletionMessageToolCall` of Fireworks, which take
 * no others (fireworks-ai 1.2.30, PyPI, and api-evangelist/fireworks-ai, `openapi/`, read on 2026-12-01). Agents return
 * whole messages of OpenAI's SDKs, with `refusal`, `annotations` and `audio`, and calls with their `index`.
 */
export const STRICT_MESSAGES: KnownFields = {
  // The writers put reasoning into the field that the dialect declares.
  message: among('role', 'content', 'reasoning_content', 'reasoning', 'tool_calls', 'tool_call_id'),
  part: among('type', ...CONTENTS),
  call: among('id', 'type', 'function'),
}

/** Leaves out what the upstream refuses in messages. */
export function withKnownMessages(
  body: JsonObject,
  { messages }: CanonicalRequest,
  known: KnownFields,
  losses: Losses,
): JsonObject {
  messages.forEach((message, index) => {
    const path = ['messages', index]
    if (message.name !== undefined && !known.message('name')) losses.drop([...path, 'name'], 'no-names')
    dropExtras(message, path, known.message, losses)
    for (const [at, part] of partsWithin(message.content, path))
      dropExtras(part, at, part.type === 'tool-call' ? known.call : known.part, losses)
  })
  const wire = Array.isArray(body['messages']) ? (body['messages'] as readonly Json[]) : []
  if (!MARKERS.every(known.part) && wire.some(isMarked)) dropMarkers(messages, losses)
  const written = wire.map(message => (isObject(message) ? knownMessage(message, known) : message))
  return written.some((message, at) => message !== wire[at]) ? withFields(body, { messages: written }) : body
}

/** Returns the messages without extras of this format that the upstream refuses. They are reported as lost. */
export const withKnownExtras = (messages: readonly Message[], known: KnownFields, losses: Losses): readonly Message[] =>
  messages.map((message, index) => {
    const path = ['messages', index]
    return {
      ...takenNode(message, path, known.message, losses),
      content: takenParts(message.content, path, known, losses),
    }
  })

const takenParts = (parts: readonly Part[], path: Path, known: KnownFields, losses: Losses): readonly Part[] =>
  parts.map((part, at) => {
    const place = [...path, 'content', at]
    const taken = takenNode(part, place, part.type === 'tool-call' ? known.call : known.part, losses)
    return taken.type === 'tool-result'
      ? { ...taken, content: takenParts(taken.content, place, known, losses) as typeof taken.content }
      : taken
  })

function takenNode<N extends Node>(node: N, path: Path, takes: Takes, losses: Losses): N {
  const own = node.extras?.[FORMAT]
  const refused = Object.keys(own ?? {}).filter(field => !takes(field))
  if (own === undefined || refused.length === 0) return node
  for (const field of refused) losses.drop([...path, 'extras', FORMAT, field], 'no-equivalent-field')
  return { ...node, extras: { ...node.extras, [FORMAT]: withFields(own, {}, refused) } }
}

/** Fields of parts that mark a prefix to be cached. */
const MARKERS = ['cache_control', 'prompt_cache_breakpoint'] as const

const hasMarker = (object: Json): boolean => isObject(object) && MARKERS.some(marker => object[marker] !== undefined)

const isMarked = (message: Json): boolean =>
  hasMarker(message) || (isObject(message) && Array.isArray(message['content']) && message['content'].some(hasMarker))

function dropMarkers(messages: readonly Message[], losses: Losses): void {
  for (const [index, { content }] of messages.entries())
    for (const [path, part] of partsWithin(content, ['messages', index]))
      if (part.cache !== undefined) losses.drop([...path, 'cache'], 'no-cache-markers')
}

/** Yields the parts of a turn, and those of the results among them, each with its path. */
function* partsWithin(content: readonly Part[], path: Path): Generator<readonly [Path, Part]> {
  for (const [at, part] of content.entries()) {
    yield [[...path, 'content', at], part]
    if (part.type === 'tool-result') yield* partsWithin(part.content, [...path, 'content', at])
  }
}

function dropExtras({ extras }: Node, path: Path, takes: Takes, losses: Losses): void {
  for (const [field, value] of Object.entries(extras?.[FORMAT] ?? {}))
    if (!takes(field) && value != null) losses.drop([...path, 'extras', FORMAT, field], 'no-equivalent-field')
}

/** Returns true for the result of a deprecated call, which must have the name of its function. */
const isLegacyResult = ({ role }: JsonObject): boolean => role === 'function'

function knownMessage(message: JsonObject, known: KnownFields): JsonObject {
  const { content, tool_calls: calls } = message
  const parts = knownItems(content, known.part, PART_TYPES)
  const takenCalls = knownItems(calls, known.call, CALL_TYPES)
  const changes = {
    ...(parts === content ? {} : { content: parts }),
    ...(takenCalls === calls ? {} : { tool_calls: takenCalls }),
  }
  return withFields(message, changes, unknownIn(message, isLegacyResult(message) ? all : known.message))
}

function knownItems(items: Json | undefined, takes: Takes, types: ReadonlySet<string>): Json | undefined {
  if (!Array.isArray(items)) return items
  const list = items as readonly Json[]
  const taken = list.map(item =>
    isObject(item) && types.has(stringIn(item['type'])) ? withFields(item, {}, unknownIn(item, takes)) : item,
  )
  return taken.some((item, at) => item !== list[at]) ? taken : items
}

const unknownIn = (object: JsonObject, takes: Takes): readonly string[] =>
  Object.keys(object).filter(field => !takes(field))
