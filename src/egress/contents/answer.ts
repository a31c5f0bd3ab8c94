import type { Part, ReasoningPart, ToolCallPart } from '../../canonical/content.ts'
import type { Losses, Path } from '../../canonical/loss.ts'
import { isObject, type Json, type JsonObject, wireSourceOf } from '../../canonical/node.ts'
import { wrapReasoning } from '../../canonical/signature.ts'
import { spellingFor } from '../fields.ts'
import { writeArguments } from './calls.ts'
import { extrasField, FORMAT, nativeExtras, nestedExtras, withExtras } from './fields.ts'
import { writeMedia } from './media.ts'

/* Code shared by unary and streamed answers. */

/** Writes a part without its signature. Returns undefined if the part is empty or the format cannot express it. */
export function writeAnswerPart(part: Part, path: Path, losses: Losses): JsonObject | undefined {
  switch (part.type) {
    case 'text':
      return part.text === '' && isBare(part) ? undefined : { text: part.text }
    case 'refusal':
      losses.change(path, { type: 'text', text: part.text, ...extrasField(part) }, 'said-as-text')
      return part.text === '' && isBare(part) ? undefined : { text: part.text }
    case 'media': {
      const wire = writeMedia(part, path, { hasNames: true, losses })
      return wire !== undefined && wire['text'] === '' && isBare(part) ? undefined : wire
    }
    case 'tool-call':
      return writeAnswerCall(part, path, losses)
    case 'opaque':
      if (part.format === FORMAT) return part.value
      return part.text === undefined || part.text === '' ? undefined : { text: part.text }
    default:
      return losses.drop(path, 'not-in-answers')
  }
}

function writeAnswerCall(part: ToolCallPart, path: Path, losses: Losses): JsonObject {
  if (part.freeform !== undefined) losses.drop([...path, 'freeform'], 'no-freeform-calls')
  if (part.namespace !== undefined) losses.drop([...path, 'namespace'], 'no-namespaces')
  const fields = { id: originalId(part), name: part.name, args: writeArguments(part, path, { losses }) }
  return { functionCall: withExtras(nestedExtras(nativeExtras(part), 'functionCall'), fields) }
}

/**
 * Returns a call's original id, or undefined if the upstream omitted it. Upstreams of this format may omit or repeat
 * ids, so the reader generates missing ones.
 */
export function originalId(part: ToolCallPart): string | undefined {
  const wire = wireSourceOf<JsonObject>(part, FORMAT)?.wire
  const call = wire?.['functionCall'] ?? wire?.['function_call']
  return isObject(call) ? idText(call['id']) : part.id
}

const idText = (id: Json | undefined): string | undefined => (typeof id === 'string' ? id : undefined)

/** Adds the part's extras and the signature of the preceding reasoning to the wire part. */
export function signedPart(part: Part, wire: JsonObject, signature: string | undefined): JsonObject {
  const partWithSignature = signature === undefined ? wire : { ...wire, thoughtSignature: signature }
  return part.type === 'opaque' ? partWithSignature : withExtras(nativeExtras(part), partWithSignature)
}

/** Reasoning in wire form: a part, a signature for the next part, or both. */
export interface WrittenReasoning {
  readonly wire?: JsonObject
  /** Reasoning whose signature is written as the `thoughtSignature` of the next part. */
  readonly signsNext?: ReasoningPart
}

const NOTHING_WRITTEN: WrittenReasoning = {}

/**
 * Writes reasoning. Its signature is put on the next part, as Google does, unless the upstream put it elsewhere (trap
 * 91).
 */
export function writeReasoning(part: ReasoningPart, path: Path, losses: Losses): WrittenReasoning {
  const { as, text, thought, proof: signaturePosition } = spellingFor(part, FORMAT)
  const { signature } = part
  const extras = nativeExtras(part)
  const isNative = signature?.format === FORMAT
  if (as === 'alone' && isNative)
    return { wire: withExtras(extras, { text, thought, thoughtSignature: signature.value }) }
  if (part.redacted && part.text === '' && signature === undefined && extras === undefined) {
    losses.drop(path, 'no-hidden-reasoning')
    return NOTHING_WRITTEN
  }
  const signsItself = (signaturePosition === 'self' && isNative) || extras !== undefined
  if (part.redacted && (signsItself || signature === undefined || isNative))
    losses.drop([...path, 'redacted'], 'no-hidden-reasoning')
  if (signsItself) {
    const wrapped = signature === undefined ? undefined : wrapReasoning([{ signature }], FORMAT)
    const isSignatureOnly = part.text === '' && signature !== undefined && signaturePosition !== 'self'
    const body = isSignatureOnly ? { text: '' } : { text: part.text, thought: true }
    return { wire: withExtras(extras, { ...body, thoughtSignature: wrapped }) }
  }
  if (part.text === '') return signature === undefined ? NOTHING_WRITTEN : { signsNext: part }
  return { wire: { text: part.text, thought: true }, signsNext: part }
}

/** Returns true if the part has no extras of this format. */
export const isBare = (part: Part): boolean => nativeExtras(part) === undefined

/** Writes a signature that no part follows. Google puts it on an empty text. */
export const loneSignaturePart = (signature: string): JsonObject => ({ text: '', thoughtSignature: signature })
