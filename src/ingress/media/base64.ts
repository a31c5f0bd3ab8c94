import { Base64Groups } from '../../canonical/media/base64.ts'

/**
 * Joins base64 that arrives in chunks, each padded or cut anywhere: only whole groups of three bytes are put out before
 * the end, and never more chunks than arrived.
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
