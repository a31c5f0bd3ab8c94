import type { AnswerIds } from '../../canonical/call-ids.ts'
import type { Annotation, ImageProperties, Part } from '../../canonical/content.ts'
import type { CanonicalEvent, PartPatch, PartPosition } from '../../canonical/event.ts'
import { bodyOf, withBody } from '../../canonical/fold.ts'
import { getOrAdd } from '../../canonical/maps.ts'
import type { Json, JsonObject, Node } from '../../canonical/node.ts'
import type { TokenLogprob } from '../../canonical/result.ts'
import { opaqueItem, readAnyItem, SEPARATOR } from './items.ts'
import { contentReader, readAnswerPart, readTokens } from './result.ts'
import { FORMAT } from './wire.ts'

/** Output of all items of one answer. */
export interface Sink {
  out: CanonicalEvent[]
  /** Number of parts started so far. */
  parts: number
  /** Number of token log probabilities emitted so far. */
  tokens: number
  called: boolean
  refused: boolean
  /** Ids for calls, or undefined if the upstream's ids stay. */
  readonly callIds: AnswerIds | undefined
}

/** An open part, with the amount of it that was emitted. */
export class OpenPart {
  readonly at: PartPosition
  /** Length of the text so far, in UTF-16 units. */
  length = 0
  /** True once an event has stated the whole text. */
  isWhole = false
  annotations: number
  tokens = 0
  private readonly start: Part
  private readonly sink: Sink

  constructor(part: Part, sink: Sink) {
    const { annotations = [], ...start } = withBody(part, '') as Part & { annotations?: readonly never[] }
    this.at = { candidate: 0, part: sink.parts++ }
    this.annotations = annotations.length
    this.start = start
    this.sink = sink
    sink.called ||= part.type === 'tool-call'
    sink.refused ||= part.type === 'refusal'
    sink.out.push({ type: 'part-start', at: this.at, part: this.start })
    if (annotations.length > 0) this.patch({ annotations })
  }

  grow(append: string): void {
    if (append === '') return
    this.length += append.length
    this.sink.out.push({ type: 'part-delta', at: this.at, append })
  }

  /** Adds the whole text, which arrives at the end, unless parts of it arrived earlier (trap 11). */
  fill(body: string): void {
    if (this.length === 0) this.grow(body)
    this.isWhole = true
  }

  log(tokens: readonly TokenLogprob[]): void {
    if (tokens.length === 0) return
    this.tokens += tokens.length
    this.sink.tokens += tokens.length
    this.sink.out.push({ type: 'logprobs', candidate: 0, append: tokens })
  }

  patch(lateFields: Omit<PartPatch, 'type' | 'at'>): void {
    this.sink.out.push({ type: 'part-patch', at: this.at, ...lateFields })
  }

  /**
   * Emits the rest of the final part, then ends the part. A final part of another type becomes a separate part, unless
   * it is opaque, because it then repeats in a form that could not be read what the stream has already stated.
   */
  end(final: Part | undefined, tokens: readonly TokenLogprob[] = []): void {
    const isOther = final !== undefined && !this.canBecome(final)
    if (final !== undefined && !isOther) {
      this.fill(bodyOf(final))
      this.log(tokens.slice(this.tokens))
      const lateFields = this.lateFieldsOf(final)
      if (lateFields !== undefined) this.patch(lateFields)
      this.annotations += lateFields?.annotations?.length ?? 0
    }
    this.sink.out.push({ type: 'part-end', at: this.at })
    if (isOther && final.type !== 'opaque') new OpenPart(final, this.sink).end(final, tokens)
  }

  /** Returns true for a part of the same type, for one of those that are replaced, and for an image that failed. */
  private canBecome({ type }: Part): boolean {
    const start = this.start.type
    return (
      type === start ||
      (UNSTREAMED_TYPES.has(type) && UNSTREAMED_TYPES.has(start)) ||
      (start === 'media' && type === 'opaque')
    )
  }

  /** Adds citations to a finished text part. */
  cite(annotations: readonly Annotation[]): void {
    if (annotations.length === 0) return
    this.annotations += annotations.length
    this.patch({ annotations })
  }

