import type {
  Annotation,
  Citation,
  Part,
  ReasoningPart,
  RefusalPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from '../../canonical/content.ts'
import { parseCallData, parseCallObject } from '../../canonical/exact-numbers.ts'
import type { Path } from '../../canonical/loss.ts'
import type { Json, JsonObject, Node } from '../../canonical/node.ts'
import { defined, extrasFor, spellingFor } from '../fields.ts'
import { type SearchPart, searchInWords } from '../searches.ts'
import { SYSTEM_PARTS, USER_PARTS, writeAllowed } from '../turns.ts'
import { type Block, FORMAT, type WriteContext, writeCache } from './context.ts'
import { writeMedia } from './media.ts'
import { acceptedSearches, reportSearch, searchBlock } from './search.ts'
import { acceptedPart, type TurnKind } from './version.ts'

/** Part types allowed in each kind of turn, for callers of other formats. */
const ALLOWED_PARTS = {
  system: SYSTEM_PARTS,
  user: USER_PARTS,
  assistant: new Set<Part['type']>([
    'text',
    'reasoning',
    'refusal',
    'tool-call',
    'search-call',
    'search-result',
    'opaque',
  ]),
  tool: new Set<Part['type']>(['tool-result']),
  result: USER_PARTS,
} as const satisfies { readonly [K in TurnKind]: ReadonlySet<Part['type']> }

/** A block and the path of the part from which it was written. */
export interface LocatedBlock {
  readonly block: Block
  readonly path: Path
}

/** Writes the blocks of a turn. Leaves out empty parts and parts that the turn may not contain. */
export function writeBlocks(
  content: readonly Part[],
  path: Path,
  turn: TurnKind,
  context: WriteContext,
): LocatedBlock[] {
  const searches = turn === 'assistant' ? acceptedSearches(content) : undefined
  return writeAllowed(content, ALLOWED_PARTS[turn], path, context.losses, (part, at) => {
    const accepted = acceptedPart(part, turn, at, context)
    const block = accepted && writeBlock(accepted, at, context, searches)
    return block && { block, path: at }
  })
}

/**
 * Writes the block of a part. If there is none, reports a loss and returns undefined.
 *
 * @param searches ids of searches that the upstream accepts in the history. All others are described as text.
 */
export function writeBlock(
  part: Part,
  path: Path,
  context: WriteContext,
  searches?: ReadonlySet<string>,
): Block | undefined {
  switch (part.type) {
    case 'text':
      return writeText(part, path, context)
    case 'reasoning':
      return writeReasoning(part, path, context)
    case 'refusal':
      return writeRefusal(part, path, context)
    case 'media':
      return withCache(writeMedia(part, path, context), part, path, context)
    case 'tool-call':
      return writeCall(part, path, context)
    case 'tool-result':
      return writeResult(part, path, context)
    case 'search-call':
    case 'search-result':
      return searches?.has(part.id) ? writeSearch(part, path, context) : writeInWords(part, path, context)
    case 'opaque':
      return part.format === FORMAT ? { ...part.value } : writePlainText(part.text, path, context)
    case 'embedding':
    case 'rank':
      return context.losses.drop(path, `no-${part.type}s`)
  }
}

const withCache = (
  block: Block | undefined,
  node: Node & Pick<Part, 'cache'>,
  path: Path,
  context: WriteContext,
): Block | undefined => block && writeCache(block, node, path, context)

const isBlank = (text: string): boolean => text.trim() === ''

/** Writes a text block. Blank text parts are left out, because upstreams refuse them. */
function writeText(part: TextPart, path: Path, context: WriteContext): Block | undefined {
  if (isBlank(part.text)) return reportBlank(part, path, context)
  const citations = writeCitations(part, path, context)
  return withCache({ type: 'text', text: part.text, ...citations, ...extrasFor(part, FORMAT) }, part, path, context)
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
  if (!isBlank(text)) return { type: 'text', text }
  return losses.drop(path, 'blank-text')
}

/**
 * Writes reasoning that an upstream of this format signed. Unsigned reasoning is only sent for native callers, and
 * never if another upstream generated it (traps 26-30).
 */
function writeReasoning(part: ReasoningPart, path: Path, context: WriteContext): Block | undefined {
  const { signature } = part
  const isUnsignedForeign =
    signature === undefined && (!context.native || spellingFor(part, FORMAT)['signature'] === 'unsigned')
  if (isUnsignedForeign || (signature !== undefined && signature.format !== FORMAT)) {
    if (part.text !== '' || hasOtherFields(part) || context.native)
      context.losses.drop(path, isUnsignedForeign ? 'unsigned-thinking' : 'signed-by-another')
    return undefined
  }
  if (part.cache !== undefined) context.losses.drop([...path, 'cache'], 'no-cache-markers-here')
  return part.redacted ? writeRedacted(part, path, context) : writeThinking(part)
}

function writeRedacted(part: ReasoningPart, path: Path, { losses }: WriteContext): Block {
  if (part.text !== '') losses.change([...path, 'text'], '', 'hidden-thought')
  return { type: 'redacted_thinking', data: part.signature?.value ?? '', ...extrasFor(part, FORMAT) }
}

function writeThinking(part: ReasoningPart): Block {
  return { type: 'thinking', thinking: part.text, signature: part.signature?.value ?? '', ...extrasFor(part, FORMAT) }
}

function writeSearch(part: SearchPart, path: Path, context: WriteContext): Block | undefined {
  reportSearch(part, path, context.losses)
  return withCache(searchBlock(part), part, path, context)
}

const writeInWords = (part: SearchPart, path: Path, context: WriteContext): Block | undefined =>
  writeText(searchInWords(part, path, context.losses), path, context)

/** Writes a refusal in the history as assistant text. */
function writeRefusal(part: RefusalPart, path: Path, context: WriteContext): Block | undefined {
  const text = asText(part)
  if (isBlank(part.text)) return reportBlank(part, path, context)
  context.losses.changeRestored(path, text, 'said-as-text')
  return writeText(text, path, context)
}

/** Returns the refusal as the text part that a reader reads back. */
export function asText(part: RefusalPart): TextPart {
  const extras = part.extras?.[FORMAT]
  return {
    type: 'text',
    text: part.text,
    ...defined({ cache: part.cache }),
    ...(extras === undefined ? {} : { extras: { [FORMAT]: extras } }),
  }
}

function writeCall(part: ToolCallPart, path: Path, context: WriteContext): Block | undefined {
  const input = objectOf(part.arguments, path, context)
  const block: Block = { type: 'tool_use', id: part.id, name: part.name, input, ...extrasFor(part, FORMAT) }
  return withCache(block, part, path, context)
}

/** Returns the arguments as a JSON object or list. Any other text is returned unchanged. */
export function inputOf(text: string): Json {
  if (text === '') return {}
  const value = parseCallData(text)
  return typeof value === 'object' && value !== null ? value : text
}

/**
 * Returns the arguments as an object, because upstreams require one. Any other value is wrapped in an object, so that
 * the model still sees what it wrote.
 */
function objectOf(text: string, path: Path, { losses }: WriteContext): JsonObject {
  const object = text === '' ? {} : parseCallObject(text)
  if (object !== undefined) return object
  const wrappedInput = { INVALID_JSON: text }
  losses.change([...path, 'arguments'], JSON.stringify(wrappedInput), 'arguments-are-an-object')
  return wrappedInput
}

function writeResult(part: ToolResultPart, path: Path, context: WriteContext): Block | undefined {
  const blocks = writeBlocks(part.content, [...path, 'content'], 'result', context).map(({ block }) => block)
  const holdsTextOnly = blocks.every(({ type }) => type === 'text')
  if (part.failed && !holdsTextOnly) context.losses.drop([...path, 'failed'], 'errors-hold-text-only')
  if (part.failed && (blocks.length === 0 || !holdsTextOnly)) blocks.push(insertFailure(part, path, context))
  const block: Block = {
    type: 'tool_result',
    tool_use_id: part.id,
    ...contentOf(blocks),
    ...(part.failed && holdsTextOnly ? { is_error: true } : {}),
  }
  return withCache({ ...block, ...extrasFor(part, FORMAT) }, part, path, context)
}

/**
 * Inserts a text into a failed result without content or with images, because upstreams refuse errors without text, and
 * those with anything else: "all content must be type `text` if `is_error` is true" (caozhiyuan/copilot-api#196,
 * vellum-ai/vellum-assistant#18387, read on 2026-12-01).
 */
function insertFailure(part: ToolResultPart, path: Path, { losses }: WriteContext): Block {
  const notice = { type: 'text', text: 'The call failed.' }
  losses.insert([...path, 'content', part.content.length], notice, 'errors-need-a-text')
  return { ...notice }
}

/** Returns the `content` field, which is a string for a single plain text part. Empty if there are no blocks. */
export function contentOf(blocks: readonly Block[]): { content?: Json } {
  const [first] = blocks
  if (first === undefined) return {}
  return { content: blocks.length === 1 && isPlainText(first) ? first['text']! : blocks }
}

/** Returns true if the block is a text without other fields. */
function isPlainText(block: Block): boolean {
  if (block['type'] !== 'text') return false
  for (const field in block) if (field !== 'type' && field !== 'text') return false
  return block['text'] !== undefined
}

/** Writes the citations of an earlier text part. The upstream refuses citations without its own `encrypted_index`. */
function writeCitations(part: TextPart, path: Path, { losses }: WriteContext): { citations?: Json } | undefined {
  if (part.annotations === undefined) return undefined
  const citations = part.annotations.flatMap((annotation, index): JsonObject[] => {
    if (annotation.type === 'opaque') return annotation.format === FORMAT ? [annotation.value] : []
    if (hasIndex(annotation)) return [writeCitation(annotation)]
    losses.dropRestored([...path, 'annotations', index], 'citation-without-proof')
    return []
  })
  return citations.length > 0 ? { citations } : {}
}

/** The `encrypted_index` of citations from other upstreams. */
export const NO_INDEX = ''

const hasIndex = (citation: Citation): boolean => citation.extras?.[FORMAT]?.['encrypted_index'] !== undefined

/** Writes a web citation. Required fields are empty if unknown. */
function writeCitation(citation: Citation): JsonObject {
  return {
    type: 'web_search_result_location',
    url: citation.url,
    cited_text: citation.quote ?? '',
    title: citation.title ?? null,
    encrypted_index: NO_INDEX,
    ...extrasFor(citation, FORMAT),
  }
}

/** Writes an annotation. Returns undefined if the annotation belongs to another format. */
export const writeAnnotation = (annotation: Annotation): JsonObject | undefined =>
  annotation.type === 'citation'
    ? writeCitation(annotation)
    : annotation.format === FORMAT
      ? annotation.value
      : undefined
