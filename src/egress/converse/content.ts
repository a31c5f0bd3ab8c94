import type {
  Part,
  ReasoningPart,
  RefusalPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from '../../canonical/content.ts'
import { parseCallObject } from '../../canonical/exact-numbers.ts'
import { childPath, type Losses, type Path } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { ConverseDialect } from '../../formats/dialects/converse.ts'
import { defined, extrasFor, spellingFor } from '../fields.ts'
import { withoutMedia } from '../moved-media.ts'
import { searchInWords } from '../searches.ts'
import { SYSTEM_PARTS, USER_PARTS } from '../turns.ts'
import { citedText } from './citations.ts'
import { type Block, FORMAT, type WriteContext, withLegalMarkers, writeCachePoint } from './context.ts'
import { writeMedia } from './media.ts'

/** Kinds of turns. `result` is the content of a tool result. */
export type TurnKind = 'system' | 'user' | 'assistant' | 'tool' | 'result'

/** Part types allowed in each kind of turn, for callers of other formats. */
const ALLOWED_PARTS: { readonly [K in TurnKind]: ReadonlySet<Part['type']> } = {
  system: SYSTEM_PARTS,
  user: USER_PARTS,
  assistant: new Set<Part['type']>([
    ...(['text', 'reasoning', 'refusal', 'tool-call', 'search-call', 'search-result', 'opaque'] as const),
  ]),
  tool: new Set<Part['type']>(['tool-result']),
  result: USER_PARTS,
}

/** A block and the path of the part that it was written from. */
export interface LocatedBlock {
  readonly block: Block
  readonly path: Path
}

/** Writes the blocks of a turn with their cache points. Leaves out parts that the turn cannot contain. */
export function writeBlocks(
  content: readonly Part[],
  path: Path,
  turn: TurnKind,
  context: WriteContext,
): LocatedBlock[] {
  const blocks: LocatedBlock[] = []
  for (const [index, part] of withLegalMarkers(content, path, context).entries()) {
    const at = childPath(path, index)
    const isAllowed = ALLOWED_PARTS[turn].has(part.type)
    if (!isAllowed) context.losses.drop(at, 'not-in-this-turn')
    const block = isAllowed ? writeBlock(part, at, turn, context) : undefined
    if (block === undefined) continue
    blocks.push({ block, path: at })
    const point = part.type === 'opaque' ? undefined : cachePoint(part, at, turn, context)
    if (point !== undefined) blocks.push({ block: point, path: at })
  }
  return blocks
}

/** Writes the cache point of a part. Tool results cannot contain one. */
function cachePoint(part: Part, path: Path, turn: TurnKind, context: WriteContext): Block | undefined {
  if (turn !== 'result' && part.type !== 'reasoning') return writeCachePoint(part, path, context)
  if (part.cache !== undefined) context.losses.drop([...path, 'cache'], 'no-cache-markers-here')
  return undefined
}

/**
 * Writes the block of a part, without its cache point. If there is no block for it, reports a loss and returns
 * undefined.
 */
export function writeBlock(part: Part, path: Path, turn: TurnKind, context: WriteContext): Block | undefined {
  switch (part.type) {
    case 'text':
      return writeText(part, path, turn, context)
    case 'reasoning':
      return writeReasoning(part, path, context)
    case 'refusal':
      return writeRefusal(part, path, turn, context)
    case 'media':
      return isAllowedMedia(part.kind, turn)
        ? writeMedia(part, path, context)
        : context.losses.drop(path, 'not-in-results')
    case 'tool-call':
      return writeCall(part, path, context)
    case 'tool-result':
      return writeResult(part, path, context)
    case 'search-call':
    case 'search-result':
      return writeText(searchInWords(part, path, context.losses), path, turn, context)
    case 'opaque':
      return part.format === FORMAT ? { ...part.value } : writePlainText(part.text, path, context)
    case 'embedding':
    case 'rank':
      return context.losses.drop(path, `no-${part.type}s`)
  }
}

/** Returns true if the turn can contain media of this kind. Tool results cannot contain audio. */
const isAllowedMedia = (kind: string, turn: TurnKind): boolean => turn !== 'result' || kind !== 'audio'

const isBlank = (text: string): boolean => text.trim() === ''

/** Writes a text block. Blank text parts are left out, because upstreams refuse them. */
function writeText(part: TextPart, path: Path, turn: TurnKind, context: WriteContext): Block | undefined {
  if (isBlank(part.text)) return reportBlank(part, path, context)
  return citedText(part, path, turn === 'assistant', context)
}

/** Reports a blank text part that is left out. The loss is only shown if a cache marker or extras are lost with it. */
function reportBlank(part: TextPart | RefusalPart, path: Path, { losses }: WriteContext): undefined {
  if (part.cache !== undefined || part.extras !== undefined) losses.drop(path, 'blank-text')
  else if (part.text !== '' || hasOtherFields(part)) losses.dropRestored(path, 'blank-text')
}

const hasOtherFields = (part: Part): boolean =>
  Object.keys(part).some(key => key !== 'type' && key !== 'text' && key !== 'spelling')

/** Writes the plain text of another format's part. The loss of the part itself has already been reported. */
function writePlainText(text: string | undefined, path: Path, { losses }: WriteContext): Block | undefined {
  if (text === undefined) return undefined
  return isBlank(text) ? losses.drop(path, 'blank-text') : { text }
}

/**
 * Writes reasoning that an upstream of this format signed. Unsigned reasoning is only sent for native callers, and
 * never if another upstream generated it (traps 26-30).
 */
function writeReasoning(part: ReasoningPart, path: Path, context: WriteContext): Block | undefined {
  const { signature } = part
  const mayBeUnsigned =
    signature === undefined && (!context.native || spellingFor(part, FORMAT)['signature'] === 'unsigned')
  if (mayBeUnsigned || (signature !== undefined && signature.format !== FORMAT)) {
    if (part.text !== '' || hasOtherFields(part) || context.native)
      context.losses.drop(path, mayBeUnsigned ? 'unsigned-thinking' : 'signed-by-another')
    return undefined
  }
  if (signature !== undefined && !isTakenSignature(part, context.dialect))
    return context.losses.drop(path, 'signed-by-another')
  return reasoningBlock(part, signature?.value, path, context.losses)
}

/** Returns true if the model takes signed reasoning, even of another model (docs/wire/converse.md#reasoning). */
const isTakenSignature = ({ redacted }: ReasoningPart, { signatures = 'any' }: ConverseDialect): boolean =>
  signatures === 'any' || (signatures === 'hidden' && redacted === true)

/** Returns a reasoning block with the given value in its signature field. */
export function reasoningBlock(
  part: ReasoningPart,
  value: string | undefined,
  path: Path,
  losses: WriteContext['losses'],
): Block {
  if (!part.redacted)
    return {
      reasoningContent: {
        reasoningText: { text: part.text, ...defined({ signature: value }), ...extrasFor(part, FORMAT) } as JsonObject,
      },
    }
  if (part.text !== '') losses.change([...path, 'text'], '', 'hidden-thought')
  for (const field of Object.keys(extrasFor(part, FORMAT)))
    losses.drop([...path, 'extras', FORMAT, field], 'no-equivalent-field')
  return { reasoningContent: { redactedContent: value ?? '' } }
}

/** Writes a refusal in the history as assistant text. */
function writeRefusal(part: RefusalPart, path: Path, turn: TurnKind, context: WriteContext): Block | undefined {
  if (isBlank(part.text)) return reportBlank(part, path, context)
  const text = asText(part)
  context.losses.changeRestored(path, text, 'said-as-text')
  return writeText(text, path, turn, context)
}

/** Returns the refusal as the text part that a reader reads back. */
export const asText = (part: RefusalPart): TextPart => ({
  type: 'text',
  text: part.text,
  ...defined({ cache: part.cache }),
})

function writeCall(part: ToolCallPart, path: Path, { losses }: WriteContext): Block {
  const input = part.arguments === '' ? {} : parseCallObject(part.arguments)
  const wrappedInput = { INVALID_JSON: part.arguments }
  if (input === undefined)
    losses.change([...path, 'arguments'], JSON.stringify(wrappedInput), 'arguments-are-an-object')
  return { toolUse: { toolUseId: part.id, name: part.name, input: input ?? wrappedInput, ...extrasFor(part, FORMAT) } }
}

/** Writes the result of a call, with at least one block. */
function writeResult(part: ToolResultPart, path: Path, context: WriteContext): Block {
  const parts = withoutMovedMedia(part, path, context)
  const content = writeBlocks(parts, [...path, 'content'], 'result', context).map(({ block }) => block)
  if (content.length === 0) {
    const text = part.failed ? 'The call failed.' : NOTHING_RETURNED
    context.losses.insert([...path, 'content', part.content.length], { type: 'text', text }, 'results-have-content')
    content.push({ text })
  }
  return {
    toolResult: {
      toolUseId: part.id,
      content,
      ...(part.failed ? { status: 'error' } : {}),
      ...extrasFor(part, FORMAT),
    },
  }
}

/** Returns the content of a result, without its media if they follow in a turn of the user. */
function withoutMovedMedia(part: ToolResultPart, path: Path, context: WriteContext): readonly Part[] {
  const { losses, moved } = context
  if (moved === undefined) return part.content
  const write = (one: Part, found: Losses): Block | undefined => {
    if (one.type !== 'media') return undefined
    found.dropFields(one, [], { cache: 'no-cache-markers-here' })
    return writeMedia(one, [], { ...context, losses: found })
  }
  return withoutMedia(part, path, { format: FORMAT, losses, moved, write })
}

/** Text of a result without content. */
const NOTHING_RETURNED = 'The call returned nothing.'
