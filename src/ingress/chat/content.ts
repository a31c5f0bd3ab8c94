import type {
  CacheHint,
  MediaPart,
  Part,
  ReasoningPart,
  ToolCallPart,
  ToolResultPart,
} from '../../canonical/content.ts'
import { append } from '../../canonical/lists.ts'
import { kindOfMediaType, sourceOfUrl } from '../../canonical/media/data-url.ts'
import { sniffBase64 } from '../../canonical/media/sniff.ts'
import { isEmptyAudioBase64 } from '../../canonical/media/wav.ts'
import { isObject, type Json, type JsonObject, withWireSource } from '../../canonical/node.ts'
import type { Message, Role } from '../../canonical/request.ts'
import { isWrappedReasoning, unwrapReasoning } from '../../canonical/signature.ts'
import { defined, extrasOf, extrasWithin, object, objects, required, text, WrongType } from '../fields.ts'
import { readThinkingPart } from './reasoning.ts'
import { signatureOfDetails } from './reasoning-details.ts'
import { FORMAT, isCustom, KNOWN_PARTS, MARKERS, ROLES } from './wire.ts'

/**
 * Fields that are read from an assistant message. Annotations count as read, because upstreams send them in answers but
 * do not accept them in requests.
 */
const ASSISTANT_FIELDS = new Set([
  ...['role', 'content', 'name', 'tool_calls', 'function_call', 'tool_call_id', 'refusal', 'audio', 'annotations'],
  ...['reasoning', 'reasoning_content'],
])
const MESSAGE_FIELDS = new Set(['role', 'content', 'name'])
const TOOL_FIELDS = new Set(['role', 'content', 'name', 'tool_call_id'])

/** Reads the messages of a request. */
export const readMessages = (wire: readonly JsonObject[]): readonly Message[] => wire.map(readMessage)

/** Reads one message of a request. A tool result becomes a message of role `tool` with one part. */
function readMessage(wire: JsonObject): Message {
  const role = text(wire['role'])
  if (role === undefined || !ROLES.has(role)) throw WrongType.instance
  if (role === 'tool' || role === 'function')
    return withWireSource({ role: 'tool', content: [readResult(wire, role)] }, FORMAT, wire)
  const parts = readContent(wire['content'])
  const content = role === 'assistant' ? [...readReasoning(wire), ...parts, ...readAnswer(wire)] : parts
  const { extras } = extrasOf(FORMAT, wire, role === 'assistant' ? assistantFields(wire) : MESSAGE_FIELDS)
  const name = text(wire['name'])
  const message = {
    role: role as Role,
    content,
    ...(name === undefined ? undefined : { name }),
    ...(extras === undefined ? undefined : { extras }),
  }
  return withWireSource(message, FORMAT, wire)
}

/** Returns the fields that are read from an assistant message. Those of some vendors are only read in their own form. */
function assistantFields(wire: JsonObject): ReadonlySet<string> {
  if (wire['reasoning_details'] == null && wire['images'] == null) return ASSISTANT_FIELDS
  const fields = new Set(ASSISTANT_FIELDS)
  if (signatureOfDetails(wire['reasoning_details']) !== undefined) fields.add('reasoning_details')
  if (readImages(wire['images']) !== undefined) fields.add('images')
  return fields
}

function readResult(wire: JsonObject, role: 'tool' | 'function'): ToolResultPart {
  const name = text(wire['name'])
  const isLegacy = role === 'function'
  return {
    type: 'tool-result',
    id: (isLegacy ? name : text(wire['tool_call_id'])) ?? '',
    ...defined({ name }),
    content: readContent(wire['content']),
    ...extrasOf(FORMAT, wire, isLegacy ? MESSAGE_FIELDS : TOOL_FIELDS),
  }
}

/** Reads the content of a message: a string, or a list of parts. */
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
  text: wire => ({
    type: 'text',
    text: required(text(wire['text'])),
    ...extrasOf(FORMAT, wire, knownFieldsOf('text')),
  }),
  image_url: wire => readLink(wire, 'image_url', 'image'),
  video_url: wire => readLink(wire, 'video_url', 'video'),
  input_audio: readAudio,
  file: readFile,
  document_url: readDocument,
  refusal: wire => ({
    type: 'refusal',
    text: required(text(wire['refusal'])),
    ...extrasOf(FORMAT, wire, knownFieldsOf('refusal')),
  }),
  thinking: wire => required(readThinkingPart(wire)),
}

/**
 * Returns the fields that are read from a part of this type. The content is in the field with the same name as the
 * type.
 */
