import type { Part, RefusalPart } from '../../canonical/content.ts'
import type { CandidateEnd, PartDelta, PartPatch, PartStart } from '../../canonical/event.ts'
import { Losses } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { TokenLogprob } from '../../canonical/result.ts'
import { NOTHING } from '../../canonical/transducer.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { isSearch } from '../searches.ts'
import { aloneSignature, signedPart, type WrittenReasoning, writeAnswerPart, writeReasoning } from './answer.ts'
import { groundingOf, isRefusal, reasonOf, writeLogprobs, writeStreamFinish } from './candidate.ts'
import { GroundingWriter } from './citations.ts'
import { EventTemplate } from './event-template.ts'
import { nativeExtras, withExtras } from './fields.ts'
import { type Flow, OpenPart } from './open-part.ts'
import { PendingSignatures } from './pending-signatures.ts'

/**
 * An empty part in Google's form. Separates two texts or two reasoning parts, and gives the last event a part, because
 * clients fail if it has none (trap 90).
 */
const EMPTY = '{"text":""}'

/** Start of a text's first chunk if it carries the signature of the preceding reasoning. */
const SIGNED = '{"thoughtSignature":'
const TEXT = ',"text":'

/** Start of any other chunk. */
const OPENINGS: { readonly [F in Flow]: string } = { text: '{"text":', reasoning: '{"thought":true,"text":' }

/**
 * Streams one candidate of an answer, part by part. Text and reasoning are sent in chunks, all other parts in one
 * piece.
 */
export class CandidateWriter {
  private readonly index: number
  private readonly template: EventTemplate
  private openPart: OpenPart | undefined
  private readonly suffix: string
  /** Reasoning whose signature is put on the next part. */
  private readonly pending: PendingSignatures
  /** A part with only a signature. Held because it may belong in the last event. */
  private heldPart: JsonObject | undefined
  /** Kind of the last part, if readers would merge more text of the same kind into it. */
  private last: Flow | undefined
  private readonly grounding = new GroundingWriter()
  private logprobs: TokenLogprob[] = []
  private hasParts = false
  private readonly content = { called: false, refused: false }
  /** A refusal that is the last part so far. Its position depends on whether another part follows. */
  private heldRefusal: RefusalPart | undefined
  /** Refusal that ended the answer, for `finishMessage`. */
  private refusal: string | undefined
  private out: WireEvent[] = []
  finish: CandidateEnd | undefined

  private readonly losses: Losses

  constructor(index: number, template: EventTemplate, losses: Losses) {
    this.index = index
    this.losses = losses
    this.template = template
    this.suffix = `}${template.after(index)}`
    this.pending = new PendingSignatures(template.isNative)
  }

  start({ part, at }: PartStart): readonly WireEvent[] {
    this.out = []
    this.release()
    this.breakOff()
    this.openPart = new OpenPart(part, at.part)
    return this.out
  }

  delta({ append, of }: PartDelta): readonly WireEvent[] {
    const { openPart } = this
    if (openPart === undefined || of !== undefined) return NOTHING
    if (openPart.prefix !== undefined && !this.template.fresh && this.logprobs.length === 0) {
      openPart.written += append
      return [{ data: openPart.prefix + JSON.stringify(append) + this.suffix }]
    }
    this.out = []
    openPart.waiting += append
    this.grow(openPart)
    return this.out
  }

  patch(event: PartPatch): void {
    if (this.openPart?.index === event.at.part) this.openPart.patch(event)
    else this.grounding.addLate(event.at.part, event.annotations)
  }

  partEnd(): readonly WireEvent[] {
    const { openPart } = this
    if (openPart === undefined) return NOTHING
    this.out = []
    this.openPart = undefined
    this.grow(openPart)
    this.close(openPart)
    return this.out
  }

  addLogprobs(append: readonly TokenLogprob[]): void {
    for (const one of append) this.logprobs.push(one)
  }

  end(event: CandidateEnd): readonly WireEvent[] {
    this.out = []
    this.finish = event
    this.refusal = this.heldRefusal && reasonOf(event, this.content) === 'refused' ? this.heldRefusal.text : undefined
    if (this.refusal === undefined) this.release()
    // A trailing signature ends the last text, so that text's citations must be written first.
    if (!this.pending.empty && this.grounding.hasCitations) this.flush()
    if (!this.pending.empty) this.writeHeldPart()
    return this.out
  }

  /** Writes the held citations and the text of a held refusal when the answer is cut short. */
  flushHeld(): readonly WireEvent[] {
    this.out = []
    if (this.finish !== undefined) return NOTHING
    this.release()
    this.breakOff()
    this.separate(undefined)
    return this.out
  }

  /** Closes a part whose end never arrived, because the answer was cut short. */
  private breakOff(): void {
    const { openPart } = this
    if (openPart === undefined) return
    this.openPart = undefined
    const part = openPart.whole()
    if (isRefusal(part)) this.whole(part)
    else if (part.type === 'text' && openPart.prefix !== undefined)
      this.grounding.add(openPart.written, part.annotations, openPart.index)
  }

