import { decodeBase64, encodeBase64 } from '../base64.ts'

const NOTHING = new Uint8Array()

/**
 * Converts byte chunks to base64 strings that can be concatenated. Until the end, emits only complete groups of three
 * bytes, because any other length would be padded.
 */
export class Base64Groups {
  private pending: Uint8Array

  constructor(first: Uint8Array = NOTHING) {
    this.pending = first
  }

  get isEmpty(): boolean {
    return this.pending.length === 0
  }

  push(bytes: Uint8Array): string {
    this.buffer(bytes)
    const all = this.pending
    const whole = all.length - (all.length % 3)
    this.pending = all.subarray(whole)
    return encodeBase64(all.subarray(0, whole))
  }

  /** Buffers the bytes without emitting any. */
  buffer(bytes: Uint8Array): void {
    this.pending = this.isEmpty ? bytes : joined(this.pending, bytes)
  }

  end(): string {
    return encodeBase64(this.pending)
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const all = new Uint8Array(first.length + second.length)
  all.set(first)
  all.set(second, first.length)
  return all
}

/** Matches characters outside the base64 alphabets. */
const OTHERS = /[^\w+/-]/g

/**
 * Joins base64 chunks that may each be padded or cut anywhere. Until the end, emits only complete groups of three
 * bytes, and never more chunks than it received.
 */
export class Base64Stream {
  private readonly groups = new Base64Groups()
  /** Start of a group of four characters. The next chunk continues the group. */
  private cut = ''
  /** True if fewer chunks were emitted than received, so that `end` may emit one more. */
  private isBehind = false

  push(chunk: string): string {
    const bytes = this.decoded(this.cut + chunk)
    if (this.isBehind || (bytes.length % 3 === 0 && this.cut === '')) return this.groups.push(bytes)
    this.isBehind = true
    this.groups.buffer(bytes)
    return ''
  }

  end(): string {
    return this.groups.push(decodeBase64(this.cut)) + this.groups.end()
  }

  /** Decodes the complete groups of a text, and buffers the start of an incomplete last group. */
  private decoded(text: string): Uint8Array {
    this.cut = ''
    const bytes = decodeBase64(text)
    if (bytes.length * 4 === text.length * 3 || text.includes('=')) return bytes
    const digits = text.replace(OTHERS, '')
    const whole = digits.length - (digits.length % 4)
    this.cut = digits.slice(whole)
    return bytes.subarray(0, (whole / 4) * 3)
  }
}
