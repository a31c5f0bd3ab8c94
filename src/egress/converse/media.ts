import type { MediaKind, MediaPart, MediaSource } from '../../canonical/content.ts'
import type { Path } from '../../canonical/loss.ts'
import { sniffBase64 } from '../../canonical/media/sniff.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { type ConverseMedia, formatOf, mediaTypeOf } from '../../formats/settings/converse.ts'
import { defined, extrasFor } from '../fields.ts'
import { type Block, FORMAT, type WriteContext } from './context.ts'

const KINDS: { readonly [K in MediaKind]: ConverseMedia } = {
  image: 'image',
  file: 'document',
  video: 'video',
  audio: 'audio',
}

/** Aliases of media types. */
const ALIASES: { readonly [mediaType: string]: string } = {
  'image/jpg': 'image/jpeg',
  'audio/mp3': 'audio/mpeg',
  'audio/x-wav': 'audio/wav',
  'audio/wave': 'audio/wav',
}

const PLAIN_TEXT = 'text/plain'
/** Media types of files that are sent as plain text. */
const TEXT_TYPES = /^(text\/.+|application\/(json|xml|yaml|x-yaml|javascript|toml))$/i

type Base64 = Extract<MediaSource, { type: 'base64' }>

/** A source and the format in which it is sent. */
interface FormattedSource {
  readonly source: JsonObject
  readonly format: string | undefined
}

/** Writes an image, document, video or audio part (docs/wire/converse.md#media). */
export function writeMedia(part: MediaPart, path: Path, context: WriteContext): Block | undefined {
  const kind = KINDS[part.kind]
  const formattedSource = writeSource(part, kind, path, context)
  if (formattedSource === undefined) return undefined
  const { losses } = context
  losses.dropFields(part, path, {
    detail: 'no-detail-here',
    transcript: 'no-transcript-here',
    made: 'no-properties-here',
    use: 'no-uses-here',
    ...(kind === 'document' ? {} : { name: 'no-name-here' }),
  })
  const { s3Location, ...extras } = extrasFor(part, FORMAT)
  const { source } = formattedSource
  const inside =
    s3Location === undefined || source['s3Location'] === undefined
      ? source
      : { s3Location: { ...(source['s3Location'] as JsonObject), ...(s3Location as JsonObject) } }
  const name = kind === 'document' ? documentName(part, path, context) : undefined
  return { [kind]: { ...defined({ format: formattedSource.format, name }), source: inside, ...extras } as JsonObject }
}

function writeSource(
  { source }: MediaPart,
  kind: ConverseMedia,
  path: Path,
  { losses }: WriteContext,
): FormattedSource | undefined {
  const at = [...path, 'source']
  switch (source.type) {
    case 'base64': {
      const format = reportedFormat(kind, source, at, losses)
      return format === undefined
        ? losses.drop(path, `no-such-${kind}-type`)
        : { format, source: { bytes: source.data } }
    }
    case 'text': {
      if (kind !== 'document') return losses.drop(path, `no-such-${kind}-type`)
      const data = Buffer.from(source.text).toString('base64')
      const mediaType = supportedType(kind, source.mediaType) ?? PLAIN_TEXT
      losses.changeRestored(at, { type: 'base64', mediaType, data }, 'sent-as-bytes')
      return { format: formatOf(kind, mediaType), source: { bytes: data } }
    }
    case 'file-id': {
      if (source.format !== FORMAT) return losses.drop(path, 'no-such-file-ids')
      const { mediaType } = source
      const format = mediaType === undefined ? undefined : formatName(kind, mediaType)
      if (format === undefined && mediaType !== UNKNOWN_TYPE)
        losses.add([...at, 'mediaType'], UNKNOWN_TYPE, 'unknown-type')
      return { format, source: { s3Location: { uri: source.id } } }
    }
    case 'url':
      return losses.drop(path, 'no-urls')
    case 'bytes':
      return losses.drop(path, 'no-raw-bytes')
  }
}

/** Media type of a file without a stated format. */
const UNKNOWN_TYPE = 'application/octet-stream'

/**
 * Returns a media type for which the format has a name: the given type in lower case, or the type of which it is an
 * alias.
 */
function supportedType(kind: ConverseMedia, mediaType: string): string | undefined {
  const type = mediaType.toLowerCase()
  const usual = Object.hasOwn(ALIASES, type) ? ALIASES[type]! : type
  return formatOf(kind, usual) === undefined ? undefined : usual
}

/**
 * Returns the format name of bytes and reports a changed media type. Other kinds of text are sent as plain text. Images
 * are sent under the type of their bytes, with which Claude compares the name (docs/wire/messages.md#content-blocks).
 */
function reportedFormat(
  kind: ConverseMedia,
  { mediaType, data }: Base64,
  path: Path,
  losses: WriteContext['losses'],
): string | undefined {
  const isText = kind === 'document' && TEXT_TYPES.test(mediaType)
  const detected = kind === 'image' ? supportedType(kind, sniffBase64(data) ?? '') : undefined
  const supported = detected ?? supportedType(kind, mediaType) ?? (isText ? PLAIN_TEXT : undefined)
  if (supported === undefined) return undefined
  if (supported !== mediaType) losses.change([...path, 'mediaType'], supported, 'type-spelt-out')
  return formatOf(kind, supported)
}

/** Returns the name of a format, even if it is not in the table. */
function formatName(kind: ConverseMedia, mediaType: string): string | undefined {
  const known = formatOf(kind, mediaType)
  if (known !== undefined) return known
  const name = mediaType.slice(mediaType.indexOf('/') + 1)
  return mediaType !== UNKNOWN_TYPE && mediaTypeOf(kind, name) === mediaType ? name : undefined
}

/** Name for a document without a name. */
const DEFAULT_NAME = 'document'
const REFUSED_CHARACTERS = /[^a-zA-Z0-9\s\-()[\]]+/g
const MAX_NAME_LENGTH = 200

/**
 * Returns a document's name, which is required. Names consist of letters, digits, single spaces, hyphens and brackets,
 * and are unique within a request (docs/wire/converse.md#media).
 */
function documentName(part: MediaPart, path: Path, { losses, documents }: WriteContext): string {
  const legalName = (part.name ?? '')
    .replace(REFUSED_CHARACTERS, '-')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, MAX_NAME_LENGTH)
  const baseName = legalName === '' ? DEFAULT_NAME : legalName
  let name = baseName
  for (let number = 2; documents.has(name); number++) name = `${baseName}-${number}`
  documents.add(name)
  const at = [...path, 'name']
  if (part.name === undefined) losses.addRestored(at, name, 'documents-have-names')
  else if (part.name !== name) losses.changeRestored(at, name, 'name-made-legal')
  return name
}
