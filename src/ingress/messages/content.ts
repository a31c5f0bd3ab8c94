import type {
  Annotation,
  CacheHint,
  Part,
  ReasoningPart,
  ToolCallPart,
  ToolResultPart,
} from '../../canonical/content.ts'
import { isObject, type Json, type JsonObject, withWireSource } from '../../canonical/node.ts'
import type { Message } from '../../canonical/request.ts'
import { unwrapReasoning, type WrappedReasoning } from '../../canonical/signature.ts'
import { anyText, defined, extrasOf, flag, object, objects, required, text, WrongType } from '../fields.ts'
import { runsOf } from '../tools.ts'
import { readDocument, readImage, textIn } from './media.ts'
import { isDirect, readSearchResult, readServerCall } from './search.ts'
import { FORMAT, ROLES } from './wire.ts'

/** Reads `system` as the first message and records the indexes of billing notes as spelling. */
export function readSystem({ system }: JsonObject): readonly Message[] {
  if (system == null) return []
  const content = readContent(system)
  const billing = Array.isArray(system) ? content.flatMap((part, at) => (isBilling(part) ? [at] : [])) : []
  const message: Message = {
    role: 'system',
    content: billing.length === 0 ? content : content.filter(part => !isBilling(part)),
    ...(billing.length === 0 ? {} : { spelling: { [FORMAT]: { billing } } }),
  }
  return [withWireSource(message, FORMAT, { content: system })]
}

/**
 * Returns true for a note for Anthropic's billing. Such a note changes with every request, has no meaning for a model,
 * and would invalidate another upstream's prompt cache. It therefore becomes spelling (trap 62).
 */
const isBilling = (part: Part): boolean => part.type === 'text' && part.text.startsWith('x-anthropic-billing-header:')

const TURN = new Set(['role', 'content'])

