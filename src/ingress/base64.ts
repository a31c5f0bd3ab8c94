/**
 * Base64 that comes in pieces, each padded or cut anywhere, as base64 that can be strung together: only whole groups
 * of three bytes leave before the end.
 */
export class Base64Stream {
  private waiting: Buffer = Buffer.alloc(0)

  push(piece: string): string {
    const bytes =
      this.waiting.length === 0
        ? Buffer.from(piece, 'base64')
        : Buffer.concat([this.waiting, Buffer.from(piece, 'base64')])
    const whole = bytes.length - (bytes.length % 3)
    this.waiting = bytes.subarray(whole)
    return bytes.toString('base64', 0, whole)
  }

  end(): string {
    return this.waiting.toString('base64')
  }
}