const knownFieldsOf = (field: string): ReadonlySet<string> => KNOWN_FIELDS[field]!
const KNOWN_FIELDS: { readonly [field: string]: ReadonlySet<string> } = Object.fromEntries(
  [...KNOWN_PARTS].map(type => [type, new Set(['type', type, ...MARKERS])]),
)

const AUDIO = new Set(['data', 'format'])
const LINK = new Set(['url', 'detail'])
const FILE = new Set(['file_data', 'file_id', 'filename'])
const FILE_DATA = new Set(['file_data', 'filename'])

const AUDIO_TYPES: { readonly [format: string]: string } = { mp3: 'audio/mpeg', pcm16: 'audio/pcm' }

function readAudio(wire: JsonObject): Part {
  const audio = required(object(wire['input_audio']))
  const format = required(text(audio['format']))
  const data = required(text(audio['data']))
  if (isEmptyAudioBase64(data)) throw WrongType.instance
  return {
    type: 'media',
    kind: 'audio',
    source: {
      type: 'base64',
      mediaType: Object.hasOwn(AUDIO_TYPES, format) ? AUDIO_TYPES[format]! : `audio/${format}`,
      data,
    },
    ...extrasWithin(FORMAT, wire, 'input_audio', audio, AUDIO, knownFieldsOf('input_audio')),
  }
}

/** Reads an image or video given by URL, as a string or in an object. */
export function readLink(wire: JsonObject, field: string, kind: 'image' | 'video'): MediaPart {
  const value = wire[field]
  const link = typeof value === 'string' ? { url: value } : required(object(value))
  return {
    type: 'media',
    kind,
    source: sourceOfUrl(required(text(link['url']))),
    ...defined({ detail: text(link['detail']) }),
    ...extrasWithin(FORMAT, wire, field, link, LINK, knownFieldsOf(field)),
  }
}

/**
 * Reads the images of a message or delta from `images` beside `content`, as OpenRouter and Vercel's gateway send them
 * (openrouter.ai/docs/features/multimodal/image-generation, read 2026-11-22). Returns undefined if the value has
 * another form.
 */
export function readImages(wire: Json | undefined): readonly MediaPart[] | undefined {
  if (!Array.isArray(wire) || wire.length === 0) return undefined
  if (!wire.every(image => isObject(image) && image['type'] === 'image_url')) return undefined
  try {
    return wire.map(image => readLink(image, 'image_url', 'image'))
  } catch (thrown) {
    if (thrown instanceof WrongType) return undefined
    throw thrown
  }
}

function readFile(wire: JsonObject): Part {
  const file = required(object(wire['file']))
  const data = text(file['file_data'])
  const id = text(file['file_id'])
  if (data === undefined && id === undefined) return { type: 'opaque', format: FORMAT, value: wire }
  const source = data === undefined ? ({ type: 'file-id', format: FORMAT, id: id! } as const) : sourceOfUrl(data)
  return {
    type: 'media',
    kind: kindOfMediaType(source.type === 'base64' ? source.mediaType : undefined),
    source,
    ...defined({ name: text(file['filename']) }),
    ...extrasWithin(
      FORMAT,
      wire,
      'file',
      file,
      data !== undefined && id !== undefined ? FILE_DATA : FILE,
      knownFieldsOf('file'),
    ),
  }
}

/** Reads Mistral's part for a file given by URL. */
function readDocument(wire: JsonObject): Part {
  const link = wire['document_url']
  const url = typeof link === 'string' ? { url: link } : required(object(link))
  const source = sourceOfUrl(required(text(url['url'])))
  return {
    type: 'media',
    kind: source.type === 'base64' ? kindOfMediaType(source.mediaType) : 'file',
    source,
    ...defined({ name: text(wire['document_name']) }),
    ...extrasWithin(FORMAT, wire, 'document_url', url, URL_ONLY, DOCUMENT),
  }
}

const URL_ONLY = new Set(['url'])
const DOCUMENT = new Set([...knownFieldsOf('document_url'), 'document_name'])

/** Reads a cache marker: OpenRouter's `cache_control` or OpenAI's `prompt_cache_breakpoint`. Both mean the same. */
export function readCache(wire: JsonObject): { cache?: CacheHint } {
  for (const field of MARKERS) {
    const hint = object(wire[field])
    if (hint !== undefined) return { cache: defined({ ttl: text(hint['ttl']) }) }
  }
  return {}
}

function readReasoning(wire: JsonObject): readonly Part[] {
  const reasoningContent = text(wire['reasoning_content'])
  const reasoning = reasoningContent ?? text(wire['reasoning'])
  const signature = signatureOfDetails(wire['reasoning_details'])
  if (signature !== undefined) return [{ type: 'reasoning', text: reasoning ?? '', signature }]
  return reasoning === undefined ? [] : [{ type: 'reasoning', text: reasoning }]
}

