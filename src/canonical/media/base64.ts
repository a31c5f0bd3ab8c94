const NOTHING: Buffer = Buffer.alloc(0)

/**
 * Converts chunks of bytes to base64 strings that can be concatenated. Emits only whole groups of three bytes before
 * the end.
 */
export class Base64Groups {
  private pending: Buffer

  constructor(first: Buffer = NOTHING) {
    this.pending = first
  }

  get isEmpty(): boolean {
    return this.pending.length === 0
  }

  push(bytes: Buffer): string {
    const all = this.isEmpty ? bytes : Buffer.concat([this.pending, bytes])
    const whole = all.length - (all.length % 3)
    this.pending = all.subarray(whole)
    return all.toString('base64', 0, whole)
  }

  /** Buffers the bytes without emitting any. */
  buffer(bytes: Buffer): void {
    this.pending = this.isEmpty ? bytes : Buffer.concat([this.pending, bytes])
  }

  end(): string {
    return this.pending.toString('base64')
  }
}

/**
 * Joins base64 chunks of which each may be padded or cut anywhere. Emits only whole groups of three bytes before the
 * end, and never more chunks than arrived.
 */
export class Base64Stream {
  private readonly groups = new Base64Groups()

  push(chunk: string): string {
    const bytes = Buffer.from(chunk, 'base64')
    if (!this.groups.isEmpty || bytes.length % 3 === 0) return this.groups.push(bytes)
    this.groups.buffer(bytes)
    return ''
  }

  end(): string {
    return this.groups.end()
  }
}
