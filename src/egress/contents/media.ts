import type { MediaKind, MediaPart, Part } from '../../canonical/content.ts'
import type { Losses, Path, Unwritten } from '../../canonical/loss.ts'
import { rowOf } from '../../canonical/maps.ts'
import { kindOfMediaType } from '../../canonical/media/data-url.ts'
import { isGoogleFile } from '../../canonical/media/google-file.ts'
import { withRate } from '../../canonical/media/wav.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { ContentsDialect } from '../../formats/dialects/contents.ts'
import { googleTypeOf, isRefusedByGoogle } from '../media/google-types.ts'
import { extrasField, FORMAT, nativeExtras, nestedExtras, withExtras } from './fields.ts'

/** Rules for media at a certain position in a request or answer. */
export interface MediaRule {
  /** True if media at this position have a name field. */
  readonly hasNames: boolean
  /** Matches the types of text files that are taken at this position. Defaults to all. */
  readonly textTypes?: RegExp
  readonly losses: Losses
}

/** Returns the rule for media in requests. */
export const ruleFor = ({ vertex }: ContentsDialect, losses: Losses): MediaRule => ({
  hasNames: vertex === true,
  textTypes: vertex === true ? CLOUD_TEXTS : API_TEXTS,
  losses,
})

/** Media types of text files. */
const TEXT_TYPES =
  /^(?:text\/.+|application\/(?:(?:x-)?(?:json|ndjson|yaml|javascript|python|sh)|xml|jsonl|csv|toml|sql))$/i
/** Text files that the Gemini API takes (docs/wire/contents.md#parts). */
const API_TEXTS =
  /^(?:text\/(?:plain|csv|html|css|md|markdown|xml|rtf|javascript|x-python)|application\/x-(?:javascript|python))$/i
/** Text files that Google Cloud takes. */
const CLOUD_TEXTS = /^text\/plain$/i
const PLAIN_TEXT = 'text/plain'

const MEDIA_LOSSES: Unwritten<MediaPart, 'type' | 'kind' | 'source' | 'name' | 'use' | 'cache'> = {
  detail: 'no-detail-here',
  transcript: 'no-transcript-here',
  made: 'no-properties-here',
}

/**
 * Writes a media part as `inlineData` or `fileData`. If the format does not support it, reports a loss and returns
 * undefined.
 */
export function writeMedia(part: MediaPart, path: Path, rule: MediaRule): JsonObject | undefined {
  const { source } = part
  if (part.use === 'mask') return rule.losses.drop(path, 'no-masks')
  if (source.type === 'text') return writeDocument(part, path, rule)
  if (rule.textTypes !== undefined && isRefusedImage(part)) return writeImageInWords(part, path, rule)
  if (source.type === 'bytes') return rule.losses.drop(path, 'only-base64')
  if (source.type === 'file-id' && source.format !== FORMAT) return rule.losses.drop(path, 'no-such-file-ids')
  rule.losses.dropFields(part, path, MEDIA_LOSSES)
  if (part.name !== undefined && !rule.hasNames) rule.losses.drop([...path, 'name'], 'no-name-here')
  const displayName = rule.hasNames ? part.name : undefined
  return source.type === 'base64' ? writeBytes(part, path, displayName, rule) : writeFile(part, path, displayName, rule)
}

/** Returns true for an image of a type that Gemini refuses, which is written as words. */
export const isRefusedImage = ({ source }: MediaPart): boolean =>
  source.type === 'base64' && isRefusedByGoogle(source.mediaType)

function writeImageInWords(part: MediaPart, path: Path, { losses }: MediaRule): JsonObject {
  const text = `[The image is left out: this model takes no ${(part.source as { mediaType: string }).mediaType}.]`
  losses.change(path, { type: 'text', text, ...extrasField(part) } satisfies Part, 'no-such-image-type')
  return { text }
}

function writeBytes(part: MediaPart, path: Path, displayName: string | undefined, rule: MediaRule): JsonObject {
  const { mediaType: declaredType, data } = part.source as { mediaType: string; data: string }
  const mediaType = writeType(declaredType, path, rule)
  reportKind(part, mediaType, path, rule)
  return {
    inlineData: withExtras(nestedExtras(nativeExtras(part), 'inlineData'), { mimeType: mediaType, data, displayName }),
  }
}

