import type { Part, ReasoningPart, RefusalPart, TextPart, ToolCallPart } from '../../canonical/content.ts'
import type { Losses, Path } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { wrapReasoning } from '../../canonical/signature.ts'
import { extrasFor } from '../fields.ts'
import { legalId } from '../sanitize/names.ts'
import { isSearch } from '../searches.ts'
import { asText, inputOf, writeAnnotation } from './content.ts'
import { type Block, FORMAT } from './context.ts'
import { reportSearch, searchBlock } from './search.ts'

/**
 * Writes a part of an answer as a block. If the format has no block for it, reports a loss and returns undefined. An
 * empty part is left out without a loss.
 */
export function writeAnswerPart(part: Part, path: Path, losses: Losses): Block | undefined {
  if (part.type !== 'opaque' && part.cache !== undefined) losses.drop([...path, 'cache'], 'no-cache-markers-here')
  switch (part.type) {
    case 'text':
      return isEmpty(part) ? undefined : { ...textHead(part), text: part.text, ...citations(part, path, losses) }
    case 'refusal':
      return writeRefusal(part, path, losses)
    case 'reasoning':
      return writeReasoning(part, path, losses)
    case 'tool-call':
      return writeCall(part, path, losses)
    case 'search-call':
    case 'search-result':
      reportSearch(part, path, losses)
      return searchBlock(part)
    case 'opaque':
      if (part.format === FORMAT) return { ...part.value }
      return part.text === undefined || part.text === '' ? undefined : { ...textHead(part), text: part.text }
    default:
      return losses.drop(path, 'no-such-content')
  }
}

/** Returns true if the part has no text and no other fields. */
export const isEmpty = (part: TextPart | RefusalPart | ReasoningPart): boolean =>
  part.text === '' && Object.keys(part).every(key => EMPTY_FIELDS.has(key))

/** Returns true if a client that prints the last block as the answer would print nothing for this part. */
export const isUnprintable = (part: Part): boolean => isForeignSignature(part) || isSearch(part)

/**
 * Returns true if the part is another format's signature without text. It is written before the part that it signs, or
 * after the last text part (trap 32).
 */
export const isForeignSignature = (part: Part): boolean =>
  part.type === 'reasoning' &&
  part.text === '' &&
  part.redacted === undefined &&
  part.signature !== undefined &&
  part.signature.format !== FORMAT

const EMPTY_FIELDS = new Set(['type', 'text', 'spelling', 'cache'])

/**
 * Returns the fields of a text block except its text. Without citations, `citations` is omitted, because null is
 * documented but never sent (trap 87).
 */
export const textHead = (part: Part): Block => ({
  type: 'text',
  text: '',
  ...(part.type === 'opaque' ? {} : extrasFor(part, FORMAT)),
})

function citations(part: TextPart, path: Path, losses: Losses): JsonObject {
  if (part.annotations === undefined) return {}
  const citations = part.annotations.flatMap(annotation => writeAnnotation(annotation) ?? [])
  part.annotations.forEach((annotation, index) => {
    if (annotation.type === 'opaque') return
    const at = [...path, 'annotations', index]
    losses.dropFields(annotation, at, { start: 'no-places-in-the-text', end: 'no-places-in-the-text' })
    if (annotation.quote === '') losses.dropRestored([...at, 'quote'], 'nothing-quoted')
  })
  return citations.length > 0 ? { citations } : {}
}

/** Writes a refusal within an answer as text. */
function writeRefusal(part: RefusalPart, path: Path, losses: Losses): Block | undefined {
  const { cache: _, ...text } = asText(part)
  if (isEmpty(text)) return undefined
  losses.change(path, text, 'said-as-text')
  return { ...textHead(text), text: part.text }
}

/**
 * Returns the refusal that ends an answer. Its text is written to `stop_details` as the explanation
 * (docs/wire/messages.md#stop-reasons).
 */
export function explanationIn(content: readonly Part[]): RefusalPart | undefined {
  const last = content.at(-1)
  return last?.type === 'refusal' && last.text !== '' ? last : undefined
}

export const stopDetails = (part: RefusalPart): JsonObject => ({
  type: 'refusal',
  category: null,
  explanation: part.text,
  ...extrasFor(part, FORMAT),
})

/**
 * Returns the value of the `signature` field. For unsigned reasoning, the value wraps the reasoning itself, so that it
 * is never sent to an upstream that requires signatures (traps 30, 92).
 */
export const signatureField = ({ signature, text }: ReasoningPart): string =>
  wrapReasoning([signature === undefined ? { text } : { signature }], FORMAT)

function writeReasoning(part: ReasoningPart, path: Path, losses: Losses): Block | undefined {
  if (isEmpty(part)) return undefined
  const others = extrasFor(part, FORMAT)
  if (part.redacted && part.signature !== undefined) {
    if (part.text !== '') losses.change([...path, 'text'], '', 'hidden-thought')
    return { type: 'redacted_thinking', data: wrapReasoning([{ signature: part.signature }], FORMAT), ...others }
  }
  if (part.redacted) losses.drop([...path, 'redacted'], 'nothing-encrypted')
  return { type: 'thinking', thinking: part.text, signature: signatureField(part), ...others }
}

function writeCall(part: ToolCallPart, path: Path, losses: Losses): Block {
  if (part.namespace !== undefined) losses.drop([...path, 'namespace'], 'no-namespaces')
  const id = idOf(part)
  if (id !== part.id) losses.changeRestored([...path, 'id'], id, 'id-made-legal')
  if (part.freeform === undefined) return callBlock(part, { input: inputOf(part.arguments) })
  const input = { input: part.arguments }
  losses.change([...path, 'arguments'], JSON.stringify(input), 'wrapped-as-json')
  losses.drop([...path, 'freeform'], 'wrapped-as-json')
  return callBlock(part, { input })
}

/** Maximum length of a call id, in characters. Claude states no limit; Kimi's ids may be longer. */
const MAX_ID_LENGTH = 64

/**
 * Returns the id of a call, in a form that remains valid even if the caller sends the turn unchanged to an upstream of
 * this format.
 */
const idOf = ({ id }: ToolCallPart): string => legalId(id, MAX_ID_LENGTH)

/** Returns a `tool_use` block with the given input fields. */
export const callBlock = (part: ToolCallPart, input: JsonObject): Block => ({
  type: 'tool_use',
  id: idOf(part),
  name: part.name,
  ...input,
  caller: { type: 'direct' },
  ...extrasFor(part, FORMAT),
})