  private lateFieldsOf(final: Part): Omit<PartPatch, 'type' | 'at'> | undefined {
    const newAnnotations = final.type === 'text' ? (final.annotations?.slice(this.annotations) ?? []) : []
    const lateFields = {
      ...(newAnnotations.length === 0 ? {} : { annotations: newAnnotations }),
      ...(final.type === 'reasoning' && final.signature !== undefined ? { signature: final.signature } : {}),
      ...(UNSTREAMED_TYPES.has(final.type) || becomesRedacted(this.start, final) || mediaChanged(this.start, final)
        ? { part: final }
        : {}),
      ...(final.extras === undefined ? {} : { extras: final.extras }),
      ...spellingChange(this.start, final),
    }
    for (const _ in lateFields) return lateFields
    return undefined
  }
}

/** Types of parts that are replaced at the end of their item. */
const UNSTREAMED_TYPES: ReadonlySet<Part['type']> = new Set(['opaque', 'search-call', 'search-result'])

const becomesRedacted = (start: Part, final: Part): boolean =>
  final.type === 'reasoning' && final.redacted === true && !(start.type === 'reasoning' && start.redacted === true)

/** Returns true if the final image differs from its start in media type or settings. */
const mediaChanged = (start: Part, final: Part): boolean =>
  start.type === 'media' && final.type === 'media' && start.source.type === 'base64' && final.source.type === 'base64'
    ? start.source.mediaType !== final.source.mediaType || !sameSettings(start.made, final.made)
    : false

const sameSettings = (start: ImageProperties = {}, final: ImageProperties = {}): boolean =>
  [...Object.keys(start), ...Object.keys(final)].every(
    key => start[key as keyof ImageProperties] === final[key as keyof ImageProperties],
  )

/** Returns the final spelling, without the item's initial state. Later marks override earlier ones. */
function spellingChange(start: Node, final: Node): Node {
  const after = final.spelling?.[FORMAT]
  const ended = start.spelling?.[FORMAT]?.['begun'] === undefined ? after : { ...after, begun: null }
  return ended === undefined ? {} : { spelling: { [FORMAT]: ended } }
}

/** Reads one item of a streamed answer, from `output_item.added` to `output_item.done`. */
export interface ItemReader {
  /** Ends the item. `item` is its final form, if the upstream sends one. */
  done(item: JsonObject | undefined): void
}

/** Reads a message. Its parts start one by one and end together. */
export class MessageReader implements ItemReader {
  private readonly head: JsonObject
  private readonly sink: Sink
  /** Parts by index. They remain after the message has ended, because they may still be cited. */
  private readonly parts = new Map<number, OpenPart>()
  /** The part that started last, and its wire type. */
  private latest: { readonly part: OpenPart; readonly type: Json | undefined } | undefined

  constructor(head: JsonObject, sink: Sink) {
    this.head = head
    this.sink = sink
  }

  /** Returns the part at an index, which is started if it is new. */
  part(index: number, wire: JsonObject): OpenPart {
    const known = this.parts.get(index)
    if (known !== undefined) return known
    const part = new OpenPart(this.read(wire), this.sink)
    this.parts.set(index, part)
    this.latest = { part, type: wire['type'] }
    return part
  }

  /**
   * Returns the part that an event continues, which is started if it was not announced. vLLM gives each event of a part
   * another index (docs/wire/responses.md#stream). Such an event continues the latest part of its type until that part
   * is whole, or repeats that part's text.
   *
   * @param whole the whole text of the part, if the event states it.
   */
  continued(index: number, empty: JsonObject, whole?: string): OpenPart {
    const known = this.parts.get(index)
    if (known !== undefined) return known
    const { part, type } = this.latest ?? {}
    const isLatest = whole === undefined ? part?.isWhole === false : part?.length === whole.length
    return isLatest && type === empty['type'] ? part! : this.part(index, empty)
  }

  /** Reads a part. The first part is read together with the message's own fields. */
  private read(wire: JsonObject): Part {
    if (this.parts.size > 0) return readAnswerPart(wire, [])
    const [part] = readAnyItem({ ...this.head, content: [wire] }, contentReader([]), 'begun')
    return part!
  }

  done(item: JsonObject | undefined): void {
    const finals = item === undefined ? [] : readAnyItem(item, contentReader([]))
    const indexes = this.indexesOf(finals)
    finals.forEach((final, at) => {
      const part = getOrAdd(this.parts, indexes[at]!, () => new OpenPart(final, this.sink))
      const wire = final.spelling?.[FORMAT]?.['part'] as JsonObject | undefined
      part.end(final, readTokens(wire?.['logprobs']))
    })
    const ended = new Set(indexes)
    for (const [index, part] of this.parts) if (!ended.has(index)) part.end(undefined)
  }

