import type { CacheHint, Part, ReasoningPart, ToolCallPart, ToolResultPart } from '../../canonical/content.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { Message } from '../../canonical/request.ts'
import { disclose, type EnclosedThought } from '../../canonical/signature.ts'
import { defined, flag, object, objects, required, rest, spelling, text, WrongType } from '../fields.ts'
import { readCitations } from './citations.ts'
import { readDocument, readImage, textIn } from './media.ts'
import { ROLES } from './wire.ts'

const FORMAT = 'messages'

/** The `system` field is the first turn. */
export function readSystem(wire: Json | undefined): readonly Message[] {
  if (wire == null) return []
  const content = readContent(wire)
  const billing = Array.isArray(wire)
    ? content.flatMap((part, at) => (isBilling(part) ? [{ at, block: wire[at]! }] : []))
    : []
  return [
    {
      role: 'system',
      content: billing.length === 0 ? content : content.filter(part => !isBilling(part)),
      spelling: {
        [FORMAT]: {
          as: 'system',
          ...(typeof wire === 'string' ? { content: 'string' } : {}),
          ...(billing.length === 0 ? {} : { billing }),
        },
      },
    },
  ]
}

/**
 * A client's note to this format's own billing, which changes with every request. It means nothing to a model and
 * would spoil another upstream's prompt cache, so it is spelling (trap 62).
 */
const isBilling = (part: Part): boolean => part.type === 'text' && part.text.startsWith('x-anthropic-billing-header:')

const TURN = new Set(['role', 'content'])

/** One turn; a user's turn with tool results becomes several messages, of which the later are marked `joined`. */
export function readTurn(wire: JsonObject): readonly Message[] {
  const role = text(wire['role']) as Message['role']
  if (!ROLES.includes(role as (typeof ROLES)[number])) throw WrongType.instance
  const content = readContent(required(wire['content'] ?? undefined))
  const node = rest(
    FORMAT,
    wire,
    TURN,
    spelling({ content: typeof wire['content'] === 'string' ? 'string' : undefined }),
  )
  if (role !== 'user' || !content.some(isResult)) return [{ role, content, ...node }]
  return runs(content).map((run, index) => ({
    role: isResult(run[0]!) ? 'tool' : 'user',
    content: run,
    ...(index === 0 ? node : JOINED),
  }))
}

const JOINED = { spelling: { [FORMAT]: { joined: true } } }

const isResult = (part: Part): boolean => part.type === 'tool-result'

/** The list, cut where tool results end or begin. */
function runs(content: readonly Part[]): Part[][] {
  const runs: Part[][] = []
  for (const part of content) {
    const run = runs.at(-1)
    if (run !== undefined && isResult(run[0]!) === isResult(part)) run.push(part)
    else runs.push([part])
  }
  return runs
}

/** A string is one text. */
export function readContent(wire: Json): readonly Part[] {
  if (typeof wire === 'string') return [{ type: 'text', text: wire }]
  return required(objects(wire)).map(readBlock)
}

/** One content block, of a request or an answer; a block of an unknown type stays opaque. */
export function readBlock(wire: JsonObject): Part {
  const type = required(text(wire['type']))
  return Object.hasOwn(BLOCKS, type) ? BLOCKS[type]!(wire) : { type: 'opaque', format: FORMAT, value: wire }
}

const BLOCKS: { readonly [type: string]: (wire: JsonObject) => Part } = {
  text: readText,
  image: wire => withCache(wire, readImage(wire)),
  document: wire => withCache(wire, readDocument(wire)),
  thinking: readThinking,
  redacted_thinking: readRedacted,
  tool_use: readCall,
  tool_result: readResult,
  search_result: wire => ({ type: 'opaque', format: FORMAT, value: wire, ...textIn(wire) }),
  tool_reference: wire => ({
    type: 'opaque',
    format: FORMAT,
    value: wire,
    ...textIn({ title: wire['tool_name'] ?? null }),
  }),
}

const TEXT = new Set(['type', 'text', 'citations', 'cache_control'])

function readText(wire: JsonObject): Part {
  return {
    type: 'text',
    text: required(text(wire['text'])),
    ...defined({ annotations: readCitations(wire['citations']), cache: readCache(wire) }),
    ...rest(FORMAT, wire, TEXT),
  }
}

