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
  readonly headers: Buffer
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
    frames.push({
      ...{ start, bytes, headers: bytes.subarray(PRELUDE_BYTES, PRELUDE_BYTES + headers) },
      payload: bytes.subarray(PRELUDE_BYTES + headers, length - CHECKSUM_BYTES),
    })
    start += length
  }
  return frames
}

/** Sizes of the values of headers in bytes, by type. Bytes and strings have two bytes with their length before them. */
const VALUE_SIZES = [0, 0, 1, 2, 4, 8, undefined, undefined, 8, 16] as const
/** Type of headers whose value is a string. */
const STRING_TYPE = 7

/** Changes the strings in the headers of a frame, such as `:error-message`. The rest of malformed headers is a text. */
export function withHeaderTexts(headers: Buffer, change: (text: string) => string): Buffer {
  const changed: Buffer[] = []
  let start = 0
  while (start < headers.length) {
    const type = start + 1 + headers[start]!
    const length = type + 1
    const fixed = VALUE_SIZES[headers[type] ?? -1]
    if (fixed === undefined && length + 2 > headers.length) break
    const value = fixed === undefined ? length + 2 : length
    const end = value + (fixed ?? headers.readUInt16BE(length))
    if (headers[type] === undefined || headers[type] >= VALUE_SIZES.length || end > headers.length) break
    const text = headers[type] === STRING_TYPE ? headers.toString('utf8', value, end) : ''
    const newText = change(text)
    if (text === newText) changed.push(headers.subarray(start, end))
    else changed.push(headers.subarray(start, length), withLength(Buffer.from(newText)))
    start = end
  }
  const rest = headers.toString('latin1', start)
  return Buffer.concat([...changed, Buffer.from(change(rest), 'latin1')])
}

function withLength(value: Buffer): Buffer {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(Math.min(value.length, 0xffff))
  return Buffer.concat([length, value.subarray(0, 0xffff)])
}

/** Writes a frame. */
export function frameOf(headers: Buffer, payload: Buffer): Buffer {
  const prelude = Buffer.alloc(PRELUDE_BYTES)
  prelude.writeUInt32BE(PRELUDE_BYTES + headers.length + payload.length + CHECKSUM_BYTES, 0)
  prelude.writeUInt32BE(headers.length, 4)
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8)
  const content = Buffer.concat([prelude, headers, payload])
  const checksum = Buffer.alloc(CHECKSUM_BYTES)
  checksum.writeUInt32BE(crc32(content))
  return Buffer.concat([content, checksum])
}
