import { crc32 } from 'node:zlib'

/** Reads binary frames of AWS by hand, and checks their checksums. */
export function frameParser(bytes: Buffer): { readonly data: string }[] {
  const found: { readonly data: string }[] = []
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at)
    const frame = bytes.subarray(at, at + length)
    if (frame.readUInt32BE(8) !== crc32(frame.subarray(0, 8))) throw new Error('prelude')
    if (frame.readUInt32BE(length - 4) !== crc32(frame.subarray(0, length - 4))) throw new Error('frame')
    found.push({ data: frame.subarray(12 + frame.readUInt32BE(4), length - 4).toString() })
    at += length
  }
  return found
}
