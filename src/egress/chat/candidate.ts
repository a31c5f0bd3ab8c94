import type { Annotation, Part, ToolCallPart } from '../../canonical/content.ts'
import type { CandidateEnd, CanonicalEvent, PartDelta, PartEnd, PartPatch, PartStart } from '../../canonical/event.ts'
import type { WireEvent } from '../../canonical/exchange.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { TokenLogprob } from '../../canonical/result.ts'
import { kept, spelt } from '../fields.ts'
import { callHead, isSpoken, signatureExtra, writeAnnotation, writeLogprob } from './answer.ts'
import type { Envelope } from './chunk.ts'
import { around, FORMAT } from './content.ts'
import { streamedFinish } from './finish.ts'

/** A field of the message that one part at a time may write to. */
type Lane = 'content' | 'reasoning' | 'refusal' | 'audio'

interface Open {
  readonly part: Part
  readonly lane: Lane | undefined
  /** Text before and after the value of a delta; undefined where the part has no place here. */
  readonly prefix: string | undefined
  readonly suffix: string
  /** Where the part's text begins in the one text of the message. */
  readonly offset: number
  said: boolean
  signature: string | undefined
}

type PartEvent = PartStart | PartPatch | PartEnd

/** One candidate of a streamed answer: which part may write to which field, and the chunks it makes. */
export class CandidateWriter {
  private readonly index: number
  private readonly envelope: Envelope
  private readonly open = new Map<number, Open>()
  /** Parts that have ended, as far as the next part wants to know: the signature alone that signs a call. */
  private readonly signatures = new Map<number, string>()
  private readonly lanes: { [L in Lane]?: number } = {}
  private held: (PartEvent | PartDelta)[] = []
  private readonly waiting = new Set<number>()
  private out: WireEvent[] = []
  private begun = false
  private spoken = false
  private calls = 0
  private written = 0
  private logprobs: TokenLogprob[] = []

  constructor(index: number, envelope: Envelope) {
    this.index = index
    this.envelope = envelope
  }

  delta(event: PartDelta): readonly WireEvent[] {
    this.out = []
    this.grow(event)
    return this.out
  }

  part(event: PartEvent): readonly WireEvent[] {
    this.out = []
    this.take(event)
    return this.out
  }

  keepLogprobs(append: readonly TokenLogprob[]): void {
    for (const one of append) this.logprobs.push(one)
  }

  end(event: CandidateEnd): readonly WireEvent[] {
    this.out = []
    this.begin()
    const { message, finish_reason: _, ...extras } = kept(event, FORMAT)
    const finish = streamedFinish(event, this.calls > 0)
    this.say((message as JsonObject | undefined) ?? {}, finish, extras)
    return this.out
  }

  private take(event: PartEvent | PartDelta): void {
    if (event.type === 'part-start') return this.start(event)
    if (event.type === 'part-delta') return this.grow(event)
    if (this.waiting.has(event.at.part)) return void this.held.push(event)
    if (event.type === 'part-end') return this.finish(event.at.part)
    this.patch(event)
  }

  private grow(event: PartDelta): void {
    const open = this.open.get(event.at.part)
    if (open === undefined) {
      if (this.waiting.has(event.at.part)) this.held.push(event)
      return
    }
    if (open.prefix === undefined) {
      open.said = true
      return
    }
    this.begin()
    if (event.of === 'transcript') return this.say({ audio: { transcript: event.append } })
    open.said = true
    if (open.lane === 'content') this.written += event.append.length
    const suffix =
      this.logprobs.length > 0 && open.lane === 'content' ? this.envelope.suffix('', this.takeLogprobs()) : open.suffix
    this.out.push({ data: open.prefix + JSON.stringify(event.append) + suffix })
  }

  private start(event: PartStart): void {
    const { part, at } = event
    const lane = this.laneFor(part)
    if (this.waiting.size > 0 || this.mustWait(part, at.part)) {
      this.waiting.add(at.part)
      this.held.push(event)
      return
    }
    if (lane !== undefined) this.lanes[lane] = at.part
    this.open.set(at.part, this.opened(part, at.part, lane))
    if (part.type === 'opaque' && part.format !== FORMAT && part.text !== undefined)
      this.grow({ type: 'part-delta', at, append: part.text })
    if (part.type === 'text' && part.annotations !== undefined) this.annotate(part.annotations, this.open.get(at.part)!)
  }

  /** A message has one piece of audio; another has no place. */
  private laneFor(part: Part): Lane | undefined {
    const lane = laneOf(part)
    return lane === 'audio' && this.spoken ? undefined : lane
  }

