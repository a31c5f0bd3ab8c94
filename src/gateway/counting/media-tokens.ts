import type { MediaPart } from '../../canonical/content.ts'
import { BYTES_PER_AUDIO_SECOND, BYTES_PER_VIDEO_SECOND } from '../../canonical/media/recording-length.ts'
import type { Format } from '../../canonical/node.ts'
import { type MediaEstimates, tokenEstimates } from '../../formats/index.ts'

/** Maximum number of bytes of a PDF that are searched for page objects. */
const SEARCHED_BYTES = 8 * 1024 * 1024
/** Number of first bytes of an image in which its dimensions are expected. */
const IMAGE_HEAD_BYTES = 512 * 1024
/** Typical number of bytes of a PDF page. */
const BYTES_PER_PAGE = 60_000

/** Estimates the tokens of a media part for an upstream of the format. Text documents are counted elsewhere. */
export function mediaTokens(part: MediaPart, format: Format): number {
  const prices = tokenEstimates(format).media
  if (part.source.type === 'text') return 0
  if (part.kind === 'image') return Math.ceil(imageTokens(part, prices))
  const size = bytesOf(part)
  if (part.kind === 'audio')
    return Math.ceil(((size ?? 60 * BYTES_PER_AUDIO_SECOND) / BYTES_PER_AUDIO_SECOND) * prices.audioSecond)
  if (part.kind === 'video')
    return Math.ceil(((size ?? 60 * BYTES_PER_VIDEO_SECOND) / BYTES_PER_VIDEO_SECOND) * prices.videoSecond)
  return pagesOf(part, size) * prices.page
}

function imageTokens(part: MediaPart, prices: MediaEstimates): number {
  if (part.detail === 'low' && prices.lowDetail !== undefined) return prices.lowDetail
  const head = headOf(part, IMAGE_HEAD_BYTES)
  const size = head === undefined ? undefined : sizeOf(head)
  return size === undefined ? prices.unknownImage : Math.max(1, prices.image(size))
}

/**
 * Returns the number of pages in a PDF: counts its page objects, or estimates the number from the size if the objects
 * are compressed.
 */
function pagesOf(part: MediaPart, size: number | undefined): number {
  const bytes = headOf(part, SEARCHED_BYTES)
  if (bytes === undefined || size === undefined) return 1
  const pageObjects = bytes.toString('latin1').match(/\/Type\s*\/Page\b/g)?.length ?? 0
  const pages = pageObjects * Math.max(1, size / SEARCHED_BYTES)
  return Math.max(1, Math.ceil(pageObjects > 0 ? pages : size / BYTES_PER_PAGE))
}

/** Returns the size of a media part in bytes. Count requests are JSON, so media are base64 and never raw bytes. */
const bytesOf = ({ source }: MediaPart): number | undefined =>
  source.type === 'base64' ? Math.floor((source.data.length * 3) / 4) : undefined

/** Returns the first bytes of a media part whose data is in the request. */
const headOf = ({ source }: MediaPart, length: number): Buffer | undefined =>
  source.type === 'base64' ? Buffer.from(source.data.slice(0, Math.ceil((length * 4) / 3)), 'base64') : undefined

/** Width and height in pixels. */
interface Size {
  readonly width: number
  readonly height: number
}

/** Reads the dimensions from the head of a PNG, GIF, WebP or JPEG. Returns undefined for other or damaged files. */
function sizeOf(bytes: Buffer): Size | undefined {
  const read = READERS.find(([mark, at]) => bytes.toString('latin1', at, at + mark.length) === mark)?.[2]
  try {
    const size = read?.(bytes)
    return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined
  } catch {
    // The file ends before its dimensions.
    return undefined
  }
}

type ReadSize = (bytes: Buffer) => Size | undefined

const png: ReadSize = bytes => ({ width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) })

const gif: ReadSize = bytes => ({ width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) })

const webp: ReadSize = bytes => {
  const kind = bytes.toString('latin1', 12, 16)
  if (kind === 'VP8X') return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 }
  if (kind === 'VP8 ') return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff }
  if (kind !== 'VP8L') return undefined
  const bits = bytes.readUInt32LE(21)
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
}

/** Reads a JPEG's dimensions, which come after segments of any length, such as colour profiles and previews. */
const jpeg: ReadSize = bytes => {
  let at = 2
  while (at < bytes.length) {
    while (bytes[at] === 0xff && bytes[at + 1] === 0xff) at++
    const marker = bytes[at + 1]!
    if (bytes[at] !== 0xff) return undefined
    if (isFrame(marker)) return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) }
    at += 2 + bytes.readUInt16BE(at + 2)
  }
  return undefined
}

const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc

const READERS: readonly (readonly [mark: string, at: number, read: ReadSize])[] = [
  ['\x89PNG\r\n\x1a\n', 0, png],
  ['GIF8', 0, gif],
  ['WEBP', 8, webp],
  ['\xff\xd8\xff', 0, jpeg],
]