  /**
   * Returns the index of each part of the final message. vLLM counts on over all items, so that a part may have a
   * higher index than the final message has parts. The order of the parts then decides.
   */
  private indexesOf(finals: readonly Part[]): readonly number[] {
    const known = [...this.parts.keys()].sort((a, b) => a - b)
    if (known.every(index => index < finals.length)) return [...finals.keys()]
    return finals.map((_, at) => known[at] ?? known.at(-1)! + at + 1)
  }

  /** Returns a part of the message after its end. */
  endedPart(index: number): OpenPart | undefined {
    return this.parts.get(index)
  }

  /** Adds citations that appear only in the whole answer. */
  repeatDone(item: JsonObject): void {
    const finals = readAnyItem(item, contentReader([]))
    const indexes = this.indexesOf(finals)
    for (const [at, part] of finals.entries()) {
      const ended = this.parts.get(indexes[at]!)
      if (part.type === 'text' && part.annotations !== undefined && ended !== undefined)
        ended.cite(part.annotations.slice(ended.annotations))
    }
  }
}

/** Reads an item that is one part: reasoning, a call, or an opaque part. */
export class PartReader implements ItemReader {
  readonly part: OpenPart

  constructor(start: Part, sink: Sink) {
    this.part = new OpenPart(start, sink)
  }

  done(item: JsonObject | undefined): void {
    this.part.end(item === undefined ? undefined : this.read(item))
  }

  protected read(item: JsonObject): Part {
    return readAnyItem(item, contentReader([]))[0]!
  }
}

/** Reads a search. Its results become a separate part when they arrive. */
export class SearchReader extends PartReader {
  private readonly sink: Sink
  /** Results that the item had at its start. */
  private readonly rest: readonly Part[]

  constructor([start, ...rest]: readonly Part[], sink: Sink) {
    super(start!, sink)
    this.sink = sink
    this.rest = rest
  }

  override done(item: JsonObject | undefined): void {
    const parts = item === undefined ? undefined : readAnyItem(item, contentReader([]))
    this.part.end(parts?.[0])
    for (const part of parts?.slice(1) ?? this.rest) new OpenPart(part, this.sink).end(undefined)
  }
}

/** Reads a call that the upstream made for itself as an opaque part, which is complete at its end. */
export class UpstreamCallReader extends PartReader {
  protected override read(item: JsonObject): Part {
    return opaqueItem(item)
  }
}

type ReasoningKind = 'summary' | 'content'

/**
 * Reads reasoning with a summary, full text or both. Whichever arrives first becomes the part's text; the other is
 * added at the end.
 */
export class ReasoningReader extends PartReader {
  private kind: ReasoningKind | undefined
  /** Offsets of the boundaries between chunks in the text. The list is emitted again whenever it grows. */
  private readonly cuts: number[] = []
  private index = 0
  private length = 0
  /** True once an event has stated the whole text of the current chunk. */
  private isChunkWhole = false

  /** Starts a chunk, separated from the previous one by an empty line. */
  startChunk(kind: ReasoningKind, index: number): void {
    if (this.kind === undefined) {
      this.kind = kind
      this.index = index
      if (kind === 'content') this.spell({ as: 'content' })
    }
    if (this.kind !== kind || index <= this.index) return
    this.index = index
    this.isChunkWhole = false
    this.cuts.push(this.length)
    this.spell({ cuts: this.cuts })
    this.append(SEPARATOR)
  }

  grow(kind: ReasoningKind, index: number, append: string): void {
    if (!this.continues(kind)) this.startChunk(kind, index)
    if (this.kind === kind) this.append(append)
  }

  /** Adds the whole text of a chunk, unless its deltas have already arrived. */
  fill(kind: ReasoningKind, index: number, text: string): void {
    if (!this.continues(kind) || text.length !== this.chunkLength) this.startChunk(kind, index)
    if (this.kind !== kind) return
    if (this.chunkLength === 0) this.append(text)
    this.isChunkWhole = true
  }

  /** True if full text continues the current chunk, whatever its index, because vLLM gives each delta another index. */
  private continues(kind: ReasoningKind): boolean {
    return kind === 'content' && this.kind === kind && !this.isChunkWhole
  }

  /** Length of the current chunk so far, in UTF-16 units. */
  private get chunkLength(): number {
    return this.length - (this.cuts.at(-1) ?? -SEPARATOR.length) - SEPARATOR.length
  }

  private append(text: string): void {
    this.length += text.length
    this.part.grow(text)
  }

  private spell(marks: JsonObject): void {
    this.part.patch({ spelling: { [FORMAT]: marks } })
  }
}
