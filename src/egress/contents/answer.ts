import type { Part, ReasoningPart, ToolCallPart } from '../../canonical/content.ts'
import type { Losses, Path } from '../../canonical/loss.ts'
import { isObject, type Json, type JsonObject, originOf } from '../../canonical/node.ts'
import { enclose } from '../../canonical/signature.ts'
import { spelt } from '../fields.ts'
import { writeArguments } from './calls.ts'
import { extrasOf, FORMAT, ownIn, ownOf, withOwn } from './fields.ts'
import { writeMedia } from './media.ts'

/* Pieces of an answer that a whole answer and the events of a stream share. */

/** Writes a part without its signature; undefined if the part is empty or the format has no form for it. */
export function writeAnswerPart(part: Part, path: Path, losses: Losses): JsonObject | undefined {
  switch (part.type) {
    case 'text':
      return part.text === '' && isBare(part) ? undefined : { text: part.text }
    case 'refusal':
      losses.change(path, { type: 'text', text: part.text, ...extrasOf(part) }, 'said-as-text')
      return part.text === '' && isBare(part) ? undefined : { text: part.text }
    case 'media': {
      const wire = writeMedia(part, path, { names: true, losses })
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
  const fields = { id: givenId(part), name: part.name, args: writeArguments(part, path, { losses }) }
  return { functionCall: withOwn(ownIn(ownOf(part), 'functionCall'), fields) }
}

/**
 * The id of a call as its upstream gave it. Upstreams of this format may leave the id out or repeat it; the reader then
 * made one.
 */
export function givenId(part: ToolCallPart): string | undefined {
  const wire = originOf<JsonObject>(part, FORMAT)?.wire
  const call = wire?.['functionCall'] ?? wire?.['function_call']
  return isObject(call) ? anyId(call['id']) : part.id
}

const anyId = (id: Json | undefined): string | undefined => (typeof id === 'string' ? id : undefined)

/** The wire part with the signature of the reasoning before it, and with the part's extras. */
export function signedPart(part: Part, wire: JsonObject, signature: string | undefined): JsonObject {
  const signed = signature === undefined ? wire : { ...wire, thoughtSignature: signature }
  return part.type === 'opaque' ? signed : withOwn(ownOf(part), signed)
}

/** Reasoning in its wire form: a part, a signature for the next part, or both. */
export interface Thought {
  readonly wire?: JsonObject
  /** The reasoning whose signature goes into the `thoughtSignature` of the next part. */
  readonly slotted?: ReasoningPart
}

const NO_THOUGHT: Thought = {}

/**
 * Writes reasoning. Its signature goes on the next part, as Google does it, unless the upstream put it elsewhere (trap
 * 91).
 */
export function writeThought(part: ReasoningPart, path: Path, losses: Losses): Thought {
  const { as, text, thought, proof: where } = spelt(part, FORMAT)
  const { signature } = part
  const own = ownOf(part)
  const isOwn = signature?.format === FORMAT
  if (as === 'alone' && isOwn) return { wire: withOwn(own, { text, thought, thoughtSignature: signature.value }) }
  if (part.redacted && part.text === '' && signature === undefined && own === undefined) {
    losses.drop(path, 'no-hidden-reasoning')
    return NO_THOUGHT
  }
  const self = (where === 'self' && isOwn) || own !== undefined
  if (part.redacted && (self || signature === undefined || isOwn))
    losses.drop([...path, 'redacted'], 'no-hidden-reasoning')
  if (self) {
    const proof = signature === undefined ? undefined : enclose([{ signature }], FORMAT)
    const isProof = part.text === '' && signature !== undefined && where !== 'self'
    const body = isProof ? { text: '' } : { text: part.text, thought: true }
    return { wire: withOwn(own, { ...body, thoughtSignature: proof }) }
  }
  if (part.text === '') return signature === undefined ? NO_THOUGHT : { slotted: part }
  return { wire: { text: part.text, thought: true }, slotted: part }
}

/** Whether the part has no extras of this format. */
export const isBare = (part: Part): boolean => ownOf(part) === undefined

/** A signature that no part follows, on an empty text, as Google writes it. */
export const aloneSignature = (signature: string): JsonObject => ({ text: '', thoughtSignature: signature })