/** Reads one turn. A user turn with tool results becomes several messages; all but the first are marked `joined`. */
export function readTurn(wire: JsonObject): readonly Message[] {
  const role = text(wire['role']) as Message['role']
  if (!ROLES.includes(role as (typeof ROLES)[number])) throw WrongType.instance
  const content = readContent(required(wire['content'] ?? undefined)).map(withSummary)
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

/**
 * Gives the text of a compaction, which stands for all turns before it, to formats that have none. In an answer, which
 * has the same block, it is no text for the caller.
 */
function withSummary(part: Part): Part {
  if (part.type !== 'opaque' || part.value['type'] !== 'compaction') return part
  const { content } = part.value
  return typeof content === 'string' ? { ...part, text: `Summary of the conversation so far:\n\n${content}\n\n` } : part
}

const JOINED = { spelling: { [FORMAT]: { joined: true } } }

const isResult = (part: Part): boolean => part.type === 'tool-result'

/** Reads the content of a turn: a string or a list of blocks. */
export function readContent(wire: Json): readonly Part[] {
  if (typeof wire === 'string') return [{ type: 'text', text: wire }]
  return required(objects(wire)).map(readBlock)
}

/** Reads one content block of a request or an answer. A block of an unknown type becomes opaque. */
export function readBlock(wire: JsonObject): Part {
  const type = required(text(wire['type']))
  if (!Object.hasOwn(BLOCKS, type)) return { type: 'opaque', format: FORMAT, value: wire }
  const part = BLOCKS[type]!(wire)
  return wasWrapped(part, wire) ? part : withWireSource(part, FORMAT, wire)
}

/** Returns true if the gateway wrapped a reasoning part's signature, so that the part differs from its wire value. */
const wasWrapped = (part: Part, wire: JsonObject): boolean =>
  part.type === 'reasoning' && (part.signature?.value ?? '') !== (wire['signature'] ?? wire['data'] ?? '')

const BLOCKS: { readonly [type: string]: (wire: JsonObject) => Part } = {
  text: readText,
  image: wire => withCache(wire, readImage(wire)),
  document: wire => withCache(wire, readDocument(wire)),
  thinking: readThinking,
  redacted_thinking: readRedacted,
  tool_use: readCall,
  tool_result: readResult,
  server_tool_use: readServerCall,
  web_search_tool_result: readSearchResult,
  search_result: wire => ({ type: 'opaque', format: FORMAT, value: wire, ...textIn(wire) }),
  tool_addition: wire => ({
    ...{ type: 'opaque', format: FORMAT, value: wire },
    ...(isOffered(wire['tool']) ? { redundant: true } : {}),
  }),
  tool_reference: wire => ({
    type: 'opaque',
    format: FORMAT,
    value: wire,
    ...textIn({ title: wire['tool_name'] ?? null }),
  }),
}

/** Returns the tool that a block of a system turn defines. The tool belongs to the request. */
export function definedTool({ type, tool }: JsonObject): JsonObject | undefined {
  if (type !== 'tool_addition' || !isObject(tool) || tool['type'] !== 'tool_definition') return undefined
  return isObject(tool['definition']) ? tool['definition'] : undefined
}

/** Returns true if formats without such blocks offer the tool from the start: one of `tools`, or a defined one. */
const isOffered = (tool: Json | undefined): boolean =>
  isObject(tool) && (tool['type'] === 'tool_reference' || isObject(tool['definition']))

const TEXT = new Set(['type', 'text', 'citations', 'cache_control'])

function readText(wire: JsonObject): Part {
  return {
    type: 'text',
    text: required(text(wire['text'])),
    ...defined({ annotations: readCitations(wire['citations']), cache: readCache(wire) }),
    ...extrasOf(FORMAT, wire, TEXT),
  }
}

/** Reads the prompt cache marker of a wire object. */
export function readCache(wire: JsonObject): CacheHint | undefined {
  const hint = object(wire['cache_control'])
  if (hint === undefined) return undefined
  text(hint['type'])
  return { ...defined({ ttl: text(hint['ttl']) }), ...extrasOf(FORMAT, hint, CACHE) }
}

const CACHE = new Set(['type', 'ttl'])

function withCache(wire: JsonObject, part: Part): Part {
  const cache = readCache(wire)
  return cache === undefined || part.type === 'opaque' ? part : { ...part, cache }
}

const THINKING = new Set(['type', 'thinking', 'signature', 'cache_control'])

/**
 * Reads reasoning. Unsigned reasoning of another format, which was sent to the caller with a wrapped signature, becomes
 * unsigned again (trap 30).
 */
function readThinking(wire: JsonObject): ReasoningPart {
  const value = text(wire['signature']) ?? ''
  const { signature, text: wrappedText } = value === '' ? NO_SIGNATURE : readSignature(value)
  return {
    type: 'reasoning',
    // LangChain returns a block without text as one with a signature alone.
    text: wrappedText ?? text(wire['thinking']) ?? '',
    ...defined({ signature, cache: readCache(wire) }),
    ...extrasOf(FORMAT, wire, THINKING),
    ...(value !== '' && signature === undefined ? UNSIGNED : {}),
  }
}

const NO_SIGNATURE: WrappedReasoning = {}

/**
 * Reads a signature, which may be wrapped. If a wrapped signature contains several reasoning parts, only the first is
 * used.
 */
export const readSignature = (value: string): WrappedReasoning => unwrapReasoning(value, FORMAT)[0] ?? NO_SIGNATURE

/** Spelling of reasoning whose wrapper contains no signature. */
export const UNSIGNED = { spelling: { [FORMAT]: { signature: 'unsigned' } } }

const REDACTED = new Set(['type', 'data', 'cache_control'])

function readRedacted(wire: JsonObject): ReasoningPart {
  const { signature } = readSignature(required(text(wire['data'])))
  return {
    type: 'reasoning',
    text: '',
    redacted: true,
    ...defined({ signature, cache: readCache(wire) }),
    ...extrasOf(FORMAT, wire, REDACTED),
    ...(signature === undefined ? UNSIGNED : {}),
  }
}

const CALL = new Set(['type', 'id', 'name', 'input', 'cache_control'])
const CALL_DIRECT = new Set([...CALL, 'caller'])

/** Reads a tool call. `caller: direct`, a call by the model itself, is the default and is left out. */
function readCall(wire: JsonObject): ToolCallPart {
  return {
    type: 'tool-call',
    id: required(text(wire['id'])),
    name: required(text(wire['name'])),
    arguments: argumentsOf(wire['input']),
    ...defined({ cache: readCache(wire) }),
    ...extrasOf(FORMAT, wire, isDirect(wire) ? CALL_DIRECT : CALL),
  }
}

/** Converts arguments to text. A string is used unchanged. */
function argumentsOf(input: Json | undefined): string {
  if (input == null) return ''
  if (typeof input === 'string') return input
  if (typeof input === 'object') return JSON.stringify(input)
  throw WrongType.instance
}

const RESULT_FIELDS = new Set(['type', 'tool_use_id', 'content', 'is_error', 'cache_control'])

function readResult(wire: JsonObject): ToolResultPart {
  const content = wire['content'] ?? undefined
  const failed = flag(wire['is_error'])
  return {
    type: 'tool-result',
    id: required(text(wire['tool_use_id'])),
    content: content === undefined ? [] : readContent(content),
    ...(failed === true ? { failed } : {}),
    ...defined({ cache: readCache(wire) }),
    ...extrasOf(FORMAT, wire, RESULT_FIELDS),
  }
}

/** Reads the citations of a text block. */
export const readCitations = (wire: Json | undefined): readonly Annotation[] | undefined =>
  objects(wire)?.map(readCitation)

const CITATION = new Set(['type', 'url', 'title', 'cited_text'])
const CITATION_WITHOUT_INDEX = new Set([...CITATION, 'encrypted_index'])

/** Reads a citation of a web page. Citations of the caller's own documents become opaque. */
export function readCitation(wire: JsonObject): Annotation {
  const url = anyText(wire['url'])
  const quote = wire['cited_text']
  const title = wire['title'] ?? undefined
  if (wire['type'] !== 'web_search_result_location' || url === undefined || !isText(quote) || !isText(title))
    return { type: 'opaque', format: FORMAT, value: wire }
  return {
    type: 'citation',
    url,
    ...defined({ title, quote: quote === '' ? undefined : quote }),
    ...extrasOf(FORMAT, wire, wire['encrypted_index'] === '' ? CITATION_WITHOUT_INDEX : CITATION),
  }
}

const isText = (value: Json | undefined): value is string | undefined =>
  value === undefined || typeof value === 'string'
