import { append } from '../../canonical/append.ts'
import type { CacheHint, MediaPart, Part, ToolResultPart } from '../../canonical/content.ts'
import { kindOfMediaType, sourceOfUrl } from '../../canonical/media/data-url.ts'
import { isSoundlessBase64 } from '../../canonical/media/wav.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { Message, Role } from '../../canonical/request.ts'
import { defined, nested, object, objects, required, rest, spelling, text, WrongType, withDefined } from '../fields.ts'
import { readCall, readLegacyCall } from './calls.ts'
import { readThinkingPart } from './thoughts.ts'
import { KNOWN_PARTS, ROLES } from './wire.ts'

const FORMAT = 'chat'

const TAKEN = {
  message: new Set([
    'role',
    'content',
    'name',
    'tool_call_id',
    'tool_calls',
    'function_call',
    'refusal',
    'reasoning',
    'reasoning_content',
    'audio',
    'annotations',
  ]),
  text: new Set(['type', 'text', 'cache_control', 'prompt_cache_breakpoint']),
  image: new Set(['type', 'image_url', 'cache_control', 'prompt_cache_breakpoint']),
  video: new Set(['type', 'video_url', 'cache_control', 'prompt_cache_breakpoint']),
  audio: new Set(['type', 'input_audio', 'cache_control', 'prompt_cache_breakpoint']),
  file: new Set(['type', 'file', 'cache_control', 'prompt_cache_breakpoint']),
  document: new Set(['type', 'document_url', 'document_name', 'cache_control', 'prompt_cache_breakpoint']),
  refusal: new Set(['type', 'refusal', 'cache_control', 'prompt_cache_breakpoint']),
}

export const readMessages = (wire: readonly JsonObject[]): readonly Message[] => wire.map(readMessage)

/** One message of a request; a tool's result is a message of the role `tool` with one result. */
function readMessage(wire: JsonObject): Message {
  const role = text(wire['role'])
  if (role === undefined || !ROLES.has(role)) throw WrongType.instance
  if (role === 'tool' || role === 'function') return readToolMessage(wire, role)
  const parts = readContent(wire['content'])
  const content = role === 'assistant' ? [...readThoughts(wire), ...parts, ...readAnswer(wire)] : parts
  const node = rest(FORMAT, wire, role === 'assistant' ? TAKEN.message : TAKEN_BY_OTHERS, spellMessage(wire, parts))
  return withDefined(
    { role: role as Role, content },
    { name: text(wire['name']), extras: node.extras, spelling: node.spelling },
  )
}

const TAKEN_BY_OTHERS = new Set(['role', 'content', 'name'])

function spellMessage(wire: JsonObject, parts: readonly Part[]): JsonObject | undefined {
  const content = wire['content']
  return spelling({
    content:
      typeof content === 'string' ? 'string' : content === undefined && parts.length === 0 ? 'absent' : undefined,
    calls: Array.isArray(wire['tool_calls']) && wire['tool_calls'].length === 0 ? 'empty' : undefined,
    thoughts: typeof wire['reasoning'] === 'string' ? 'reasoning' : undefined,
    // Where the text of an earlier answer came from: upstreams send it and never read it.
    annotations: wire['role'] === 'assistant' ? (wire['annotations'] ?? undefined) : undefined,
  })
}

/** A string is one text part; so is each text of a list. */
export function readContent(wire: Json | undefined): readonly Part[] {
  if (typeof wire === 'string') return [{ type: 'text', text: wire }]
  return objects(wire)?.map(readPart) ?? []
}

function readPart(wire: JsonObject): Part {
  const type = required(text(wire['type']))
  if (!KNOWN_PARTS.has(type)) return { type: 'opaque', format: FORMAT, value: wire }
  return { ...PARTS[type]!(wire), ...readCache(wire) } as Part
}

const PARTS: { readonly [type: string]: (wire: JsonObject) => Part } = {
  text: wire => ({ type: 'text', text: required(text(wire['text'])), ...rest(FORMAT, wire, TAKEN.text) }),
  image_url: wire => readLink(wire, 'image_url', 'image', TAKEN.image),
  video_url: wire => readLink(wire, 'video_url', 'video', TAKEN.video),
  input_audio: wire => {
    const audio = required(object(wire['input_audio']))
    const format = required(text(audio['format']))
    const data = required(text(audio['data']))
    if (isSoundlessBase64(data)) throw WrongType.instance
    const source = {
      type: 'base64',
      mediaType: AUDIO_TYPES[format] ?? `audio/${format}`,
      data,
    } as const
    return {
      type: 'media',
      kind: 'audio',
      source,
      ...nested(FORMAT, wire, 'input_audio', audio, AUDIO, TAKEN.audio, { format }),
    }
  },
  file: readFile,
  document_url: readDocument,
  refusal: wire => ({ type: 'refusal', text: required(text(wire['refusal'])), ...rest(FORMAT, wire, TAKEN.refusal) }),
  thinking: wire => required(readThinkingPart(wire)),
}

const AUDIO = new Set(['data', 'format'])
const LINK = new Set(['url', 'detail'])
const FILE = new Set(['file_data', 'file_id', 'filename'])

