import type { Annotation, MediaPart, Part, TextPart } from '../../canonical/content.ts'
import type { Losses, Path, Unwritten } from '../../canonical/loss.ts'
import { urlOfSource } from '../../canonical/media/data-url.ts'
import { type Json, type JsonObject, unchangedWire } from '../../canonical/node.ts'
import { isRedundant } from '../../canonical/repair.ts'
import type { ResponsesDialect } from '../../formats/dialects/responses.ts'
import { defined, extrasFor } from '../fields.ts'
import { requiredFields } from '../openai-answer.ts'

export const FORMAT = 'responses'

/** Context for writing a request's messages. */
export interface WriteContext {
  readonly dialect: ResponsesDialect
  readonly losses: Losses
  /** Mask that is written as a setting of the image generation tool. */
  readonly mask?: MediaPart | undefined
  /** Collects the items with reasoning, and the parts that they were written from. */
  readonly reasoning?: Map<JsonObject, Path>
}

/** Wire type of text parts in a turn. */
type TextType = 'input_text' | 'output_text'

/** Writes a part of a content list. If the format cannot express the part, reports a loss and returns undefined. */
export function writePart(part: Part, plain: TextType, path: Path, context: WriteContext): JsonObject | undefined {
  switch (part.type) {
    case 'text':
      return {
        ...writeText(part, plain, path, context),
        ...writeCache(part, plain, path, context),
        ...extrasFor(part, FORMAT),
      }
    case 'refusal':
      return {
        type: 'refusal',
        refusal: part.text,
        ...writeCache(part, plain, path, context),
        ...extrasFor(part, FORMAT),
      }
    case 'media': {
      const wire = writeMedia(part, path, context)
      return wire && { ...wire, ...writeCache(part, plain, path, context), ...extrasFor(part, FORMAT) }
    }
    case 'opaque':
      if (isRedundant(part)) return dropRedundant(path, context)
      if (part.format === FORMAT) return part.value
      return part.text === undefined ? undefined : plainText(part.text, plain)
    default:
      return context.losses.drop(path, 'not-in-this-turn')
  }
}

/** Leaves out an item whose tools are in the request's own list. */
export function dropRedundant(path: Path, { losses }: WriteContext): undefined {
  losses.dropRestored(path, 'said-elsewhere')
}

const plainText = (text: string, type: TextType): JsonObject =>
  type === 'output_text' ? { type, text, annotations: [] } : { type, text }

function writeText(part: TextPart, plain: TextType, path: Path, { losses }: WriteContext): JsonObject {
  if (part.annotations === undefined) return plainText(part.text, plain)
  if (plain === 'output_text') return { type: plain, text: part.text, annotations: writeCitations(part, path, losses) }
  losses.dropRestored([...path, 'annotations'], 'no-annotations-in-requests')
  return plainText(part.text, plain)
}

/** Writes the citations of an earlier answer. Fields that the format lacks are lost without the caller noticing. */
function writeCitations({ annotations = [] }: TextPart, path: Path, losses: Losses): readonly JsonObject[] {
  annotations.forEach((citation, index) => {
    if (citation.type === 'opaque') return
    const at = [...path, 'annotations', index]
    if (citation.quote !== undefined) losses.dropRestored([...at, 'quote'], 'no-quotes')
    const required = requiredFields(citation)
    for (const field of ['title', 'start', 'end'] as const)
      if (citation[field] === undefined) losses.addRestored([...at, field], required[field], 'minted-where-required')
  })
  return annotations.map(writeAnnotation).filter(one => one !== undefined)
}

/** Writes a citation. The three required fields are empty or zero if unknown. */
export function writeAnnotation(annotation: Annotation): JsonObject | undefined {
  if (annotation.type === 'opaque') return annotation.format === FORMAT ? annotation.value : undefined
  const { title, start, end } = requiredFields(annotation)
  return (
    unchangedWire<JsonObject>(annotation, FORMAT) ?? {
      ...{ type: 'url_citation', url: annotation.url, title, start_index: start, end_index: end },
      ...extrasFor(annotation, FORMAT),
    }
  )
}

/** Writes the cache marker in the upstream's form (trap 63). Output text cannot have one. */
function writeCache(part: Part, plain: TextType, path: Path, { dialect, losses }: WriteContext): JsonObject {
  if (part.cache === undefined) return {}
  if (dialect.cache !== 'prompt_cache_breakpoint' || plain === 'output_text') {
    losses.drop([...path, 'cache'], 'no-cache-markers-here')
    return {}
  }
  const { ttl } = part.cache
  if (ttl === undefined || CACHE_TIMES.has(ttl))
    return { prompt_cache_breakpoint: { mode: 'explicit', ...defined({ ttl }) } }
  losses.drop([...path, 'cache', 'ttl'], 'no-such-cache-time')
  return { prompt_cache_breakpoint: { mode: 'explicit' } }
}

