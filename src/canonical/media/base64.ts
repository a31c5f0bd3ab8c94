import { decodeBase64, encodeBase64 } from '../base64.ts'

const NOTHING = new Uint8Array()

/**
 * Converts chunks of bytes to base64 strings that can be concatenated. Emits only whole groups of three bytes before
 * the end.
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

/**
 * Joins base64 chunks of which each may be padded or cut anywhere. Emits only whole groups of three bytes before the
 * end, and never more chunks than arrived.
 */
export class Base64Stream {
  private readonly groups = new Base64Groups()

  push(chunk: string): string {
    const bytes = decodeBase64(chunk)
    if (!this.groups.isEmpty || bytes.length % 3 === 0) return this.groups.push(bytes)
    this.groups.buffer(bytes)
    return ''
  }

  end(): string {
    return this.groups.end()
  }
}