const AUDIO_TYPES: { readonly [format: string]: string } = { mp3: 'audio/mpeg', pcm16: 'audio/pcm' }

/** An image or a video by its link, which may be a string or an object. */
export function readLink(
  wire: JsonObject,
  field: string,
  kind: 'image' | 'video',
  taken: ReadonlySet<string>,
): MediaPart {
  const bare = wire[field]
  if (typeof bare === 'string')
    return { type: 'media', kind, source: sourceOfUrl(bare), ...rest(FORMAT, wire, taken, { link: 'string' }) }
  const link = required(object(bare))
  const source = sourceOfUrl(required(text(link['url'])))
  return {
    type: 'media',
    kind,
    source,
    ...defined({ detail: text(link['detail']) }),
    ...nested(FORMAT, wire, field, link, LINK, taken),
  }
}

function readFile(wire: JsonObject): Part {
  const file = required(object(wire['file']))
  const data = text(file['file_data'])
  const id = text(file['file_id'])
  const name = text(file['filename'])
  const both = data !== undefined && id !== undefined
  if (data === undefined && id === undefined) return { type: 'opaque', format: FORMAT, value: wire }
  const source = data === undefined ? ({ type: 'file-id', format: FORMAT, id: id! } as const) : sourceOfUrl(data)
  const mediaType = source.type === 'base64' ? source.mediaType : undefined
  return {
    type: 'media',
    kind: kindOfMediaType(mediaType),
    source,
    ...defined({ name }),
    ...nested(FORMAT, wire, 'file', file, both ? FILE_DATA : FILE, TAKEN.file, { as: 'file' }),
  }
}

/** Mistral's part for a file by its address. */
function readDocument(wire: JsonObject): Part {
  const link = wire['document_url']
  const url = typeof link === 'string' ? { url: link } : required(object(link))
  const name = text(wire['document_name'])
  const node =
    typeof link === 'string'
      ? rest(FORMAT, wire, TAKEN.document, { as: 'document_url' })
      : nested(FORMAT, wire, 'document_url', url, URL_ONLY, TAKEN.document, { as: 'document_url', link: 'object' })
  const source = sourceOfUrl(required(text(url['url'])))
  const kind = source.type === 'base64' ? kindOfMediaType(source.mediaType) : 'file'
  return { type: 'media', kind, source, ...defined({ name }), ...node }
}

const URL_ONLY = new Set(['url'])
const FILE_DATA = new Set(['file_data', 'filename'])

/** OpenRouter's `cache_control` and OpenAI's `prompt_cache_breakpoint` mean the same. */
export function readCache(wire: JsonObject): { cache?: CacheHint } {
  for (const field of ['cache_control', 'prompt_cache_breakpoint']) {
    const hint = object(wire[field])
    if (hint !== undefined)
      return { cache: { ...defined({ ttl: text(hint['ttl']) }), spelling: { [FORMAT]: { [field]: hint } } } }
  }
  return {}
}

function readThoughts(wire: JsonObject): readonly Part[] {
  const named = text(wire['reasoning_content'])
  const bare = text(wire['reasoning'])
  const reasoning = named ?? bare
  return reasoning === undefined ? [] : [{ type: 'reasoning', text: reasoning }]
}

/** What an assistant message has beside its content: a refusal, audio, calls. */
function readAnswer(wire: JsonObject): readonly Part[] {
  const parts: Part[] = []
  const refusal = text(wire['refusal'])
  if (refusal !== undefined) parts.push({ type: 'refusal', text: refusal, spelling: { [FORMAT]: { as: 'field' } } })
  const audio = object(wire['audio'])
  if (audio !== undefined) {
    const source = { type: 'file-id', format: FORMAT, id: required(text(audio['id'])) } as const
    parts.push({ type: 'media', kind: 'audio', source, ...rest(FORMAT, audio, new Set(['id'])) })
  }
  for (const call of objects(wire['tool_calls']) ?? []) append(parts, readCall(call))
  const legacy = object(wire['function_call'])
  if (legacy !== undefined) parts.push(readLegacyCall(legacy))
  return parts
}

function readToolMessage(wire: JsonObject, role: 'tool' | 'function'): Message {
  const name = text(wire['name'])
  const legacy = role === 'function'
  const id = legacy ? (name ?? '') : (text(wire['tool_call_id']) ?? '')
  const content = readContent(wire['content'])
  const spelt = spelling({
    as: legacy ? 'function' : undefined,
    content: typeof wire['content'] === 'string' ? 'string' : wire['content'] === undefined ? 'absent' : undefined,
    id: !legacy && wire['tool_call_id'] === undefined ? 'absent' : undefined,
  })
  const result: ToolResultPart = {
    type: 'tool-result',
    id,
    ...defined({ name }),
    content,
    ...rest(FORMAT, wire, legacy ? TAKEN_BY_OTHERS : TAKEN_BY_TOOLS, spelt),
  }
  return { role: 'tool', content: [result] }
}

const TAKEN_BY_TOOLS = new Set(['role', 'content', 'name', 'tool_call_id'])
