/* The chunks of a chunked body (RFC 9112, section 7.1). Node writes each in four pieces, we write a text in one. */

const END = '\r\n'

/** What ends the body. */
export const LAST_CHUNK = '0\r\n\r\n'

/** What stands before and after the bytes of a chunk of that length, in bytes. */
export const aroundChunk = (length: number): readonly [before: string, after: string] => [
  length.toString(16) + END,
  END,
]

/** A text as a chunk, `length` bytes long in UTF-8; nothing where it is empty, which would end the body. */
export const chunkOf = (text: string, length: number): string =>
  length === 0 ? '' : length.toString(16) + END + text + END
