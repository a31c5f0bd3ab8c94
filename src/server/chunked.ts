/* The chunks of a chunked body (RFC 9112, section 7.1). Node writes each in four writes, we write a text in one. */

/** The end of a chunk. */
export const CHUNK_END = '\r\n'

/** The end of the body. */
export const LAST_CHUNK = '0\r\n\r\n'

/** The head of a chunk of so many bytes. */
export const chunkHead = (length: number): string => `${length.toString(16)}\r\n`

/** A text as a chunk, `length` bytes long in UTF-8; nothing where it is empty, which would end the body. */
export const chunkOf = (text: string, length: number): string =>
  length === 0 ? '' : chunkHead(length) + text + CHUNK_END
