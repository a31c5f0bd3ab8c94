import type { MediaPart, Part } from '../../canonical/content.ts'
import type { Losses, Path } from '../../canonical/loss.ts'
import { urlOfSource } from '../../canonical/media/data-url.ts'
import type { Json, JsonObject, Node } from '../../canonical/node.ts'
import type { ChatDialect } from '../../formats/dialects/chat.ts'
import { around as aroundIn, defined, extrasFor } from '../fields.ts'
import { searchInWords } from '../searches.ts'

export const FORMAT = 'chat'

/** The upstream's dialect, and the losses found so far. */
export interface WriteContext {
  readonly dialect: ChatDialect
  readonly losses: Losses
  /** Index of the first message that may lack no reasoning (demanded-reasoning.ts). Undefined if all may. */
  readonly reasoningFrom?: number | undefined
}

/** Writes a part of a content list. If chat cannot express the part, reports a loss and returns undefined. */
export function writePart(part: Part, path: Path, context: WriteContext): JsonObject | undefined {
  const wire = writeBare(part, path, context)
  if (wire === undefined || part.type === 'opaque') return wire
  const cachedPart = { ...wire, ...writeCache(part, path, context) }
  return part.type === 'text' || part.type === 'refusal' ? { ...cachedPart, ...extrasFor(part, FORMAT) } : cachedPart
}

function writeBare(part: Part, path: Path, context: WriteContext): JsonObject | undefined {
  switch (part.type) {
    case 'text':
      if (part.annotations !== undefined)
        context.losses.dropRestored([...path, 'annotations'], 'no-annotations-in-requests')
      return { type: 'text', text: part.text }
    case 'refusal':
      return { type: 'refusal', refusal: part.text }
    case 'media':
      return writeMedia(part, path, context)
    case 'search-call':
    case 'search-result':
      return { type: 'text', text: searchInWords(part, path, context.losses).text }
    case 'opaque':
      return part.format === FORMAT
        ? part.value
        : part.text === undefined
          ? undefined
          : { type: 'text', text: part.text }
    default:
      return context.losses.drop(path, 'not-in-this-turn')
  }
}

/** Writes the cache marker in the upstream's dialect (trap 63). */
export function writeCache(
  node: Node & { cache?: Part['cache'] },
  path: Path,
  { dialect, losses }: WriteContext,
): JsonObject {
  const { cache } = node
  if (cache === undefined) return {}
  const field = dialect.cache ?? 'none'
  if (field === 'cache_control') return { cache_control: { type: 'ephemeral', ...defined({ ttl: cache.ttl }) } }
  if (field === 'none') losses.drop([...path, 'cache'], 'no-cache-markers')
  else if (cache.ttl !== undefined) losses.drop([...path, 'cache', 'ttl'], 'no-such-cache-time')
  return field === 'none' ? {} : { prompt_cache_breakpoint: { mode: 'explicit' } }
}

type MediaWriter = (part: MediaPart, path: Path, context: WriteContext) => JsonObject | undefined

function writeMedia(part: MediaPart, path: Path, context: WriteContext): JsonObject | undefined {
  if (part.source.type === 'text') return writeDocument(part, path, context)
  const wire = MEDIA[part.kind](part, path, context)
  if (wire === undefined) return undefined
  if (part.transcript !== undefined) context.losses.drop([...path, 'transcript'], 'no-transcript-in-requests')
  if (part.kind !== 'image' && part.kind !== 'video' && part.detail !== undefined)
    context.losses.drop([...path, 'detail'], 'no-detail-here')
  if (part.kind !== 'file' && part.name !== undefined) context.losses.drop([...path, 'name'], 'no-name-here')
  return wire
}

const MEDIA: { readonly [K in MediaPart['kind']]: MediaWriter } = {
  image: (part, path, context) => writeLink(part, 'image_url', path, context),
  video: (part, path, context) => {
    if (context.dialect.video === true) return writeLink(part, 'video_url', path, context)
    return context.losses.drop(path, 'no-video')
  },
  audio: writeAudio,
  file: (part, path, context) =>
    context.dialect.document_url === true ? writeLinked(part, path, context) : writeFile(part, path, context),
}