/** Reads the parts of an assistant message that are outside its content: a refusal, audio, images and tool calls. */
function readAnswer(wire: JsonObject): readonly Part[] {
  const parts: Part[] = []
  const refusal = text(wire['refusal'])
  if (refusal !== undefined) parts.push({ type: 'refusal', text: refusal })
  const audio = object(wire['audio'])
  if (audio !== undefined) parts.push(readSpokenAnswer(audio))
  append(parts, readImages(wire['images']) ?? [])
  for (const call of objects(wire['tool_calls']) ?? []) append(parts, readCall(call))
  const legacy = object(wire['function_call'])
  if (legacy !== undefined) parts.push(readLegacyCall(legacy))
  return parts
}

/**
 * Reads the audio of an answer: the id that OpenAI's answers have, or else the data, which answers translated from
 * other formats have alone.
 */
function readSpokenAnswer(wire: JsonObject): Part {
  const id = text(wire['id'])
  if (id !== undefined) {
    const source = { type: 'file-id', format: FORMAT, id } as const
    return { type: 'media', kind: 'audio', source, ...extrasOf(FORMAT, wire, ID) }
  }
  const data = required(text(wire['data']))
  const source = { type: 'base64', mediaType: sniffBase64(data) ?? 'audio/wav', data } as const
  const transcript = text(wire['transcript'])
  return { type: 'media', kind: 'audio', source, ...defined({ transcript }), ...extrasOf(FORMAT, wire, SPOKEN) }
}

const ID = new Set(['id'])
const SPOKEN = new Set(['data', 'transcript'])

const CALL = new Set(['id', 'type', 'function', 'custom'])
const SIGNED_CALL = new Set([...CALL, 'extra_content'])
const CALL_BODY = { function: new Set(['name', 'arguments']), custom: new Set(['name', 'input']) }

/** Reads one tool call, preceded by a reasoning part for its thought signature if it has one. */
export function readCall(wire: JsonObject): readonly Part[] {
  const kind = isCustom(wire) ? 'custom' : 'function'
  const callBody = required(object(wire[kind]))
  const signature = readThoughtSignature(wire)
  const part: ToolCallPart = {
    type: 'tool-call',
    id: text(wire['id']) ?? '',
    name: required(text(callBody['name'])),
    arguments: kind === 'custom' ? (text(callBody['input']) ?? '') : argumentsOf(callBody['arguments']),
    ...(kind === 'custom' ? { freeform: true } : {}),
    ...extrasWithin(FORMAT, wire, kind, callBody, CALL_BODY[kind], signature === undefined ? CALL : SIGNED_CALL),
  }
  const call = withWireSource(part, FORMAT, wire)
  if (signature === undefined) return [call]
  return [signature, call]
}

const argumentsOf = (argumentsValue: Json | undefined): string =>
  isObject(argumentsValue) ? JSON.stringify(argumentsValue) : (text(argumentsValue) ?? '')

/**
 * Reads the thought signature of a call, `extra_content.google.thought_signature`, as a reasoning part. A value that
 * Google's chat endpoint wrote is marked. The gateway wraps signatures of other upstreams for callers of this format.
 */
export function readThoughtSignature(wire: JsonObject): ReasoningPart | undefined {
  const extra = wire['extra_content']
  const google = isObject(extra) ? extra['google'] : undefined
  const value = isObject(google) ? google['thought_signature'] : undefined
  if (
    typeof value !== 'string' ||
    Object.keys(extra as object).length !== 1 ||
    Object.keys(google as object).length !== 1
  )
    return undefined
  const signature = unwrapReasoning(value, SIGNATURE_FORMAT)[0]?.signature
  if (signature?.format !== SIGNATURE_FORMAT) return undefined
  return { type: 'reasoning', text: '', signature, ...(isWrappedReasoning(value) ? {} : WRITTEN_BY_UPSTREAM) }
}

/** Format whose upstreams issue the signatures of calls. */
const SIGNATURE_FORMAT = 'contents'

/** Spelling of a signature that an upstream of this format wrote. */
const WRITTEN_BY_UPSTREAM = { spelling: { [FORMAT]: { signature: 'call' } } }

/** Reads the deprecated `function_call`. The function's name serves as its id. */
export function readLegacyCall(wire: JsonObject): ToolCallPart {
  const name = required(text(wire['name']))
  const node = extrasOf(FORMAT, wire, CALL_BODY.function)
  return { type: 'tool-call', id: name, name, arguments: text(wire['arguments']) ?? '', ...node }
}
