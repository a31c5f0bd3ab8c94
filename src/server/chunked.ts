/* The chunks of a chunked body (RFC 9112, section 7.1). Node writes each in four pieces, we write a text in one. */

/** What ends a chunk. */
export const CHUNK_END = '\r\n'

/** What ends the body. */
export const LAST_CHUNK = '0\r\n\r\n'

/** What begins a chunk of so many bytes. */
export const chunkHead = (length: number): string => `${length.toString(16)}\r\n`

/** A text as a chunk, `length` bytes long in UTF-8; nothing where it is empty, which would end the body. */
export const chunkOf = (text: string, length: number): string =>
  length === 0 ? '' : chunkHead(length) + text + CHUNK_END
