import type { CacheHint, Part, ReasoningPart, ToolCallPart, ToolResultPart } from '../../canonical/content.ts'
import { isObject, type Json, type JsonObject, unchangedWire, withWireSource } from '../../canonical/node.ts'
import type { Message } from '../../canonical/request.ts'
import { unwrapReasoning } from '../../canonical/signature.ts'
import type { ConverseMedia } from '../../formats/settings/converse.ts'
import { defined, extrasOf, object, objects, required, text, WrongType } from '../fields.ts'
import { runsOf } from '../tools.ts'
import { readCited } from './citations.ts'
import { readMedia, textsIn } from './media.ts'
import { FORMAT, kindOf, ROLES } from './wire.ts'

/** Reads `system` as the first message. */
export function readSystem({ system }: JsonObject): readonly Message[] {
  const wire = objects(system)
  if (wire === undefined || wire.length === 0) return []
  return [withWireSource({ role: 'system', content: readBlocks(wire, SYSTEM) }, FORMAT, { content: wire })]
}

const TURN = new Set(['role', 'content'])

/** Reads one turn. A user turn with tool results becomes several messages; all but the first are marked `joined`. */
export function readTurn(wire: JsonObject): readonly Message[] {
  const role = text(wire['role']) as Message['role']
  if (!ROLES.includes(role as (typeof ROLES)[number])) throw WrongType.instance
  const content = readBlocks(required(objects(wire['content'])), BLOCKS)
  const node = extrasOf(FORMAT, wire, TURN)
  if (role !== 'user' || !content.some(isResult)) return [withWireSource({ role, content, ...node }, FORMAT, wire)]
  return runsOf(content).map((run, index): Message => {
    const message = {
      role: isResult(run[0]!) ? 'tool' : 'user',
      content: run,
      ...(index === 0 ? node : JOINED),
    } as const
    return withWireSource(message, FORMAT, wire)
  })
}

const JOINED = { spelling: { [FORMAT]: { joined: true } } }

const isResult = (part: Part): boolean => part.type === 'tool-result'

type Blocks = { readonly [kind: string]: (block: JsonObject) => Part }

/** Reads the blocks of a turn. A cache point marks the part before it. */
function readBlocks(wire: readonly JsonObject[], kinds: Blocks): readonly Part[] {
  const parts: Part[] = []
  for (const block of wire) {
    const part = readBlock(block, kinds)
    const last = parts.at(-1)
    const cache = part.type === 'opaque' ? cachePointOf(block) : undefined
    if (cache === undefined || last === undefined || last.type === 'opaque' || last.cache !== undefined)
      parts.push(part)
    else parts[parts.length - 1] = withCache(last, cache, block)
  }
  return parts
}

/** Adds a cache marker to a part. The part's recorded source remains its block, without the cache point. */
function withCache(part: Part, cache: CacheHint, point: JsonObject): Part {
  const cachedPart = { ...part, cache: withWireSource(cache, FORMAT, point) } as Part
  const source = unchangedWire<JsonObject>(part, FORMAT)
  return source === undefined ? cachedPart : withWireSource(cachedPart, FORMAT, source)
}

/** Reads a block that contains only a cache point. Returns undefined for any other block. */
export function cachePointOf(block: JsonObject): CacheHint | undefined {
  const point = block['cachePoint']
  if (!isObject(point)) return undefined
  for (const field in block) if (field !== 'cachePoint' && block[field] !== null) return undefined
  const ttl = text(point['ttl'])
  const type = text(point['type'])
  return { ...defined({ ttl }), ...extrasOf(FORMAT, point, type === 'default' ? CACHE_DEFAULT : CACHE) }
}

const CACHE = new Set(['ttl'])
const CACHE_DEFAULT = new Set(['ttl', 'type'])

/** Reads one block. A block of an unknown kind, or with additional fields, becomes opaque. */
export function readBlock(block: JsonObject, kinds: Blocks = BLOCKS): Part {
  const kind = kindOf(block, kinds)
  if (kind === undefined) return { type: 'opaque', format: FORMAT, value: block, ...textOfOpaque(block) }
  const part = kinds[kind]!(block)
  for (const field in block)
    if (field !== kind && block[field] !== null) return { type: 'opaque', format: FORMAT, value: block }
  return wasWrapped(part, block) ? part : withWireSource(part, FORMAT, block)
}

/** Returns the text of blocks that other formats lack: search results and guarded texts. */
function textOfOpaque(block: JsonObject): { readonly text?: string } {
  const { searchResult, guardContent } = block
  if (isObject(searchResult)) return textsIn(searchResult)
  const guardedText = isObject(guardContent) ? guardContent['text'] : undefined
  const inner = isObject(guardedText) ? guardedText['text'] : undefined
  return typeof inner === 'string' ? { text: inner } : {}
}

/**
 * Returns true if the gateway wrapped the signature of a reasoning part, so that the part differs from its wire value.
 */
function wasWrapped(part: Part, { reasoningContent }: JsonObject): boolean {
  if (part.type !== 'reasoning' || !isObject(reasoningContent)) return false
  const { reasoningText, redactedContent } = reasoningContent
  const value = isObject(reasoningText) ? reasoningText['signature'] : redactedContent
  return (part.signature?.value ?? '') !== (value ?? '')
}

