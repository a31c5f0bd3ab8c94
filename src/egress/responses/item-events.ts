import type { MediaPart, Part, ToolCallPart } from '../../canonical/content.ts'
import type { PartPatch, Preview } from '../../canonical/event.ts'
import { patched, withBody } from '../../canonical/fold.ts'
import { type Json, type JsonObject, stringIn } from '../../canonical/node.ts'
import type { ItemStatus } from '../../canonical/voice-session.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { writeImageProperties } from '../media/image-settings.ts'
import { idAt, itemWithDefaults } from './defaults.ts'
import { writeImageCall } from './images.ts'
import { originalItem, type Stamp, stampAt, writeCall } from './items.ts'

/** Collects the events of one stream and numbers them from 0 (trap 69). */
export class EventSequence {
  private sequence = 0
  private out: WireEvent[] = []
  private heldWrites: (() => void)[] | undefined

  emit(type: string, fields: JsonObject): void {
    this.line(type, `${JSON.stringify({ type, ...fields }).slice(0, -1)},"sequence_number":`)
  }

  /**
   * Writes an event given as JSON text up to its sequence number. Avoids creating objects for deltas, which make up
   * most of a stream.
   */
  line(type: string, text: string): void {
    this.out.push({ event: type, data: `${text}${this.sequence++}}` })
  }

  /** Holds an event of a completed item until no item is open. */
  hold(type: string, fields: JsonObject): void {
    ;(this.heldWrites ??= []).push(() => this.emit(type, fields))
  }

  /** Writes the held events. */
  release(): void {
    for (const write of this.heldWrites ?? []) write()
    this.heldWrites = undefined
  }

  /** Returns the events since the last call. */
  take(): readonly WireEvent[] {
    const { out } = this
    this.out = []
    return out
  }
}

/** Writes a part of an answer. */
export interface PartWriter {
  delta(append: string): void
  patch(late: PartPatch): void
  end(): void
}

/** Writer for parts for which the format has no item. */
export const NO_OUTPUT: PartWriter = { delta() {}, patch() {}, end() {} }

/** An item of the output, in its current state. */
export interface ItemWriter {
  written(): JsonObject
  /** Marks the item as cut off by the end of the answer. If still open, it remains incomplete. */
  cutShort(): void
}

/** State shared by the items of one stream. */
export interface ItemContext {
  readonly events: EventSequence
  /** Base for generated ids. */
  readonly base: string
  /** The items so far. The length of this list is the index of the next item. */
  readonly items: ItemWriter[]
  /** True if the answer comes from an upstream of this format. */
  readonly isNative: boolean
  /** True if fields that the upstream omitted are added. */
  readonly addsDefaults: boolean
  readonly ids: ItemIds
}

/**
 * Index of items by id. If two items share an id, the later one is found. An item's id may change during streaming,
 * after which both ids find the item.
 */
export class ItemIds {
  private readonly indexes = new Map<Json | undefined, number>()
  private readonly ids = new Map<number, string>()

  add(id: Json | undefined, index: number): void {
    if (typeof id !== 'string') return
    this.ids.set(index, id)
    if ((this.indexes.get(id) ?? -1) < index) this.indexes.set(id, index)
  }

  indexOf(id: Json | undefined): number | undefined {
    return this.indexes.get(id)
  }

  /** Returns the latest id of the item at an index. */
  idAt(index: number): string | undefined {
    return this.ids.get(index)
  }
}

/** Status of unfinished items, by type, if it is not `incomplete`. */
const UNFINISHED: { readonly [type: string]: string } = {
  image_generation_call: 'failed',
  web_search_call: 'failed',
}

/** An item of a streamed answer, with its index, ids and status. */
export abstract class Item implements ItemWriter {
  readonly context: ItemContext
  readonly index: number
  protected status: ItemStatus = 'in_progress'
  private isBroken = false

  constructor(context: ItemContext) {
    this.context = context
    this.index = context.items.length
    context.items.push(this)
  }

  cutShort(): void {
    this.isBroken = true
  }

  /** Writes the event that starts the item. */
  protected added(): void {
    this.context.events.emit('response.output_item.added', { output_index: this.index, item: this.written() })
  }

  /** Writes the event that ends the item. */
  protected done(status: ItemStatus): void {
    this.status = status
    this.context.events.emit('response.output_item.done', { output_index: this.index, item: this.written() })
  }

  /** Returns the item's id for its events: the upstream's, or a generated id. */
  protected idOf(original: JsonObject | undefined, prefix: string): string {
    return typeof original?.['id'] === 'string' ? original['id'] : idAt(prefix, this.context.base, this.index)
  }

  protected stamp(prefix: string): Stamp {
    return stampAt(prefix, this.context.base, this.index, this.status)
  }

  /**
   * Returns the item in its current state. An item that was cut off is incomplete, whatever its start declared (trap
   * 88).
   */
  written(): JsonObject {
    const item = this.state()
    if (!this.isCut) return this.shown(item)
    return this.shown({ ...item, status: UNFINISHED[stringIn(item['type'])] ?? 'incomplete' })
  }

  /** Adds fields that the upstream omitted, if `addsDefaults` is set. */
  protected shown(item: JsonObject): JsonObject {
    const { base, addsDefaults } = this.context
    const status = this.isCut ? 'incomplete' : this.status
    return addsDefaults ? itemWithDefaults(item, { base, index: this.index, status }) : item
  }

