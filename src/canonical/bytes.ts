import { encodeBase64 } from './base64.ts'

/** A byte sequence that may not be in memory, such as an upload in progress or speech that is still being generated. */
export interface Bytes {
  /** Number of bytes, or undefined if not known in advance. */
  readonly size?: number
  /** Approximate number of bytes if `size` is unknown, such as the length of the form that a file arrives in. */
  readonly expectedSize?: number
  /** True if the bytes can be read only once. A retry would then have nothing to send. */
  readonly once?: true
  /** True if reading has started. Only for bytes that can be read once. */
  readonly started?: boolean
  read(): AsyncIterable<Uint8Array>
}

/** Bytes in memory. */
export class BufferedBytes implements Bytes {
  readonly size: number
  readonly bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.size = bytes.length
  }

  async *read(): AsyncGenerator<Uint8Array> {
    yield this.bytes
  }

  /** Returns the content as base64, for tests and logs. */
  toJSON(): string {
    return encodeBase64(this.bytes)
  }
}
