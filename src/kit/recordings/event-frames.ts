import { crc32 } from 'node:zlib'

/*
 * Binary frames of AWS's event streams (docs/wire/converse.md#frames): two lengths, a checksum, headers, payload, and a
 * checksum.
 */

/** Returns true if a content type is an event stream of binary frames. */
export const isFramed = (contentType: string): boolean => /^application\/vnd\.amazon\.eventstream\b/i.test(contentType)

/** A frame: its bytes, and their offset in the stream. */
export interface Frame {
  readonly start: number
  readonly bytes: Buffer
  readonly payload: Buffer
}

/** Length of the two lengths and the checksum at the start of a frame, in bytes. */
const PRELUDE_BYTES = 12
/** Length of a checksum, in bytes. */
const CHECKSUM_BYTES = 4

/** Splits a stream into complete frames. Ignores the rest, which may be truncated or malformed. */
export function framesIn(stream: Buffer): readonly Frame[] {
  const frames: Frame[] = []
  for (let start = 0; start + PRELUDE_BYTES <= stream.length; ) {
    const length = stream.readUInt32BE(start)
    const headers = stream.readUInt32BE(start + 4)
    if (length < PRELUDE_BYTES + headers + CHECKSUM_BYTES || start + length > stream.length) break
    const bytes = stream.subarray(start, start + length)
    frames.push({ start, bytes, payload: bytes.subarray(PRELUDE_BYTES + headers, length - CHECKSUM_BYTES) })
    start += length
  }
  return frames
}

/** Writes a frame with another payload. */
export function withPayload({ bytes }: Frame, payload: Buffer): Buffer {
  const headers = bytes.subarray(PRELUDE_BYTES, PRELUDE_BYTES + bytes.readUInt32BE(4))
  const prelude = Buffer.alloc(PRELUDE_BYTES)
  prelude.writeUInt32BE(PRELUDE_BYTES + headers.length + payload.length + CHECKSUM_BYTES, 0)
  prelude.writeUInt32BE(headers.length, 4)
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8)
  const content = Buffer.concat([prelude, headers, payload])
  const checksum = Buffer.alloc(CHECKSUM_BYTES)
  checksum.writeUInt32BE(crc32(content))
  return Buffer.concat([content, checksum])
}
