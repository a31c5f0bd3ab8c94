import type { ReasoningPart } from '../../canonical/content.ts'
import { withBody } from '../../canonical/fold.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { spelt } from '../fields.ts'
import { proofOf } from './answer.ts'
import { FORMAT } from './content.ts'
import { type ItemContext, itemId, SingleWriter } from './item-events.ts'
import { CUT, reasoningText, summaryText, writeReasoning } from './items.ts'

const PIECES = {
  summary: { part: 'response.reasoning_summary_part', text: 'response.reasoning_summary_text', place: 'summary_index' },
  content: { part: 'response.content_part', text: 'response.reasoning_text', place: 'content_index' },
} as const

/** A thought, told in the pieces it was cut into. */
export class ThoughtWriter extends SingleWriter {
  private readonly id: string
  /** The place of the piece that was opened last. */
  private place = -1
  private piece: { text: string; readonly prefix: string } | undefined
  /** What is left of the empty line that is being passed over. */
  private gap = 0
  private cuts = 0

  constructor(part: ReasoningPart, context: ItemContext) {
    super(part, context)
    this.id = itemId(spelt(part, FORMAT), 'rs', context.base, this.index)
    const item = unspoken(writeReasoning({ ...part, text: '' }, this.stamp(), proofOf(part)))
    const begun = spelt(part, FORMAT)['begun'] as JsonObject | undefined
    const shown = this.shown({ ...item, ...begun })
    context.events.emit('response.output_item.added', { output_index: this.index, item: shown })
  }

  delta(append: string): void {
    let rest = append
    for (let cut = this.cut(); cut !== undefined && cut <= this.body.length + rest.length; cut = this.cut()) {
      const before = rest.slice(0, cut - this.body.length)
      this.say(before)
      this.close()
      rest = rest.slice(before.length)
      this.gap = CUT.length
      this.cuts++
      rest = this.skip(rest)
      if (rest === '' && this.gap > 0) return
    }
    rest = this.skip(rest)
    if (rest !== '') this.say(rest)
  }

  override end(): void {
    const told = spelt(this.part, FORMAT)['cuts'] != null
    if (this.piece === undefined && told && this.place < this.cuts) this.open()
    if (this.piece !== undefined) this.close()
    super.end()
  }

  written(): JsonObject {
    const part = withBody(this.part, this.body) as ReasoningPart
    return this.shown(writeReasoning(part, this.stamp(), proofOf(part)))
  }

  /** Where the text is cut next, if that is known. */
  private cut(): number | undefined {
    return (spelt(this.part, FORMAT)['cuts'] as readonly number[] | undefined | null)?.[this.cuts]
  }

  private skip(text: string): string {
    if (this.gap === 0) return text
    const skipped = text.slice(0, this.gap)
    this.gap -= skipped.length
    this.body += skipped
    if (this.gap === 0) this.open()
    return text.slice(skipped.length)
  }

  private say(text: string): void {
    const piece = this.piece ?? this.open()
    if (text === '') return
    piece.text += text
    this.body += text
    this.context.events.line(`${this.words().text}.delta`, `${piece.prefix}${JSON.stringify(text)},"sequence_number":`)
  }

  private open(): NonNullable<ThoughtWriter['piece']> {
    const { part, text, place } = this.words()
    this.place++
    const where = this.where(place)
    this.context.events.emit(`${part}.added`, { ...where, part: this.shape('') })
    const prefix = `${JSON.stringify({ type: `${text}.delta`, ...where }).slice(0, -1)},"delta":`
    return (this.piece = { text: '', prefix })
  }

  private close(): void {
    const said = (this.piece ?? this.open()).text
    const { part, text, place } = this.words()
    const where = this.where(place)
    this.context.events.emit(`${text}.done`, { ...where, text: said })
    this.context.events.emit(`${part}.done`, { ...where, part: this.shape(said) })
    this.piece = undefined
  }

  private where(place: string): JsonObject {
    return { item_id: this.id, output_index: this.index, [place]: this.place }
  }

  private words() {
    return PIECES[this.inContent() ? 'content' : 'summary']
  }

  private shape(text: string): JsonObject {
    return this.inContent() ? reasoningText(text) : summaryText(text)
  }

  private inContent(): boolean {
    return spelt(this.part, FORMAT)['as'] === 'content'
  }
}

/** A thought before its first word. */
function unspoken(item: JsonObject): JsonObject {
  const { content, ...others } = item
  return { ...others, ...('summary' in item ? { summary: [] } : {}), ...(content === undefined ? {} : { content: [] }) }
}
