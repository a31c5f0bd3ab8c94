const NOTHING: Buffer = Buffer.alloc(0)

/**
 * Converts chunks of bytes to base64 texts that can be concatenated. Emits only whole groups of three bytes before the
 * end.
 */
export class Base64Groups {
  private waiting: Buffer

  constructor(first: Buffer = NOTHING) {
    this.waiting = first
  }

  get isEven(): boolean {
    return this.waiting.length === 0
  }

  push(bytes: Buffer): string {
    const all = this.isEven ? bytes : Buffer.concat([this.waiting, bytes])
    const whole = all.length - (all.length % 3)
    this.waiting = all.subarray(whole)
    return all.toString('base64', 0, whole)
  }

  /** Buffers the bytes without emitting any. */
  hold(bytes: Buffer): void {
    this.waiting = this.isEven ? bytes : Buffer.concat([this.waiting, bytes])
  }

  end(): string {
    return this.waiting.toString('base64')
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
    if (!this.groups.isEven || bytes.length % 3 === 0) return this.groups.push(bytes)
    this.groups.hold(bytes)
    return ''
  }

  end(): string {
    return this.groups.end()
  }
}
