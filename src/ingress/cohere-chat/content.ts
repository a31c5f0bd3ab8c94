import type { Part, ToolCallPart, ToolResultPart } from '../../canonical/content.ts'
import { sourceOfUrl } from '../../canonical/media/data-url.ts'
import { type Json, type JsonObject, withWireSource } from '../../canonical/node.ts'
import type { Message, Role } from '../../canonical/request.ts'
import { defined, extrasOf, extrasWithin, object, objects, required, text, WrongType } from '../fields.ts'
import { withCitations } from './citations.ts'
import { documentText } from './documents.ts'
import { FORMAT, PART_TYPES, ROLES } from './wire.ts'

/** Reads the messages of a request. */
export const readMessages = (wire: readonly JsonObject[]): readonly Message[] => wire.map(readMessage)

const PLAIN_FIELDS = new Set(['role', 'content'])
const TOOL = new Set(['role', 'content', 'tool_call_id'])
/** Fields that are read from an assistant message, in requests and in answers. */
export const ASSISTANT: ReadonlySet<string> = new Set(['role', 'content', 'tool_plan', 'tool_calls', 'citations'])

function readMessage(wire: JsonObject): Message {
  const role = text(wire['role'])
  if (role === undefined || !ROLES.has(role)) throw WrongType.instance
  if (role === 'tool') return withWireSource({ role, content: [readResult(wire)] }, FORMAT, wire)
  if (role === 'assistant') return withWireSource(readAssistant(wire), FORMAT, wire)
  const content = readContent(wire['content'], 'input')
  return withWireSource({ role: role as Role, content, ...extrasOf(FORMAT, wire, PLAIN_FIELDS) }, FORMAT, wire)
}

function readAssistant(wire: JsonObject): Message {
  const parts = [...readContent(wire['content'], 'spoken'), ...readPlan(text(wire['tool_plan']))]
  const { content, unplaced } = withCitations(parts, objects(wire['citations']) ?? [])
  const calls = (objects(wire['tool_calls']) ?? []).map(readCall)
  return { role: 'assistant', content: [...content, ...calls], ...assistantExtras(wire, unplaced) }
}

/** Returns extras for the unread fields of a message and for its citations that refer to no text. */
export function assistantExtras(wire: JsonObject, unplaced: readonly JsonObject[]): Pick<Message, 'extras'> {
  const node = extrasOf(FORMAT, wire, ASSISTANT)
  return unplaced.length === 0 ? node : { extras: { [FORMAT]: { ...node.extras?.[FORMAT], citations: unplaced } } }
}

/** Mark of the text in which the model explains its next tool calls. */
export const PLAN = { [FORMAT]: { plan: true } }

/** Reads the plan of a message as a text before its tool calls (docs/wire/cohere-chat.md#plans). */
export const readPlan = (plan: string | undefined): readonly Part[] =>
  plan === undefined || plan === '' ? [] : [{ type: 'text', text: plan, spelling: PLAN }]

/** Reads the content of a message: a string, or a list of parts. */
export function readContent(wire: Json | undefined, kind: keyof typeof PART_TYPES): readonly Part[] {
  if (typeof wire === 'string') return [{ type: 'text', text: wire }]
  return objects(wire)?.map(part => readPart(part, PART_TYPES[kind])) ?? []
}

/** Reads a part. A part of a type that is not in `types` becomes opaque. */
export function readPart(wire: JsonObject, types: ReadonlySet<string>): Part {
  const type = required(text(wire['type']))
  return types.has(type) ? PARTS[type]!(wire) : { type: 'opaque', format: FORMAT, value: wire }
}

const TEXT = new Set(['type', 'text'])
const THINKING = new Set(['type', 'thinking'])
const IMAGE = new Set(['type', 'image_url'])
const LINK = new Set(['url', 'detail'])
const DOCUMENT = new Set(['type', 'document'])
const DATA = new Set(['data'])

const PARTS: { readonly [type: string]: (wire: JsonObject) => Part } = {
  text: wire => ({ type: 'text', text: required(text(wire['text'])), ...extrasOf(FORMAT, wire, TEXT) }),
  thinking: wire => ({
    type: 'reasoning',
    text: required(text(wire['thinking'])),
    ...extrasOf(FORMAT, wire, THINKING),
  }),
  image_url: wire => {
    const link = required(object(wire['image_url']))
    return {
      type: 'media',
      kind: 'image',
      source: sourceOfUrl(required(text(link['url']))),
      ...defined({ detail: text(link['detail']) }),
      ...extrasWithin(FORMAT, wire, 'image_url', link, LINK, IMAGE),
    }
  },
  document: wire => {
    const document = required(object(wire['document']))
    text(document['id'])
    const { data } = document
    if (data == null) return { type: 'opaque', format: FORMAT, value: wire }
    const extras = extrasWithin(FORMAT, wire, 'document', document, DATA, DOCUMENT)
    const form = typeof data === 'string' ? 'text' : 'json'
    return { type: 'text', text: documentText(document), ...extras, spelling: { [FORMAT]: { document: form } } }
  },
}

function readResult(wire: JsonObject): ToolResultPart {
  return {
    type: 'tool-result',
    id: text(wire['tool_call_id']) ?? '',
    content: readContent(wire['content'], 'result'),
    ...extrasOf(FORMAT, wire, TOOL),
  }
}

const CALL = new Set(['id', 'type', 'function'])
const CALL_FIELDS = new Set(['name', 'arguments'])

/** Returns an opaque part for a tool call that other formats lack. */
export const opaqueCall = (value: JsonObject): Part => ({
  type: 'opaque',
  format: FORMAT,
  value,
  spelling: { [FORMAT]: { call: true } },
})

/** Reads one tool call. A call of any type other than `function` becomes opaque. */
export function readCall(wire: JsonObject): Part {
  const type = text(wire['type'])
  if (type !== undefined && type !== 'function') return opaqueCall(wire)
  const callBody = required(object(wire['function']))
  const call: ToolCallPart = {
    type: 'tool-call',
    id: text(wire['id']) ?? '',
    name: required(text(callBody['name'])),
    arguments: readArguments(text(callBody['arguments'])),
  }
  return { ...call, ...extrasWithin(FORMAT, wire, 'function', callBody, CALL_FIELDS, CALL) }
}

/** Reads the arguments of a call. Models write `null` for tools without parameters. */
const readArguments = (text = ''): string => (text === 'null' ? '' : text)
