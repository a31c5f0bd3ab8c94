import { parseObject } from '../../canonical/node.ts'

/** Tracks whether a JSON object that arrives in chunks is complete, scanning each chunk once. */
export class ObjectText {
  private text = ''
  /** Text not scanned yet. */
  private fresh: string
  private depth = 0
  private inString = false
  private escaped = false
  /** Whether the outermost bracket is closed; only spaces may follow. */
  private closed = false
  /** Whether other text followed the object. */
  private spoiled = false
  private whole: boolean | undefined

  constructor(text: string) {
    this.fresh = text
  }

  add(append: string): void {
    this.fresh += append
  }

  /** Whether the text so far is one complete JSON object. */
  get isWhole(): boolean {
    this.read()
    if (!this.closed || this.spoiled) return false
    this.whole ??= parseObject(this.text) !== undefined
    return this.whole
  }

  private read(): void {
    const { fresh } = this
    if (fresh === '' || this.spoiled) return
    this.fresh = ''
    for (const sign of fresh)
      if (this.closed) this.spoiled ||= !SPACE.has(sign)
      else this.step(sign)
    if (this.whole === undefined) this.text += fresh
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