const readText = ({ text: wire }: JsonObject): Part => ({ type: 'text', text: required(text(wire)) })

const mediaReader = (kind: ConverseMedia) => (block: JsonObject) => readMedia(block, kind)

/** Reads a cache point as an opaque part. `readBlocks` moves it to the part before it, if there is one. */
function readCachePoint(block: JsonObject): Part {
  const point = required(object(block['cachePoint']))
  text(point['type'])
  text(point['ttl'])
  return { type: 'opaque', format: FORMAT, value: block }
}

const SYSTEM: Blocks = { text: readText, cachePoint: readCachePoint }

const BLOCKS: Blocks = {
  text: readText,
  image: mediaReader('image'),
  document: mediaReader('document'),
  video: mediaReader('video'),
  audio: mediaReader('audio'),
  toolUse: readCall,
  toolResult: readResult,
  reasoningContent: readReasoning,
  citationsContent: readCited,
  cachePoint: readCachePoint,
}

const RESULTS: Blocks = {
  text: readText,
  json: ({ json }) => ({ type: 'text', text: JSON.stringify(json) }),
  image: mediaReader('image'),
  document: mediaReader('document'),
  video: mediaReader('video'),
}

const CALL = new Set(['toolUseId', 'name', 'input', 'type'])
/** Type that some models send for ordinary calls. */
const ORDINARY = 'tool_use'

/** Reads a tool call. Calls that the upstream runs itself have another type and become opaque. */
function readCall(block: JsonObject): Part {
  const wire = required(object(block['toolUse']))
  const id = required(text(wire['toolUseId']))
  const name = required(text(wire['name']))
  const type = text(wire['type'])
  if (type !== undefined && type !== ORDINARY) return { type: 'opaque', format: FORMAT, value: block }
  const call: ToolCallPart = { type: 'tool-call', id, name, arguments: argumentsOf(wire['input']) }
  return { ...call, ...extrasOf(FORMAT, wire, CALL) }
}

const argumentsOf = (input: Json | undefined): string =>
  input == null ? '' : typeof input === 'string' ? input : JSON.stringify(input)

const RESULT_FIELDS = new Set(['toolUseId', 'content', 'status'])

function readResult(block: JsonObject): Part {
  const wire = required(object(block['toolResult']))
  const id = required(text(wire['toolUseId']))
  const content = (objects(wire['content']) ?? []).map(one => readBlock(one, RESULTS))
  const status = text(wire['status'])
  if (text(wire['type']) !== undefined) return { type: 'opaque', format: FORMAT, value: block }
  const known = status === 'error' || status === 'success'
  const result: ToolResultPart = { type: 'tool-result', id, content, ...(status === 'error' ? { failed: true } : {}) }
  return { ...result, ...extrasOf(FORMAT, wire, RESULT_FIELDS, known ? undefined : ['status']) }
}

const REASONING_KINDS = { reasoningText: true, redactedContent: true }
const REASONING_TEXT = new Set(['text', 'signature'])
const REASONING_FIELDS = new Set(['reasoningText'])

/** Reads signed, unsigned or hidden reasoning (docs/wire/converse.md#reasoning). */
function readReasoning(block: JsonObject): Part {
  const wire = required(object(block['reasoningContent']))
  const kind = kindOf(wire, REASONING_KINDS)
  if (kind === undefined) return { type: 'opaque', format: FORMAT, value: block }
  if (kind === 'redactedContent') return readRedacted(required(text(wire['redactedContent'])), block)
  const inner = required(object(wire['reasoningText']))
  const shown = required(text(inner['text']))
  const value = text(inner['signature'])
  const { extras } = extrasOf(FORMAT, inner, REASONING_TEXT)
  if (extrasOf(FORMAT, wire, REASONING_FIELDS).extras !== undefined)
    return { type: 'opaque', format: FORMAT, value: block }
  return {
    type: 'reasoning',
    text: shown,
    ...(value === undefined || value === '' ? WITHOUT_SIGNATURE : signatureField(value)),
    ...(extras === undefined ? {} : { extras }),
  }
}

/** Spelling of reasoning that a model of this format left unsigned, or whose signature has not arrived yet. */
export const WITHOUT_SIGNATURE = { spelling: { [FORMAT]: { signature: 'none' } } }

/** Spelling of reasoning that another format's model left unsigned. Its wrapper contains no signature. */
const UNSIGNED = { spelling: { [FORMAT]: { signature: 'unsigned' } } }

/** Reads a signature. A signature that the gateway wrapped is unwrapped. An empty string means no signature. */
export function signatureField(value: string | undefined): Pick<ReasoningPart, 'signature' | 'spelling'> {
  if (value === undefined || value === '') return {}
  const { signature } = unwrapReasoning(value, FORMAT)[0] ?? {}
  return signature === undefined ? UNSIGNED : { signature }
}

function readRedacted(data: string, block: JsonObject): Part {
  const { signature } = unwrapReasoning(data, FORMAT)[0] ?? {}
  if (Object.keys(required(object(block['reasoningContent']))).length > 1)
    return { type: 'opaque', format: FORMAT, value: block }
  return { type: 'reasoning', text: '', redacted: true, ...(signature === undefined ? {} : { signature }) }
}
