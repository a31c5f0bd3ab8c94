import type { Part } from '../../canonical/content.ts'
import type { PartDelta, PartEnd, PartPatch, PartStart } from '../../canonical/event.ts'
import { patched } from '../../canonical/fold.ts'
import { textIn } from './texts.ts'

/** The single text of a choice, from its parts one after another. Returns the text that may be written now. */
export class ChoiceText {
  private part: Part | undefined

  take(event: PartStart | PartDelta | PartPatch | PartEnd): string {
    const { part } = this
    if (event.type === 'part-start') {
      this.part = event.part
      return ''
    }
    if (part === undefined) return ''
    if (event.type === 'part-delta') return event.of === undefined && streams(part) ? event.append : ''
    if (event.type === 'part-patch') this.part = patched(part, event, true)
    return event.type === 'part-end' && part.type === 'opaque' ? (textIn(part) ?? '') : ''
  }
}

/** Whether the text streams; that of an opaque part is complete at its end. */
const streams = ({ type }: Part): boolean => type === 'text' || type === 'refusal' || type === 'opaque'
