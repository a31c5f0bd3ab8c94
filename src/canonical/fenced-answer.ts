import type { TextChange } from './changed-texts.ts'

/*
 * Answers in a code fence of Markdown. Where words alone ask for JSON, some models put a fence around it, although the
 * words forbid one (BlockRunAI/blockrun-mcp#153, router-for-me/CLIProxyAPI#2174, read on 2026-12-01). Clients that asked
 * for JSON parse the answer as it is.
 */

const OPENING = /^\s*```[a-zA-Z]*[ \t]*\r?\n/
/** Matches what may still become an opening. */
const OPENING_START = /^\s*(?:`{0,2}|```[a-zA-Z]*[ \t]*\r?)$/
const CLOSING = '\n```'
const WHITE_SPACE: ReadonlySet<string> = new Set([' ', '\n', '\r', '\t'])

/** Maximum number of characters that are held back. Longer ones are no fence. */
const MAX_HELD = 64

/**
 * Reads the text within a code fence from chunks that may end anywhere. The opening has to stand at the start of the
 * text, the closing at its end.
 */
export class FenceReader implements TextChange {
  private state: 'opening' | 'inside' | 'bare' = 'opening'
  /** Characters that may belong to a fence. */
  private held = ''

  push(chunk: string): string {
    if (this.state === 'bare') return chunk
    return this.state === 'inside' ? this.readInside(chunk) : this.readOpening(chunk)
  }

  /** Returns the text that is still held at the end. A complete closing is none. */
  end(): string {
    const { held } = this
    this.held = ''
    return this.state === 'inside' && held.startsWith(CLOSING) ? '' : held
  }

  private readOpening(chunk: string): string {
    const text = this.held + chunk
    const start = text.slice(0, MAX_HELD)
    const opening = OPENING.exec(start)?.[0]
    if (opening !== undefined) {
      this.state = 'inside'
      this.held = ''
      return this.readInside(text.slice(opening.length))
    }
    if (text.length <= MAX_HELD && OPENING_START.test(text)) {
      this.held = text
      return ''
    }
    this.state = 'bare'
    this.held = ''
    return text
  }

  private readInside(chunk: string): string {
    let out = ''
    for (let index = 0; index < chunk.length; index++) {
      const char = chunk[index]!
      if (this.mayClose(char)) this.held += char
      else if (this.held.length >= CLOSING.length) return out + this.passThrough(chunk.slice(index))
      else {
        out += this.held
        this.held = char === '\n' ? char : ''
        if (char !== '\n') out += char
      }
    }
    return out
  }

  /** Returns true if the held text and this character are the start of a closing, or white space behind one. */
  private mayClose(char: string): boolean {
    const { held } = this
    return held.length < CLOSING.length
      ? CLOSING[held.length] === char
      : WHITE_SPACE.has(char) && held.length < MAX_HELD
  }

  /** Returns the held closing and the text behind it: a fence that ends earlier stays. */
  private passThrough(rest: string): string {
    const { held } = this
    this.state = 'bare'
    this.held = ''
    return held + rest
  }
}