  /** Texts come one after another, and a call waits for the text before it and for the signature that may be its own. */
  private mustWait(part: Part, index: number): boolean {
    if (part.type === 'tool-call' && this.open.get(index - 1)?.part.type === 'reasoning') return true
    return laneOf(part) === undefined && part.type !== 'tool-call' ? false : Object.keys(this.lanes).length > 0
  }

  private opened(part: Part, index: number, lane: Lane | undefined): Open {
    const common = {
      part,
      lane,
      offset: this.written,
      said: false,
      signature: part.type === 'reasoning' ? signatureOf(part) : undefined,
    }
    if (part.type === 'tool-call') return { ...common, ...this.openCall(part, index) }
    if (lane === 'audio') return { ...common, ...this.openAudio(part) }
    if (lane === undefined) return { ...common, prefix: undefined, suffix: '' }
    const field = lane === 'reasoning' ? reasoningField(part) : lane
    return {
      ...common,
      prefix: this.envelope.prefix(this.index, `"${field}":`),
      suffix: this.envelope.suffix('', 'null'),
    }
  }

  private openCall(part: ToolCallPart, index: number): Pick<Open, 'prefix' | 'suffix'> {
    const call = this.calls++
    const { type, inner } = callHead(part)
    const signature = this.signatures.get(index - 1)
    if (spelt(part, FORMAT)['as'] === 'function_call') {
      this.say({ ...this.role(), function_call: { ...inner, ...kept(part, FORMAT) } })
      return {
        prefix: this.envelope.prefix(this.index, '"function_call":{"arguments":'),
        suffix: this.envelope.suffix('}', 'null'),
      }
    }
    const signed = signature === undefined ? {} : signatureExtra(signature)
    this.say({ ...this.role(), tool_calls: [{ index: call, id: part.id, ...around(part, type, inner), ...signed }] })
    const field = type === 'custom' ? '"custom":{"input":' : '"function":{"arguments":'
    return {
      prefix: this.envelope.prefix(this.index, `"tool_calls":[{"index":${call},${field}`),
      suffix: this.envelope.suffix('}}]', 'null'),
    }
  }

  private openAudio(part: Part): Pick<Open, 'prefix' | 'suffix'> {
    this.begin()
    this.spoken = true
    this.say({ audio: { data: '', ...kept(part, FORMAT) } })
    return { prefix: this.envelope.prefix(this.index, '"audio":{"data":'), suffix: this.envelope.suffix('}', 'null') }
  }

  private patch(event: PartPatch): void {
    const open = this.open.get(event.at.part)
    if (open === undefined) return
    if (event.signature?.format === 'contents' && open.lane === 'reasoning') open.signature = event.signature.value
    if (event.annotations !== undefined) this.annotate(event.annotations, open)
    if (open.lane === 'audio' && event.extras?.[FORMAT] !== undefined) this.say({ audio: event.extras[FORMAT] })
  }

  private annotate(list: readonly Annotation[], open: Open): void {
    if (open.part.type !== 'text') return
    const annotations = list
      .map(annotation => writeAnnotation(annotation, open.offset))
      .filter(one => one !== undefined)
    if (annotations.length === 0) return
    this.begin()
    this.say({ annotations })
  }

  private finish(index: number): void {
    const open = this.open.get(index)
    if (open === undefined) return
    if (open.part.type === 'tool-call' && !open.said && !open.part.freeform)
      this.out.push({ data: `${open.prefix}"{}"${open.suffix}` })
    if (open.part.type === 'reasoning' && !open.said && open.signature !== undefined)
      this.signatures.set(index, open.signature)
    this.open.delete(index)
    if (open.lane !== undefined) delete this.lanes[open.lane]
    if (this.held.length > 0) this.release()
  }

  private release(): void {
    const events = this.held
    this.held = []
    this.waiting.clear()
    for (const event of events) this.take(event as CanonicalEvent & PartEvent)
  }

  /** The role goes ahead of everything else a candidate says. */
  private begin(): void {
    if (this.begun) return
    this.begun = true
    this.say({ role: 'assistant', content: '' })
  }

  /** A call that comes first brings the role along. */
  private role(): JsonObject {
    if (this.begun) return {}
    this.begun = true
    return { role: 'assistant', content: null }
  }

  private say(delta: JsonObject, finish: string | null = null, extras: JsonObject = {}): void {
    const logprobs = finish === null || this.logprobs.length === 0 ? 'null' : this.takeLogprobs()
    this.out.push({ data: this.envelope.chunk(this.index, delta, logprobs, finish, extras) })
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
  return isSpoken(part) ? 'audio' : undefined
}

const signatureOf = (part: Part & { type: 'reasoning' }): string | undefined =>
  part.signature?.format === 'contents' && !part.redacted ? part.signature.value : undefined

const reasoningField = (part: Part): string =>
  spelt(part, FORMAT)['field'] === 'reasoning' ? 'reasoning' : 'reasoning_content'
