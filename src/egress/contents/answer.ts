import type { Part, ReasoningPart, ToolCallPart } from '../../canonical/content.ts'
import type { Losses, Path } from '../../canonical/loss.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import { enclose } from '../../canonical/signature.ts'
import { kept, spelt } from '../fields.ts'
import { writeArguments } from './calls.ts'
import { FORMAT, inner, withExtras } from './fields.ts'
import { writeMedia } from './media.ts'

/* The parts of an answer, written alike in a whole answer and in the events of a stream. */

/** A part without its signature; undefined where it is empty or has no place here. */
export function writeAnswerPart(part: Part, path: Path, losses: Losses): JsonObject | undefined {
  switch (part.type) {
    case 'text': {
      const { thought, text } = spelt(part, FORMAT)
      return part.text === '' && isBare(part) && text !== ''
        ? undefined
        : { text: part.text, ...(thought === undefined ? {} : { thought }) }
    }
    case 'refusal':
      losses.change(path, { type: 'text', text: part.text, ...ownExtras(part) }, 'said-as-text')
      return part.text === '' && isBare(part) ? undefined : { text: part.text }
    case 'media': {
      const wire = writeMedia(part, path, { native: false, names: true, losses })
      return wire !== undefined && wire['text'] === '' && isBare(part) ? undefined : wire
    }
    case 'tool-call':
      return writeAnswerCall(part, path, losses)
    case 'opaque':
      if (part.format === FORMAT) return part.value
      return part.text === undefined || part.text === '' ? undefined : { text: part.text }
    default:
      losses.drop(path, 'not-in-answers')
      return undefined
  }
}

function writeAnswerCall(part: ToolCallPart, path: Path, losses: Losses): JsonObject {
  const node = inner(part, 'functionCall')
  const { id: rawId, args: how } = spelt(node, FORMAT) as { id?: 'absent' | { said: string }; args?: Json }
  const id = rawId === undefined ? part.id : rawId === 'absent' ? undefined : rawId.said
  if (part.freeform !== undefined) losses.drop([...path, 'freeform'], 'no-freeform-calls')
  if (part.namespace !== undefined) losses.drop([...path, 'namespace'], 'no-namespaces')
  const args = how === 'absent' && part.arguments === '{}' ? undefined : writeArguments(part, path, { losses })
  return { functionCall: withExtras(node, { id, name: part.name, args }) }
}

/** The wire part, with the signature that came before it. */
export function signedPart(part: Part, wire: JsonObject, signature: string | undefined): JsonObject {
  const value = signature ?? spelt(part, FORMAT)['slot']
  const signed = value === undefined ? wire : { ...wire, thoughtSignature: value }
  if (part.type !== 'opaque') return withExtras(part, signed)
  const names = spelt(part, FORMAT)['names'] as { readonly thoughtSignature?: string } | undefined
  if (names?.thoughtSignature === undefined || value === undefined) return signed
  return { ...wire, [names.thoughtSignature]: value }
}

/** The wire form of a thought: a part, a proof for the slot of the next part, or both. */
export interface Thought {
  readonly wire?: JsonObject
  readonly slotted?: ReasoningPart
}

const NO_THOUGHT: Thought = {}

/** A proof is put on the part after the thought, as Google does, unless an upstream put it elsewhere (trap 91). */
export function writeThought(part: ReasoningPart, path: Path, losses: Losses): Thought {
  const { as, text, thought, slot, proof: where } = spelt(part, FORMAT)
  const { signature } = part
  const isOwn = signature?.format === FORMAT
  if (as === 'alone' && isOwn) return { wire: withExtras(part, { text, thought, thoughtSignature: signature.value }) }
  if (part.redacted && part.text === '' && signature === undefined && isBare(part)) {
    losses.drop(path, 'no-hidden-reasoning')
    return NO_THOUGHT
  }
  const self = (where === 'self' && isOwn) || !isBare(part)
  if (part.redacted && (self || signature === undefined || isOwn))
    losses.drop([...path, 'redacted'], 'no-hidden-reasoning')
  if (self) {
    const proof = signature === undefined ? slot : enclose([{ signature }], FORMAT)
    const body =
      part.text === '' && signature !== undefined && where !== 'self'
        ? { text: '' }
        : { text: part.text, thought: true }
    return { wire: withExtras(part, { ...body, thoughtSignature: proof }) }
  }
  if (part.text === '' && signature !== undefined) return { slotted: part }
  if (part.text === '' && text !== '') return NO_THOUGHT
  return { wire: withExtras(part, { text: part.text, thought: true, thoughtSignature: slot }), slotted: part }
}

/** Whether the part has no fields of this format of its own. */
export const isBare = (part: Part): boolean => Object.keys(kept(part, FORMAT)).length === 0

const ownExtras = (part: Part) =>
  part.extras?.[FORMAT] === undefined ? {} : { extras: { [FORMAT]: part.extras[FORMAT] } }

/** A signature that no part follows: on an empty text, as Google writes it. */
export const aloneSignature = (signature: string): JsonObject => ({ text: '', thoughtSignature: signature })
