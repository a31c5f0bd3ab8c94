/** Bytes of one body that are kept. */
export const LARGEST = 1024 * 1024
/** Bytes kept beyond that, so that a secret at the edge is still recognised as a whole before the text is cut. */
export const MARGIN = 40 * 1024

/** Pieces kept of one body: each takes more than its bytes. */
const MOST_PIECES = 20_000

/** A piece of a body, and when it came: milliseconds from the beginning of its request. */
export interface Piece {
  readonly ms: number
  readonly content: string | Uint8Array
}

/** What passes of one body, with its times: no more than may be kept of it. */
export class Recording {
  readonly pieces: Piece[] = []
  /** Bytes that passed, and how many of them are kept. */
  size = 0
  kept = 0
  /** All of it passed. */
  isWhole = false
  private readonly began: number
  private readonly limit: number

  /** @param began when its request did, by `performance.now()`. */
  constructor(began: number, limit = LARGEST + MARGIN) {
    this.began = began
    this.limit = limit
  }

  get isCut(): boolean {
    return this.size > this.kept || this.kept > LARGEST
  }

  /** Bytes are copied: they may be a part of something larger. */
  take(content: string | Uint8Array): void {
    const size = typeof content === 'string' ? Buffer.byteLength(content) : content.length
    this.size += size
    const room = this.limit - this.kept
    if (room <= 0 || size === 0 || this.pieces.length >= MOST_PIECES) return
    const part = size <= room ? content : content.slice(0, room)
    this.kept += Math.min(size, room)
    this.pieces.push({ ms: this.elapsed, content: typeof part === 'string' ? part : Buffer.from(part) })
  }

  get elapsed(): number {
    return Math.round((performance.now() - this.began) * 10) / 10
  }
}
