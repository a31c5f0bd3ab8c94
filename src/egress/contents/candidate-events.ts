import type { Part, RefusalPart } from '../../canonical/content.ts'
import type { CandidateEnd, PartDelta, PartPatch, PartStart } from '../../canonical/event.ts'
import { Losses } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { TokenLogprob } from '../../canonical/result.ts'
import { NOTHING } from '../../canonical/transducer.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { aloneSignature, signedPart, type Thought, writeAnswerPart, writeThought } from './answer.ts'
import { groundingOf, isRefusal, reasonOf, writeLogprobs, writeStreamFinish } from './candidate.ts'
import { GroundingWriter } from './citations.ts'
import { Envelope } from './envelope.ts'
import { ownOf, withOwn } from './fields.ts'
import { Slotted } from './proofs.ts'
import { type Flow, Slot } from './slot.ts'

/**
 * An empty part, as Google writes it. It separates two texts or two reasoning parts, and gives the last event a part,
 * without which clients fail (trap 90).
 */
const MARK = '{"text":""}'

/** Opens the first chunk of a text that carries the signature of the reasoning before it. */
const SIGNED = '{"thoughtSignature":'
const TEXT = ',"text":'

/** Opens any other chunk. */
const OPENINGS: { readonly [F in Flow]: string } = { text: '{"text":', reasoning: '{"thought":true,"text":' }

/** Streams one candidate of an answer, part after part: text and reasoning in chunks, all other parts whole. */
export class CandidateWriter {
  private readonly index: number
  private readonly envelope: Envelope
  /** The part that is open. */
  private slot: Slot | undefined
  private readonly suffix: string
  /** The reasoning whose signature goes on the next part. */
  private readonly slotted: Slotted
  /** A part with only a signature, held because it may go into the last event. */
  private lone: JsonObject | undefined
  /** The kind of the last part, if a reader would merge more text of that kind into it. */
  private last: Flow | undefined
  private readonly grounding = new GroundingWriter()
  private logprobs: TokenLogprob[] = []
  private hasParts = false
  private readonly content = { called: false, refused: false }
  /** A refusal that is the last part so far. What comes after it decides where it is written. */
  private held: RefusalPart | undefined
  /** The refusal that ended the answer, for `finishMessage`. */
  private refusal: string | undefined
  private out: WireEvent[] = []
  finish: CandidateEnd | undefined

  constructor(index: number, envelope: Envelope) {
    this.index = index
    this.envelope = envelope
    this.suffix = `}${envelope.after(index)}`
    this.slotted = new Slotted(envelope.own)
  }

  start({ part, at }: PartStart): readonly WireEvent[] {
    this.out = []
    this.release()
    this.breakOff()
    this.slot = new Slot(part, at.part)
    return this.out
  }

  delta({ append, of }: PartDelta): readonly WireEvent[] {
    const { slot } = this
    if (slot === undefined || of !== undefined) return NOTHING
    if (slot.prefix !== undefined && !this.envelope.fresh && this.logprobs.length === 0) {
      slot.written += append
      return [{ data: slot.prefix + JSON.stringify(append) + this.suffix }]
    }
    this.out = []
    slot.waiting += append
    this.grow(slot)
    return this.out
  }

  patch(event: PartPatch): void {
    if (this.slot?.place === event.at.part) this.slot.patch(event)
    else this.grounding.addLate(event.at.part, event.annotations)
  }

  partEnd(): readonly WireEvent[] {
    const { slot } = this
    if (slot === undefined) return NOTHING
    this.out = []
    this.slot = undefined
    this.grow(slot)
    this.close(slot)
    return this.out
  }

  addLogprobs(append: readonly TokenLogprob[]): void {
    for (const one of append) this.logprobs.push(one)
  }

  end(event: CandidateEnd): readonly WireEvent[] {
    this.out = []
    this.finish = event
    this.refusal = this.held && reasonOf(event, this.content) === 'refused' ? this.held.text : undefined
    if (this.refusal === undefined) this.release()
    // A trailing signature ends the last text, so the citations of that text must be written first.
    if (!this.slotted.empty && this.grounding.some) this.flush()
    if (!this.slotted.empty) this.writeLone()
    return this.out
  }

  /** Writes what was held when the answer is cut short: the text of a refusal, and citations. */
  rest(): readonly WireEvent[] {
    this.out = []
    if (this.finish !== undefined) return NOTHING
    this.release()
    this.breakOff()
    this.divide(undefined)
    return this.out
  }

  /** Closes a part whose end never came, as when the answer is cut short. */
  private breakOff(): void {
    const { slot } = this
    if (slot === undefined) return
    this.slot = undefined
    const part = slot.whole()
    if (isRefusal(part)) this.whole(part)
    else if (part.type === 'text' && slot.prefix !== undefined)
      this.grounding.add(slot.written, part.annotations, slot.place)
  }

