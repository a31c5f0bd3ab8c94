import { BufferedBytes, type Bytes } from '../../canonical/bytes.ts'
import type { MediaPart } from '../../canonical/content.ts'
import type { Losses, Path } from '../../canonical/loss.ts'
import { bytesOfSource, urlOfSource } from '../../canonical/media/data-url.ts'
import { sniffBase64 } from '../../canonical/media/sniff.ts'
import type { Format, JsonObject } from '../../canonical/node.ts'
import type { WireFile } from '../../canonical/wire.ts'

/* Input images of OpenAI's formats: files of a form, or references by URL or id. */

/** Returns true if the media part contains its bytes. */
export const hasBytes = ({ source }: MediaPart): boolean => source.type === 'bytes' || source.type === 'base64'

/** Writes an image with bytes as a form file. A missing file name is generated, because upstreams check it. */
export function imageFile(part: MediaPart, path: Path, field: string, format: Format, losses: Losses): WireFile {
  const { mediaType } = part.source as { readonly mediaType: string }
  if (part.extras?.[format] !== undefined) losses.drop([...path, 'extras', format], 'nothing-beside-a-file')
  const ending = mediaType.split('/')[1]?.replace(/\+.*/, '') ?? 'png'
  const name = part.name ?? `${part.use === 'mask' ? 'mask' : 'image'}.${ending}`
  if (part.name === undefined) losses.add([...path, 'name'], name, 'minted-file-name')
  return { field, name, mediaType, bytes: bytesOfSource(part.source)! }
}

/**
 * Writes an image as a reference by file id or URL. The URL may be a data URL. Returns undefined if the image has
 * neither.
 */
export function imageReference(part: MediaPart, path: Path, losses: Losses): JsonObject | undefined {
  const { source } = part
  const url = source.type === 'bytes' ? dataUrl(source.mediaType, source.bytes) : urlOfSource(source)
  if (source.type !== 'file-id' && url === undefined) return undefined
  losses.dropFields(part, path, { name: 'no-names' })
  reportTypeOfUrl(part, path, losses)
  return source.type === 'file-id' ? { file_id: source.id } : { image_url: url! }
}

/** Reports the media type of a URL or file id as lost, because references do not state a media type. */
export function reportTypeOfUrl({ source }: MediaPart, path: Path, losses: Losses): void {
  if ((source.type === 'url' || source.type === 'file-id') && source.mediaType !== undefined)
    losses.drop([...path, 'source', 'mediaType'], 'no-media-type-of-addresses')
}

/** Reports the media type of an image that is sent as a URL or bare base64. The upstream detects the type itself. */
export function reportImpliedType({ source }: MediaPart, path: Path, losses: Losses): void {
  const at = [...path, 'source', 'mediaType']
  if (source.type === 'url' && source.mediaType !== undefined) losses.drop(at, 'implied-by-url')
  if (source.type !== 'base64') return
  const mediaType = sniffBase64(source.data) ?? 'image/jpeg'
  if (mediaType !== source.mediaType) losses.change(at, mediaType, 'implied-by-the-bytes')
}

const dataUrl = (mediaType: string, bytes: Bytes): string | undefined =>
  bytes instanceof BufferedBytes ? urlOfSource({ type: 'base64', mediaType, data: bytes.toJSON() }) : undefined
