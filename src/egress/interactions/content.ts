import type { Annotation, Citation, MediaKind, MediaPart, Part, TextPart } from '../../canonical/content.ts'
import type { Losses, Path, Unwritten } from '../../canonical/loss.ts'
import { isGoogleFile } from '../../canonical/media/google-file.ts'
import { samplesOf } from '../../canonical/media/wav.ts'
import { defined, type JsonObject, unchangedWire } from '../../canonical/node.ts'
import { Offsets } from '../../canonical/text.ts'
import { extrasFor } from '../fields.ts'
import { googleTypeOf } from '../media/google-types.ts'
import { FORMAT } from './context.ts'

/* Step contents (docs/wire/interactions.md#contents), written in the same way in requests and answers. */

/**
 * Writes a part as a content. If the format cannot express it, reports a loss and returns undefined. Empty texts are
 * left out.
 */
export function writeContent(part: Part, path: Path, losses: Losses): JsonObject | undefined {
  if (part.type !== 'opaque' && part.cache !== undefined) losses.drop([...path, 'cache'], 'no-cache-markers')
  switch (part.type) {
    case 'text':
      if (isEmpty(part)) {
        if (part.annotations !== undefined) losses.drop(path, 'cites-nothing')
        return undefined
      }
      reportCitations(part, path, losses)
      return writeText(part)
    case 'refusal':
      losses.change(path, { type: 'text', text: part.text, ...bareExtras(part) }, 'said-as-text')
      return isEmpty(part) ? undefined : { type: 'text', text: part.text, ...contentExtras(part) }
    case 'media':
      return writeMedia(part, path, losses)
    case 'opaque':
      if (part.format === FORMAT) return part.value
      return part.text === undefined || part.text === '' ? undefined : { type: 'text', text: part.text }
    default:
      return losses.drop(path, 'not-in-this-turn')
  }
}

/** Returns true for an empty text without extras of this format. */
export const isEmpty = (part: Part): boolean =>
  'text' in part && part.text === '' && Object.keys(extrasFor(part, FORMAT)).length === 0

/** Returns the extras of a content, without its step's extras. */
export function contentExtras(part: Part): JsonObject {
  const { step: _, ...extras } = extrasFor(part, FORMAT)
  return extras
}

const bareExtras = ({ extras }: Part): Pick<Part, 'extras'> => {
  const formatExtras = extras?.[FORMAT]
  return formatExtras === undefined ? {} : { extras: { [FORMAT]: formatExtras } }
}

/** Writes a text with its citations. */
export function writeText(part: TextPart): JsonObject {
  const annotations = writeAnnotations(part.annotations, part.text)
  return {
    type: 'text',
    text: part.text,
    ...(annotations.length === 0 ? {} : { annotations }),
    ...contentExtras(part),
  }
}

/** Writes annotations, with offsets in bytes of the text. */
export function writeAnnotations(
  annotations: readonly Annotation[] = [],
  text: string,
  offsets = new Offsets(text),
): readonly JsonObject[] {
  return annotations.flatMap(annotation => {
    if (annotation.type === 'opaque') return annotation.format === FORMAT ? [annotation.value] : []
    return [unchangedWire<JsonObject>(annotation, FORMAT) ?? writeCitation(annotation, text, offsets)]
  })
}

function writeCitation(citation: Citation, text: string, offsets: Offsets): JsonObject {
  const byte = (unit: number | undefined): number | undefined =>
    unit === undefined || !isValidOffset(text, unit) ? undefined : offsets.byteAt(unit)
  return {
    type: 'url_citation',
    url: citation.url,
    ...(defined({
      title: citation.title,
      start_index: byte(citation.start),
      end_index: byte(citation.end),
    }) as JsonObject),
    ...extrasFor(citation, FORMAT),
  }
}

/** Returns true for an offset within the text that does not split a surrogate pair. */
const isValidOffset = (text: string, unit: number): boolean =>
  unit >= 0 && unit <= text.length && !(unit > 0 && /[\uDC00-\uDFFF]/.test(text[unit] ?? ''))

/** Reports quotes, and offsets outside the text. */
export function reportCitations({ text, annotations }: TextPart, path: Path, losses: Losses): void {
  for (const [index, annotation] of (annotations ?? []).entries()) {
    if (annotation.type === 'opaque' || unchangedWire(annotation, FORMAT) !== undefined) continue
    const at = [...path, 'annotations', index]
    if (annotation.quote !== undefined) losses.drop([...at, 'quote'], 'no-quotes')
    for (const edge of ['start', 'end'] as const) {
      const unit = annotation[edge]
      if (unit !== undefined && !isValidOffset(text, unit)) losses.drop([...at, edge], 'not-in-the-text')
    }
  }
}

