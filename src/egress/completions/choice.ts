import type { Part } from '../../canonical/content.ts'
import type { PartDelta, PartEnd, PartPatch, PartStart } from '../../canonical/event.ts'
import { patched } from '../../canonical/fold.ts'
import { wordsOf } from './texts.ts'

/** The one text of a choice, out of its parts one after another. Every method gives the text that may be said now. */
export class ChoiceText {
  private part: Part | undefined

  take(event: PartStart | PartDelta | PartPatch | PartEnd): string {
    const { part } = this
    if (event.type === 'part-start') {
      this.part = event.part
      return ''
    }
    if (part === undefined) return ''
    if (event.type === 'part-delta') return event.of === undefined && speaks(part) ? event.append : ''
    if (event.type === 'part-patch') this.part = patched(part, event, true)
    return event.type === 'part-end' && part.type === 'opaque' ? (wordsOf(part) ?? '') : ''
  }
}

/** Whether its words come as they are said; those of an opaque part are known at its end. */
const speaks = ({ type }: Part): boolean => type === 'text' || type === 'refusal' || type === 'opaque'
