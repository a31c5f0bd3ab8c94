import { decodeBase64, encodeBase64 } from '../base64.ts'

const NO_BYTES = new Uint8Array()

/**
 * Converts byte chunks to base64 strings that can be concatenated. Until the end, emits only complete groups of three
 * bytes, because any other length would be padded.
 */
export class Base64Groups {
  private pending: Uint8Array

  constructor(first: Uint8Array = NO_BYTES) {
    this.pending = first
  }

  get isEmpty(): boolean {
    return this.pending.length === 0
  }

  push(bytes: Uint8Array): string {
    this.buffer(bytes)
    const buffered = this.pending
    const completeLength = buffered.length - (buffered.length % 3)
    this.pending = buffered.subarray(completeLength)
    return encodeBase64(buffered.subarray(0, completeLength))
  }

  /** Buffers the bytes without emitting any. */
  buffer(bytes: Uint8Array): void {
    this.pending = this.isEmpty ? bytes : concatenated(this.pending, bytes)
  }

  end(): string {
    return encodeBase64(this.pending)
  }
}

function concatenated(first: Uint8Array, second: Uint8Array): Uint8Array {
  const all = new Uint8Array(first.length + second.length)
  all.set(first)
  all.set(second, first.length)
  return all
}

/** Matches characters outside the base64 alphabets. */
const OTHER_CHARACTERS = /[^\w+/-]/g

/**
 * Joins base64 chunks that may each be padded or cut anywhere. Until the end, emits only complete groups of three
 * bytes, and never more chunks than it received.
 */
export class Base64Stream {
  private readonly groups = new Base64Groups()
  /** Start of a group of four characters. The next chunk continues the group. */
  private partialGroup = ''
  /** True if fewer chunks were emitted than received, so that `end` may emit one more. */
  private hasSpareChunk = false

  push(chunk: string): string {
    const bytes = this.decodeGroups(this.partialGroup + chunk)
    if (this.hasSpareChunk || (bytes.length % 3 === 0 && this.partialGroup === '')) return this.groups.push(bytes)
    this.hasSpareChunk = true
    this.groups.buffer(bytes)
    return ''
  }

  end(): string {
    return this.groups.push(decodeBase64(this.partialGroup)) + this.groups.end()
  }

  /** Decodes the complete groups of a text, and buffers the start of an incomplete last group. */
  private decodeGroups(text: string): Uint8Array {
    this.partialGroup = ''
    const bytes = decodeBase64(text)
    if (bytes.length * 4 === text.length * 3 || text.includes('=')) return bytes
    const digits = text.replace(OTHER_CHARACTERS, '')
    const completeLength = digits.length - (digits.length % 4)
    this.partialGroup = digits.slice(completeLength)
    return bytes.subarray(0, (completeLength / 4) * 3)
  }
}
