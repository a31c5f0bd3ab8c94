import type { MediaPart, Part, ToolCallPart } from '../../canonical/content.ts'
import type { PartPatch, Preview } from '../../canonical/event.ts'
import { patched, withBody } from '../../canonical/fold.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import { spelt } from '../fields.ts'
import { writeMade } from '../media/image-settings.ts'
import { completedItem, idAt } from './complete.ts'
import { FORMAT } from './content.ts'
import type { EventSequence } from './event-sequence.ts'
import { isOwnItem, ownOrGenerated, type Stamp, writeCall, writePicture } from './items.ts'

/** Writes a part of an answer. */
export interface PartWriter {
  delta(append: string): void
  patch(late: PartPatch): void
  end(): void
}

/** For parts that have no place in the format. */
export const NOWHERE: PartWriter = { delta() {}, patch() {}, end() {} }

/** An item of the output in its current state. */
export interface ItemWriter {
  written(): JsonObject
  /** The answer was cut off: open items stay incomplete. */
  cutShort(): void
}

/** State that the items of one stream share. */
export interface ItemContext {
  readonly events: EventSequence
  /** The base of generated ids. */
  readonly base: string
  /** The items so far; their number is the index of the next one. */
  readonly items: ItemWriter[]
  /** The answer comes from an upstream of this same format. */
  readonly own: boolean
  /** Whether fields that the upstream left out are added. */
  readonly completes: boolean
  readonly ids: ItemIds
}

/**
 * Indexes of items by id: of two with the same id the later. An item's id may change while it streams, and it is found
 * by both.
 */
export class ItemIds {
  private readonly places = new Map<Json | undefined, number>()
  private readonly ids = new Map<number, string>()

  add(id: Json | undefined, place: number): void {
    if (typeof id !== 'string') return
    this.ids.set(place, id)
    if ((this.places.get(id) ?? -1) < place) this.places.set(id, place)
  }

  placeOf(id: Json | undefined): number | undefined {
    return this.places.get(id)
  }

  /** The latest id of the item at that index. */
  idAt(place: number): string | undefined {
    return this.ids.get(place)
  }
}

/** The id of the item at an index, for its events: its own, or a generated one. */
export function itemId(own: JsonObject, prefix: string, base: string, index: number): string {
  const { id } = own
  if (typeof id === 'string') return id
  return isOwnItem(own) ? idAt(prefix, { base, index }) : String(ownOrGenerated(base, index, '')({}, prefix)['id'])
}

/** The status of an item. */
export type Progress = 'in_progress' | 'completed' | 'incomplete'

/**
 * Stamps with own ids and states; an item in which the answer was cut off is incomplete, whatever its start declared
 * (trap 88).
 */
export const stampAt =
  (base: string, index: number, status: Progress, broken: boolean): Stamp =>
  (own, prefix) => {
    const stamp = ownOrGenerated(base, index, status)(own, prefix)
    return broken && status === 'in_progress' ? { ...stamp, status: UNFINISHED[prefix] ?? 'incomplete' } : stamp
  }

/** The item with the fields that an upstream left out, where these are added. */
export const shownAt = (
  item: JsonObject,
  { base, completes }: ItemContext,
  index: number,
  status: Progress,
  broken: boolean,
) =>
  completes
    ? completedItem(item, { base, index, status: broken && status === 'in_progress' ? 'incomplete' : status })
    : item

/** Where an unfinished item has another status than `incomplete`. */
const UNFINISHED: { readonly [prefix: string]: string } = { ig: 'failed' }

/** An item of a single part. */
export abstract class SingleWriter implements PartWriter, ItemWriter {
  protected readonly context: ItemContext
  protected readonly index: number
  protected part: Part
  protected body = ''
  protected status: Progress = 'in_progress'
  private broken = false

  constructor(part: Part, context: ItemContext) {
    this.part = part
    this.context = context
    this.index = context.items.length
    context.items.push(this)
    context.ids.add(this.ownId(), this.index)
  }

  /** The id the part was read with. */
  private ownId(): Json | undefined {
    return this.part.type === 'opaque' ? this.part.value['id'] : spelt(this.part, FORMAT)['id']
  }

