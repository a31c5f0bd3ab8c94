import type { Made, Part } from '../../canonical/content.ts'
import type { At, CanonicalEvent, PartPatch } from '../../canonical/event.ts'
import { bodyOf, withBody } from '../../canonical/fold.ts'
import type { JsonObject, Node } from '../../canonical/node.ts'
import type { TokenLogprob } from '../../canonical/result.ts'
import { contentReader, readAnswerPart, readTokens } from './answer.ts'
import { CUT, readAnyItem, unknownItem } from './items.ts'

const FORMAT = 'responses'

/** Where the items of one answer put what they have to say. */
export interface Sink {
  out: CanonicalEvent[]
  /** Parts begun so far. */
  parts: number
  /** Likely tokens told so far. */
  tokens: number
  called: boolean
  refused: boolean
}

/** A part that grows, and what of it was told. */
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

  /** The whole text, told at its end: it adds nothing unless nothing came before it (trap 11). */
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

  /** The end, with whatever the finished part says beyond what was told. */
  end(final: Part | undefined, tokens: readonly TokenLogprob[] = []): void {
    if (final !== undefined) {
      this.fill(bodyOf(final))
      this.log(tokens.slice(this.tokens))
      const late = this.late(final)
      if (late !== undefined) this.patch(late)
    }
    this.sink.out.push({ type: 'part-end', at: this.at })
  }

  private late(final: Part): Omit<PartPatch, 'type' | 'at'> | undefined {
    const more = final.type === 'text' ? (final.annotations?.slice(this.annotations) ?? []) : []
    const late = {
      ...(more.length === 0 ? {} : { annotations: more }),
      ...(final.type === 'reasoning' && final.signature !== undefined ? { signature: final.signature } : {}),
      ...(final.type === 'opaque' || isHiddenLate(this.start, final) || isOtherwise(this.start, final)
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

/** A picture of another kind, or of other looks, than it began as. */
const isOtherwise = (start: Part, final: Part): boolean =>
  start.type === 'media' && final.type === 'media' && start.source.type === 'base64' && final.source.type === 'base64'
    ? start.source.mediaType !== final.source.mediaType || !sameLooks(start.made, final.made)
    : false

const sameLooks = (start: Made = {}, final: Made = {}): boolean =>
  [...Object.keys(start), ...Object.keys(final)].every(word => start[word as keyof Made] === final[word as keyof Made])

/** The final spelling; marks that no longer hold become null, since late facts only lie over the earlier ones. */
function respelled(start: Node, final: Node): Node {
  const before = start.spelling?.[FORMAT]
  const after = final.spelling?.[FORMAT]
  if (before === undefined) return after === undefined ? {} : { spelling: { [FORMAT]: after } }
  const gone = Object.keys(before).map(key => [key, key === 'nulls' ? [] : null] as const)
  return { spelling: { [FORMAT]: { ...(Object.fromEntries(gone) as JsonObject), ...after } } }
}

/** One item of a streamed answer, from `output_item.added` to `output_item.done`. */
export abstract class ItemReader {
  protected readonly sink: Sink
  constructor(sink: Sink) {
    this.sink = sink
  }

  /** Ends the item; `item` is what it came to, where the upstream says it. */
  abstract done(item: JsonObject | undefined): void
}

/** A message: its parts begin one by one, and end together, when the message does. */
export class SpokenReader extends ItemReader {
  private readonly head: JsonObject
  private readonly open = new Map<number, OpenPart>()

  constructor(head: JsonObject, sink: Sink) {
    super(sink)
    this.head = head
  }

  /** The part at an index; one whose beginning never came begins here. */
  part(index: number, wire: JsonObject): OpenPart {
    const known = this.open.get(index)
    if (known !== undefined) return known
    const part = new OpenPart(this.read(wire), this.sink)
    this.open.set(index, part)
    return part
  }

  /** The first part speaks for the message too. */
  private read(wire: JsonObject): Part {
    if (this.open.size > 0) return readAnswerPart(wire, 'output_text', [])
    const [part] = readAnyItem({ ...this.head, content: [wire] }, contentReader([]))
    return part!
  }

  done(item: JsonObject | undefined): void {
    const tokens: TokenLogprob[] = []
    const counts: number[] = []
    const parts = item === undefined ? [] : readAnyItem(item, countedReader(tokens, counts))
    let told = 0
    parts.forEach((final, index) => {
      const own = tokens.slice(told, (told += counts[index] ?? 0))
      const open = this.open.get(index) ?? new OpenPart(final, this.sink)
      this.open.delete(index)
      open.end(final, own)
    })
    for (const open of this.open.values()) open.end(undefined)
    this.open.clear()
  }
}

/** As `contentReader`, and counts the tokens of each part. */
const countedReader = (tokens: TokenLogprob[], counts: number[]): ReturnType<typeof contentReader> => {
  const read = contentReader(tokens)
  return (wire, plain) => {
    const parts = read(wire, plain)
    if (Array.isArray(wire))
      for (const part of wire) counts.push(readTokens((part as JsonObject)['logprobs'])?.length ?? 0)
    return parts
  }
}

/** An item that is one part: a thought, a call, or a piece only this format knows. */
export class PartReader extends ItemReader {
  readonly part: OpenPart

  constructor(start: Part, sink: Sink) {
    super(sink)
    this.part = new OpenPart(start, sink)
  }

  done(item: JsonObject | undefined): void {
    const [final] = item === undefined ? [] : readAnyItem(item, contentReader([]))
    this.part.end(final)
  }
}

/** A call the upstream makes for itself: a piece of its own, whole at its end. */
export class OwnCallReader extends ItemReader {
  private readonly part: OpenPart

  constructor(item: JsonObject, sink: Sink) {
    super(sink)
    this.part = new OpenPart(unknownItem(item), sink)
  }

  done(item: JsonObject | undefined): void {
    this.part.end(item === undefined ? undefined : unknownItem(item))
  }
}

type Slot = 'summary' | 'content'

/** A thought is told as a summary or in full; of both, what comes first is the text, and the other comes with the end. */
export class ThoughtReader extends PartReader {
  private slot: Slot | undefined
  /** Told again with each cut: one list that grows. */
  private readonly cuts: number[] = []
  private index = 0
  private length = 0

  /** A piece begins: behind another one, an empty line stands between them. */
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

  /** The whole text of a piece: it adds nothing unless nothing of the thought came before it. */
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
