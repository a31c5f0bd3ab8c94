/**
 * Base64 that comes in pieces, each padded or cut anywhere, as base64 that can be strung together: only whole groups
 * of three bytes leave before the end, and never more pieces than came.
 */
export class Base64Stream {
  private waiting: Buffer = Buffer.alloc(0)

  push(piece: string): string {
    const bytes = Buffer.from(piece, 'base64')
    if (this.waiting.length === 0 && bytes.length % 3 !== 0) {
      this.waiting = bytes
      return ''
    }
    const all = this.waiting.length === 0 ? bytes : Buffer.concat([this.waiting, bytes])
    const whole = all.length - (all.length % 3)
    this.waiting = all.subarray(whole)
    return all.toString('base64', 0, whole)
  }

  end(): string {
    return this.waiting.toString('base64')
  }
}
