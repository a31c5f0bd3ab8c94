import type { MediaPart, Part } from '../../canonical/content.ts'
import type { Losses, Path } from '../../canonical/loss.ts'
import { urlOfSource } from '../../canonical/media/data-url.ts'
import { sniffed } from '../../canonical/media/sniff.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import { kept, spelt } from '../fields.ts'

export const FORMAT = 'rerank'

/** Context of writing a document. */
export interface WriteContext {
  /** Whether documents can only be texts. */
  readonly textOnly: boolean
  /** The form of a document that is a single text. */
  plain(text: string): Json
  readonly losses: Losses
}

/** The parts of a document as it came, or else as one text or one image. `path` leads to the list of parts. */
export function writeDocument(content: readonly Part[], path: Path, context: WriteContext): Json {
  const [first] = content
  if (first !== undefined && !context.textOnly && content.every(isSpelt)) return originalDocument(content, first)
  const texts = textsIn(content, path, context)
  if (texts.length > 0) return writeText(texts, path, context)
  const index = content.findIndex(part => part.type === 'media')
  const picture = content[index]
  return picture?.type === 'media' && !context.textOnly
    ? writePicture(picture, [...path, index], context)
    : writeText([], path, context)
}

const isSpelt = (part: Part): boolean => part.spelling?.[FORMAT] !== undefined && fieldOf(part) !== null

/** The field a part was read from; undefined for an empty object, null where the part was in no object. */
function fieldOf(part: Part): string | undefined | null {
  const { field, empty } = spelt(part, FORMAT)
  return typeof field === 'string' ? field : empty === true ? undefined : null
}

function originalDocument(content: readonly Part[], first: Part): Json {
  const entries = content.flatMap((part): [string, Json][] => {
    const field = fieldOf(part)
    if (typeof field !== 'string') return []
    return [[field, part.type === 'text' ? part.text : part.type === 'media' ? pictureOf(part) : '']]
  })
  const { more } = spelt(first, FORMAT)
  return { ...Object.fromEntries(entries), ...(more as JsonObject | undefined), ...kept(first, FORMAT) }
}

function pictureOf(part: MediaPart): string {
  const { source } = part
  if (spelt(part, FORMAT)['bare'] === true && source.type === 'base64') return source.data
  return urlOfSource(source) ?? ''
}

interface Text {
  readonly part: Part
  readonly text: string
  readonly index: number
}

/** The texts of a document; parts that cannot be combined with them, or have no place at all, are lost. */
function textsIn(content: readonly Part[], path: Path, { textOnly, losses }: WriteContext): readonly Text[] {
  const texts = content.flatMap((part, index): Text[] => {
    // A part of another format: its loss is reported with all such.
    const text = part.type === 'text' || (part.type === 'opaque' && part.format !== FORMAT) ? part.text : undefined
    return text === undefined ? [] : [{ part, text, index }]
  })
  const pictures = textOnly || texts.length > 0 ? 0 : 1
  const first = content.findIndex(({ type }) => type === 'media')
  for (const [index, part] of content.entries()) {
    if (part.type === 'media' && index === first && pictures > 0) continue
    if (part.type === 'media') losses.drop([...path, index], textOnly ? 'documents-are-text' : 'a-text-or-a-picture')
    else if (part.type !== 'text' && (part.type !== 'opaque' || part.format === FORMAT))
      losses.drop([...path, index], 'no-place-for-it')
  }
  return texts
}

const NO_MARKS = { cache: 'no-cache-markers', annotations: 'no-annotations' }

function writeText(texts: readonly Text[], path: Path, context: WriteContext): Json {
  const [first, ...others] = texts
  if (first === undefined) return context.plain('')
  if (others.length > 0) {
    const text = texts.map(one => one.text).join('\n')
    context.losses.change(path, [{ type: 'text', text }], 'one-text-each')
    return context.plain(text)
  }
  context.losses.dropFields(first.part, [...path, first.index], NO_MARKS)
  return context.plain(first.text)
}

const NO_NOTES = { ...NO_MARKS, name: 'no-name-here', detail: 'no-detail-here', transcript: 'no-transcript-here' }

/** The URL, or the bare base64. */
function writePicture(part: MediaPart, at: Path, context: WriteContext): Json {
  const { kind, source } = part
  const { losses } = context
  const content = source.type === 'base64' ? source.data : source.type === 'url' ? source.url : undefined
  if (kind !== 'image' || content === undefined) {
    losses.drop(at, kind === 'image' ? 'only-its-issuer-knows' : 'pictures-only')
    return context.plain('')
  }
  losses.dropFields(part, at, { ...NO_NOTES, use: 'no-masks' })
  if (source.type === 'url' && source.mediaType !== undefined)
    losses.drop([...at, 'source', 'mediaType'], 'told-by-the-address')
  if (source.type === 'base64') {
    const mediaType = sniffed(Buffer.from(content.slice(0, 64), 'base64')) ?? 'image/jpeg'
    if (mediaType !== source.mediaType) losses.change([...at, 'source', 'mediaType'], mediaType, 'told-by-the-bytes')
  }
  return { image: content }
}
