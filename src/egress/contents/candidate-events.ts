import type { Part, RefusalPart } from '../../canonical/content.ts'
import type { CandidateEnd, PartDelta, PartPatch, PartStart } from '../../canonical/event.ts'
import { Losses } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { TokenLogprob } from '../../canonical/result.ts'
import { NOTHING } from '../../canonical/transducer.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { isSearch } from '../searches.ts'
import { loneSignaturePart, signedPart, type WrittenReasoning, writeAnswerPart, writeReasoning } from './answer.ts'
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
const EMPTY_PART_TEXT = '{"text":""}'

/** Start of a text's first chunk if it carries the signature of the preceding reasoning. */
const SIGNED_OPENING = '{"thoughtSignature":'
const TEXT_OPENING = ',"text":'

/** Start of any other chunk. */
const OPENING_BY_FLOW: { readonly [F in Flow]: string } = { text: '{"text":', reasoning: '{"thought":true,"text":' }

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
  private readonly pendingSignatures: PendingSignatures
  /** A part with only a signature. Held because it may belong in the last event. */
  private heldPart: JsonObject | undefined
  /** Kind of the last part, if readers would merge more text of the same kind into it. */
  private lastFlow: Flow | undefined
  private readonly grounding = new GroundingWriter()
  private logprobs: TokenLogprob[] = []
  private hasParts = false
  private readonly content = { called: false, refused: false }
  /** A refusal that is the last part so far. Its position depends on whether another part follows. */
  private heldRefusal: RefusalPart | undefined
  /** Refusal that ended the answer, for `finishMessage`. */
  private refusal: string | undefined
  private events: WireEvent[] = []
  finish: CandidateEnd | undefined

  private readonly losses: Losses

  constructor(index: number, template: EventTemplate, losses: Losses) {
    this.index = index
    this.losses = losses
    this.template = template
    this.suffix = `}${template.after(index)}`
    this.pendingSignatures = new PendingSignatures(template.isNative)
  }

  start({ part, at }: PartStart): readonly WireEvent[] {
    this.events = []
    this.releaseRefusal()
    this.closeCutPart()
    this.openPart = new OpenPart(part, at.part)
    return this.events
  }

  delta({ append, of }: PartDelta): readonly WireEvent[] {
    const { openPart } = this
    if (openPart === undefined || of !== undefined) return NOTHING
    if (openPart.prefix !== undefined && !this.template.isUnused && this.logprobs.length === 0) {
      openPart.writtenText += append
      return [{ data: openPart.prefix + JSON.stringify(append) + this.suffix }]
    }
    this.events = []
    openPart.pendingText += append
    this.grow(openPart)
    return this.events
  }

  patch(event: PartPatch): void {
    if (this.openPart?.index === event.at.part) this.openPart.patch(event)
    else this.grounding.addLate(event.at.part, event.annotations)
  }

  partEnd(): readonly WireEvent[] {
    const { openPart } = this
    if (openPart === undefined) return NOTHING
    this.events = []
    this.openPart = undefined
    this.grow(openPart)
    this.close(openPart)
    return this.events
  }

  addLogprobs(append: readonly TokenLogprob[]): void {
    for (const one of append) this.logprobs.push(one)
  }

  end(event: CandidateEnd): readonly WireEvent[] {
    this.events = []
    this.finish = event
    this.refusal = this.heldRefusal && reasonOf(event, this.content) === 'refused' ? this.heldRefusal.text : undefined
    if (this.refusal === undefined) this.releaseRefusal()
    // A trailing signature ends the last text, so that text's citations must be written first.
    if (!this.pendingSignatures.isEmpty && this.grounding.hasCitations) this.flushSignature()
    if (!this.pendingSignatures.isEmpty) this.writeHeldPart()
    return this.events
  }

  /** Writes the held citations and the text of a held refusal when the answer is cut short. */
  flushHeld(): readonly WireEvent[] {
    this.events = []
    if (this.finish !== undefined) return NOTHING
    this.releaseRefusal()
    this.closeCutPart()
    this.separate(undefined)
    return this.events
  }

  /** Closes a part whose end never arrived, because the answer was cut short. */
  private closeCutPart(): void {
    const { openPart } = this
    if (openPart === undefined) return
    this.openPart = undefined
    const part = openPart.completePart()
    if (isRefusal(part)) this.writeWhole(part)
    else if (part.type === 'text' && openPart.prefix !== undefined)
      this.grounding.add(openPart.writtenText, part.annotations, openPart.index)
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
    const signature = this.pendingSignatures.take()
    const lastPart = signature === undefined ? this.heldPart : loneSignaturePart(signature)
    const content =
      this.hasParts || lastPart !== undefined ? { content: { parts: [lastPart ?? EMPTY_PART], role: 'model' } } : {}
    return { ...content, index: this.index, ...withExtras(nativeExtras(finish), facts) }
  }

  /** Writes the held refusal as text, because it did not end the answer. */
  private releaseRefusal(): void {
    const part = this.heldRefusal
    this.heldRefusal = undefined
    if (part !== undefined) this.writeWhole(part)
  }

  /** Writes the pending text of a part that may be written in chunks. */
  private grow(openPart: OpenPart): void {
    if (openPart.pendingText !== '' && openPart.flow !== undefined) this.writeChunk(openPart, openPart.flow)
    if (openPart.pendingText !== '' && openPart.isChunked) this.writeWhole(openPart.takeChunk())
  }

  private writeChunk(openPart: OpenPart, flow: Flow): void {
    const text = openPart.pendingText
    openPart.pendingText = ''
    openPart.writtenText += text
    if (openPart.prefix === undefined) this.open(openPart, flow)
    const signature = flow === 'text' ? this.pendingSignatures.take() : undefined
    this.emit(
      `${signature === undefined ? OPENING_BY_FLOW[flow] : SIGNED_OPENING + JSON.stringify(signature) + TEXT_OPENING}${JSON.stringify(text)}}`,
    )
    this.lastFlow = flow
  }

  private open(openPart: OpenPart, flow: Flow): void {
    openPart.prefix = `${EventTemplate.HEAD}${OPENING_BY_FLOW[flow]}`
    if (flow === 'reasoning' && this.pendingSignatures.isFull) this.flushSignature()
    this.separate(flow === 'text' && !this.pendingSignatures.isEmpty ? undefined : flow)
  }

  private close(openPart: OpenPart): void {
    if (openPart.wasChunked) return
    const part = openPart.completePart()
    this.content.called ||= part.type === 'tool-call'
    this.content.refused ||= part.type === 'refusal' && part.text !== ''
    if (part.type === 'reasoning') this.closeReasoning(part, openPart)
    else if (isRefusal(part)) this.heldRefusal = part
    else if (isSearch(part)) this.grounding.addSearch(part)
    else if (openPart.prefix !== undefined)
      this.grounding.add(openPart.writtenText, part.type === 'text' ? part.annotations : undefined, openPart.index)
    else this.writeWhole(part, openPart.index)
  }

  private closeReasoning(part: Part & { type: 'reasoning' }, openPart: OpenPart): void {
    const reasoning = writeReasoning(part, ['candidates', this.index, 'content', openPart.index], this.losses)
    if (openPart.prefix === undefined) this.writeWholeReasoning(reasoning)
    else if (reasoning.signsNext === undefined && part.signature !== undefined)
      this.emit(JSON.stringify({ thought: true, text: '', thoughtSignature: part.signature.value }))
    if (reasoning.signsNext !== undefined) this.pendingSignatures.add(reasoning.signsNext)
  }

  private writeWholeReasoning({ wire, signsNext }: WrittenReasoning): void {
    if (wire === undefined) return
    if (this.pendingSignatures.isFull || signsNext === undefined) this.flushSignature()
    const flow = wire['thought'] === true ? 'reasoning' : undefined
    this.separate(flow)
    if (flow === undefined) this.holdPart(wire)
    else this.emit(JSON.stringify(wire))
    this.lastFlow = flow
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

  private writeWhole(part: Part, index?: number): void {
    const path = ['candidates', this.index, 'content', index ?? 0]
    const wire = writeAnswerPart(part, path, index === undefined ? new Losses() : this.losses)
    if (wire === undefined) return
    const { text } = wire
    if (text === '') this.flushSignature()
    const signature = this.pendingSignatures.take()
    this.separate(typeof text === 'string' && signature === undefined ? 'text' : undefined)
    this.emit(JSON.stringify(signedPart(part, wire, signature)))
    this.lastFlow = typeof text === 'string' ? 'text' : undefined
    if (typeof text === 'string') this.grounding.add(text, part.type === 'text' ? part.annotations : undefined, index)
  }

  /** Writes a signature that no part follows. */
  private flushSignature(): void {
    const signature = this.pendingSignatures.take()
    if (signature === undefined) return
    this.separate(undefined)
    this.holdPart(loneSignaturePart(signature))
    this.lastFlow = undefined
  }

  /**
   * Separates the last part from a following part of the same kind, because readers would merge the two. First writes
   * pending citations.
   */
  private separate(nextFlow: Flow | undefined): void {
    const unreported = this.grounding.takeUnreported()
    if (unreported !== undefined) this.emit(EMPTY_PART_TEXT, { groundingMetadata: unreported })
    else if (nextFlow !== undefined && nextFlow === this.lastFlow) this.emit(EMPTY_PART_TEXT)
    this.lastFlow = undefined
  }

  private emit(part: string, facts: JsonObject = {}): void {
    this.writeHeldPart()
    this.hasParts = true
    const logprobsResult = this.logprobs.length === 0 ? undefined : writeLogprobs(this.logprobs)
    this.logprobs = []
    const allFacts = logprobsResult === undefined ? facts : { ...facts, logprobsResult }
    this.events.push({ data: this.template.event(this.index, part, allFacts) })
  }
}

const EMPTY_PART = JSON.parse(EMPTY_PART_TEXT) as JsonObject
