import type { MediaPart, Part, ReasoningPart, ToolCallPart } from '../../canonical/content.ts'
import type { PartPatch } from '../../canonical/event.ts'
import { patched, withBody } from '../../canonical/fold.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { spelt } from '../fields.ts'
import { proofOf } from './answer.ts'
import { FORMAT } from './content.ts'
import {
  isOwn,
  minted,
  reasoningText,
  type Stamp,
  summaryText,
  writeCall,
  writePicture,
  writeReasoning,
} from './items.ts'
import type { Tape } from './tape.ts'

/** A part of an answer while it is written. */
export interface PartWriter {
  delta(append: string): void
  patch(late: PartPatch): void
  end(): void
}

/** A part that has no place in the format. */
export const NOWHERE: PartWriter = { delta() {}, patch() {}, end() {} }

/** An item of the output, as far as it has come. */
export interface ItemWriter {
  written(): JsonObject
  /** The answer broke off: what has not ended never will. */
  cutShort(): void
}

/** What the items of one stream share. */
export interface Desk {
  readonly tape: Tape
  /** What ids are made of. */
  readonly base: string
  /** How many items there are: the place of the next one. */
  readonly items: ItemWriter[]
}

/** The id of the item at a place, for its events: its own, or one made for it. */
export function itemId(own: JsonObject, prefix: string, base: string, index: number): string {
  const { id } = own
  return typeof id === 'string' ? id : String(minted(base, index, '')({}, prefix)['id'])
}

/** Ids as they are; a state that the stream never took back is that of an item cut short. */
export const stampAt =
  (base: string, index: number, status: string): Stamp =>
  (own, prefix) => {
    const stamp = minted(base, index, status)(own, prefix)
    return isOwn(own) && status !== 'in_progress' && stamp['status'] === 'in_progress'
      ? { ...stamp, status: 'incomplete' }
      : stamp
  }

/** An item that is one part. */
abstract class SingleWriter implements PartWriter, ItemWriter {
  protected readonly desk: Desk
  protected readonly index: number
  protected part: Part
  protected body = ''
  protected status = 'in_progress'

  constructor(part: Part, desk: Desk) {
    this.part = part
    this.desk = desk
    this.index = desk.items.length
    desk.items.push(this)
  }

  patch(late: PartPatch): void {
    this.part = patched(this.part, late)
  }

  end(): void {
    this.status = 'completed'
    this.desk.tape.emit('response.output_item.done', { output_index: this.index, item: this.written() })
  }

  cutShort(): void {
    if (this.status === 'in_progress') this.status = 'incomplete'
  }

  protected stamp(): Stamp {
    return stampAt(this.desk.base, this.index, this.status)
  }

  abstract delta(append: string): void
  abstract written(): JsonObject
}

/** A piece only this format knows. */
export class OpaqueWriter extends SingleWriter {
  constructor(part: Part, desk: Desk) {
    super(part, desk)
    desk.tape.emit('response.output_item.added', { output_index: this.index, item: this.written() })
  }

  delta(): void {}

  written(): JsonObject {
    return this.part.type === 'opaque' ? this.part.value : {}
  }
}

/** A picture comes whole, at its end. */
export class PictureWriter extends SingleWriter {
  private readonly data: string[] = []

  constructor(part: MediaPart, desk: Desk) {
    super(part, desk)
    const item = { ...this.written(), result: null }
    desk.tape.emit('response.output_item.added', { output_index: this.index, item })
  }

  delta(append: string): void {
    this.data.push(append)
  }

  override end(): void {
    this.body = this.data.join('')
    const item_id = this.written()['id']!
    this.desk.tape.emit('response.image_generation_call.completed', { item_id, output_index: this.index })
    super.end()
  }

  written(): JsonObject {
    return writePicture(withBody(this.part, this.body) as MediaPart, this.stamp())
  }
}

