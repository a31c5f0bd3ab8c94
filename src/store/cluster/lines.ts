import { StringDecoder } from 'node:string_decoder'

/** Maximum characters of an incomplete line in memory; a longer line is split. */
const LONGEST = 1024 * 1024

/** Splits the output of a process into whole lines, so that several processes can write to one stream. */
export class Lines {
  private readonly decoder = new StringDecoder()
  private readonly write: (lines: string) => void
  private rest: string[] = []
  private length = 0

  /** @param write receives one or more lines, each with its line break. */
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

  /** Writes the rest when the process ends, perhaps in the middle of a line. */
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
