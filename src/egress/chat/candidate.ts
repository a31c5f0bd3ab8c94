import type { Annotation, MediaPart, Part, ReasoningPart, ToolCallPart } from '../../canonical/content.ts'
import type { CandidateEnd, PartDelta, PartEnd, PartPatch, PartStart } from '../../canonical/event.ts'
import { patched, withBody } from '../../canonical/fold.ts'
import { Losses } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { TokenLogprob } from '../../canonical/result.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { defined, extrasFor } from '../fields.ts'
import { reportStopSequence, stopField } from '../openai-answer.ts'
import {
  callHead,
  isAudio,
  isImage,
  reasoningField,
  shownSignature,
  signatureExtra,
  writeAnnotation,
  writeFinish,
  writeImage,
  writeLogprob,
} from './answer.ts'
import type { ChunkTemplate } from './chunk-template.ts'
import { around, FORMAT } from './content.ts'

/** Message field to which a part is written. */
type Lane = 'content' | 'reasoning' | 'refusal' | 'audio'

/** A part that has started but not ended. */
interface OpenPart {
  /** Index of the part in the candidate. */
  readonly partIndex: number
  readonly part: Part
  readonly lane: Lane | undefined
  /** JSON text of a chunk before the value of a delta, or undefined if the format has no field for the part. */
  readonly prefix: string | undefined
  /** JSON text of a chunk after the value of a delta. */
  readonly suffix: string
  hasDelta: boolean
  signature: string | undefined
  /** True if the reasoning came with a signature of any format. */
  isSigned: boolean
  /** An image and its base64 data so far. Written when the part ends. */
  image?: { part: MediaPart; readonly data: string[] }
}

/** A citation and the index of its text part in the candidate. */
interface HeldCitation {
  readonly partIndex: number
  readonly wire: JsonObject
}

type PartEvent = PartStart | PartPatch | PartEnd

/**
 * Writes one candidate of a streamed answer as chunks, and chooses the field for each part. Parts arrive one after
 * another, except that parts relayed from the upstream may interleave.
 */
export class CandidateWriter {
  /** True if the caller has received the role. */
  hasRole = false
  /** True if the caller has received the finish reason. */
  isOver = false
  private readonly index: number
  private readonly template: ChunkTemplate
  /** The most recently started part, if it is still open. */
  private openPart: OpenPart | undefined
  /** Earlier parts that are still open, by index. */
  private otherOpenParts: Map<number, OpenPart> | undefined
  /** Signature of the most recently ended reasoning. It signs the call that immediately follows the reasoning. */
  private signature: string | undefined
  /**
   * Index of the most recently ended signed reasoning part, or its bitwise complement if the part has no text. The
   * signature is lost unless the next part is a call.
   */
  private lastSignedIndex: number | undefined
  private events: WireEvent[] = []
  private hasAudio = false
  private calls = 0
  private hasRefusal = false
  private writtenLength = 0
  private logprobs: TokenLogprob[] = []
  /**
   * Citations and images, held until the end. Many clients keep only the last list of each kind, or fail when they
   * receive a second list.
   */
  private annotations: HeldCitation[] | undefined
  private images: JsonObject[] | undefined
  /** Start of each text part, by part index, in UTF-16 units. Citations may arrive after their text part has ended. */
  private readonly offsets: (number | undefined)[] = []

  private readonly losses: Losses

  constructor(index: number, template: ChunkTemplate, losses: Losses) {
    this.index = index
    this.template = template
    this.losses = losses
  }

  delta(event: PartDelta): readonly WireEvent[] {
    this.events = []
    this.grow(event)
    return this.events
  }

  part(event: PartEvent): readonly WireEvent[] {
    this.events = []
    if (event.type === 'part-start') this.start(event)
    else {
      const open = this.find(event.at.part)
      if (event.type === 'part-patch') this.patch(event, open)
      else if (open !== undefined) this.finish(open)
    }
    return this.events
  }

  private find(partIndex: number): OpenPart | undefined {
    return this.openPart?.partIndex === partIndex ? this.openPart : this.otherOpenParts?.get(partIndex)
  }

  /** Flushes the held citations and images. */
  flushHeld(): readonly WireEvent[] {
    this.events = []
    this.writeHeld()
    return this.events
  }

  /** Discards the held citations and images, because the caller has received them. */
  discardHeld(): void {
    this.annotations = undefined
    this.images = undefined
  }

  /** Records a delta that was relayed to the caller. */
  recordDelta({ at, append, of }: PartDelta): void {
    const open = this.find(at.part)
    if (open === undefined) return
    open.hasDelta = true
    if (open.lane === 'content' && of === undefined) this.writtenLength += append.length
    else if (open.lane === 'refusal') this.hasRefusal = true
  }