  private get isCut(): boolean {
    return this.isBroken && this.status === 'in_progress'
  }

  /** Returns the item with the content received so far. */
  protected abstract state(): JsonObject
}

/** An item with a single part. */
export abstract class SingleWriter extends Item implements PartWriter {
  protected part: Part
  protected body = ''

  constructor(part: Part, context: ItemContext) {
    super(context)
    this.part = part
    context.ids.add(originalItem(part)?.item['id'], this.index)
  }

  patch(late: PartPatch): void {
    this.part = patched(this.part, late, true)
    this.context.ids.add(originalItem(this.part)?.item['id'], this.index)
  }

  end(): void {
    this.done('completed')
  }

  /** Returns the upstream's item with the field's value so far, or the original item after its end. */
  protected grown(field: string, value: Json): JsonObject | undefined {
    const original = originalItem(this.part)
    if (original === undefined || (original.whole && this.status === 'completed')) return original?.item
    return { ...original.item, [field]: value }
  }

  abstract delta(append: string): void
}

/** Writes a part of a type that only this format defines. */
export class OpaqueWriter extends SingleWriter {
  constructor(part: Part, context: ItemContext) {
    super(part, context)
    this.added()
  }

  delta(): void {}

  /** Returns the item with the upstream's status. */
  override written(): JsonObject {
    return this.shown(this.state())
  }

  protected state(): JsonObject {
    return this.part.type === 'opaque' ? this.part.value : {}
  }
}

/** Writes a complete image when it ends. */
export class ImageWriter extends SingleWriter {
  private readonly data: string[] = []

  constructor(part: MediaPart, context: ItemContext) {
    super(part, context)
    this.added()
  }

  delta(append: string): void {
    this.data.push(append)
  }

  /** Writes a preview of the image. */
  preview({ index, source, made }: Preview): void {
    if (source.type !== 'base64') return
    this.context.events.emit('response.image_generation_call.partial_image', {
      item_id: this.written()['id']!,
      output_index: this.index,
      partial_image_index: index,
      partial_image_b64: source.data,
      output_format: source.mediaType.replace(/^image\//, ''),
      ...writeImageProperties(made),
    })
  }

  /** Sets the part when the image starts, after its previews. */
  replacePart(part: MediaPart): this {
    this.part = part
    return this
  }

  override end(): void {
    this.body = this.data.join('')
    const item_id = this.written()['id']!
    // An upstream of this format has already sent this event itself.
    if (this.part.type === 'media' && originalItem(this.part) === undefined)
      this.context.events.emit('response.image_generation_call.completed', { item_id, output_index: this.index })
    super.end()
  }

  /** Returns the image generation call, or the item that replaced it if it produced no image. */
  protected state(): JsonObject {
    if (this.part.type === 'opaque') return this.part.value
    const result = this.status === 'in_progress' ? null : this.body
    const original = this.grown('result', result)
    return original ?? { ...writeImageCall(withBody(this.part, this.body) as MediaPart, this.stamp('ig')), result }
  }
}

const NO_NAME: JsonObject = {}

/** Writes a call. Empty arguments become `{}` at the end, exactly once (trap 8). */
export class CallWriter extends SingleWriter {
  private readonly id: string
  private readonly field: string
  private readonly event: string
  private readonly prefix: string
  private readonly kind: string

  constructor(part: ToolCallPart, context: ItemContext) {
    super(part, context)
    const { freeform } = part
    this.kind = freeform ? 'ctc' : 'fc'
    this.id = this.idOf(originalItem(part)?.item, this.kind)
    this.field = freeform ? 'input' : 'arguments'
    this.event = freeform ? 'response.custom_tool_call_input' : 'response.function_call_arguments'
    const type = `${this.event}.delta`
    this.prefix = `${JSON.stringify({ type, item_id: this.id, output_index: this.index }).slice(0, -1)},"delta":`
    this.added()
  }

  delta(append: string): void {
    this.body += append
    this.context.events.line(`${this.event}.delta`, `${this.prefix}${JSON.stringify(append)},"sequence_number":`)
  }

  override end(): void {
    this.status = 'completed'
    const written = this.written()[this.field] as string | JsonObject | undefined
    const completeText = typeof written === 'string' ? written : this.body
    if (this.body === '' && completeText !== '') this.delta(completeText)
    const position = { item_id: this.id, output_index: this.index }
    this.context.events.emit(`${this.event}.done`, { ...position, ...this.nameField(), [this.field]: completeText })
    super.end()
  }

  /**
   * Returns the function's name for the `done` event of its arguments, unless an upstream of this format omitted the
   * name (docs/wire/responses.md#stream).
   */
  private nameField(): JsonObject {
    const { part, context } = this
    const isBare = part.type !== 'tool-call' || part.freeform || (context.isNative && !context.addsDefaults)
    return isBare ? NO_NAME : { name: part.name }
  }

  /** Returns the call, with the arguments received so far. */
  protected state(): JsonObject {
    const original = this.grown(this.field, this.body)
    if (original !== undefined) return original
    const call = writeCall(withBody(this.part, this.body) as ToolCallPart, this.stamp(this.kind))
    return this.status === 'in_progress' ? { ...call, [this.field]: this.body } : call
  }
}
