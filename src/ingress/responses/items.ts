import type { Part, ReasoningPart, ToolCallPart, ToolResultPart } from '../../canonical/content.ts'
import { isObject, type Json, type JsonObject, type Node } from '../../canonical/node.ts'
import { isSealed } from '../../canonical/sealed.ts'
import { disclose, type EnclosedThought, isEnvelope } from '../../canonical/signature.ts'
import { anyText, defined, objects, required, rest, spelling, text, WrongType } from '../fields.ts'
import { readContent } from './content.ts'
import { readImageCall } from './image-calls.ts'
import { kindOfItem } from './wire.ts'

const FORMAT = 'responses'

const TAKEN = {
  message: new Set(['type', 'role', 'content', 'id', 'status']),
  reasoning: new Set(['type', 'role', 'id', 'status', 'summary', 'content', 'encrypted_content']),
  function_call: new Set(['type', 'role', 'id', 'status', 'call_id', 'name', 'arguments', 'namespace']),
  custom_tool_call: new Set(['type', 'role', 'id', 'status', 'call_id', 'name', 'input', 'namespace']),
  output: new Set(['type', 'role', 'id', 'status', 'call_id', 'output', 'name']),
}

/**
 * The parts of one item of the assistant. The item's own fields stand on its first part, under `message` where the item
 * is a message; an item of an unknown type is one opaque part.
 */
export function readItem(wire: JsonObject, content: typeof readContent = readContent): readonly Part[] {
  switch (kindOfItem(wire)) {
    case 'message':
      return readSpoken(wire, content)
    case 'reasoning':
      return [readReasoning(wire)]
    case 'function_call':
      return [readFunctionCall(wire)]
    case 'custom_tool_call':
      return [readCustomCall(wire)]
    default:
      text(wire['type'])
      return [unknownItem(wire)]
  }
}

export const unknownItem = (value: JsonObject): Part => ({
  type: 'opaque',
  format: FORMAT,
  value,
  ...(REFERENCES.has(value['type']) ? { reference: true } : {}),
  ...(value['type'] === 'compaction' && isSealed(value['encrypted_content'])
    ? { sealed: value['encrypted_content'] }
    : {}),
})

/** Items that stand for others: turns an upstream keeps, or has compacted. */
const REFERENCES = new Set<Json | undefined>(['item_reference', 'compaction', 'compaction_summary'])

/** As `readItem`, for an upstream's items: a malformed item is kept as it is. */
export function readAnyItem(wire: JsonObject, content: typeof readContent): readonly Part[] {
  if (kindOfItem(wire) === 'message' && (wire['role'] ?? 'assistant') !== 'assistant') return [unknownItem(wire)]
  const drawn = readImageCall(wire)
  if (drawn !== undefined) return [drawn]
  try {
    return readItem(wire, content)
  } catch (thrown) {
    if (thrown instanceof WrongType) return [unknownItem(wire)]
    throw thrown
  }
}

/** The fields of a message item beside its content. */
export function readMessageNode(wire: JsonObject, spelt?: { readonly [key: string]: Json | undefined }): Node {
  const marks = defined({
    ...spelt,
    id: text(wire['id']) ?? null,
    status: text(wire['status']),
    type: wire['type'] === undefined ? 'absent' : undefined,
  }) as JsonObject
  return rest(FORMAT, wire, TAKEN.message, marks)
}

export const spellContent = (content: Json | undefined): string | undefined =>
  typeof content === 'string' ? 'string' : content === undefined ? 'absent' : undefined

function readSpoken(wire: JsonObject, content: typeof readContent): readonly Part[] {
  const parts = content(wire['content'], 'output_text')
  const empty = parts.length === 0
  const node = readMessageNode(wire, {
    content: spellContent(wire['content']),
    silent: empty && Array.isArray(wire['content']) ? true : undefined,
    parts: parts.length > 1 ? parts.length : undefined,
  })
  const [first = { type: 'text', text: '' } as const, ...others] = parts
  if (first.extras?.[FORMAT]?.['message'] !== undefined) return [unknownItem(wire)]
  return [{ ...first, ...ofMessage(first, node) } as Part, ...others]
}

function ofMessage(first: Node, node: Node): Node {
  const message = node.extras?.[FORMAT]
  return {
    ...(message === undefined ? {} : { extras: { [FORMAT]: { ...first.extras?.[FORMAT], message } } }),
    spelling: { [FORMAT]: { ...first.spelling?.[FORMAT], message: node.spelling?.[FORMAT] ?? {} } },
  }
}

