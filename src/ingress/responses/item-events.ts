import type { Annotation, Made, Part } from '../../canonical/content.ts'
import type { At, CanonicalEvent, PartPatch } from '../../canonical/event.ts'
import { bodyOf, withBody } from '../../canonical/fold.ts'
import type { JsonObject, Node } from '../../canonical/node.ts'
import type { TokenLogprob } from '../../canonical/result.ts'
import { CUT, readAnyItem, unknownItem } from './items.ts'
import { contentReader, readAnswerPart, readTokens } from './result.ts'
import { FORMAT } from './wire.ts'

/** The output of the items of one answer. */
export interface Sink {
  out: CanonicalEvent[]
  /** Parts begun so far. */
  parts: number
  /** Token logprobs put out so far. */
  tokens: number
  called: boolean
  refused: boolean
}

/** A part that grows, and how much of it was put out. */
export class OpenPart {
  readonly at: At
  grown = false
  annotations: number
  tokens = 0
  private readonly start: Part
  private readonly sink: Sink

  constructor(whole: Part, sink: Sink) {
    const { annotations = [], ...start } = withBody(whole, '') as Part & { annotations?: readonly never[] }
    this.at = { candidate: 0, part: sink.parts++ }
    this.annotations = annotations.length
    this.start = start
    this.sink = sink
    sink.called ||= whole.type === 'tool-call'
    sink.refused ||= whole.type === 'refusal'
    sink.out.push({ type: 'part-start', at: this.at, part: this.start })
    if (annotations.length > 0) this.patch({ annotations })
  }

  grow(append: string): void {
    if (append === '') return
    this.grown = true
    this.sink.out.push({ type: 'part-delta', at: this.at, append })
  }

  /** The whole text, which comes at the end: it adds nothing unless nothing came before it (trap 11). */
  fill(body: string): void {
    if (!this.grown) this.grow(body)
  }

  log(tokens: readonly TokenLogprob[]): void {
    if (tokens.length === 0) return
    this.tokens += tokens.length
    this.sink.tokens += tokens.length
    this.sink.out.push({ type: 'logprobs', candidate: 0, append: tokens })
  }

  patch(late: Omit<PartPatch, 'type' | 'at'>): void {
    this.sink.out.push({ type: 'part-patch', at: this.at, ...late })
  }

  /** The end, with whatever the finished part has beyond what was put out. */
  end(final: Part | undefined, tokens: readonly TokenLogprob[] = []): void {
    if (final !== undefined) {
      this.fill(bodyOf(final))
      this.log(tokens.slice(this.tokens))
      const late = this.late(final)
      if (late !== undefined) this.patch(late)
      this.annotations += late?.annotations?.length ?? 0
    }
    this.sink.out.push({ type: 'part-end', at: this.at })
  }

  /** More citations of a finished text. */
  cite(annotations: readonly Annotation[]): void {
    if (annotations.length === 0) return
    this.annotations += annotations.length
    this.patch({ annotations })
  }

  private late(final: Part): Omit<PartPatch, 'type' | 'at'> | undefined {
    const more = final.type === 'text' ? (final.annotations?.slice(this.annotations) ?? []) : []
    const late = {
      ...(more.length === 0 ? {} : { annotations: more }),
      ...(final.type === 'reasoning' && final.signature !== undefined ? { signature: final.signature } : {}),
      ...(final.type === 'opaque' || isHiddenLate(this.start, final) || isOtherMedia(this.start, final)
        ? { part: final }
        : {}),
      ...(final.extras === undefined ? {} : { extras: final.extras }),
      ...respelled(this.start, final),
    }
    for (const _ in late) return late
    return undefined
  }
}

const isHiddenLate = (start: Part, final: Part): boolean =>
  final.type === 'reasoning' && final.redacted === true && !(start.type === 'reasoning' && start.redacted === true)

/** Whether an image has another media type, or other settings, than it began with. */
const isOtherMedia = (start: Part, final: Part): boolean =>
  start.type === 'media' && final.type === 'media' && start.source.type === 'base64' && final.source.type === 'base64'
    ? start.source.mediaType !== final.source.mediaType || !sameSettings(start.made, final.made)
    : false

const sameSettings = (start: Made = {}, final: Made = {}): boolean =>
  [...Object.keys(start), ...Object.keys(final)].every(key => start[key as keyof Made] === final[key as keyof Made])