/** Writes an image or a video by its URL. Base64 data becomes a `data:` URL. */
export function writeLink(part: MediaPart, field: string, path: Path, context: WriteContext): JsonObject | undefined {
  const url = urlOfSource(part.source)
  if (url === undefined) return context.losses.drop(path, 'no-file-ids-here')
  if (part.source.type === 'url' && part.source.mediaType !== undefined)
    context.losses.drop([...path, 'source', 'mediaType'], 'no-media-type-of-urls')
  return around(part, field, defined({ url, detail: part.detail }))
}

const AUDIO_FORMATS: { readonly [mediaType: string]: string } = {
  'audio/mpeg': 'mp3',
  'audio/mp3': 'mp3',
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/wave': 'wav',
}
const AUDIO_TYPES: { readonly [format: string]: string } = { mp3: 'audio/mpeg', wav: 'audio/wav' }

/** Writes audio. Chat only accepts WAV or MP3 bytes (trap 52). */
function writeAudio(part: MediaPart, path: Path, context: WriteContext): JsonObject | undefined {
  const { source } = part
  const mediaType = source.type === 'base64' ? source.mediaType : undefined
  const format = AUDIO_FORMATS[mediaType ?? '']
  if (source.type !== 'base64' || format === undefined) return context.losses.drop(path, 'only-wav-and-mp3')
  const readBack = AUDIO_TYPES[format]
  if (readBack !== undefined && readBack !== mediaType)
    context.losses.change([...path, 'source', 'mediaType'], readBack, 'nearest-audio-type')
  return around(part, 'input_audio', { data: source.data, format })
}

function writeFile(part: MediaPart, path: Path, context: WriteContext): JsonObject | undefined {
  const { source, name } = part
  if (source.type === 'file-id' && source.format === FORMAT) {
    if (source.mediaType !== undefined) context.losses.drop([...path, 'source', 'mediaType'], 'no-media-type-of-ids')
    return around(part, 'file', defined({ file_id: source.id, filename: name }))
  }
  const url = urlOfSource(source)
  if (url === undefined || source.type === 'url')
    return context.losses.drop(path, source.type === 'url' ? 'no-file-urls' : 'no-such-file-ids')
  if (name === undefined) context.losses.add([...path, 'name'], 'file', 'minted-file-name')
  return around(part, 'file', defined({ file_data: url, filename: name ?? 'file' }))
}

/** Writes a file by its URL or as a `data:` URL, which is the form that Mistral accepts. */
function writeLinked(part: MediaPart, path: Path, context: WriteContext): JsonObject | undefined {
  const { source, name } = part
  const url = urlOfSource(source)
  if (url === undefined) return context.losses.drop(path, 'no-such-file-ids')
  if (source.type === 'url' && source.mediaType !== undefined)
    context.losses.drop([...path, 'source', 'mediaType'], 'no-media-type-of-urls')
  const nameFields = defined({ document_name: name }) as JsonObject
  return { type: 'document_url', document_url: url, ...nameFields, ...extrasFor(part, FORMAT) }
}

/** Writes a text document as a text part that begins with the document's name. */
function writeDocument(part: MediaPart, path: Path, context: WriteContext): JsonObject | undefined {
  if (part.source.type !== 'text') return undefined
  const text = part.name === undefined ? part.source.text : `${part.name}\n\n${part.source.text}`
  context.losses.change(path, { type: 'text', text, ...defined({ cache: part.cache }) }, 'said-in-words')
  return { type: 'text', text }
}

/** Writes a node as `{ type: field, [field]: inside }`, with the format's extras on both levels. */
export const around = (node: Node, field: string, inside: JsonObject): JsonObject =>
  aroundIn(FORMAT, node, field, inside)

/**
 * Returns the content as a string or a list of parts, depending on what the upstream accepts. Empty text parts are left
 * out.
 */
export function contentOf(parts: readonly JsonObject[], { text_only_content }: ChatDialect): Json {
  // Most messages are one text.
  if (parts.length === 1 && isPlainText(parts[0]!)) return parts[0]!['text']!
  const nonEmpty = parts.filter(part => !isPlainText(part) || part['text'] !== '')
  if (nonEmpty.length === 0) return ''
  if (nonEmpty.length === 1 && isPlainText(nonEmpty[0]!)) return nonEmpty[0]!['text']!
  return text_only_content === 'string' && nonEmpty.every(isPlainText)
    ? nonEmpty.map(part => part['text']).join('\n\n')
    : nonEmpty
}

const isPlainText = (wire: JsonObject): boolean => wire['type'] === 'text' && Object.keys(wire).length === 2
