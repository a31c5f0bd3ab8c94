import type { Part } from '../../canonical/content.ts'
import type { PartPatch } from '../../canonical/event.ts'
import { patched, withBody } from '../../canonical/fold.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { ItemStatus } from '../../canonical/voice-session.ts'
import { defined, spellingFor } from '../fields.ts'
import { hasLogprobs, writeContent } from './answer.ts'
import { FORMAT, writeAnnotation } from './content.ts'
import { partWithDefaults } from './defaults.ts'
import { Item, type ItemContext, type PartWriter } from './item-events.ts'
import { originalItem, writeMessageItem } from './items.ts'

/** Source of log probabilities held for the next text part. */
export interface LogprobSource {
  take(): readonly JsonObject[]
}

/** Writes the start and the end of a message in a streamed answer. */
export class MessageWriter extends Item {
  readonly id: string
  private readonly first: Part
  private readonly parts: MessagePartWriter[] = []
  private openParts = 0
  private isClosing = false
  /** True if the event that ends the message has been written. */
  isSettled = false

  constructor(first: Part, context: ItemContext) {
    super(context)
    this.first = first
    this.id = this.idOf(this.original?.item, 'msg')
    context.ids.add(this.id, this.index)
    this.added()
  }

  /** The upstream's message, as far as its first part contains it. */
  private get original() {
    return originalItem(this.parts[0]?.whole ?? this.first)
  }

  add(part: Part, logprobSource: LogprobSource): MessagePartWriter {
    this.openParts++
    const writer = new MessagePartWriter(part, this, this.parts.length, logprobSource)
    this.parts.push(writer)
    return writer
  }

  /**
   * Counts a part as ended, and ends the message after its last part. The number of parts is only known for messages
   * from upstreams of this format.
   */
  partEnded(): void {
    this.openParts--
    const { original } = this
    if (this.isClosing || (original !== undefined && this.parts.length >= partsIn(original.item)))
      this.finish('completed')
  }

  /** Stops accepting parts. The message ends as soon as all its parts have ended. */
  close(status: ItemStatus = 'completed'): void {
    this.isClosing = true
    this.finish(status)
  }

  private finish(status: ItemStatus): void {
    if (this.isSettled || this.openParts > 0) return
    this.isSettled = true
    this.done(status)
  }

  /** True while the message accepts more parts. */
  get acceptsParts(): boolean {
    return !this.isSettled && !this.isClosing
  }

  /** Text parts of the message on which late log probabilities may be put. */
  get logged(): readonly MessagePartWriter[] {
    return this.parts.filter(writer => writer.logged)
  }

  protected state(): JsonObject {
    const { original } = this
    if (original?.whole && this.isSettled && !this.parts.some(({ hasLateCitations }) => hasLateCitations))
      return original.item
    const content = this.parts.map(writer => writer.written())
    return original === undefined ? writeMessageItem(content, this.stamp('msg')) : { ...original.item, content }
  }
}

/** Returns the number of parts in a message. A message without parts is represented by one placeholder part. */
const partsIn = ({ content }: JsonObject): number => (Array.isArray(content) ? Math.max(content.length, 1) : 1)

/** Returns true if the part is the placeholder of a message without parts. */
const isPlaceholder = (part: Part): boolean => {
  const original = originalItem(part)
  return original?.whole === true && Array.isArray(original.item['content']) && original.item['content'].length === 0
}

/** Writes a part of a message: a text part, a refusal, or a part that only this format defines. */
export class MessagePartWriter implements PartWriter {
  private readonly message: MessageWriter
  private readonly index: number
  private readonly logprobSource: LogprobSource
  private readonly isPlaceholder: boolean
  private readonly refusal: boolean
  private readonly prefix: string
  private readonly suffix: string
  private part: Part
  private body = ''
  private readonly tokens: JsonObject[] = []
  private annotationCount = 0
  private hasEnded = false
  /** True if citations arrived after the part had ended. */
  hasLateCitations = false

  constructor(part: Part, message: MessageWriter, index: number, logprobSource: LogprobSource) {
    this.part = part
    this.message = message
    this.index = index
    this.logprobSource = logprobSource
    this.refusal = part.type === 'refusal'
    this.isPlaceholder = isPlaceholder(part)
    const type = this.refusal ? 'response.refusal.delta' : TEXT_DELTA
    this.prefix = `${JSON.stringify({ type, ...this.position() }).slice(0, -1)},"delta":`
    this.suffix = this.refusal ? ',"sequence_number":' : ',"logprobs":[],"sequence_number":'
    if (!this.isPlaceholder) this.emit('response.content_part.added', { part: this.written() })
    if (part.type === 'opaque' && part.format !== FORMAT && part.text) this.delta(part.text)
  }

  get logged(): boolean {
    return hasLogprobs(this.part)
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
      const fields = { ...this.position(), annotation_index: this.annotationCount++, annotation }
      const { events } = this.message.context
      if (this.message.isSettled) events.hold(ANNOTATION, fields)
      else events.emit(ANNOTATION, fields)
      this.hasLateCitations ||= this.hasEnded
    }
  }

  end(): void {
    this.hasEnded = true
    if (this.logged) this.log(this.logprobSource.take())
    if (!this.isPlaceholder) {
      if (this.refusal) this.emit('response.refusal.done', { refusal: this.body })
      else if (this.logged) this.emit('response.output_text.done', { text: this.body, logprobs: this.tokens })
      this.emit('response.content_part.done', { part: this.written() })
    }
    this.message.partEnded()
  }

  written(): JsonObject {
    const written =
      this.originalPart() ?? writeContent(this.isForeign ? { type: 'text', text: this.body } : this.whole, this.tokens)
    return this.message.context.addsDefaults ? partWithDefaults(written) : written
  }

  /** Returns the upstream's part with the text received so far, or the original part after its end. */
  private originalPart(): JsonObject | undefined {
    const field = this.refusal ? 'refusal' : 'text'
    const original = spellingFor(this.part, FORMAT)['part'] as JsonObject | undefined
    if (original === undefined || (original[field] === this.body && !this.hasLateCitations)) return original
    const { annotations, logprobs } = writeContent(this.whole, this.tokens)
    return { ...original, [field]: this.body, ...(defined({ annotations, logprobs }) as JsonObject) }
  }

  private get isForeign(): boolean {
    return this.part.type === 'opaque' && this.part.format !== FORMAT
  }

  private emit(type: string, fields: JsonObject): void {
    this.message.context.events.emit(type, { ...this.position(), ...fields })
  }

  private position(): JsonObject {
    return { item_id: this.message.id, output_index: this.message.index, content_index: this.index }
  }
}

const TEXT_DELTA = 'response.output_text.delta'
const ANNOTATION = 'response.output_text.annotation.added'
const NO_TOKENS: readonly JsonObject[] = []
