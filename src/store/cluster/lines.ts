import { StringDecoder } from 'node:string_decoder'

/** Characters of an incomplete line that are held; a longer one is broken. */
const LONGEST = 1024 * 1024

/** The output of a process, passed on in whole lines, so that those of several processes can be written to one place. */
export class Lines {
  private readonly decoder = new StringDecoder()
  private readonly write: (lines: string) => void
  private rest: string[] = []
  private length = 0

  /** @param write gets one line or several, each with its end. */
  constructor(write: (lines: string) => void) {
    this.write = write
  }

  push(chunk: Buffer): void {
    const text = this.decoder.write(chunk)
    const end = text.lastIndexOf('\n') + 1
    if (end > 0) {
      this.write(`${this.rest.join('')}${text.slice(0, end)}`)
      this.rest = []
      this.length = 0
    }
    if (end < text.length) this.hold(text.slice(end))
  }

  /** The process ended, in the middle of a line perhaps. */
  end(): void {
    if (this.length > 0) this.write(`${this.rest.join('')}\n`)
    this.rest = []
    this.length = 0
  }

  private hold(text: string): void {
    this.rest.push(text)
    this.length += text.length
    if (this.length > LONGEST) this.end()
  }
}
