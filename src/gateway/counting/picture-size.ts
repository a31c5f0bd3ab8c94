/** Width and height in pixels. */
export interface Size {
  readonly width: number
  readonly height: number
}

/** The size in the head of a PNG, GIF, WebP or JPEG; undefined for other or broken files. */
export function sizeOf(bytes: Buffer): Size | undefined {
  const read = READERS.find(([mark, at]) => bytes.toString('latin1', at, at + mark.length) === mark)?.[2]
  try {
    const size = read?.(bytes)
    return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined
  } catch {
    // Shorter than its head.
    return undefined
  }
}

type Read = (bytes: Buffer) => Size | undefined

const png: Read = bytes => ({ width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) })

const gif: Read = bytes => ({ width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) })

const webp: Read = bytes => {
  const kind = bytes.toString('latin1', 12, 16)
  if (kind === 'VP8X') return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 }
  if (kind === 'VP8 ') return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff }
  if (kind !== 'VP8L') return undefined
  const bits = bytes.readUInt32LE(21)
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
}

/** The frame's size stands behind segments of any length: profiles, previews. */
const jpeg: Read = bytes => {
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

const READERS: readonly (readonly [mark: string, at: number, read: Read])[] = [
  ['\x89PNG\r\n\x1a\n', 0, png],
  ['GIF8', 0, gif],
  ['WEBP', 8, webp],
  ['\xff\xd8\xff', 0, jpeg],
]
