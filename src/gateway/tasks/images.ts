import { BufferedBytes } from '../../canonical/bytes.ts'
import type { MediaPart } from '../../canonical/content.ts'
import { type GatewayError, invalid, tooLarge } from '../../canonical/error.ts'
import { sniffMediaType } from '../../canonical/media/sniff.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'

/** Matches image types that can be recognised by their first bytes. */
const RECOGNISABLE_TYPES = /^image\/(?:png|jpe?g|webp|gif|bmp|tiff|avif|heic|heif)\b/i
/** Number of bytes, or base64 characters, from which the type is detected. */
const HEAD_BYTES = 32

/**
 * Rejects invalid images before anything is stored or sent: images over the limit, URLs with unsupported schemes, files
 * that are recognised as something other than images, and files of a known image type whose first bytes are not
 * recognised.
 *
 * @param limit maximum size of an image, in bytes.
 * @throws GatewayError `invalid-request`, `too-large`.
 */
export function checkImages({ messages }: CanonicalRequest, limit: number): void {
  for (const { content } of messages)
    for (const part of content) if (part.type === 'media' && part.kind === 'image') checkImage(part, limit)
}

function checkImage({ source }: MediaPart, limit: number): void {
  if (sizeOf(source) > limit) throw overLimit(limit)
  if (source.type === 'url' && !/^(?:https?|gs|s3):\/\//i.test(source.url))
    throw refusal('is neither an image nor an image URL')
  const head = headOf(source)
  if (head === undefined || (source.type !== 'base64' && source.type !== 'bytes')) return
  const detectedType = sniffMediaType(head)
  const isImage =
    detectedType?.startsWith('image/') === true || (detectedType === undefined && isUnrecognisable(source.mediaType))
  if (head.length === 0 || !isImage) throw refusal('is not an image')
}

function sizeOf(source: MediaPart['source']): number {
  if (source.type === 'base64') return (source.data.length * 3) / 4
  return source.type === 'bytes' ? (source.bytes.size ?? 0) : 0
}

/** Returns true if an image type cannot be recognised by its first bytes. */
const isUnrecognisable = (mediaType: string): boolean =>
  /^image\//i.test(mediaType) && !RECOGNISABLE_TYPES.test(mediaType)

function headOf(source: MediaPart['source']): Uint8Array | undefined {
  if (source.type === 'base64') return Buffer.from(source.data.slice(0, HEAD_BYTES), 'base64')
  return source.type === 'bytes' && source.bytes instanceof BufferedBytes
    ? source.bytes.bytes.subarray(0, HEAD_BYTES)
    : undefined
}

const refusal = (problem: string): GatewayError =>
  invalid(`input_reference: the file ${problem}.`, 'input_reference', 'invalid_image')

const overLimit = (limit: number): GatewayError =>
  tooLarge(`input_reference: an image may have at most ${limit} bytes.`, 'input_reference')