const TYPES: { readonly [K in MediaKind]: string } = {
  image: 'image',
  audio: 'audio',
  video: 'video',
  file: 'document',
}

const MEDIA_LOSSES: Unwritten<MediaPart, 'type' | 'kind' | 'source' | 'detail' | 'use' | 'cache'> = {
  name: 'no-name-here',
  transcript: 'no-transcript-here',
  made: 'no-properties-here',
}

/** Writes media as bytes or a URI. If the format does not support it, reports a loss and returns undefined. */
export function writeMedia(part: MediaPart, path: Path, losses: Losses): JsonObject | undefined {
  const { source, kind } = part
  if (part.use === 'mask') return losses.drop(path, 'no-masks')
  if (source.type === 'text') return writeDocument(part, source.text, path, losses)
  if (source.type === 'bytes') return losses.drop(path, 'only-base64')
  if (source.type === 'file-id' && source.format !== FORMAT) return losses.drop(path, 'no-such-file-ids')
  losses.dropFields(part, path, MEDIA_LOSSES)
  const resolution = writeDetail(part, path, losses)
  const location =
    source.type === 'base64'
      ? { data: source.data, ...writeType(source.mediaType, path, losses) }
      : { uri: writeUri(part, path, losses), mime_type: source.mediaType }
  return { type: TYPES[kind], ...(defined({ ...location, resolution }) as JsonObject), ...contentExtras(part) }
}

/** Writes the media type of bytes. Raw samples have separate fields for rate and channels. */
function writeType(mediaType: string, path: Path, losses: Losses): JsonObject {
  const samples = mediaType === RAW ? undefined : samplesOf(mediaType)
  if (samples === undefined) return { mime_type: writeName(mediaType, path, losses) }
  const { rate, channels } = samples
  const statesChannels = /;\s*channels=/i.test(mediaType)
  const became = `${RAW};rate=${rate}${statesChannels ? `;channels=${channels}` : ''}`
  if (became !== mediaType) losses.changeRestored([...path, 'source', 'mediaType'], became, 'samples-have-one-type')
  return { mime_type: RAW, sample_rate: rate, ...(statesChannels ? { channels } : {}) }
}

/** Writes a media type by the name that Google knows. */
function writeName(mediaType: string, path: Path, losses: Losses): string {
  const name = googleTypeOf(mediaType)
  if (name === undefined) return mediaType
  losses.changeRestored([...path, 'source', 'mediaType'], name, 'written-as-a-synonym')
  return name
}

/** The media type of raw samples. */
const RAW = 'audio/l16'

const DETAILS: ReadonlySet<string> = new Set(['low', 'high'])

/** Writes the resolution at which the model views an image or video. */
function writeDetail({ detail, kind }: MediaPart, path: Path, losses: Losses): string | undefined {
  if (detail === undefined || (DETAILS.has(detail) && (kind === 'image' || kind === 'video'))) return detail
  if (detail === 'auto') losses.dropRestored([...path, 'detail'], 'left-to-the-model-anyway')
  else losses.drop([...path, 'detail'], 'no-such-detail')
  return undefined
}

/** Writes the URI of a file. Readers read the URI of a file at Google as a file id. */
function writeUri({ source }: MediaPart, path: Path, losses: Losses): string {
  const uri = source.type === 'url' ? source.url : (source as { id: string }).id
  const isAtGoogle = isGoogleFile(uri)
  if (isAtGoogle === (source.type === 'file-id')) return uri
  const mediaType = 'mediaType' in source ? source.mediaType : undefined
  const became = isAtGoogle ? { type: 'file-id', format: FORMAT, id: uri } : { type: 'url', url: uri }
  losses.change([...path, 'source'], { ...became, ...defined({ mediaType }) }, 'implied-by-the-place')
  return uri
}

/** Writes a text document as text that begins with the document's name. */
function writeDocument(part: MediaPart, content: string, path: Path, losses: Losses): JsonObject | undefined {
  const text = part.name === undefined ? content : `${part.name}\n\n${content}`
  const became: TextPart = { type: 'text', text, ...bareExtras(part) }
  losses.change(path, became, 'said-in-words')
  return isEmpty(became) ? undefined : writeText(became)
}