  /** Returns the candidate's fields for the last event. */
  written(): JsonObject {
    const { finish } = this
    const facts = {
      finishReason: finish === undefined ? undefined : writeStreamFinish(finish, this.content),
      finishMessage: this.refusal,
      groundingMetadata: groundingOf(finish ?? {}, this.grounding),
      logprobsResult: this.logprobs.length === 0 ? undefined : writeLogprobs(this.logprobs),
    }
    const signature = this.pending.take()
    const last = signature === undefined ? this.heldPart : aloneSignature(signature)
    const content =
      this.hasParts || last !== undefined ? { content: { parts: [last ?? EMPTY_PART], role: 'model' } } : {}
    return { ...content, index: this.index, ...withExtras(nativeExtras(finish), facts) }
  }

  /** Writes the held refusal as text, because it did not end the answer. */
  private release(): void {
    const part = this.heldRefusal
    this.heldRefusal = undefined
    if (part !== undefined) this.whole(part)
  }

  /** Writes the pending text of a part that may be written in chunks. */
  private grow(openPart: OpenPart): void {
    if (openPart.waiting !== '' && openPart.flow !== undefined) this.writeChunk(openPart, openPart.flow)
    if (openPart.waiting !== '' && openPart.isChunked) this.whole(openPart.takeChunk())
  }

  private writeChunk(openPart: OpenPart, flow: Flow): void {
    const text = openPart.waiting
    openPart.waiting = ''
    openPart.written += text
    if (openPart.prefix === undefined) this.open(openPart, flow)
    const signature = flow === 'text' ? this.pending.take() : undefined
    this.emit(
      `${signature === undefined ? OPENINGS[flow] : SIGNED + JSON.stringify(signature) + TEXT}${JSON.stringify(text)}}`,
    )
    this.last = flow
  }

  private open(openPart: OpenPart, flow: Flow): void {
    openPart.prefix = `${EventTemplate.HEAD}${OPENINGS[flow]}`
    if (flow === 'reasoning' && this.pending.full) this.flush()
    this.separate(flow === 'text' && !this.pending.empty ? undefined : flow)
  }

  private close(openPart: OpenPart): void {
    if (openPart.wasChunked) return
    const part = openPart.whole()
    this.content.called ||= part.type === 'tool-call'
    this.content.refused ||= part.type === 'refusal' && part.text !== ''
    if (part.type === 'reasoning') this.closeReasoning(part, openPart)
    else if (isRefusal(part)) this.heldRefusal = part
    else if (isSearch(part)) this.grounding.addSearch(part)
    else if (openPart.prefix !== undefined)
      this.grounding.add(openPart.written, part.type === 'text' ? part.annotations : undefined, openPart.index)
    else this.whole(part, openPart.index)
  }

  private closeReasoning(part: Part & { type: 'reasoning' }, openPart: OpenPart): void {
    const reasoning = writeReasoning(part, ['candidates', this.index, 'content', openPart.index], this.losses)
    if (openPart.prefix === undefined) this.wholeReasoning(reasoning)
    else if (reasoning.signsNext === undefined && part.signature !== undefined)
      this.emit(JSON.stringify({ thought: true, text: '', thoughtSignature: part.signature.value }))
    if (reasoning.signsNext !== undefined) this.pending.add(reasoning.signsNext)
  }

  private wholeReasoning({ wire, signsNext }: WrittenReasoning): void {
    if (wire === undefined) return
    if (this.pending.full || signsNext === undefined) this.flush()
    const flow = wire['thought'] === true ? 'reasoning' : undefined
    this.separate(flow)
    if (flow === undefined) this.holdPart(wire)
    else this.emit(JSON.stringify(wire))
    this.last = flow
  }

  /** Holds a part that may be written in the last event. */
  private holdPart(wire: JsonObject): void {
    this.writeHeldPart()
    this.heldPart = wire
  }

  private writeHeldPart(): void {
    const wire = this.heldPart
    if (wire === undefined) return
    this.heldPart = undefined
    this.emit(JSON.stringify(wire))
  }

  private whole(part: Part, index?: number): void {
    const path = ['candidates', this.index, 'content', index ?? 0]
    const wire = writeAnswerPart(part, path, index === undefined ? new Losses() : this.losses)
    if (wire === undefined) return
    const { text } = wire
    if (text === '') this.flush()
    const signature = this.pending.take()
    this.separate(typeof text === 'string' && signature === undefined ? 'text' : undefined)
    this.emit(JSON.stringify(signedPart(part, wire, signature)))
    this.last = typeof text === 'string' ? 'text' : undefined
    if (typeof text === 'string') this.grounding.add(text, part.type === 'text' ? part.annotations : undefined, index)
  }

  /** Writes a signature that no part follows. */
  private flush(): void {
    const signature = this.pending.take()
    if (signature === undefined) return
    this.separate(undefined)
    this.holdPart(aloneSignature(signature))
    this.last = undefined
  }

  /**
   * Separates the last part from a following part of the same kind, because readers would merge the two. First writes
   * pending citations.
   */
  private separate(next: Flow | undefined): void {
    const unreported = this.grounding.takeUnreported()
    if (unreported !== undefined) this.emit(EMPTY, { groundingMetadata: unreported })
    else if (next !== undefined && next === this.last) this.emit(EMPTY)
    this.last = undefined
  }

  private emit(part: string, facts: JsonObject = {}): void {
    this.writeHeldPart()
    this.hasParts = true
    const logprobsResult = this.logprobs.length === 0 ? undefined : writeLogprobs(this.logprobs)
    this.logprobs = []
    const all = logprobsResult === undefined ? facts : { ...facts, logprobsResult }
    this.out.push({ data: this.template.event(this.index, part, all) })
  }
}

const EMPTY_PART = JSON.parse(EMPTY) as JsonObject
