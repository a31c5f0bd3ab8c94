import type { MediaPart, MediaSource } from '../../canonical/content.ts'
import type { Path } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { defined, kept } from '../fields.ts'
import { type Block, FORMAT, type WriteContext } from './context.ts'

/** An image or a document; the format has no other media (traps 50-52). */
export function writeMedia(part: MediaPart, path: Path, context: WriteContext): Block | undefined {
  const source = supportedSource(part, path, context)
  if (source === undefined) return undefined
  const image = part.kind === 'image'
  context.losses.dropFields(part, path, {
    detail: 'no-detail-here',
    transcript: 'no-transcript-here',
    ...(image ? { name: 'no-name-here' } : {}),
  })
  if (image) return around(part, 'image', source, {})
  return around(part, 'document', source, defined({ title: part.name }))
}

const IMAGE_TYPES: { readonly [mediaType: string]: string } = {
  'image/jpeg': 'image/jpeg',
  'image/jpg': 'image/jpeg',
  'image/png': 'image/png',
  'image/gif': 'image/gif',
  'image/webp': 'image/webp',
}

/** The source in a form that the upstream takes, or undefined (and a loss) where there is none. */
function supportedSource(part: MediaPart, path: Path, { losses }: WriteContext): MediaSource | undefined {
  const { source, kind } = part
  if (kind !== 'image' && kind !== 'file') {
    losses.drop(path, `no-${kind}`)
    return undefined
  }
  switch (source.type) {
    case 'base64':
      return kind === 'image' ? supportedImage(source, path, losses) : supportedFile(source, path, losses)
    case 'text':
      return plainText(source.text, source.mediaType, path, losses)
    case 'url':
      if (source.mediaType !== undefined) losses.drop([...path, 'source', 'mediaType'], 'no-media-type-of-urls')
      return source
    case 'file-id':
      if (source.format !== FORMAT) {
        losses.drop(path, 'no-such-file-ids')
        return undefined
      }
      if (source.mediaType !== undefined) losses.drop([...path, 'source', 'mediaType'], 'no-media-type-of-ids')
      return source
    case 'bytes':
      losses.drop(path, 'no-raw-bytes')
      return undefined
  }
}

type Base64 = Extract<MediaSource, { type: 'base64' }>

function supportedImage(source: Base64, path: Path, losses: WriteContext['losses']): MediaSource | undefined {
  const written = source.mediaType.toLowerCase()
  const mediaType = Object.hasOwn(IMAGE_TYPES, written) ? IMAGE_TYPES[written] : undefined
  if (mediaType === undefined) {
    losses.drop(path, 'no-such-image-type')
    return undefined
  }
  if (mediaType !== source.mediaType) losses.change([...path, 'source', 'mediaType'], mediaType, 'image-type-spelt-out')
  return { ...source, mediaType }
}

const TEXTUAL = /^(text\/.+|application\/(json|xml|yaml|x-yaml|javascript|csv|toml))$/i

/** PDF as it is, text files as plain text (trap 51). */
function supportedFile(source: Base64, path: Path, losses: WriteContext['losses']): MediaSource | undefined {
  if (source.mediaType === 'application/pdf') return source
  const text = TEXTUAL.test(source.mediaType) ? decoded(source.data) : undefined
  if (text === undefined) {
    losses.drop(path, 'no-such-file-type')
    return undefined
  }
  const plain: MediaSource = { type: 'text', mediaType: 'text/plain', text }
  if (text.trim() === '') {
    losses.drop(path, 'blank-text')
    return undefined
  }
  losses.change([...path, 'source'], plain, 'said-as-plain-text')
  return plain
}

function decoded(data: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(data, 'base64'))
  } catch {
    return undefined
  }
}

function plainText(
  text: string,
  mediaType: string,
  path: Path,
  losses: WriteContext['losses'],
): MediaSource | undefined {
  if (text.trim() === '') {
    losses.drop(path, 'blank-text')
    return undefined
  }
  if (mediaType !== 'text/plain') losses.change([...path, 'source', 'mediaType'], 'text/plain', 'plain-text-only')
  return { type: 'text', mediaType: 'text/plain', text }
}

/** Raw bytes do not occur here: they are converted to base64 beforehand for requests in JSON. */
function wireSource(source: MediaSource): JsonObject {
  switch (source.type) {
    case 'base64':
      return { type: 'base64', media_type: source.mediaType, data: source.data }
    case 'text':
      return { type: 'text', media_type: source.mediaType, data: source.text }
    case 'url':
      return { type: 'url', url: source.url }
    case 'file-id':
      return { type: 'file', file_id: source.id }
    case 'bytes':
      return {}
  }
}

/** The block around its source, each with the format's own extras. */
function around(part: MediaPart, type: string, source: MediaSource, fields: JsonObject): Block {
  const { source: deeper, ...outer } = kept(part, FORMAT)
  return { type, source: { ...wireSource(source), ...(deeper as JsonObject | undefined) }, ...fields, ...outer }
}
