import { parseObject } from '../../canonical/node.ts'

/** Tracks whether a JSON object that arrives in chunks is complete, scanning each chunk once. */
export class ObjectText {
  private text = ''
  /** Text not scanned yet. */
  private unscanned: string
  private depth = 0
  private inString = false
  private escaped = false
  /** True once the outermost bracket is closed. Only spaces may follow. */
  private closed = false
  /** True if other text followed the object. */
  private hasTrailingText = false
  private complete: boolean | undefined

  constructor(text: string) {
    this.unscanned = text
  }

  add(append: string): void {
    this.unscanned += append
  }

  /** True if the text so far is one complete JSON object. */
  get isComplete(): boolean {
    this.read()
    if (!this.closed || this.hasTrailingText) return false
    this.complete ??= parseObject(this.text) !== undefined
    return this.complete
  }

  private read(): void {
    const { unscanned } = this
    if (unscanned === '' || this.hasTrailingText) return
    this.unscanned = ''
    for (const sign of unscanned)
      if (this.closed) this.hasTrailingText ||= !SPACE.has(sign)
      else this.step(sign)
    if (this.complete === undefined) this.text += unscanned
  }

  private step(sign: string): void {
    if (this.escaped) this.escaped = false
    else if (this.inString) {
      if (sign === '\\') this.escaped = true
      else if (sign === '"') this.inString = false
    } else if (sign === '"') this.inString = true
    else if (OPENING.has(sign)) this.depth++
    else if (CLOSING.has(sign)) this.closed = --this.depth <= 0
  }
}

const SPACE: ReadonlySet<string> = new Set([' ', '\t', '\n', '\r'])
const OPENING: ReadonlySet<string> = new Set(['{', '['])
const CLOSING: ReadonlySet<string> = new Set(['}', ']'])