  /** The fields of the candidate in the last event. */
  written(): JsonObject {
    const { finish } = this
    const facts = {
      finishReason: finish === undefined ? undefined : writeStreamFinish(finish, this.content),
      finishMessage: this.refusal,
      groundingMetadata: groundingOf(finish ?? {}, this.grounding),
      logprobsResult: this.logprobs.length === 0 ? undefined : writeLogprobs(this.logprobs),
    }
    const signature = this.slotted.take()
    const last = signature === undefined ? this.lone : aloneSignature(signature)
    const content =
      this.hasParts || last !== undefined ? { content: { parts: [last ?? EMPTY_PART], role: 'model' } } : {}
    return { ...content, index: this.index, ...withOwn(ownOf(finish), facts) }
  }

  /** Writes the held refusal as text, because it did not end the answer. */
  private release(): void {
    const part = this.held
    this.held = undefined
    if (part !== undefined) this.whole(part)
  }

  /** Writes the waiting text of a part that can be written in chunks. */
  private grow(slot: Slot): void {
    if (slot.waiting !== '' && slot.flow !== undefined) this.writeChunk(slot, slot.flow)
    if (slot.waiting !== '' && slot.flows) this.whole(slot.takeWaiting())
  }

  private writeChunk(slot: Slot, flow: Flow): void {
    const text = slot.waiting
    slot.waiting = ''
    slot.written += text
    if (slot.prefix === undefined) this.open(slot, flow)
    const signature = flow === 'text' ? this.slotted.take() : undefined
    this.emit(
      `${signature === undefined ? OPENINGS[flow] : SIGNED + JSON.stringify(signature) + TEXT}${JSON.stringify(text)}}`,
    )
    this.last = flow
  }

  private open(slot: Slot, flow: Flow): void {
    slot.prefix = `${Envelope.HEAD}${OPENINGS[flow]}`
    if (flow === 'reasoning' && this.slotted.full) this.flush()
    this.divide(flow === 'text' && !this.slotted.empty ? undefined : flow)
  }

  private close(slot: Slot): void {
    if (slot.flowed) return
    const part = slot.whole()
    this.content.called ||= part.type === 'tool-call'
    this.content.refused ||= part.type === 'refusal' && part.text !== ''
    if (part.type === 'reasoning') this.closeThought(part, slot)
    else if (isRefusal(part)) this.held = part
    else if (slot.prefix !== undefined)
      this.grounding.add(slot.written, part.type === 'text' ? part.annotations : undefined, slot.place)
    else this.whole(part, slot.place)
  }

  private closeThought(part: Part & { type: 'reasoning' }, slot: Slot): void {
    const thought = writeThought(part, [], IGNORED)
    if (slot.prefix === undefined) this.wholeThought(thought)
    else if (thought.slotted === undefined && part.signature !== undefined)
      this.emit(JSON.stringify({ thought: true, text: '', thoughtSignature: part.signature.value }))
    if (thought.slotted !== undefined) this.slotted.add(thought.slotted)
  }

  private wholeThought({ wire, slotted }: Thought): void {
    if (wire === undefined) return
    if (this.slotted.full || slotted === undefined) this.flush()
    const flow = wire['thought'] === true ? 'reasoning' : undefined
    this.divide(flow)
    if (flow === undefined) this.hold(wire)
    else this.emit(JSON.stringify(wire))
    this.last = flow
  }

  /** Holds a part that may be written with the last event. */
  private hold(wire: JsonObject): void {
    this.writeLone()
    this.lone = wire
  }

  private writeLone(): void {
    const wire = this.lone
    if (wire === undefined) return
    this.lone = undefined
    this.emit(JSON.stringify(wire))
  }

  private whole(part: Part, place?: number): void {
    const wire = writeAnswerPart(part, [], IGNORED)
    if (wire === undefined) return
    const { text } = wire
    if (text === '') this.flush()
    const signature = this.slotted.take()
    this.divide(typeof text === 'string' && signature === undefined ? 'text' : undefined)
    this.emit(JSON.stringify(signedPart(part, wire, signature)))
    this.last = typeof text === 'string' ? 'text' : undefined
    if (typeof text === 'string') this.grounding.add(text, part.type === 'text' ? part.annotations : undefined, place)
  }

  /** Writes a signature that no part has followed. */
  private flush(): void {
    const signature = this.slotted.take()
    if (signature === undefined) return
    this.divide(undefined)
    this.hold(aloneSignature(signature))
    this.last = undefined
  }

  /**
   * Separates the last part from a next one of the same kind, which a reader would merge into it. Citations not yet
   * written come first.
   */
  private divide(next: Flow | undefined): void {
    const unreported = this.grounding.takeUnreported()
    if (unreported !== undefined) this.emit(MARK, { groundingMetadata: unreported })
    else if (next !== undefined && next === this.last) this.emit(MARK)
    this.last = undefined
  }

  private emit(part: string, facts: JsonObject = {}): void {
    this.writeLone()
    this.hasParts = true
    const logprobsResult = this.logprobs.length === 0 ? undefined : writeLogprobs(this.logprobs)
    this.logprobs = []
    const all = logprobsResult === undefined ? facts : { ...facts, logprobsResult }
    this.out.push({ data: this.envelope.event(this.index, part, all) })
  }
}

const EMPTY_PART = JSON.parse(MARK) as JsonObject

/** A sink for losses, which are reported only for whole answers. */
const IGNORED = new Losses()
