/** A run of bytes that need not be in memory: a file on its way, a recording as it is made. */
export interface Bytes {
  /** How many there are, where that is known beforehand. */
  readonly size?: number
  /** They can be read only once: a second attempt has nothing to send. */
  readonly once?: true
  /** Of what can be read once: somebody began to. */
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

  /** For tests and logs: what they are, not where. */
  toJSON(): string {
    return Buffer.from(this.bytes.buffer, this.bytes.byteOffset, this.bytes.length).toString('base64')
  }
}

/** All the bytes in memory, or undefined where there are more than `limit`. Rejects as reading does. */
export async function gathered(bytes: Bytes, limit: number): Promise<Buffer | undefined> {
  if (bytes.size !== undefined && bytes.size > limit) return undefined
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of bytes.read()) {
    size += piece.length
    if (size > limit) return undefined
    pieces.push(piece)
  }
  return Buffer.concat(pieces, size)
}

/** How the bytes begin, and all of them to be read once. */
export async function peeked(bytes: Bytes): Promise<{ readonly head: Uint8Array; readonly whole: Bytes }> {
  const pieces = bytes.read()[Symbol.asyncIterator]()
  const first = await pieces.next()
  const head = first.done === true ? new Uint8Array(0) : first.value
  const size = bytes.size === undefined ? {} : { size: bytes.size }
  return { head, whole: { ...size, once: true, read: () => behind(head, pieces) } }
}

/** What was read already, and the rest behind it. */
export async function* behind(begun: Uint8Array, pieces: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    if (begun.length > 0) yield begun
    for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) yield next.value
  } finally {
    await pieces.return?.()
  }
}