const CACHE_TIMES = new Set(['30m', '12h'])

function writeMedia(part: MediaPart, path: Path, context: WriteContext): JsonObject | undefined {
  if (part.use === 'mask') {
    if (part === context.mask) reportMask(part, path, context.losses)
    else context.losses.drop(path, 'no-masks')
    return undefined
  }
  if (part.source.type === 'text') return writeDocument(part, part.source.text, path, context)
  const wire =
    part.kind === 'image'
      ? writeImage(part, path, context)
      : part.kind === 'file'
        ? writeFile(part, path, context)
        : undefined
  if (wire === undefined)
    return context.losses.drop(path, part.source.type === 'file-id' ? 'no-such-file-ids' : `no-${part.kind}`)
  if (part.transcript !== undefined) context.losses.drop([...path, 'transcript'], 'no-transcript-in-requests')
  if (part.kind === 'image' && part.name !== undefined) context.losses.drop([...path, 'name'], 'no-name-of-images')
  if (part.source.type !== 'base64' && part.source.mediaType !== undefined)
    context.losses.drop([...path, 'source', 'mediaType'], 'no-media-type-here')
  return wire
}

const MASK_LOSSES: Unwritten<MediaPart, 'type' | 'kind' | 'source' | 'made' | 'use'> = {
  name: 'no-name-of-images',
  detail: 'no-detail-here',
  transcript: 'no-transcript-in-requests',
  cache: 'no-cache-markers-here',
}

function reportMask(part: MediaPart, path: Path, losses: Losses): void {
  losses.dropFields(part, path, MASK_LOSSES)
  if (part.extras?.[FORMAT] !== undefined) losses.drop([...path, 'extras', FORMAT], 'no-equivalent-field')
  if (part.source.type !== 'base64' && part.source.mediaType !== undefined)
    losses.drop([...path, 'source', 'mediaType'], 'no-media-type-here')
}

const addressOf = ({ source }: MediaPart): { url?: string; id?: string } =>
  source.type === 'file-id'
    ? source.format === FORMAT
      ? { id: source.id }
      : {}
    : defined({ url: urlOfSource(source) })

/** Writes an image. `detail` is required, and its default `auto` leaves the decision to the model. */
function writeImage(part: MediaPart, path: Path, { losses }: WriteContext): JsonObject | undefined {
  const { url, id } = addressOf(part)
  if (url === undefined && id === undefined) return undefined
  const { detail = 'auto' } = part
  if (part.detail === undefined) losses.add([...path, 'detail'], detail, 'minted-detail')
  return { type: 'input_image', ...defined({ image_url: url, file_id: id, detail }) } as JsonObject
}

function writeFile(part: MediaPart, path: Path, { losses }: WriteContext): JsonObject | undefined {
  const { url, id } = addressOf(part)
  if (url === undefined && id === undefined) return undefined
  const bytes = part.source.type === 'base64'
  const field = bytes ? 'file_data' : url === undefined ? 'file_id' : 'file_url'
  const lacksName = bytes && part.name === undefined
  if (lacksName) losses.add([...path, 'name'], 'file', 'minted-file-name')
  const filename = part.name ?? (lacksName ? 'file' : undefined)
  return { type: 'input_file', [field]: url ?? id!, ...defined({ filename, detail: part.detail }) } as JsonObject
}

/** Writes a text document as a text part that begins with the document's name. */
function writeDocument(part: MediaPart, content: string, path: Path, { losses }: WriteContext): JsonObject {
  const text = part.name === undefined ? content : `${part.name}\n\n${content}`
  const extras = part.extras?.[FORMAT]
  const became = {
    type: 'text',
    text,
    ...defined({ cache: part.cache }),
    ...(extras && { extras: { [FORMAT]: extras } }),
  }
  losses.change(path, became, 'said-in-words')
  return { type: 'input_text', text }
}

/** Returns the value of a content field: a string for a single plain text part, otherwise a list. */
export function contentOf(parts: readonly JsonObject[]): Json {
  if (parts.length === 0) return ''
  return parts.length === 1 && isPlainText(parts[0]!) ? parts[0]!['text']! : parts
}

/** Returns true if the part is a text without other fields. Empty annotations are ignored. */
function isPlainText(wire: JsonObject): boolean {
  const { type, text, annotations, ...others } = wire
  return (
    (type === 'input_text' || type === 'output_text') &&
    typeof text === 'string' &&
    (annotations == null || (annotations as readonly Json[]).length === 0) &&
    Object.keys(others).length === 0
  )
}