/** The marker of the prompt cache, where a node has one. */
export function readCache(wire: JsonObject): CacheHint | undefined {
  const hint = object(wire['cache_control'])
  if (hint === undefined) return undefined
  const type = text(hint['type'])
  return {
    ...defined({ ttl: text(hint['ttl']) }),
    ...rest(FORMAT, hint, CACHE, spelling({ type: type === 'ephemeral' ? undefined : (type ?? 'absent') })),
  }
}

const CACHE = new Set(['type', 'ttl'])

function withCache(wire: JsonObject, part: Part): Part {
  const cache = readCache(wire)
  return cache === undefined || part.type === 'opaque' ? part : { ...part, cache }
}

const THINKING = new Set(['type', 'thinking', 'signature', 'cache_control'])

/** A thought without a proof reached the caller with an envelope in the proof's place; it is unsigned (trap 30). */
function readThinking(wire: JsonObject): ReasoningPart {
  const value = text(wire['signature']) ?? ''
  const { signature, text: enclosed } = value === '' ? NO_PROOF : readProof(value)
  const unsigned = value !== '' && signature === undefined
  return {
    type: 'reasoning',
    text: enclosed ?? required(text(wire['thinking'])),
    ...defined({ signature, cache: readCache(wire) }),
    ...rest(FORMAT, wire, THINKING, spelling({ signature: spellSignature(wire, unsigned) })),
  }
}

const NO_PROOF: EnclosedThought = {}

/** The proof in a slot, which may be an envelope. */
export const readProof = (value: string): EnclosedThought => disclose(value, FORMAT)[0] ?? NO_PROOF

/** Marks a thought that came in an envelope without any proof. */
export const UNSIGNED = 'unsigned'

const spellSignature = (wire: JsonObject, unsigned: boolean): string | undefined =>
  unsigned ? UNSIGNED : wire['signature'] === undefined ? 'absent' : undefined

const REDACTED = new Set(['type', 'data', 'cache_control'])

function readRedacted(wire: JsonObject): ReasoningPart {
  const { signature } = readProof(required(text(wire['data'])))
  return {
    type: 'reasoning',
    text: '',
    redacted: true,
    ...defined({ signature, cache: readCache(wire) }),
    ...rest(FORMAT, wire, REDACTED, signature === undefined ? { signature: UNSIGNED } : undefined),
  }
}

const CALL = new Set(['type', 'id', 'name', 'input', 'cache_control'])
const CALL_DIRECT = new Set([...CALL, 'caller'])

/** A call by the model itself, which is also the default: `caller` is spelling then. */
function readCall(wire: JsonObject): ToolCallPart {
  const caller = wire['caller'] as JsonObject | undefined
  const direct = caller?.['type'] === 'direct' && Object.keys(caller).length === 1
  return {
    type: 'tool-call',
    id: required(text(wire['id'])),
    name: required(text(wire['name'])),
    arguments: argumentsOf(wire['input']),
    ...defined({ cache: readCache(wire) }),
    ...rest(
      FORMAT,
      wire,
      direct ? CALL_DIRECT : CALL,
      spelling({ caller: direct ? 'direct' : undefined, input: wire['input'] === undefined ? 'absent' : undefined }),
    ),
  }
}

/** Arguments that are no JSON object or list stay the text they were. */
function argumentsOf(input: Json | undefined): string {
  if (input == null) return ''
  if (typeof input === 'string') return input
  if (typeof input === 'object') return JSON.stringify(input)
  throw WrongType.instance
}

const RESULT = new Set(['type', 'tool_use_id', 'content', 'is_error', 'cache_control'])

function readResult(wire: JsonObject): ToolResultPart {
  const content = wire['content'] ?? undefined
  const failed = flag(wire['is_error'])
  return {
    type: 'tool-result',
    id: required(text(wire['tool_use_id'])),
    content: content === undefined ? [] : readContent(content),
    ...(failed === true ? { failed } : {}),
    ...defined({ cache: readCache(wire) }),
    ...rest(
      FORMAT,
      wire,
      RESULT,
      spelling({
        content: content === undefined ? 'absent' : typeof content === 'string' ? 'string' : undefined,
        is_error: failed === false ? false : undefined,
      }),
    ),
  }
}
