import type { PartPatch } from '../../canonical/event.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { WireEvent } from '../../canonical/wire.ts'

/** State that the blocks of one message share: the next free index, and the list of their events. */
export interface BlockContext {
  index: number
  out: WireEvent[]
  /** Blocks that are written when another one follows, or the answer ends. */
  held: (() => void)[]
}

/** Writes one part. While it is the open block, `prefix` is the text before the JSON text of a delta. */
export interface BlockWriter {
  readonly prefix: string | undefined
  /** Whether any of the body was written. */
  grown: boolean
  /** The whole body so far, where it is needed at the end. */
  body: string | undefined
  delta(append: string): void
  patch(event: PartPatch): void
  end(): void
}

export const DELTA = 'content_block_delta'
/** The text that closes a delta after its growing text. */
export const SUFFIX = '}}'

/** Writes the blocks that were held back. */
export function writeHeld(page: BlockContext): void {
  if (page.held.length === 0) return
  const { held } = page
  page.held = []
  for (const write of held) write()
}

/** Common to every kind of block: its index is the next free one when it opens. */
export class OpenBlock {
  prefix: string | undefined
  grown = false
  body: string | undefined
  protected readonly page: BlockContext
  private index = -1

  constructor(page: BlockContext) {
    this.page = page
  }

  protected get started(): boolean {
    return this.index !== -1
  }

  protected open(content_block: JsonObject, deltaType?: string, field?: string): void {
    writeHeld(this.page)
    this.index = this.page.index++
    this.event('content_block_start', { content_block })
    if (deltaType === undefined) return
    this.prefix = `{"type":"${DELTA}","index":${this.index},"delta":{"type":"${deltaType}","${field}":`
  }

  protected writeDelta(delta: JsonObject): void {
    this.event(DELTA, { delta })
  }

  protected grow(append: string): void {
    if (this.body !== undefined) this.body += append
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