/** Returns the type of bytes as Google takes it. Other text files are sent as plain text. */
function writeType(declaredType: string, path: Path, { textTypes, losses }: MediaRule): string {
  const at = [...path, 'source', 'mediaType']
  if (textTypes !== undefined && TEXT_TYPES.test(declaredType) && !textTypes.test(declaredType)) {
    losses.change(at, PLAIN_TEXT, 'plain-text-only')
    return PLAIN_TEXT
  }
  const mediaType = googleTypeOf(declaredType) ?? withRate(declaredType)
  if (mediaType !== declaredType) losses.changeRestored(at, mediaType, 'written-as-a-synonym')
  return mediaType
}

function writeFile(part: MediaPart, path: Path, displayName: string | undefined, rule: MediaRule): JsonObject {
  const { source } = part
  const uri = source.type === 'url' ? source.url : (source as { id: string }).id
  const isAtGoogle = isGoogleFile(uri)
  const declaredType = 'mediaType' in source ? source.mediaType : undefined
  const mimeType = declaredType ?? guessedType(uri, part.kind)
  if (declaredType === undefined) rule.losses.add([...path, 'source', 'mediaType'], mimeType, 'media-type-guessed')
  if (isAtGoogle !== (source.type === 'file-id')) reportSource(uri, isAtGoogle, mimeType, path, rule.losses)
  reportKind(part, mimeType, path, rule)
  return { fileData: withExtras(nestedExtras(nativeExtras(part), 'fileData'), { mimeType, fileUri: uri, displayName }) }
}

/**
 * Reports the source as readers will read it back: the URI of a file at Google as a file id, any other URI as a URL.
 */
function reportSource(uri: string, isAtGoogle: boolean, mediaType: string, path: Path, losses: Losses): void {
  const became = isAtGoogle
    ? { type: 'file-id', format: FORMAT, id: uri, mediaType }
    : { type: 'url', url: uri, mediaType }
  losses.change([...path, 'source'], became, 'implied-by-the-place')
}

/** Reports the kind that readers derive from the media type alone. */
function reportKind(part: MediaPart, mediaType: string, path: Path, { losses }: MediaRule): void {
  const kind = kindOfMediaType(mediaType)
  if (kind !== part.kind) losses.change([...path, 'kind'], kind, 'implied-by-the-media-type')
}

/** Writes a text document as a text part that begins with the document's name. */
function writeDocument(part: MediaPart, path: Path, { losses }: MediaRule): JsonObject {
  const source = part.source as { text: string }
  const text = part.name === undefined ? source.text : `${part.name}\n\n${source.text}`
  losses.change(path, { type: 'text', text, ...extrasField(part) } satisfies Part, 'said-in-words')
  return { text }
}

const TYPE_BY_EXTENSION: { readonly [extension: string]: string } = {
  ...{ png: 'image/png', jpg: 'image/jpeg', jpeg: 'image/jpeg', webp: 'image/webp', gif: 'image/gif' },
  ...{ heic: 'image/heic', mp3: 'audio/mpeg', wav: 'audio/wav', ogg: 'audio/ogg', flac: 'audio/flac' },
  ...{ aac: 'audio/aac', m4a: 'audio/mp4', mp4: 'video/mp4', mov: 'video/quicktime', webm: 'video/webm' },
  ...{ mpeg: 'video/mpeg', avi: 'video/x-msvideo', pdf: 'application/pdf', txt: 'text/plain', md: 'text/markdown' },
  ...{ html: 'text/html', csv: 'text/csv', json: 'application/json' },
}

const TYPE_BY_KIND: { readonly [K in MediaKind]: string } = {
  image: 'image/jpeg',
  audio: 'audio/mpeg',
  video: 'video/mp4',
  file: 'application/pdf',
}

/**
 * Guesses the media type of a URI. Uses the extension if it fits the kind, otherwise the most common type of that kind.
 */
function guessedType(uri: string, kind: MediaKind): string {
  const extension = /\.(\w+)(?:[?#]|$)/.exec(uri)?.[1]?.toLowerCase() ?? ''
  const type = rowOf(TYPE_BY_EXTENSION, extension)
  return type !== undefined && (kind === 'file' || kindOfMediaType(type) === kind) ? type : TYPE_BY_KIND[kind]
}