  patch(late: PartPatch): void {
    this.part = patched(this.part, late, true)
    this.context.ids.add(this.ownId(), this.index)
  }

  end(): void {
    this.status = 'completed'
    this.context.events.emit('response.output_item.done', { output_index: this.index, item: this.written() })
  }

  cutShort(): void {
    this.broken = true
  }

  protected stamp(): Stamp {
    return stampAt(this.context.base, this.index, this.status, this.broken)
  }

  protected shown(item: JsonObject): JsonObject {
    return shownAt(item, this.context, this.index, this.status, this.broken)
  }

  abstract delta(append: string): void
  abstract written(): JsonObject
}

/** A part of a type that only this format defines. */
export class OpaqueWriter extends SingleWriter {
  constructor(part: Part, context: ItemContext) {
    super(part, context)
    context.events.emit('response.output_item.added', { output_index: this.index, item: this.written() })
  }

  delta(): void {}

  written(): JsonObject {
    return this.shown(this.part.type === 'opaque' ? this.part.value : {})
  }
}

/** An image is written whole, at its end. */
export class PictureWriter extends SingleWriter {
  private readonly data: string[] = []

  constructor(part: MediaPart, context: ItemContext) {
    super(part, context)
    context.events.emit('response.output_item.added', { output_index: this.index, item: this.written() })
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
      ...writeMade(made),
    })
  }

  /** Sets the part when the previewed image begins. */
  replacePart(part: MediaPart): this {
    this.part = part
    return this
  }

  override end(): void {
    this.body = this.data.join('')
    const item_id = this.written()['id']!
    // An upstream of this format has sent this event itself.
    if (this.part.type === 'media' && !isOwnItem(spelt(this.part, FORMAT)))
      this.context.events.emit('response.image_generation_call.completed', { item_id, output_index: this.index })
    super.end()
  }

  /** A call that made no image is written as what it turned out to be. */
  written(): JsonObject {
    if (this.part.type === 'opaque') return this.shown(this.part.value)
    const item = this.shown(writePicture(withBody(this.part, this.body) as MediaPart, this.stamp()))
    return this.status === 'in_progress' ? { ...item, result: null } : item
  }
}

const NAMELESS: JsonObject = {}

/** A call; empty arguments become `{}` at the end, exactly once (trap 8). */
export class CallWriter extends SingleWriter {
  private readonly id: string
  private readonly field: string
  private readonly event: string
  private readonly prefix: string

  constructor(part: ToolCallPart, context: ItemContext) {
    super(part, context)
    const { freeform } = part
    this.id = itemId(spelt(part, FORMAT), freeform ? 'ctc' : 'fc', context.base, this.index)
    this.field = freeform ? 'input' : 'arguments'
    this.event = freeform ? 'response.custom_tool_call_input' : 'response.function_call_arguments'
    const type = `${this.event}.delta`
    this.prefix = `${JSON.stringify({ type, item_id: this.id, output_index: this.index }).slice(0, -1)},"delta":`
    context.events.emit('response.output_item.added', { output_index: this.index, item: this.written() })
  }

  delta(append: string): void {
    this.body += append
    this.context.events.line(`${this.event}.delta`, `${this.prefix}${JSON.stringify(append)},"sequence_number":`)
  }

  override end(): void {
    this.status = 'completed'
    const written = this.written()[this.field] as string | JsonObject | undefined
    const whole = typeof written === 'string' ? written : this.body
    if (this.body === '' && whole !== '') this.delta(whole)
    const place = { item_id: this.id, output_index: this.index }
    this.context.events.emit(`${this.event}.done`, { ...place, ...this.named(), [this.field]: whole })
    super.end()
  }

  /**
   * The `done` event of a function's arguments has its name, unless the upstream of this format left it out (FORMATS
   * §18).
   */
  private named(): JsonObject {
    const { part, context } = this
    const isBare = part.type !== 'tool-call' || part.freeform || (context.own && !context.completes)
    return isBare ? NAMELESS : { name: part.name }
  }

  /** Before the end its arguments are written as received. */
  written(): JsonObject {
    const item = this.shown(writeCall(withBody(this.part, this.body) as ToolCallPart, this.stamp()))
    return this.status === 'in_progress' ? { ...item, [this.field]: this.body } : item
  }
}