/** A call; arguments that say nothing become `{}` at the end, exactly once (trap 8). */
export class CallWriter extends SingleWriter {
  private readonly id: string
  private readonly field: string
  private readonly event: string
  private readonly prefix: string

  constructor(part: ToolCallPart, desk: Desk) {
    super(part, desk)
    const { freeform } = part
    this.id = itemId(spelt(part, FORMAT), freeform ? 'ctc' : 'fc', desk.base, this.index)
    this.field = freeform ? 'input' : 'arguments'
    this.event = freeform ? 'response.custom_tool_call_input' : 'response.function_call_arguments'
    const type = `${this.event}.delta`
    this.prefix = `${JSON.stringify({ type, item_id: this.id, output_index: this.index }).slice(0, -1)},"delta":`
    const item = { ...this.written(), [this.field]: '' }
    desk.tape.emit('response.output_item.added', { output_index: this.index, item })
  }

  delta(append: string): void {
    this.body += append
    this.desk.tape.line(`${this.event}.delta`, `${this.prefix}${JSON.stringify(append)},"sequence_number":`)
  }

  override end(): void {
    const said = this.written()[this.field] as string | JsonObject | undefined
    const whole = typeof said === 'string' ? said : this.body
    if (this.body === '' && whole !== '') this.delta(whole)
    this.desk.tape.emit(`${this.event}.done`, { item_id: this.id, output_index: this.index, [this.field]: whole })
    super.end()
  }

  written(): JsonObject {
    return writeCall(withBody(this.part, this.body) as ToolCallPart, this.stamp())
  }
}

const PIECES = {
  summary: { part: 'response.reasoning_summary_part', text: 'response.reasoning_summary_text', place: 'summary_index' },
  content: { part: 'response.content_part', text: 'response.reasoning_text', place: 'content_index' },
} as const

/** The empty line between the pieces of a thought. */
const CUT = '\n\n'

/** A thought, told in the pieces it was cut into. */
export class ThoughtWriter extends SingleWriter {
  private readonly id: string
  private pieces = 0
  private piece: { text: string; readonly prefix: string } | undefined
  /** What is left of the empty line that is being passed over. */
  private gap = 0
  private cuts = 0

  constructor(part: ReasoningPart, desk: Desk) {
    super(part, desk)
    this.id = itemId(spelt(part, FORMAT), 'rs', desk.base, this.index)
    const item = unspoken(writeReasoning({ ...part, text: '' }, this.stamp(), proofOf(part)))
    const begun = spelt(part, FORMAT)['begun'] as JsonObject | undefined
    desk.tape.emit('response.output_item.added', { output_index: this.index, item: { ...item, ...begun } })
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
    if (this.piece === undefined && told && this.pieces <= this.cuts) this.open()
    if (this.piece !== undefined) this.close()
    super.end()
  }

  written(): JsonObject {
    const part = withBody(this.part, this.body) as ReasoningPart
    return writeReasoning(part, this.stamp(), proofOf(part))
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
    this.desk.tape.line(`${this.words().text}.delta`, `${piece.prefix}${JSON.stringify(text)},"sequence_number":`)
  }

  private open(): NonNullable<ThoughtWriter['piece']> {
    const { part, text, place } = this.words()
    const where = this.where(place)
    this.desk.tape.emit(`${part}.added`, { ...where, part: this.shape('') })
    const prefix = `${JSON.stringify({ type: `${text}.delta`, ...where }).slice(0, -1)},"delta":`
    this.pieces++
    return (this.piece = { text: '', prefix })
  }

  private close(): void {
    const said = (this.piece ?? this.open()).text
    const { part, text, place } = this.words()
    this.pieces--
    const where = this.where(place)
    this.pieces++
    this.desk.tape.emit(`${text}.done`, { ...where, text: said })
    this.desk.tape.emit(`${part}.done`, { ...where, part: this.shape(said) })
    this.piece = undefined
  }

  private where(place: string): JsonObject {
    return { item_id: this.id, output_index: this.index, [place]: this.pieces }
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
