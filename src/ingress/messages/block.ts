import type { Annotation, Part } from '../../canonical/content.ts'
import type { CanonicalEvent, PartPosition } from '../../canonical/event.ts'
import { parseCallObject } from '../../canonical/exact-numbers.ts'
import { bodyOf, openingEvents } from '../../canonical/fold.ts'
import { append } from '../../canonical/lists.ts'
import { rowOf } from '../../canonical/maps.ts'
import { isObject, type Json, type JsonObject, put, unchangedWire } from '../../canonical/node.ts'
import { readCitation, readSignature, UNSIGNED } from './content.ts'
import { leniently } from './result.ts'
import { FORMAT } from './wire.ts'

/** Field that each kind of delta appends to, and the type of part that has the field. */
const DELTA_FIELDS: { readonly [delta: string]: { readonly field: string; readonly kind: Part['type'] } } = {
  text_delta: { field: 'text', kind: 'text' },
  thinking_delta: { field: 'thinking', kind: 'reasoning' },
  input_json_delta: { field: 'partial_json', kind: 'tool-call' },
}

/** Returns the type of part that a delta belongs to, or undefined if the delta fits any type. */
export const kindOfDelta = (delta: JsonObject): Part['type'] | undefined =>
  DELTA_FIELDS[typeof delta['type'] === 'string' ? delta['type'] : '']?.kind

/**
 * Reads one content block of a stream. Searches and format-specific blocks are collected and emitted in one piece at
 * their end.
 */
export class BlockReader {
  readonly at: PartPosition
  readonly kind: Part['type']
  private readonly start: Part
  /** Arguments from the block's start. Emitted at its end, unless deltas have replaced them. */
  private initialArguments = ''
  private hasGrown = false
  private input = ''
  /** The block as received so far, if it is emitted in one piece. */
  private value: { [field: string]: Json } | undefined

  constructor(part: Part, index: number, out: CanonicalEvent[]) {
    this.at = { candidate: 0, part: index }
    this.kind = part.type
    this.start = part
    this.value = wholeBlock(part)
    const isCall = part.type === 'tool-call'
    if (isCall && part.arguments !== '{}') this.initialArguments = part.arguments
    append(out, openingEvents(isCall ? { ...part, arguments: '' } : part, this.at))
    this.hasGrown = !isCall && this.value === undefined && bodyOf(part) !== ''
  }

  /** True if the block accepts deltas of any kind. */
  get isCollected(): boolean {
    return this.value !== undefined
  }

  delta(delta: JsonObject, out: CanonicalEvent[]): void {
    const type = typeof delta['type'] === 'string' ? delta['type'] : ''
    const grows = rowOf(DELTA_FIELDS, type)
    if (this.value !== undefined) this.collect(type, delta)
    else if (grows !== undefined) this.grow(delta[grows.field], out)
    else if (type === 'signature_delta') this.sign(delta['signature'], out)
    else if (type === 'citations_delta' && isObject(delta['citation']))
      this.annotate([readCitation(delta['citation'])], out)
  }

  /** Ends the block. A block that is emitted in one piece gets its collected input. */
  end(out: CanonicalEvent[]): void {
    if (!this.hasGrown && this.initialArguments !== '') this.grow(this.initialArguments, out)
    if (this.value !== undefined && (this.hasGrown || this.input !== '')) {
      const input = this.input === '' ? undefined : (parseCallObject(this.input) ?? this.input)
      const value = input === undefined ? this.value : { ...this.value, input }
      const part = this.start.type === 'opaque' ? { ...this.start, value } : leniently(value)
      out.push({ type: 'part-patch', at: this.at, part })
    }
    out.push({ type: 'part-end', at: this.at })
  }

  private grow(append: Json | undefined, out: CanonicalEvent[]): void {
    if (typeof append !== 'string' || append === '') return
    this.hasGrown = true
    out.push({ type: 'part-delta', at: this.at, append })
  }

  private sign(value: Json | undefined, out: CanonicalEvent[]): void {
    if (typeof value !== 'string' || value === '' || this.kind !== 'reasoning') return
    const { signature, text } = readSignature(value)
    if (!this.hasGrown) this.grow(text, out)
    const patch = signature === undefined ? UNSIGNED : { signature }
    out.push({ type: 'part-patch', at: this.at, ...patch })
  }

  private annotate(annotations: readonly Annotation[], out: CanonicalEvent[]): void {
    if (this.kind === 'text') out.push({ type: 'part-patch', at: this.at, annotations })
  }

  /**
   * Collects the deltas of a block that is emitted in one piece. Arguments of hosted tools arrive as JSON text. Other
   * fields are appended to or replaced.
   */
  private collect(type: string, delta: JsonObject): void {
    if (type === 'input_json_delta') {
      if (typeof delta['partial_json'] === 'string') this.input += delta['partial_json']
      return
    }
    const collected = this.value!
    for (const [field, value] of Object.entries(delta)) {
      if (field === 'type' || value === null) continue
      this.hasGrown = true
      const before = Object.hasOwn(collected, field) ? collected[field] : undefined
      put(collected, field, typeof before === 'string' && typeof value === 'string' ? before + value : value)
    }
  }
}

/** Returns the wire value of a block that is emitted in one piece: a search or a format-specific block. */
function wholeBlock(part: Part): { [field: string]: Json } | undefined {
  if (part.type === 'opaque') return { ...part.value }
  return part.type === 'search-call' || part.type === 'search-result'
    ? { ...unchangedWire<JsonObject>(part, FORMAT) }
    : undefined
}