  /** Holds log probabilities until the next chunk with text, or the last chunk. */
  holdLogprobs(append: readonly TokenLogprob[]): void {
    for (const one of append) this.logprobs.push(one)
  }

  end(event: CandidateEnd): readonly WireEvent[] {
    this.events = []
    this.writeHeld()
    this.loseSignature()
    if (this.isOver) return this.events
    this.begin()
    const { message, finish_reason: _, ...extras } = extrasFor(event, FORMAT)
    const finish = writeFinish(event.finish, { called: this.calls > 0, refused: this.hasRefusal })
    const stop = stopField(event, FORMAT)
    reportStopSequence(event.finish, stop, ['candidates', this.index], this.losses)
    this.pushChunk((message as JsonObject | undefined) ?? {}, finish, { ...stop, ...extras })
    return this.events
  }

  private grow(event: PartDelta): void {
    const open = this.find(event.at.part)
    if (open === undefined) return
    if (open.prefix === undefined) {
      open.hasDelta = true
      if (event.of === undefined) open.image?.data.push(event.append)
      return
    }
    this.begin()
    if (event.of === 'transcript') return this.pushChunk({ audio: { transcript: event.append } })
    open.hasDelta = true
    if (open.lane === 'content') this.writtenLength += event.append.length
    else if (open.lane === 'refusal') this.hasRefusal = true
    const suffix =
      this.logprobs.length > 0 && open.lane === 'content' ? this.template.suffix('', this.takeLogprobs()) : open.suffix
    this.events.push({ data: open.prefix + JSON.stringify(event.append) + suffix })
  }

  private start({ part, at }: PartStart): void {
    if (part.type !== 'tool-call' || this.signature === undefined) this.loseSignature()
    this.lastSignedIndex = undefined
    if (this.openPart !== undefined) (this.otherOpenParts ??= new Map()).set(this.openPart.partIndex, this.openPart)
    this.openPart = this.openedPart(at.part, part, this.laneForPart(part))
    this.signature = undefined
    if (part.type === 'text') this.offsets[at.part] = this.writtenLength
    if (part.type === 'opaque' && part.format !== FORMAT && part.text !== undefined)
      this.grow({ type: 'part-delta', at, append: part.text })
    if (part.type === 'text' && part.annotations !== undefined) this.annotate(part.annotations, at.part)
  }

  /** Returns the field for a part. A message has only one audio field, so any further audio part has none. */
  private laneForPart(part: Part): Lane | undefined {
    const lane = laneOf(part)
    return lane === 'audio' && this.hasAudio ? undefined : lane
  }

  private openedPart(partIndex: number, part: Part, lane: Lane | undefined): OpenPart {
    const common = {
      partIndex,
      part,
      lane,
      hasDelta: false,
      signature: part.type === 'reasoning' ? signatureOf(part) : undefined,
      isSigned: part.type === 'reasoning' && part.signature !== undefined,
    }
    if (part.type === 'tool-call') return { ...common, ...this.openCall(part) }
    if (lane === 'audio') return { ...common, ...this.openAudio(part) }
    if (isImage(part)) return { ...common, prefix: undefined, suffix: '', image: { part, data: [] } }
    if (lane === undefined) return { ...common, prefix: undefined, suffix: '' }
    const field = lane === 'reasoning' ? reasoningField(part) : lane
    return {
      ...common,
      prefix: this.template.prefix(this.index, `"${field}":`),
      suffix: this.template.suffix('', 'null'),
    }
  }

  private openCall(part: ToolCallPart): Pick<OpenPart, 'prefix' | 'suffix'> {
    const call = this.calls++
    const { type, inner } = callHead(part)
    const signed = this.signature === undefined ? {} : signatureExtra(this.signature)
    this.pushChunk({
      ...this.role(),
      tool_calls: [{ index: call, id: part.id, ...around(part, type, inner), ...signed }],
    })
    const field = type === 'custom' ? '"custom":{"input":' : '"function":{"arguments":'
    return {
      prefix: this.template.prefix(this.index, `"tool_calls":[{"index":${call},${field}`),
      suffix: this.template.suffix('}}]', 'null'),
    }
  }

  private openAudio(part: Part): Pick<OpenPart, 'prefix' | 'suffix'> {
    this.begin()
    this.hasAudio = true
    this.pushChunk({ audio: { data: '', ...extrasFor(part, FORMAT) } })
    return { prefix: this.template.prefix(this.index, '"audio":{"data":'), suffix: this.template.suffix('}', 'null') }
  }

