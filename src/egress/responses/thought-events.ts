import type { ReasoningPart } from '../../canonical/content.ts'
import { withBody } from '../../canonical/fold.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { spelt } from '../fields.ts'
import { FORMAT } from './content.ts'
import { type ItemContext, SingleWriter } from './item-events.ts'
import {
  CUT,
  FOREIGN_THOUGHT,
  fillThought,
  ownItem,
  ownProof,
  proofOf,
  reasoningText,
  summaryText,
  writeReasoningItem,
} from './items.ts'

/** Event and field names for a summary and for full reasoning text. */
const SECTIONS = {
  summary: { part: 'response.reasoning_summary_part', text: 'response.reasoning_summary_text', place: 'summary_index' },
  content: { part: 'response.content_part', text: 'response.reasoning_text', place: 'content_index' },
} as const

/** Writes a streamed reasoning item, section by section. */
export class ThoughtWriter extends SingleWriter {
  private readonly id: string
  /** The index of the section that was opened last. */
  private place = -1
  private section: { text: string; readonly prefix: string } | undefined
  /** Characters; rest of the separator that is still to be skipped. */
  private gap = 0
  /** The number of cuts passed so far. */
  private cuts = 0

  constructor(part: ReasoningPart, context: ItemContext) {
    super(part, context)
    const own = ownItem(part)
    this.id = this.idOf(own?.item, own === undefined ? FOREIGN_THOUGHT : 'rs')
    this.added()
  }

  delta(append: string): void {
    let rest = append
    for (let cut = this.cut(); cut !== undefined && cut <= this.body.length + rest.length; cut = this.cut()) {
      const before = rest.slice(0, cut - this.body.length)
      this.append(before)
      this.close()
      rest = rest.slice(before.length)
      this.gap = CUT.length
      this.cuts++
      rest = this.skip(rest)
      if (rest === '' && this.gap > 0) return
    }
    rest = this.skip(rest)
    if (rest !== '') this.append(rest)
  }

  override end(): void {
    const hasCuts = spelt(this.part, FORMAT)['cuts'] != null
    if (this.section === undefined && hasCuts && this.place < this.cuts) this.open()
    if (this.section !== undefined) this.close()
    super.end()
  }

  protected state(): JsonObject {
    const part = withBody(this.part, this.body) as ReasoningPart
    const own = ownItem(part)
    if (own === undefined) return writeReasoningItem(part, proofOf(part), this.stamp(FOREIGN_THOUGHT))
    const isNew = this.body === '' && this.status === 'in_progress'
    return isNew ? own.item : fillThought(own.item, part, ownProof(part))
  }

  /** UTF-16 units; offset of the next cut in the body, if known. */
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

  private append(text: string): void {
    const section = this.section ?? this.open()
    if (text === '') return
    section.text += text
    this.body += text
    this.context.events.line(
      `${this.names().text}.delta`,
      `${section.prefix}${JSON.stringify(text)},"sequence_number":`,
    )
  }

  private open(): NonNullable<ThoughtWriter['section']> {
    const { part, text, place } = this.names()
    this.place++
    const where = this.where(place)
    this.context.events.emit(`${part}.added`, { ...where, part: this.shape('') })
    const prefix = `${JSON.stringify({ type: `${text}.delta`, ...where }).slice(0, -1)},"delta":`
    return (this.section = { text: '', prefix })
  }

  private close(): void {
    const content = (this.section ?? this.open()).text
    const { part, text, place } = this.names()
    const where = this.where(place)
    this.context.events.emit(`${text}.done`, { ...where, text: content })
    this.context.events.emit(`${part}.done`, { ...where, part: this.shape(content) })
    this.section = undefined
  }

  private where(place: string): JsonObject {
    return { item_id: this.id, output_index: this.index, [place]: this.place }
  }

  private names() {
    return SECTIONS[this.inContent() ? 'content' : 'summary']
  }

  private shape(text: string): JsonObject {
    return this.inContent() ? reasoningText(text) : summaryText(text)
  }

  private inContent(): boolean {
    return spelt(this.part, FORMAT)['as'] === 'content'
  }
}