/** The final spelling, which has no item as it began: late marks are merged over the earlier ones. */
function respelled(start: Node, final: Node): Node {
  const after = final.spelling?.[FORMAT]
  const ended = start.spelling?.[FORMAT]?.['begun'] === undefined ? after : { ...after, begun: null }
  return ended === undefined ? {} : { spelling: { [FORMAT]: ended } }
}

/** One item of a streamed answer, from `output_item.added` to `output_item.done`. */
export interface ItemReader {
  /** Ends the item; `item` is its final form, where the upstream sends one. */
  done(item: JsonObject | undefined): void
}

/** A message: its parts begin one by one, and end together, when the message does. */
export class MessageReader implements ItemReader {
  private readonly head: JsonObject
  private readonly sink: Sink
  /** By index: those of a message that has ended may be cited late. */
  private readonly parts = new Map<number, OpenPart>()

  constructor(head: JsonObject, sink: Sink) {
    this.head = head
    this.sink = sink
  }

  /** The part at an index; one that was not announced begins here. */
  part(index: number, wire: JsonObject): OpenPart {
    const known = this.parts.get(index)
    if (known !== undefined) return known
    const part = new OpenPart(this.read(wire), this.sink)
    this.parts.set(index, part)
    return part
  }

  /** The first part is read with the message's own fields. */
  private read(wire: JsonObject): Part {
    if (this.parts.size > 0) return readAnswerPart(wire, [])
    const [part] = readAnyItem({ ...this.head, content: [wire] }, contentReader([]), 'begun')
    return part!
  }

  done(item: JsonObject | undefined): void {
    const finals = item === undefined ? [] : readAnyItem(item, contentReader([]))
    finals.forEach((final, index) => {
      const part = this.parts.getOrInsertComputed(index, () => new OpenPart(final, this.sink))
      const wire = final.spelling?.[FORMAT]?.['part'] as JsonObject | undefined
      part.end(final, readTokens(wire?.['logprobs']))
    })
    for (const [index, part] of this.parts) if (finals[index] === undefined) part.end(undefined)
  }

  /** A part of the message that has ended. */
  endedPart(index: number): OpenPart | undefined {
    return this.parts.get(index)
  }

  /** The message once more, as the whole answer has it: its texts may have more citations. */
  repeated(item: JsonObject): void {
    for (const [index, part] of readAnyItem(item, contentReader([])).entries()) {
      const ended = this.parts.get(index)
      if (part.type === 'text' && part.annotations !== undefined && ended !== undefined)
        ended.cite(part.annotations.slice(ended.annotations))
    }
  }
}

/** An item that is one part: a thought, a call, or an opaque part. */
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

/** A call the upstream makes for itself: an opaque part, whole at its end. */
export class OwnCallReader extends PartReader {
  protected override read(item: JsonObject): Part {
    return unknownItem(item)
  }
}

type Slot = 'summary' | 'content'

/**
 * A thought has a summary, full text or both; the one that comes first is its text, and the other comes with the end.
 */
export class ThoughtReader extends PartReader {
  private slot: Slot | undefined
  /** Repeated with each cut: one list that grows. */
  private readonly cuts: number[] = []
  private index = 0
  private length = 0

  /** A chunk begins: after another one, an empty line separates them. */
  begin(slot: Slot, index: number): void {
    if (this.slot === undefined) {
      this.slot = slot
      this.index = index
      if (slot === 'content') this.spell({ as: 'content' })
    }
    if (this.slot !== slot || index <= this.index) return
    this.index = index
    this.cuts.push(this.length)
    this.spell({ cuts: this.cuts })
    this.append(CUT)
  }

  grow(slot: Slot, index: number, append: string): void {
    this.begin(slot, index)
    if (this.slot === slot) this.append(append)
  }

  /** The whole text of a chunk: it adds nothing unless no delta of it came before. */
  fill(slot: Slot, index: number, text: string): void {
    this.begin(slot, index)
    if (this.slot === slot && this.length === (this.cuts.at(-1) ?? -CUT.length) + CUT.length) this.append(text)
  }

  private append(text: string): void {
    this.length += text.length
    this.part.grow(text)
  }

  private spell(marks: JsonObject): void {
    this.part.patch({ spelling: { [FORMAT]: marks } })
  }
}
