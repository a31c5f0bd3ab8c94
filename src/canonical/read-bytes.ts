import type { Bytes } from './bytes.ts'

/** Reads all bytes into memory. Resolves to undefined if there are more than `limit`. Rejects if reading fails. */
export async function readAllBytes(bytes: Bytes, limit: number): Promise<Buffer | undefined> {
  if (bytes.size !== undefined && bytes.size > limit) return undefined
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of bytes.read()) {
    size += chunk.length
    if (size > limit) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, size)
}

/** First bytes of a sequence that can be read only once. */
export interface PeekedBytes {
  readonly head: Uint8Array
  /** True if `head` holds all bytes. */
  readonly isAll: boolean
  /** All bytes, including the head. Can be read only once. */
  readonly whole: Bytes
}

/** Reads the first chunks, up to a minimum size or the end. Rejects if reading fails. */
export async function peekBytes(bytes: Bytes, minBytes = 1): Promise<PeekedBytes> {
  const chunks = bytes.read()[Symbol.asyncIterator]()
  const first: Uint8Array[] = []
  let size = 0
  let isAll = false
  while (size < minBytes) {
    const next = await chunks.next()
    isAll = next.done === true
    if (next.done === true) break
    first.push(next.value)
    size += next.value.length
  }
  const head = first.length === 1 ? first[0]! : Buffer.concat(first, size)
  const sizeField = bytes.size === undefined ? {} : { size: bytes.size }
  return { head, isAll, whole: { ...sizeField, once: true, read: () => prependChunk(head, chunks) } }
}

/** Yields a chunk that has already been read, then the rest. */
export async function* prependChunk(
  firstChunk: Uint8Array,
  chunks: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    if (firstChunk.length > 0) yield firstChunk
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) yield next.value
  } finally {
    await chunks.return?.()
  }
}
