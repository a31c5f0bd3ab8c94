import type { OpaquePart, Part, ReasoningPart, ToolResultPart } from '../../canonical/content.ts'
import { isObject, type Json, type JsonObject, withWireSource } from '../../canonical/node.ts'
import { isSkipSignature, unwrapReasoning } from '../../canonical/signature.ts'
import { anyText, defined, extrasOf, flag, objects, required, text } from '../fields.ts'
import { readContent } from './content.ts'
import { readSearch } from './search.ts'
import { FORMAT, isContentList } from './wire.ts'

/* Reads steps (docs/wire/interactions.md#steps). */

/** Creates an opaque part from a step that other formats lack. */
export const opaqueStep = (value: JsonObject): OpaquePart => ({ type: 'opaque', format: FORMAT, value })

/** Reads a step of the model as one or more parts. */
export function readStep(wire: JsonObject): readonly Part[] {
  switch (wire['type']) {
    case 'model_output':
      return readOutput(wire)
    case 'thought':
      return readThought(wire)
    case 'function_call':
      return readCall(wire)
    default:
      required(text(wire['type']))
      return [readSearch(wire) ?? opaqueStep(wire)]
  }
}

const OUTPUT_FIELDS = new Set(['type', 'role', 'content'])

/** Reads the model's output. Unread fields of the step become extras of its first part, under `step`. */
function readOutput(wire: JsonObject): readonly Part[] {
  const [first = { type: 'text', text: '' } as const, ...others] = readContent(wire['content'])
  const step = extrasOf(FORMAT, wire, OUTPUT_FIELDS).extras?.[FORMAT]
  if (step === undefined) return [first, ...others]
  if (first.type === 'opaque' || first.extras?.[FORMAT]?.['step'] !== undefined) return [opaqueStep(wire)]
  return [{ ...first, extras: { [FORMAT]: { ...first.extras?.[FORMAT], step } } }, ...others]
}

const THOUGHT = new Set(['type', 'signature', 'summary'])

/** Returns the signature of a step. The value that callers send in place of one counts as absent (trap 31). */
function signatureIn(wire: JsonObject): string {
  const signature = text(wire['signature']) ?? ''
  return isSkipSignature(signature) ? '' : signature
}

/** Returns true for a thought that only skips the check of signatures. No part is read from it. */
export const isSkip = (wire: JsonObject | undefined): boolean =>
  wire?.['type'] === 'thought' && Object.keys(wire).length === 2 && isSkipWord(wire['signature'])

const isSkipWord = (signature: Json | undefined): boolean =>
  typeof signature === 'string' && signature !== '' && isSkipSignature(signature)

/** Reads reasoning. A wrapped signature may contain several parts, or the text itself. */
function readThought(wire: JsonObject): readonly Part[] {
  if (isSkip(wire)) return []
  const summary = objects(wire['summary']) ?? []
  const signature = signatureIn(wire)
  const summaryText = summary.map(one => anyText(one['text']) ?? '').join('')
  const extras = extrasOf(FORMAT, wire, THOUGHT, summary.every(isPlainText) ? [] : ['summary'])
  const reasoning: ReasoningPart = { type: 'reasoning', text: summaryText, ...extras }
  if (signature === '') return [reasoning]
  const [first = {}, ...others] = unwrapReasoning(signature, FORMAT)
  return [{ ...reasoning, ...first }, ...others.map(one => ({ type: 'reasoning', text: '', ...one }) as const)]
}

const isPlainText = (wire: JsonObject): boolean =>
  wire['type'] === 'text' && typeof wire['text'] === 'string' && Object.keys(wire).length === 2

const CALL = new Set(['type', 'id', 'name', 'arguments', 'signature'])

/** Mark of a reasoning part that is the signature of the next call. */
export const SIGNATURE_OF_CALL = { [FORMAT]: { on: 'call' } }

/** Reads a tool call. If it has a signature, a reasoning part with the signature precedes it. */
export function readCall(wire: JsonObject): readonly Part[] {
  const signature = signatureIn(wire)
  const call: Part = {
    type: 'tool-call',
    id: text(wire['id']) ?? '',
    name: required(text(wire['name'])),
    arguments: textOf(wire['arguments'] ?? {}),
    ...extrasOf(FORMAT, wire, CALL),
  }
  if (signature === '') return [call]
  const reasoning = unwrapReasoning(signature, FORMAT).map(
    (one): ReasoningPart => ({ type: 'reasoning', text: '', ...one, spelling: SIGNATURE_OF_CALL }),
  )
  return [...reasoning, withWireSource(call, FORMAT, wire)]
}

/** Converts arguments to text. A string is used unchanged. */
const textOf = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value))

const RESULT_FIELDS = new Set(['type', 'call_id', 'name', 'is_error', 'result'])

/** Reads a tool result: a text, contents, or any other JSON, which is converted to text. */
export function readResult(wire: JsonObject): ToolResultPart {
  const failed = flag(wire['is_error'])
  return {
    type: 'tool-result',
    id: text(wire['call_id']) ?? '',
    ...defined({ name: text(wire['name']) }),
    content: readReturned(wire['result'] ?? undefined),
    ...(failed === true ? { failed: true as const } : {}),
    ...extrasOf(FORMAT, wire, RESULT_FIELDS),
    ...(isObject(wire['result']) ? { spelling: { [FORMAT]: { result: 'object' } } } : {}),
  }
}

function readReturned(result: Json | undefined): readonly Part[] {
  if (result === undefined) return []
  if (typeof result === 'string' || isContentList(result)) return readContent(result)
  return [{ type: 'text', text: JSON.stringify(result) }]
}