/** Ids and states are the upstream's own, and a role here is a mistake of clients: all without meaning. */
const spellItem = (wire: JsonObject) => ({
  id: text(wire['id']) ?? null,
  status: text(wire['status']),
  role: wire['role'],
})

/** The empty line between the texts of a thought. */
export const CUT = '\n\n'

function readReasoning(wire: JsonObject): ReasoningPart {
  const summary = objects(wire['summary'])
  const content = objects(wire['content'])
  const proof = text(wire['encrypted_content'])
  const thoughts = summary !== undefined && summary.length > 0 ? summary : (content ?? [])
  const inContent = thoughts.length > 0 && thoughts === content
  const refused: string[] = []
  const texts = textsOf(thoughts, inContent ? 'reasoning_text' : 'summary_text')
  if (!texts.plain) refused.push(inContent ? 'content' : 'summary')
  if (!inContent && content !== undefined && content.length > 0) refused.push('content')
  if (proof === '') refused.push('encrypted_content')
  const slot = readSlot(proof ?? '')
  const spelt = {
    ...spellItem(wire),
    ...(slot.enclosed ? { enclosed: true } : {}),
    as: inContent ? 'content' : undefined,
    cuts: texts.cuts,
    summary: summary === undefined ? 'absent' : undefined,
    content: content?.length === 0 ? 'empty' : undefined,
  }
  return {
    type: 'reasoning',
    text: texts.text,
    ...slot.thought,
    ...rest(FORMAT, wire, TAKEN.reasoning, spelling(spelt), refused),
  }
}

/** The texts joined, and the offsets of the cuts, where a single text would not be read back the same. */
function textsOf(thoughts: readonly JsonObject[], type: string) {
  const cuts: number[] = []
  let joined = ''
  let plain = true
  for (const [index, thought] of thoughts.entries()) {
    if (index > 0) {
      cuts.push(joined.length)
      joined += CUT
    }
    joined += anyText(thought['text']) ?? ''
    plain &&= thought['type'] === type && typeof thought['text'] === 'string' && Object.keys(thought).length === 2
  }
  const needed = cuts.length > 0 || (thoughts.length === 1 && joined === '')
  return { text: joined, plain, cuts: needed ? cuts : undefined }
}

/**
 * The content of the proof's slot: an envelope holds the thought as it was signed, whatever a client left around it.
 */
function readSlot(proof: string): { readonly thought: EnclosedThought; readonly enclosed: boolean } {
  const [thought = NO_THOUGHT] = proof === '' ? [] : disclose(proof, FORMAT)
  return { thought, enclosed: isEnvelope(proof) }
}

const NO_THOUGHT: EnclosedThought = {}

function readFunctionCall(wire: JsonObject): ToolCallPart {
  const given = wire['arguments'] ?? undefined
  return {
    ...readCallHead(wire),
    arguments: isObject(given) ? JSON.stringify(given) : (text(given) ?? ''),
    ...rest(
      FORMAT,
      wire,
      TAKEN.function_call,
      spelling({
        ...spellCall(wire),
        arguments: isObject(given) ? 'object' : wire['arguments'] === undefined ? 'absent' : undefined,
      }),
    ),
  }
}

const readCustomCall = (wire: JsonObject): ToolCallPart => ({
  ...readCallHead(wire),
  arguments: text(wire['input']) ?? '',
  freeform: true,
  ...rest(
    FORMAT,
    wire,
    TAKEN.custom_tool_call,
    spelling({ ...spellCall(wire), arguments: wire['input'] === undefined ? 'absent' : undefined }),
  ),
})

const readCallHead = (wire: JsonObject) =>
  ({
    type: 'tool-call',
    id: text(wire['call_id']) ?? text(wire['id']) ?? '',
    name: required(text(wire['name'])),
    ...defined({ namespace: text(wire['namespace']) }),
  }) as const

const spellCall = (wire: JsonObject) => ({
  ...spellItem(wire),
  call: wire['call_id'] === undefined ? 'absent' : wire['call_id'] === null ? 'null' : undefined,
})

/** The result of a tool call. */
export function readOutput(wire: JsonObject): ToolResultPart {
  return {
    type: 'tool-result',
    id: text(wire['call_id']) ?? '',
    ...defined({ name: text(wire['name']) }),
    content: readContent(wire['output'], 'input_text'),
    ...(wire['type'] === 'custom_tool_call_output' ? { freeform: true as const } : {}),
    ...rest(FORMAT, wire, TAKEN.output, spelling({ ...spellCall(wire), output: spellContent(wire['output']) })),
  }
}
