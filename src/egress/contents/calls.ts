import type { CallIds } from '../../canonical/call-ids.ts'
import type { MediaPart, MediaSource, Part, TextPart, ToolCallPart, ToolResultPart } from '../../canonical/content.ts'
import { parseCallObject } from '../../canonical/exact-numbers.ts'
import type { Losses, Path, Unwritten } from '../../canonical/loss.ts'
import { type JsonObject, stringIn } from '../../canonical/node.ts'
import { withoutMedia } from '../moved-media.ts'
import { sanitizeName } from '../sanitize/names.ts'
import { FORMAT, nativeExtras, nestedExtras, type WriteContext, withExtras } from './fields.ts'
import { isRefusedImage, ruleFor, writeMedia } from './media.ts'

/** Writes a call in a request. Arguments that are not an object become a single argument named `input`. */
export function writeCall(part: ToolCallPart, path: Path, context: WriteContext, ids: CallIds): JsonObject {
  const id = context.dialect.vertex ? undefined : part.id
  const readId = ids.call(id, part.name, part.id)
  if (readId !== part.id) context.losses.changeRestored([...path, 'id'], readId, 'id-made-unique')
  const args = writeArguments(part, path, context)
  return { functionCall: withExtras(nestedExtras(nativeExtras(part), 'functionCall'), { id, name: part.name, args }) }
}

/** Returns the arguments of a call as an object, which the format requires. */
export function writeArguments(part: ToolCallPart, path: Path, { losses }: Pick<WriteContext, 'losses'>): JsonObject {
  if (part.arguments === '' && !part.freeform) return {}
  const args = part.freeform ? undefined : parseCallObject(part.arguments)
  if (args !== undefined) return args
  const wrappedInput = { input: part.arguments }
  losses.change([...path, 'arguments'], JSON.stringify(wrappedInput), 'arguments-are-an-object')
  return wrappedInput
}
const TOOL_RESULT_LOSSES: Unwritten<ToolResultPart, 'type' | 'id' | 'name' | 'content' | 'failed' | 'freeform'> = {
  cache: 'no-cache-markers',
}

/** Writes the result of a call: text and failure in `response`, media in `parts` next to it (trap 48). */
export function writeResult(part: ToolResultPart, path: Path, context: WriteContext, ids: CallIds): JsonObject {
  const id = context.dialect.vertex ? undefined : part.id
  const name = ids.nameOf(part.id) ?? sanitizeName(part.name ?? 'unknown', 64, 'word')
  const readId = ids.result(id, name)
  context.losses.dropFields(part, path, TOOL_RESULT_LOSSES)
  if (readId !== part.id) context.losses.changeRestored([...path, 'id'], readId, 'id-made-unique')
  const content = withoutMovedMedia(part, path, context)
  const { texts, media } = splitResult(content, [...path, 'content'], context)
  const response = writeResponse(texts.join('\n\n'), part.failed)
  const fields = { id, name, response, parts: media.length > 0 ? media : undefined }
  return { functionResponse: withExtras(nestedExtras(nativeExtras(part), 'functionResponse'), fields) }
}

/** Returns the content of a result, without its media if they follow in a user turn. */
function withoutMovedMedia(
  part: ToolResultPart,
  path: Path,
  { dialect, losses, moved }: WriteContext,
): readonly Part[] {
  if (moved === undefined) return part.content
  const write = (one: Part, found: Losses): JsonObject | undefined => {
    if (one.type !== 'media') return undefined
    found.dropFields(one, [], { cache: 'no-cache-markers' })
    const wire = writeMedia(one, [], ruleFor(dialect, found))
    return wire && withExtras(nativeExtras(one), wire)
  }
  return withoutMedia(part, path, { format: FORMAT, losses, moved, write, holds: isInWords })
}

/** Returns true for media that are written as text: documents of text, and images that Gemini refuses. */
const isInWords = (part: MediaPart): boolean => part.source.type === 'text' || isRefusedImage(part)

