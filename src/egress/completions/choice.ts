import type { Part } from '../../canonical/content.ts'
import type { PartDelta, PartEnd, PartPatch, PartStart } from '../../canonical/event.ts'
import { patched } from '../../canonical/fold.ts'
import { wordsOf } from './texts.ts'

interface Piece {
  part: Part
  /** Words that wait for an earlier part's end. */
  held: string
  ended: boolean
}

/**
 * The one text of a choice, in the order of its parts: words of a part are held back while an earlier one that has
 * words is still open. Every method gives the text that may be said now.
 */
export class ChoiceText {
  private readonly pieces: Piece[] = []
  /** The part that may speak. */
  private turn = 0

  take(event: PartStart | PartDelta | PartPatch | PartEnd): string {
    const { part } = event.at
    if (event.type === 'part-start') {
      this.pieces[part] = { part: event.part, held: '', ended: false }
      return this.settle()
    }
    const piece = this.pieces[part]
    if (piece === undefined) return ''
    if (event.type === 'part-delta') return this.grow(piece, part, event)
    if (event.type === 'part-patch') {
      piece.part = patched(piece.part, event)
      return ''
    }
    piece.ended = true
    if (piece.part.type === 'opaque') piece.held = wordsOf(piece.part) ?? ''
    return this.settle()
  }

  private grow(piece: Piece, index: number, { append, of }: PartDelta): string {
    if (of !== undefined || !speaks(piece.part)) return ''
    if (index === this.turn) return append
    piece.held += append
    return ''
  }

  /** What was held back and need not wait any more. */
  private settle(): string {
    let text = ''
    for (;;) {
      const piece = this.pieces[this.turn]
      if (piece === undefined) return text
      text += piece.held
      piece.held = ''
      if (speaks(piece.part) && !piece.ended) return text
      this.turn++
    }
  }
}

/** Whether its words come or have come in order; of an opaque part they are known at its end. */
const speaks = ({ type }: Part): boolean => type === 'text' || type === 'refusal' || type === 'opaque'
