import type { ReasoningPart } from '../../canonical/content.ts'
import { withBody } from '../../canonical/fold.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { spellingFor } from '../fields.ts'
import { FORMAT } from './content.ts'
import { type ItemContext, SingleWriter } from './item-events.ts'
import {
  encryptedContent,
  FOREIGN_REASONING,
  fillReasoning,
  nativeEncryptedContent,
  originalItem,
  reasoningText,
  SEPARATOR,
  summaryText,
  writeReasoningItem,
} from './items.ts'

/** Event and field names for a summary and for full reasoning text. */
const SECTIONS = {
  summary: {
    part: 'response.reasoning_summary_part',
    text: 'response.reasoning_summary_text',
    indexField: 'summary_index',
  },
  content: { part: 'response.content_part', text: 'response.reasoning_text', indexField: 'content_index' },
} as const

/** Writes a streamed reasoning item, section by section. */
export class ReasoningWriter extends SingleWriter {
  private readonly id: string
  /** Index of the most recently opened section. */
  private sectionIndex = -1
  private section: { text: string; readonly prefix: string } | undefined
  /** Number of separator characters still to skip. */
  private separatorLeft = 0
  /** Number of cuts passed so far. */
  private passedCuts = 0

  constructor(part: ReasoningPart, context: ItemContext) {
    super(part, context)
    const original = originalItem(part)
    this.id = this.idOf(original?.item, original === undefined ? FOREIGN_REASONING : 'rs')
    this.added()
  }

  delta(append: string): void {
    let rest = append
    for (let cut = this.nextCut(); cut !== undefined && cut <= this.body.length + rest.length; cut = this.nextCut()) {
      const before = rest.slice(0, cut - this.body.length)
      this.append(before)
      this.close()
      rest = rest.slice(before.length)
      this.separatorLeft = SEPARATOR.length
      this.passedCuts++
      rest = this.skip(rest)
      if (rest === '' && this.separatorLeft > 0) return
    }
    rest = this.skip(rest)
    if (rest !== '') this.append(rest)
  }

  override end(): void {
    const hasCuts = spellingFor(this.part, FORMAT)['cuts'] != null
    if (this.section === undefined && hasCuts && this.sectionIndex < this.passedCuts) this.open()
    if (this.section !== undefined) this.close()
    super.end()
  }

  protected state(): JsonObject {
    const part = withBody(this.part, this.body) as ReasoningPart
    const original = originalItem(part)
    if (original === undefined) return writeReasoningItem(part, encryptedContent(part), this.stamp(FOREIGN_REASONING))
    const isNew = this.body === '' && this.status === 'in_progress'
    return isNew ? original.item : fillReasoning(original.item, part, nativeEncryptedContent(part))
  }

  /** Returns the offset of the body's next cut, in UTF-16 units, if known. */
  private nextCut(): number | undefined {
    return (spellingFor(this.part, FORMAT)['cuts'] as readonly number[] | undefined | null)?.[this.passedCuts]
  }

  private skip(text: string): string {
    if (this.separatorLeft === 0) return text
    const skipped = text.slice(0, this.separatorLeft)
    this.separatorLeft -= skipped.length
    this.body += skipped
    if (this.separatorLeft === 0) this.open()
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

  private open(): NonNullable<ReasoningWriter['section']> {
    const { part, text, indexField } = this.names()
    this.sectionIndex++
    const where = this.sectionPosition(indexField)
    this.context.events.emit(`${part}.added`, { ...where, part: this.shape('') })
    const prefix = `${JSON.stringify({ type: `${text}.delta`, ...where }).slice(0, -1)},"delta":`
    return (this.section = { text: '', prefix })
  }

  private close(): void {
    const content = (this.section ?? this.open()).text
    const { part, text, indexField } = this.names()
    const where = this.sectionPosition(indexField)
    this.context.events.emit(`${text}.done`, { ...where, text: content })
    this.context.events.emit(`${part}.done`, { ...where, part: this.shape(content) })
    this.section = undefined
  }

  private sectionPosition(indexField: string): JsonObject {
    return { item_id: this.id, output_index: this.index, [indexField]: this.sectionIndex }
  }

  private names() {
    return SECTIONS[this.inContent() ? 'content' : 'summary']
  }

  private shape(text: string): JsonObject {
    return this.inContent() ? reasoningText(text) : summaryText(text)
  }

  private inContent(): boolean {
    return spellingFor(this.part, FORMAT)['as'] === 'content'
  }
}