  private patch(event: PartPatch, open: OpenPart | undefined): void {
    if (event.annotations !== undefined) this.annotate(event.annotations, event.at.part)
    if (open === undefined) return
    open.isSigned ||= event.signature !== undefined
    if (event.signature?.format === 'contents' && open.lane === 'reasoning')
      open.signature = shownSignature(open.part, event.signature)
    if (open.image !== undefined) open.image.part = patched(open.image.part, event, true) as MediaPart
    if (open.lane === 'audio' && event.extras?.[FORMAT] !== undefined) this.pushChunk({ audio: event.extras[FORMAT] })
  }

  private annotate(list: readonly Annotation[], partIndex: number): void {
    const offset = this.offsets[partIndex]
    if (offset === undefined) return
    for (const annotation of list) {
      const wire = writeAnnotation(annotation, offset)
      if (wire !== undefined) (this.annotations ??= []).push({ partIndex, wire })
    }
  }

  /** Writes the held citations and images in one chunk. */
  private writeHeld(): void {
    const { images } = this
    if (this.annotations === undefined && images === undefined) return
    const annotations = this.annotations?.sort((a, b) => a.partIndex - b.partIndex).map(({ wire }) => wire)
    this.discardHeld()
    this.begin()
    this.pushChunk(defined({ annotations, images }))
  }

  private finish(open: OpenPart): void {
    if (open === this.openPart) this.openPart = undefined
    else this.otherOpenParts?.delete(open.partIndex)
    if (open.image !== undefined) this.addImage(open.image)
    if (open.part.type === 'tool-call' && !open.hasDelta && !open.part.freeform && open.part.arguments === '')
      this.events.push({ data: `${open.prefix}"{}"${open.suffix}` })
    if (open.part.type === 'reasoning') this.endReasoning(open, open.part)
  }

  private endReasoning(
    { partIndex, signature, isSigned, hasDelta }: OpenPart,
    { text, redacted }: ReasoningPart,
  ): void {
    if (signature !== undefined) this.signature = signature
    const isEmpty = text === '' && !hasDelta
    if (redacted || (isEmpty && isSigned && signature === undefined))
      this.losses.drop(['candidates', this.index, 'content', partIndex], 'no-hidden-reasoning')
    else if (isSigned) this.lastSignedIndex = isEmpty ? ~partIndex : partIndex
  }

  /** Reports the signature of the last reasoning as lost, because no call follows it. */
  private loseSignature(): void {
    const { lastSignedIndex } = this
    if (lastSignedIndex === undefined) return
    this.lastSignedIndex = undefined
    const path = ['candidates', this.index, 'content']
    if (lastSignedIndex < 0) this.losses.drop([...path, ~lastSignedIndex], 'no-hidden-reasoning')
    else this.losses.drop([...path, lastSignedIndex, 'signature'], 'no-signatures')
  }

  private addImage({ part, data }: NonNullable<OpenPart['image']>): void {
    if (!isImage(part)) return
    const completeImage = part.source.type === 'base64' ? withBody(part, data.join('')) : part
    this.images ??= []
    this.images.push(writeImage(completeImage as MediaPart, [], new Losses()))
  }

  /** Writes the role, which must be in the candidate's first chunk. */
  private begin(): void {
    if (this.hasRole) return
    this.hasRole = true
    this.pushChunk({ role: 'assistant', content: '' })
  }

  /** Returns the role field if the chunk of a call is the candidate's first chunk. */
  private role(): JsonObject {
    if (this.hasRole) return {}
    this.hasRole = true
    return { role: 'assistant', content: null }
  }

  private pushChunk(delta: JsonObject, finish: string | null = null, extras: JsonObject = {}): void {
    const logprobs = finish === null || this.logprobs.length === 0 ? 'null' : this.takeLogprobs()
    this.events.push({ data: this.template.chunk(this.index, delta, logprobs, finish, extras) })
  }

  private takeLogprobs(): string {
    const content = this.logprobs.map(writeLogprob)
    this.logprobs = []
    return JSON.stringify({ content, refusal: null })
  }
}

function laneOf(part: Part): Lane | undefined {
  if (part.type === 'text') return 'content'
  if (part.type === 'opaque') return part.format !== FORMAT && part.text !== undefined ? 'content' : undefined
  if (part.type === 'reasoning') return part.redacted ? undefined : 'reasoning'
  if (part.type === 'refusal') return 'refusal'
  return isAudio(part) ? 'audio' : undefined
}

const signatureOf = (part: Part & { type: 'reasoning' }): string | undefined =>
  part.signature?.format === 'contents' && !part.redacted ? shownSignature(part, part.signature) : undefined
