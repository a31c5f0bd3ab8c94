import { decodeBase64 } from '../../canonical/base64.ts'
import type { MediaPart, MediaSource } from '../../canonical/content.ts'
import type { Losses, Path } from '../../canonical/loss.ts'
import { rowOf } from '../../canonical/maps.ts'
import { sniffBase64 } from '../../canonical/media/sniff.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { defined, extrasFor } from '../fields.ts'
import { type Block, FORMAT, type WriteContext } from './context.ts'

/** Writes an image or document. The format has no other media (traps 50-52). */
export function writeMedia(part: MediaPart, path: Path, { losses }: WriteContext): Block | undefined {
  const source = writeSource(part, path, losses)
  if (source === undefined) return undefined
  const image = part.kind === 'image'
  losses.dropFields(part, path, {
    detail: 'no-detail-here',
    transcript: 'no-transcript-here',
    ...(image ? { name: 'no-name-here' } : {}),
  })
  const { source: deeper, ...outer } = extrasFor(part, FORMAT)
  const typeFields = image ? { type: 'image' } : { type: 'document', ...defined({ title: part.name }) }
  return { ...typeFields, source: { ...source, ...(deeper as JsonObject | undefined) }, ...outer } as Block
}

/**
 * Writes the source in a form that the upstream accepts. If there is no such form, reports a loss and returns
 * undefined.
 */
function writeSource({ source, kind }: MediaPart, path: Path, losses: Losses): JsonObject | undefined {
  const dropSource = (reason: string): undefined => {
    losses.drop(path, reason)
  }
  if (kind !== 'image' && kind !== 'file') return dropSource(`no-${kind}`)
  const dropType = (reason: string): void => {
    if (source.mediaType !== undefined) losses.drop([...path, 'source', 'mediaType'], reason)
  }
  switch (source.type) {
    case 'base64':
      return kind === 'image' ? writeImage(source, path, losses) : writeFile(source, path, losses)
    case 'text':
      if (source.text.trim() === '') return dropSource('blank-text')
      if (source.mediaType !== PLAIN_TEXT)
        losses.change([...path, 'source', 'mediaType'], PLAIN_TEXT, 'plain-text-only')
      return { type: 'text', media_type: PLAIN_TEXT, data: source.text }
    case 'url':
      dropType('no-media-type-of-urls')
      return { type: 'url', url: source.url }
    case 'file-id':
      if (source.format !== FORMAT) return dropSource('no-such-file-ids')
      dropType('no-media-type-of-ids')
      return { type: 'file', file_id: source.id }
    case 'bytes':
      return dropSource('no-raw-bytes')
  }
}

type Base64 = Extract<MediaSource, { type: 'base64' }>

const PLAIN_TEXT = 'text/plain'

/** Supported image types, including aliases. */
const IMAGE_TYPES: { readonly [mediaType: string]: string } = {
  'image/jpeg': 'image/jpeg',
  'image/jpg': 'image/jpeg',
  'image/png': 'image/png',
  'image/gif': 'image/gif',
  'image/webp': 'image/webp',
}

/**
 * Writes an image under the type of its bytes, because Anthropic compares the two: "The image was specified using the
 * image/png media type, but the image appears to be a image/jpeg image" (docs/wire/messages.md#content-blocks).
 */
function writeImage({ mediaType, data }: Base64, path: Path, losses: Losses): JsonObject | undefined {
  const statedType = rowOf(IMAGE_TYPES, mediaType.toLowerCase())
  const media_type = rowOf(IMAGE_TYPES, sniffBase64(data) ?? '') ?? statedType
  const reason = media_type === statedType ? 'image-type-spelt-out' : 'image-type-of-the-bytes'
  if (media_type === undefined) losses.drop(path, 'no-such-image-type')
  else if (media_type !== mediaType) losses.change([...path, 'source', 'mediaType'], media_type, reason)
  return media_type === undefined ? undefined : { type: 'base64', media_type, data }
}

/** Media types of files that contain text. */
const TEXT_TYPES = /^(text\/.+|application\/(json|xml|yaml|x-yaml|javascript|csv|toml))$/i

/** Writes a PDF unchanged, and a text file as plain text (trap 51). */
function writeFile({ mediaType, data }: Base64, path: Path, losses: Losses): JsonObject | undefined {
  if (mediaType === 'application/pdf') return { type: 'base64', media_type: mediaType, data }
  const text = TEXT_TYPES.test(mediaType) ? decoded(data) : undefined
  if (text === undefined || text.trim() === '')
    return losses.drop(path, text === undefined ? 'no-such-file-type' : 'blank-text')
  losses.change([...path, 'source'], { type: 'text', mediaType: PLAIN_TEXT, text }, 'said-as-plain-text')
  return { type: 'text', media_type: PLAIN_TEXT, data: text }
}

function decoded(data: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(decodeBase64(data))
  } catch {
    return undefined
  }
}
