import { Base64Groups } from '../../canonical/media/base64.ts'

/**
 * Base64 that comes in pieces, each padded or cut anywhere, as base64 that can be strung together: only whole groups
 * of three bytes leave before the end, and never more pieces than came.
 */
export class Base64Stream {
  private readonly groups = new Base64Groups()

  push(piece: string): string {
    const bytes = Buffer.from(piece, 'base64')
    if (!this.groups.isEven || bytes.length % 3 === 0) return this.groups.push(bytes)
    this.groups.hold(bytes)
    return ''
  }

  end(): string {
    return this.groups.end()
  }
}
