import type { Part, ReasoningPart, RefusalPart, TextPart, ToolCallPart } from '../../canonical/content.ts'
import { Losses, type Path } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { enclose } from '../../canonical/signature.ts'
import { defined, kept, spelt } from '../fields.ts'
import { sanitizeName } from '../sanitize/names.ts'
import { writeMarker } from './cache.ts'
import { writeAnnotation } from './citations.ts'
import { asText, type Block, callerOf, FORMAT, inputOf } from './content.ts'

/**
 * Context of writing an answer; `own` where it comes from an upstream of this same format and is written exactly as it
 * came.
 */
export interface AnswerContext {
  readonly own: boolean
  readonly losses: Losses
}

/** A block of a whole answer, or undefined where the part has none (a loss, unless the part is empty). */
export function writeAnswerPart(part: Part, path: Path, context: AnswerContext): Block | undefined {
  const { losses, own } = context
  if (!own && part.type !== 'opaque' && part.cache !== undefined)
    losses.drop([...path, 'cache'], 'no-cache-markers-here')
  switch (part.type) {
    case 'text':
      return !own && isEmpty(part)
        ? undefined
        : { ...textHead(part, own), text: part.text, ...citations(part, path, context) }
    case 'refusal':
      return writeRefusal(part, path, context)
    case 'reasoning':
      return writeReasoning(part, path, context)
    case 'tool-call':
      return writeCall(part, path, context)
    case 'opaque':
      if (part.format === FORMAT) return { ...part.value }
      return part.text === undefined || part.text === '' ? undefined : { ...textHead(part, own), text: part.text }
    default:
      losses.drop(path, 'no-such-content')
      return undefined
  }
}

/** Whether the part is a text or thought without text and other fields. */
export const isEmpty = (part: TextPart | RefusalPart | ReasoningPart): boolean =>
  part.text === '' && Object.keys(part).every(key => EMPTY_FIELDS.has(key))

/**
 * Whether the part is another issuer's proof without text: it is written before the part it signs, or after the last
 * text (trap 32).
 */
export const isForeignProof = (part: Part): boolean =>
  part.type === 'reasoning' &&
  part.text === '' &&
  part.redacted === undefined &&
  part.signature !== undefined &&
  part.signature.format !== FORMAT

const EMPTY_FIELDS = new Set(['type', 'text', 'spelling', 'cache'])

/**
 * The fields of a text block except its body. Without citations the field is omitted: null is documented, but never
 * sent (trap 87).
 */
export const textHead = (part: Part, own: boolean): Block => ({
  type: 'text',
  text: '',
  ...ownCache(part, own),
  ...(part.type === 'opaque' ? {} : kept(part, FORMAT)),
})

/** Answers have no cache markers; an upstream of this format may have its own there. */
function ownCache({ cache }: { readonly cache?: Part['cache'] }, own: boolean): JsonObject {
  if (!own || cache === undefined) return {}
  const context = { native: true, losses: new Losses(), dialect: {}, markers: [] }
  return { cache_control: writeMarker(cache, [], context) }
}

function citations(part: TextPart, path: Path, { own, losses }: AnswerContext): JsonObject {
  if (part.annotations === undefined) return {}
  const citations = part.annotations.flatMap(annotation => writeAnnotation(annotation) ?? [])
  part.annotations.forEach((annotation, index) => {
    if (annotation.type === 'opaque') return
    const at = [...path, 'annotations', index]
    losses.dropFields(annotation, at, { start: 'no-places-in-the-text', end: 'no-places-in-the-text' })
    if (annotation.quote === '') losses.hide([...at, 'quote'], 'nothing-quoted')
  })
  return citations.length > 0 || own ? { citations } : {}
}

/** A refusal inside an answer is written as text. */
function writeRefusal(part: RefusalPart, path: Path, context: AnswerContext): Block | undefined {
  const { cache: _, ...text } = asText(part)
  if (isEmpty(text)) return undefined
  context.losses.change(path, text, 'said-as-text')
  return { ...textHead(text, context.own), text: part.text }
}

/**
 * The refusal at the end of an answer is the reason why it ended: its text is written to `stop_details` (FORMATS
 * §16.3).
 */
export function explanationIn(content: readonly Part[]): RefusalPart | undefined {
  const last = content.at(-1)
  return last?.type === 'refusal' && last.text !== '' ? last : undefined
}

export const stopDetails = (part: RefusalPart): JsonObject => {
  const { own, type } = spelt(part, FORMAT)
  return {
    ...(type === 'absent' ? {} : { type: 'refusal' }),
    ...(own === true ? {} : { category: null }),
    explanation: part.text,
    ...kept(part, FORMAT),
  }
}

/**
 * The value of the signature slot; undefined where the caller's own upstream has no slot. An unsigned thought must not
 * go to an upstream that requires proofs: the slot holds the thought itself, in an envelope (traps 30, 92).
 */
export function proofOf({ signature, text, ...node }: ReasoningPart, own: boolean): string | undefined {
  if (signature !== undefined) return enclose([{ signature }], FORMAT)
  const slot = spelt(node, FORMAT)['signature']
  if (!own || slot === 'unsigned') return enclose([{ text }], FORMAT)
  return slot === 'absent' ? undefined : ''
}

function writeReasoning(part: ReasoningPart, path: Path, { own, losses }: AnswerContext): Block | undefined {
  if (!own && isEmpty(part)) return undefined
  const others = { ...ownCache(part, own), ...kept(part, FORMAT) }
  if (part.redacted && part.signature !== undefined) {
    if (part.text !== '') losses.change([...path, 'text'], '', 'hidden-thought')
    return { type: 'redacted_thinking', data: enclose([{ signature: part.signature }], FORMAT), ...others }
  }
  if (part.redacted) losses.drop([...path, 'redacted'], 'nothing-encrypted')
  return { type: 'thinking', thinking: part.text, ...defined({ signature: proofOf(part, own) }), ...others }
}

function writeCall(part: ToolCallPart, path: Path, context: AnswerContext): Block {
  const { losses } = context
  if (part.namespace !== undefined) losses.drop([...path, 'namespace'], 'no-namespaces')
  const id = idOf(part, context.own)
  if (id !== part.id) losses.rename([...path, 'id'], id, 'id-made-legal')
  if (part.freeform === undefined) return callBlock(part, inputFields(part), context.own)
  const input = { input: part.arguments }
  losses.change([...path, 'arguments'], JSON.stringify(input), 'wrapped-as-json')
  losses.drop([...path, 'freeform'], 'wrapped-as-json')
  return callBlock(part, { input }, context.own)
}

const inputFields = (part: ToolCallPart): JsonObject =>
  part.arguments === '' && spelt(part, FORMAT)['input'] === 'absent' ? {} : { input: inputOf(part.arguments) }

const LONGEST_ID = 64

/** An id that is valid also where the caller's next turn goes unchanged to an upstream of this same format. */
const idOf = ({ id }: ToolCallPart, own: boolean): string => (own ? id : sanitizeName(id, LONGEST_ID))

export const callBlock = (part: ToolCallPart, input: JsonObject, own: boolean): Block => ({
  type: 'tool_use',
  id: idOf(part, own),
  name: part.name,
  ...input,
  ...(own ? callerOf(part) : { caller: { type: 'direct' } }),
  ...ownCache(part, own),
  ...kept(part, FORMAT),
})
