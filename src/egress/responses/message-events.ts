import type { Part } from '../../canonical/content.ts'
import type { PartPatch } from '../../canonical/event.ts'
import { patched, withBody } from '../../canonical/fold.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import { spelt } from '../fields.ts'
import { hasLogprobs, writeContent } from './answer.ts'
import { completedPart } from './complete.ts'
import { FORMAT, writeAnnotation } from './content.ts'
import {
  type ItemContext,
  type ItemWriter,
  itemId,
  type PartWriter,
  type Progress,
  shownAt,
  stampAt,
} from './item-events.ts'
import { writeMessageItem } from './items.ts'

/** Log probabilities that wait for their text. */
export interface LogprobSource {
  take(): readonly JsonObject[]
}

/** A message of a streamed answer, around its parts. */
export class MessageWriter implements ItemWriter {
  readonly context: ItemContext
  readonly index: number
  readonly id: string
  private readonly parts: MessagePartWriter[] = []
  private readonly own: boolean
  private open = 0
  private closing = false
  private settled = false
  /** Its status at the end. */
  private status: Progress = 'in_progress'
  private broken = false

  constructor(first: Part, context: ItemContext) {
    const message = spelt(first, FORMAT)['message'] as JsonObject | undefined
    this.context = context
    this.index = context.items.length
    this.own = message !== undefined
    this.id = itemId(message ?? {}, 'msg', context.base, this.index)
    context.items.push(this)
    context.ids.add(this.id, this.index)
    const item = this.shown(writeMessageItem(first, [], this.stamp()))
    context.events.emit('response.output_item.added', { output_index: this.index, item })
  }

  add(part: Part, logprobSource: LogprobSource): MessagePartWriter {
    this.open++
    const writer = new MessagePartWriter(part, this, this.parts.length, logprobSource)
    this.parts.push(writer)
    return writer
  }

  /** Called at the end of a part. An upstream's own message has a known number of parts; others may be continued. */
  partEnded(): void {
    this.open--
    if (this.closing || (this.own && this.parts.length >= this.expected())) this.finish('completed')
  }

  /** No part will be added: the message ends as soon as all its parts have. */
  close(status: Progress = 'completed'): void {
    this.closing = true
    this.finish(status)
  }

  private finish(status: Progress): void {
    if (this.settled || this.open > 0) return
    this.settled = true
    this.status = status
    this.context.events.emit('response.output_item.done', { output_index: this.index, item: this.written() })
  }

  cutShort(): void {
    this.broken = true
  }

  /** Whether another part may be added. */
  get takes(): boolean {
    return !this.settled && !this.closing
  }

  /** The texts of the message, for late log probabilities. */
  get logged(): readonly MessagePartWriter[] {
    return this.parts.filter(writer => writer.logged)
  }

  written(): JsonObject {
    return this.shown(writeMessageItem(this.parts[0]?.whole ?? NO_PART, this.content(), this.stamp()))
  }

  private shown(item: JsonObject): JsonObject {
    return shownAt(item, this.context, this.index, this.status, this.broken)
  }

  private expected(): number {
    const message = spelt(this.parts[0]?.whole, FORMAT)['message'] as JsonObject | undefined
    return (message?.['parts'] as number | undefined) ?? 1
  }

  private content(): Json {
    const message = spelt(this.parts[0]?.whole, FORMAT)['message'] as JsonObject | undefined
    return message?.['silent'] === true ? [] : this.parts.map(writer => writer.written())
  }

  private stamp() {
    return stampAt(this.context.base, this.index, this.status, this.broken)
  }
}

const NO_PART: Part = { type: 'text', text: '' }

/** A text, a refusal or a part that only this format defines, in a message. */
export class MessagePartWriter implements PartWriter {
  private readonly message: MessageWriter
  private readonly place: number
  private readonly logprobSource: LogprobSource
  private readonly silent: boolean
  private readonly refusal: boolean
  private readonly prefix: string
  private readonly suffix: string
  private part: Part
  private body = ''
  private readonly tokens: JsonObject[] = []
  private annotations = 0

  constructor(part: Part, message: MessageWriter, place: number, logprobSource: LogprobSource) {
    this.part = part
    this.message = message
    this.place = place
    this.logprobSource = logprobSource
    this.refusal = part.type === 'refusal'
    this.silent = (spelt(part, FORMAT)['message'] as JsonObject | undefined)?.['silent'] === true
    const type = this.refusal ? 'response.refusal.delta' : TEXT_DELTA
    this.prefix = `${JSON.stringify({ type, ...this.where() }).slice(0, -1)},"delta":`
    this.suffix = this.refusal ? ',"sequence_number":' : ',"logprobs":[],"sequence_number":'
    if (!this.silent) this.emit('response.content_part.added', { part: this.written() })
    if (part.type === 'opaque' && part.format !== FORMAT && part.text) this.delta(part.text)
  }

  get logged(): boolean {
    return hasLogprobs(this.part)
  }

  /** How many more log probabilities the text is known to have. */
  get missingLogprobs(): number {
    const count = spelt(this.part, FORMAT)['logprobs']
    return typeof count === 'number' ? Math.max(count - this.tokens.length, 0) : 0
  }

  get whole(): Part {
    return withBody(this.part, this.body)
  }

  delta(append: string): void {
    this.body += append
    const { events } = this.message.context
    const tokens = this.logged ? this.logprobSource.take() : NO_TOKENS
    if (tokens.length === 0) {
      events.line(
        this.refusal ? 'response.refusal.delta' : TEXT_DELTA,
        `${this.prefix}${JSON.stringify(append)}${this.suffix}`,
      )
      return
    }
    this.log(tokens)
    const logprobs = JSON.stringify(tokens)
    events.line(TEXT_DELTA, `${this.prefix}${JSON.stringify(append)},"logprobs":${logprobs},"sequence_number":`)
  }

  log(tokens: readonly JsonObject[]): void {
    for (const token of tokens) this.tokens.push(token)
  }

  patch(late: PartPatch): void {
    this.part = patched(this.part, late, true)
    for (const one of late.annotations ?? []) {
      const annotation = writeAnnotation(one)
      if (annotation === undefined) continue
      this.emit('response.output_text.annotation.added', { annotation_index: this.annotations++, annotation })
    }
  }

  end(): void {
    if (this.logged) this.log(this.logprobSource.take())
    if (!this.silent) {
      if (this.refusal) this.emit('response.refusal.done', { refusal: this.body })
      else if (this.isText()) this.emit('response.output_text.done', { text: this.body, logprobs: this.tokens })
      this.emit('response.content_part.done', { part: this.written() })
    }
    this.message.partEnded()
  }

  written(): JsonObject {
    const { part } = this
    const isForeign = part.type === 'opaque' && part.format !== FORMAT
    const written = writeContent(isForeign ? { type: 'text', text: this.body } : this.whole, this.tokens)
    return this.message.context.completes ? completedPart(written) : written
  }

  private isText(): boolean {
    return this.part.type === 'text' || (this.part.type === 'opaque' && this.part.format !== FORMAT)
  }

  private emit(type: string, fields: JsonObject): void {
    this.message.context.events.emit(type, { ...this.where(), ...fields })
  }

  private where(): JsonObject {
    return { item_id: this.message.id, output_index: this.message.index, content_index: this.place }
  }
}

const TEXT_DELTA = 'response.output_text.delta'
const NO_TOKENS: readonly JsonObject[] = []