/** Keys whose value readers read as the whole text, provided that the object has no other key. */
const TEXT_KEYS = ['result', 'output', 'error']

/**
 * Key by which a response refers to media in `parts`. Gemini refuses any other reference, as JSON Schema and OpenAPI
 * have them: "The referenced name `#/$defs/A` in function_response.response does not match to a display_name"
 * (vercel/ai#14369, CLIProxyAPI#6065, read on 2026-12-01).
 */
const REFERENCE = '"$ref"'

/**
 * Writes the text of a result. If the text is a JSON object without references from which readers read the same text
 * back, the object itself is sent.
 */
function writeResponse(text: string, failed: true | undefined): JsonObject {
  if (failed) return { error: text }
  const isPlain = text.startsWith('{') && !text.includes(REFERENCE)
  const value = isPlain ? parseCallObject(text) : undefined
  if (value === undefined || JSON.stringify(value) !== text) return { result: text }
  const keys = Object.keys(value)
  return keys.length === 1 && TEXT_KEYS.includes(keys[0]!) ? { result: text } : value
}

interface SplitResult {
  readonly texts: readonly string[]
  readonly media: readonly JsonObject[]
}

/** Splits the content of a result into one joined text and the media. */
function splitResult(content: readonly Part[], path: Path, context: WriteContext): SplitResult {
  const texts: { readonly text: string; readonly index: number }[] = []
  const media: { readonly wire: JsonObject; readonly index: number }[] = []
  content.forEach((item, index) => {
    const wire = writeItem(item, [...path, index], context)
    if (wire === undefined) return
    if (typeof wire === 'string') texts.push({ text: wire, index })
    else media.push({ wire, index })
  })
  const written = [...texts, ...media].map(({ index }) => index)
  context.losses.reorder(path, written, content.length, 'media-after-text')
  const nonEmpty = texts.filter(({ text }) => text !== '')
  if (nonEmpty.length > 1) reportJoin(nonEmpty, path, context)
  return { texts: nonEmpty.map(({ text }) => text), media: media.map(({ wire }) => wire) }
}

const TEXT_LOSSES: Unwritten<TextPart, 'type' | 'text' | 'cache'> = { annotations: 'no-annotations-here' }

function writeItem(part: Part, path: Path, context: WriteContext): string | JsonObject | undefined {
  if (part.type === 'opaque') return part.format === FORMAT ? part.value : part.text
  const { losses, dialect } = context
  losses.dropFields(part, path, { cache: 'no-cache-markers' })
  if (part.type === 'text') {
    losses.dropFields(part, path, TEXT_LOSSES)
    if (nativeExtras(part) !== undefined) losses.drop([...path, 'extras', FORMAT], 'no-equivalent-field')
    return part.text
  }
  if (part.type === 'media') {
    const address = dialect.vertex === true ? undefined : addressOf(part.source)
    if (address !== undefined) {
      losses.change(path, { type: 'text', text: address }, 'said-in-words')
      return address
    }
    const { extras: _, ...plain } = part
    const wire = writeMedia(isInWords(part) ? plain : part, path, ruleFor(dialect, losses))
    return wire !== undefined && 'text' in wire ? stringIn(wire['text']) : wire && withExtras(nativeExtras(part), wire)
  }
  return losses.drop(path, 'not-in-results')
}

/**
 * Returns the address of a file that is not inline, to be written as text. Apart from text, a result can only hold
 * bytes.
 */
function addressOf(source: MediaSource): string | undefined {
  if (source.type === 'url') return source.url
  return source.type === 'file-id' && source.format === FORMAT ? source.id : undefined
}

function reportJoin(texts: readonly { text: string; index: number }[], path: Path, { losses }: WriteContext): void {
  const became: Part = { type: 'text', text: texts.map(({ text }) => text).join('\n\n') }
  losses.change([...path, texts[0]!.index], became, 'one-text-only')
  for (const { index } of texts.slice(1)) losses.drop([...path, index], 'one-text-only')
}
