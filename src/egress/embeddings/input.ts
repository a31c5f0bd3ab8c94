import type { MediaPart, OpaquePart, Part, TextPart } from '../../canonical/content.ts'
import type { Losses, Path, Unwritten } from '../../canonical/loss.ts'
import { urlOfSource } from '../../canonical/media/data-url.ts'
import { sniffed } from '../../canonical/media/sniff.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Message } from '../../canonical/request.ts'
import { kept, spelt } from '../fields.ts'
import type { EmbeddingsDialect } from './dialect.ts'

export const FORMAT = 'embeddings'

/** Context of writing a request. */
export interface WriteContext {
  readonly dialect: EmbeddingsDialect
  readonly native: boolean
  readonly losses: Losses
}

/** All inputs, as a list or in the caller's spelling. */
export function writeInput(request: CanonicalRequest, context: WriteContext): Json {
  const items = request.messages.map((message, index) => writeItem(message, ['messages', index], context))
  const [only] = items
  const as = context.native && items.length === 1 ? spelt(request, FORMAT)['input'] : undefined
  return as === undefined || only === undefined ? items : only
}
const MESSAGE_LOSSES: Unwritten<Message, 'role' | 'content'> = { name: 'no-speaker-names' }

function writeItem(message: Message, path: Path, context: WriteContext): Json {
  const { losses } = context
  losses.dropFields(message, path, MESSAGE_LOSSES)
  if (message.role !== 'user') losses.change([...path, 'role'], 'user', 'no-roles')
  const [only, ...others] = message.content
  if (only !== undefined && others.length === 0) {
    if (only.type === 'opaque' && only.format === FORMAT) return writeOwn(only, message, path, losses)
    if (only.type === 'media') {
      const media = writeMedia(only, message, path, context)
      if (media !== undefined) return { ...media, ...kept(message, FORMAT) }
    }
  }
  const text = writeText(message.content, path, losses)
  const own = kept(message, FORMAT)
  return spelt(message, FORMAT)['as'] === 'object' || Object.keys(own).length > 0 ? { text, ...own } : text
}

/** Tokens are a list, which has no place for other fields. */
function writeOwn({ value }: OpaquePart, message: Message, path: Path, losses: Losses): Json {
  const { tokens } = value
  if (spelt(message, FORMAT)['as'] === 'object' || !Array.isArray(tokens)) return value
  for (const field in message.extras?.[FORMAT]) losses.drop([...path, 'extras', FORMAT, field], 'no-place-for-it')
  return tokens
}

/** An image, or a document, where the upstream takes such: its URL or its bare base64. */
function writeMedia(part: MediaPart, message: Message, path: Path, context: WriteContext): JsonObject | undefined {
  const { native, dialect, losses } = context
  const { source, kind } = part
  const at: Path = [...path, 'content', 0]
  const bare = spelt(message, FORMAT)['bare'] === true || !native
  const content = bare && source.type === 'base64' ? source.data : urlOfSource(source)
  if (content === undefined || (!native && (dialect.image_input !== true || kind !== 'image'))) return undefined
  if (native) return { [kind === 'file' ? 'pdf' : 'image']: content }
  losses.dropFields(part, at, MEDIA_LOSSES)
  dropOwn(part, at, losses)
  if (source.type === 'url' && source.mediaType !== undefined)
    losses.drop([...at, 'source', 'mediaType'], 'told-by-the-address')
  if (source.type === 'base64') {
    const mediaType = sniffed(Buffer.from(source.data.slice(0, 64), 'base64')) ?? 'image/jpeg'
    if (mediaType !== source.mediaType) losses.change([...at, 'source', 'mediaType'], mediaType, 'told-by-the-bytes')
  }
  return { image: content }
}

/** All texts of one input as one; other parts are lost. */
function writeText(content: readonly Part[], path: Path, losses: Losses): string {
  const texts: string[] = []
  for (const [index, part] of content.entries()) {
    const text = textOf(part, [...path, 'content', index], losses)
    if (text !== undefined) texts.push(text)
  }
  if (texts.length < 2) return texts[0] ?? ''
  const text = texts.join('\n')
  losses.change([...path, 'content'], [{ type: 'text', text }], 'one-text-each')
  return text
}

const TEXT_LOSSES: Unwritten<TextPart, 'type' | 'text'> = { cache: 'no-cache-markers', annotations: 'no-annotations' }

const MEDIA_LOSSES: Unwritten<MediaPart, 'type' | 'kind' | 'source' | 'made'> = {
  cache: 'no-cache-markers',
  transcript: 'no-transcript-here',
  name: 'no-name-here',
  detail: 'no-detail-here',
  use: 'no-masks',
}

function textOf(part: Part, path: Path, losses: Losses): string | undefined {
  if (part.type === 'text') {
    losses.dropFields(part, path, TEXT_LOSSES)
    dropOwn(part, path, losses)
    return part.text
  }
  // A part of another format: its loss is reported with all such.
  if (part.type === 'opaque' && part.format !== FORMAT) return part.text
  if (part.type !== 'media' || part.source.type !== 'text') {
    losses.drop(path, part.type === 'media' ? 'no-media' : 'no-place-for-it')
    return undefined
  }
  const { source, name } = part
  const text = name === undefined ? source.text : `${name}\n\n${source.text}`
  losses.change(path, { type: 'text', text }, 'said-in-words')
  return text
}

function dropOwn(part: Part, path: Path, losses: Losses): void {
  for (const field in part.extras?.[FORMAT]) losses.drop([...path, 'extras', FORMAT, field], 'no-place-for-it')
}
