/** A sequence of bytes that need not be in memory: a file being received, a recording being generated. */
export interface Bytes {
  /** The number of bytes, where it is known beforehand. */
  readonly size?: number
  /** The bytes can be read only once: a second attempt has nothing to send. */
  readonly once?: true
  /** Of bytes that can be read once: reading has begun. */
  readonly begun?: boolean
  read(): AsyncIterable<Uint8Array>
}

/** Bytes in memory. */
export class HeldBytes implements Bytes {
  readonly size: number
  readonly bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.size = bytes.length
  }

  async *read(): AsyncGenerator<Uint8Array> {
    yield this.bytes
  }

  /** For tests and logs: the content as base64. */
  toJSON(): string {
    return base64(this.bytes)
  }
}

/** Encodes bytes as base64 without copying them first. */
export const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')

/** All the bytes in memory, or undefined where there are more than `limit`. Rejects as reading does. */
export async function gathered(bytes: Bytes, limit: number): Promise<Buffer | undefined> {
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

/** The beginning of a sequence that is read once. */
export interface Peeked {
  readonly head: Uint8Array
  /** Nothing follows. */
  readonly isAll: boolean
  /** All the bytes, which can be read once. */
  readonly whole: Bytes
}

/** The first chunks: of `least` bytes together, or all there are. Rejects as reading does. */
export async function peeked(bytes: Bytes, least = 1): Promise<Peeked> {
  const chunks = bytes.read()[Symbol.asyncIterator]()
  const first: Uint8Array[] = []
  let size = 0
  let isAll = false
  while (size < least) {
    const next = await chunks.next()
    isAll = next.done === true
    if (next.done === true) break
    first.push(next.value)
    size += next.value.length
  }
  const head = first.length === 1 ? first[0]! : Buffer.concat(first, size)
  const known = bytes.size === undefined ? {} : { size: bytes.size }
  return { head, isAll, whole: { ...known, once: true, read: () => behind(head, chunks) } }
}

/** The chunk that was read already, and the rest after it. */
export async function* behind(begun: Uint8Array, chunks: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    if (begun.length > 0) yield begun
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) yield next.value
  } finally {
    await chunks.return?.()
  }
}
