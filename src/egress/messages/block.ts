import type { PartPatch } from '../../canonical/event.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { WireEvent } from '../../canonical/wire.ts'

/** What the blocks of one message share: the next free index, and where their events go. */
export interface BlockContext {
  /** The answer comes from an upstream of this very format. */
  own: boolean
  index: number
  out: WireEvent[]
  /** Blocks that are said when another one follows, or the answer ends. */
  held: (() => void)[]
}

/** One part on its way out. While it is the open block, `prefix` is all that stands before the JSON text of a delta. */
export interface BlockWriter {
  readonly prefix: string | undefined
  /** Something of the body was said. */
  grown: boolean
  /** All of the body so far, where it is told again at the end. */
  words: string | undefined
  delta(append: string): void
  patch(event: PartPatch): void
  end(): void
}

export const DELTA = 'content_block_delta'
/** What closes a delta behind its one growing text. */
export const SUFFIX = '}}'

/** Says the blocks that were held back. */
export function sayHeld(page: BlockContext): void {
  if (page.held.length === 0) return
  const { held } = page
  page.held = []
  for (const say of held) say()
}

/** What every kind of block does alike: its index is the next free one when it opens. */
export class OpenBlock {
  prefix: string | undefined
  grown = false
  words: string | undefined
  protected readonly page: BlockContext
  private index = -1

  constructor(page: BlockContext) {
    this.page = page
  }

  protected get started(): boolean {
    return this.index !== -1
  }

  protected open(content_block: JsonObject, deltaType?: string, field?: string): void {
    sayHeld(this.page)
    this.index = this.page.index++
    this.event('content_block_start', { content_block })
    if (deltaType === undefined) return
    this.prefix = `{"type":"${DELTA}","index":${this.index},"delta":{"type":"${deltaType}","${field}":`
  }

  protected say(delta: JsonObject): void {
    this.event(DELTA, { delta })
  }

  protected grow(append: string): void {
    if (this.words !== undefined) this.words += append
    this.page.out.push({ event: DELTA, data: this.prefix + JSON.stringify(append) + SUFFIX })
  }

  protected close(): void {
    this.event('content_block_stop', {})
    this.prefix = undefined
  }

  private event(type: string, fields: { readonly [field: string]: Json }): void {
    this.page.out.push({ event: type, data: JSON.stringify({ type, index: this.index, ...fields }) })
  }
}
