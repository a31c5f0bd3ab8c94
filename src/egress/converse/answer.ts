import type { Part, ReasoningPart, RefusalPart, TextPart, ToolCallPart } from '../../canonical/content.ts'
import { parseCallData } from '../../canonical/exact-numbers.ts'
import { Losses, type Path } from '../../canonical/loss.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import { wrapReasoning } from '../../canonical/signature.ts'
import { extrasFor, spellingFor } from '../fields.ts'
import { sanitizeName } from '../sanitize/names.ts'
import { textBlock, writeCitations } from './citations.ts'
import { asText, reasoningBlock } from './content.ts'
import { type Block, FORMAT } from './context.ts'

/** Writes a part of an answer as a block. If the format has no block for it, reports a loss and returns undefined. */
export function writeAnswerPart(part: Part, path: Path, losses: Losses): Block | undefined {
  if (part.type !== 'opaque' && part.cache !== undefined) losses.drop([...path, 'cache'], 'no-cache-markers-here')
  switch (part.type) {
    case 'text':
      return isEmpty(part) ? undefined : textBlock(part, writeCitations(part.annotations ?? [], path, losses))
    case 'refusal':
      return writeRefusal(part, path, losses)
    case 'reasoning':
      return writeReasoning(part, path, losses)
    case 'tool-call':
      return { toolUse: { ...callHead(part, path, losses), input: inputOf(part, path, losses) } }
    case 'opaque':
      if (part.format === FORMAT) return { ...part.value }
      return part.text === undefined || part.text === '' ? undefined : { text: part.text }
    default:
      return losses.drop(path, 'no-such-content')
  }
}

const EMPTY_FIELDS = new Set(['type', 'text', 'spelling', 'cache'])

/** Returns true if the part has no text and no other fields. */
export const isEmpty = (part: TextPart | RefusalPart | ReasoningPart): boolean =>
  part.text === '' && Object.keys(part).every(key => EMPTY_FIELDS.has(key))

function writeRefusal(part: RefusalPart, path: Path, losses: Losses): Block | undefined {
  const { cache: _, ...text } = asText(part)
  if (isEmpty(part)) return undefined
  losses.change(path, text, 'said-as-text')
  return part.text === '' ? undefined : { text: part.text }
}

/**
 * Returns the value of a signature field: the signature, wrapped if another format issued it. For unsigned reasoning of
 * another format, the value wraps the reasoning itself, so that Claude, which refuses unsigned reasoning, never gets it
 * (traps 30, 92).
 */
export function signatureField(part: ReasoningPart): string | undefined {
  const { signature, redacted, text } = part
  if (signature !== undefined) return wrapReasoning([{ signature }], FORMAT)
  const isOfUpstream = spellingFor(part, FORMAT)['signature'] === 'none'
  return redacted || text === '' || isOfUpstream ? undefined : wrapReasoning([{ text }], FORMAT)
}

function writeReasoning(part: ReasoningPart, path: Path, losses: Losses): Block | undefined {
  if (isEmpty(part)) return undefined
  const value = signatureField(part)
  if (part.redacted && value === undefined) {
    losses.drop([...path, 'redacted'], 'nothing-encrypted')
    const { redacted: _, ...visibleReasoning } = part
    return isEmpty(visibleReasoning) ? undefined : reasoningBlock(visibleReasoning, undefined, path, losses)
  }
  return reasoningBlock(part, value, path, losses)
}

/** Maximum length of a call id, in characters. */
const MAX_ID_LENGTH = 64

/** Returns the fields of a call that a stream sends first. */
export function callHead(part: ToolCallPart, path: Path, losses: Losses): JsonObject {
  if (part.namespace !== undefined) losses.drop([...path, 'namespace'], 'no-namespaces')
  const toolUseId = sanitizeName(part.id, MAX_ID_LENGTH)
  if (toolUseId !== part.id) losses.changeRestored([...path, 'id'], toolUseId, 'id-made-legal')
  return { toolUseId, name: part.name, ...extrasFor(part, FORMAT) }
}

/**
 * Returns the arguments as JSON, or as text if they are malformed. A freeform call's text becomes a single argument.
 */
function inputOf(part: ToolCallPart, path: Path, losses: Losses): Json {
  if (part.freeform !== undefined) {
    const input = { input: part.arguments }
    losses.change([...path, 'arguments'], JSON.stringify(input), 'wrapped-as-json')
    losses.drop([...path, 'freeform'], 'wrapped-as-json')
    return input
  }
  const value = part.arguments === '' ? {} : parseCallData(part.arguments)
  return typeof value === 'object' && value !== null ? value : part.arguments
}

/** Creates a list of losses that is discarded, for parts of a stream. */
export const discardedLosses = (): Losses => new Losses()
