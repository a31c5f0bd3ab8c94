import type { Annotation, Part } from '../../canonical/content.ts'
import type { CandidateEnd, CanonicalEvent } from '../../canonical/event.ts'
import { unfoldPart } from '../../canonical/fold.ts'
import { append, appendedTo, withFieldsAdded } from '../../canonical/lists.ts'
import { getOrAdd, rowOf } from '../../canonical/maps.ts'
import { Base64Stream } from '../../canonical/media/base64.ts'
import { isObject, type Json, type JsonObject, type Node } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { EndContent } from '../../canonical/result.ts'
import { lastAtOrBefore } from '../../canonical/text.ts'
import { extrasOf, NO_FIELDS } from '../fields.ts'
import { readStop, STOP_REASON } from '../openai-answer.ts'
import { CallReader, type StreamState } from './call-events.ts'
import { readImages } from './content.ts'
import { findReasoning, REASONING_CONTENT_PART, REASONING_PART, reasoningText } from './reasoning.ts'
import { StreamedDetails } from './reasoning-details.ts'
import type { RepeatedText } from './repeated-text.ts'
import { hasOnlyEmptyValues, MESSAGE, readAnnotation, readFinish, readLogprobs } from './result.ts'
import { readSources } from './sources.ts'
import { FORMAT } from './wire.ts'

const CHOICE = new Set(['index', 'delta', 'finish_reason', 'logprobs'])

/**
 * Fields for errors next to an answer. A chunk with one of these fields is not passed on unchanged, because parts of
 * the error must be hidden from callers.
 */
export const ERRORS: ReadonlySet<string> = new Set(['error', 'errors'])

type Flow = 'text' | 'reasoning' | 'refusal'

/** A text part, with its offset in the candidate's concatenated text. */
interface Text {
  readonly part: number
  readonly from: number
}

interface Audio {
  readonly part: number
  readonly data: Base64Stream
}

/**
 * Reads one candidate of a streamed answer. Chunks do not mark the end of a part. A text part ends when another part
 * starts, and so does a call with complete arguments. Other calls stay open until the stream ends, because their chunks
 * may arrive in any order (traps 1, 3).
 */
export class CandidateReader {
  finished = false
  private readonly index: number
  private readonly request: CanonicalRequest
  private readonly stream: StreamState
  private readonly calls: CallReader
  private parts = 0
  private flow: { readonly kind: Flow; readonly part: number } | undefined
  /** Length of all text so far. Citation offsets count from the beginning of the message. */
  private length = 0
  private readonly texts: Text[] = []
  private audio: Audio | undefined
  private finish: string | undefined
  private refused = false
  private hasRole = false
  /** True if deltas had content. Some streams begin with the role alone. */
  private hasDeltas = false
  /** True if reasoning has arrived in a text field. */
  private hasReasoning = false
  private details: StreamedDetails | undefined
  /** URLs of the annotations so far. */
  private readonly citedUrls = new Set<string>()
  private extras: JsonObject | undefined
  private message: JsonObject | undefined
  private readonly repeated: RepeatedText | undefined

  /** @param repeated reads the text if each chunk repeats the text before it. */
  constructor(index: number, request: CanonicalRequest, stream: StreamState, repeated?: RepeatedText) {
    this.index = index
    this.request = request
    this.stream = stream
    this.repeated = repeated
    this.calls = new CallReader(index, request, stream, out => this.endFlow(out))
  }

  /**
   * Reads one choice of a chunk. Some upstreams send the whole message instead of a delta. MiniMax-M3 sends it behind the
   * deltas, which it repeats (github.com/ENTERPILOT/GoModel#1068, read 2026-12-01).
   */
  read(choice: JsonObject, out: CanonicalEvent[]): void {
    const logprobs = choice['logprobs']
    if (isObject(logprobs)) {
      const append = readLogprobs(logprobs['content'])
      if (append !== undefined && append.length > 0) out.push({ type: 'logprobs', candidate: this.index, append })
    }
    const key = isObject(choice['delta']) ? 'delta' : 'message'
    const delta = choice[key]
    if (key === 'message') this.stream.irregular = true
    if (isObject(delta) && (key === 'delta' || !this.hasDeltas)) this.delta(delta, out)
    if (key === 'delta' && this.parts > 0) this.hasDeltas = true
    for (const field in choice) {
      if (CHOICE.has(field) || field === key) continue
      if (ERRORS.has(field)) this.stream.irregular = true
      this.extras = withField(this.extras, field, choice[field]!)
    }
    this.end(choice['finish_reason'])
  }

  /**
   * Records the finish reason. The stream is irregular if a candidate finishes twice, with incomplete calls, or with
   * `stop` after calls, where clients expect `tool_calls`.
   */
  private end(finish: Json | undefined): void {
    if (finish === null || finish === undefined) return
    if (typeof finish !== 'string' || finish === '' || this.finished) this.stream.irregular = true
    if (typeof finish !== 'string' || finish === '') return
    const isWrong = this.calls.any && readFinish(finish, PLAIN).reason === 'stop'
    if (isWrong || this.calls.hasEmpty) this.stream.irregular = true
    this.finish ??= finish
    this.finished = true
  }

  /** Ends all open parts. */
  close(out: CanonicalEvent[]): void {
    this.endFlow(out)
    this.endAudio(out)
    this.parts = this.calls.close(out, this.parts)
  }

  /** Returns the event that ends the candidate. */
  endEvent(): CandidateEnd {
    const finish = readFinish(this.finish, { called: this.calls.any, refused: this.refused })
    const stop = readStop(finish, this.extras?.[STOP_REASON], FORMAT, this.request)
    const { [STOP_REASON]: _, ...others } = this.extras ?? {}
    const extras = stop === undefined ? this.extras : others
    const allExtras = this.message === undefined ? extras : { ...extras, message: this.message }
    return {
      type: 'candidate-end',
      candidate: this.index,
      finish,
      ...stop,
      ...extrasOf(FORMAT, allExtras ?? {}, NO_FIELDS),
    }
  }

  private delta(delta: JsonObject, out: CanonicalEvent[]): void {
    if (!this.hasRole) this.readFirstDelta(delta)
    const {
      reasoning_content,
      reasoning,
      reasoning_details,
      content,
      refusal,
      tool_calls,
      function_call,
      audio,
      annotations,
      images,
    } = delta
    if (typeof reasoning_content === 'string' && reasoning_content !== '')
      this.appendReasoning(reasoning_content, REASONING_CONTENT_PART, out)
    else if (typeof reasoning === 'string' && reasoning !== '') this.appendReasoning(reasoning, REASONING_PART, out)
    else if (reasoning_details !== undefined || isObject(reasoning)) this.appendDetails(delta, out)
    if (reasoning_details != null) this.signWith(reasoning_details, out)
    if (typeof content === 'string') {
      const text = this.repeated?.added(content) ?? content
      if (text !== '') this.append('text', text, TEXT, out)
    } else if (Array.isArray(content)) this.appendParts(content, out)
    else if (content != null) this.stream.irregular = true
    if (typeof refusal === 'string' && refusal !== '') {
      this.refused = true
      this.append('refusal', refusal, REFUSAL, out)
    }
    if (Array.isArray(annotations) && annotations.length > 0) this.annotate(annotations, out)
    if (isObject(audio) && !hasOnlyEmptyValues(audio)) this.appendAudio(audio, out)
    if (images != null) this.appendImages(images, out)
    if (tool_calls != null) this.call(tool_calls, out)
    if (isObject(function_call) && !hasOnlyEmptyValues(function_call))
      this.parts = this.calls.readLegacy(function_call, out, this.parts)
    for (const field in delta) if (!MESSAGE.has(field)) this.message = withField(this.message, field, delta[field]!)
  }

  /**
   * Reads the first delta, which has the role. Some upstreams send every field in every delta and leave unused fields
   * empty.
   */
  private readFirstDelta({ role, audio, function_call }: JsonObject): void {
    this.hasRole = true
    if (typeof role !== 'string' || hasOnlyEmptyValues(audio) || hasOnlyEmptyValues(function_call))
      this.stream.irregular = true
  }

  private call(chunks: Json, out: CanonicalEvent[]): void {
    if (!Array.isArray(chunks)) this.stream.irregular = true
    else
      for (const chunk of chunks)
        if (isObject(chunk)) this.parts = this.calls.read(chunk, out, this.parts)
        else this.stream.irregular = true
  }

  private appendReasoning(text: string, part: Part, out: CanonicalEvent[]): void {
    this.hasReasoning = true
    this.append('reasoning', text, part, out)
  }

  /** Reads reasoning details, unless reasoning has arrived in a text field, which the details would repeat. */
  private appendDetails(delta: JsonObject, out: CanonicalEvent[]): void {
    const reasoning = this.hasReasoning ? undefined : findReasoning(delta)
    if (reasoning === undefined) return
    this.stream.irregular = true
    this.append('reasoning', reasoning.text, REASONING_PART, out)
  }

  /** Collects details, whose signature ends the open reasoning, or is reasoning of its own behind other parts. */
  private signWith(details: Json, out: CanonicalEvent[]): void {
    this.details ??= new StreamedDetails()
    if (this.details.add(details)) this.startFlow('reasoning', REASONING_CONTENT_PART, out)
  }

  /** Reads content in the form of a list of parts, which Mistral uses to separate reasoning from text. */
  private appendParts(content: readonly Json[], out: CanonicalEvent[]): void {
    this.stream.irregular = true
    for (const part of content) {
      if (!isObject(part)) continue
      const reasoning = reasoningText(part)
      const text = part['text']
      if (reasoning !== undefined && reasoning !== '') this.append('reasoning', reasoning, REASONING_CONTENT_PART, out)
      else if (typeof text === 'string' && text !== '') this.append('text', text, TEXT, out)
    }
  }

  private append(kind: Flow, append: string, part: Part, out: CanonicalEvent[]): void {
    const flow = this.flow?.kind === kind ? this.flow : this.startFlow(kind, part, out)
    if (kind === 'text') this.length += append.length
    out.push({ type: 'part-delta', at: { candidate: this.index, part: flow.part }, append })
  }

  private startFlow(kind: Flow, part: Part, out: CanonicalEvent[]): { readonly part: number } {
    if (this.flow?.kind === kind) return this.flow
    this.endFlow(out)
    this.calls.endWhole(out)
    this.flow = { kind, part: this.parts++ }
    if (kind === 'text') this.texts.push({ part: this.flow.part, from: this.length })
    out.push({ type: 'part-start', at: { candidate: this.index, part: this.flow.part }, part })
    return this.flow
  }

  /**
   * Emits the sources listed next to the choices as citations of the last text, except sources that annotations already
   * cite.
   */
  cite(fields: JsonObject, out: CanonicalEvent[]): void {
    const last = this.texts.at(-1)
    const annotations = last === undefined ? [] : readSources(fields, this.citedUrls)
    if (annotations.length > 0)
      out.push({ type: 'part-patch', at: { candidate: this.index, part: last!.part }, annotations })
  }

  /** Emits each citation at the text part that it refers to. */
  private annotate(wire: readonly Json[], out: CanonicalEvent[]): void {
    if (this.texts.length === 0) this.startFlow('text', TEXT, out)
    const citationsByPart = new Map<number, Annotation[]>()
    for (const one of wire) {
      if (!isObject(one)) continue
      const annotation = readAnnotation(one)
      if (annotation.type === 'citation') this.citedUrls.add(annotation.url)
      const { part, from } = textOf(annotation, this.texts)
      getOrAdd(citationsByPart, part, () => []).push(withinPart(annotation, from))
    }
    for (const [part, annotations] of citationsByPart)
      out.push({ type: 'part-patch', at: { candidate: this.index, part }, annotations })
  }

  private appendAudio(audio: JsonObject, out: CanonicalEvent[]): void {
    const { data, transcript, ...others } = audio
    const node = extrasOf(FORMAT, others as JsonObject, NO_FIELDS)
    const open = this.audio ?? this.startAudio(node, out)
    const at = { candidate: this.index, part: open.part }
    const append = typeof data === 'string' ? open.data.push(data) : ''
    if (append !== '') out.push({ type: 'part-delta', at, append })
    if (typeof transcript === 'string' && transcript !== '')
      out.push({ type: 'part-delta', at, append: transcript, of: 'transcript' })
    if (this.audio !== undefined && node.extras !== undefined) out.push({ type: 'part-patch', at, ...node })
    this.audio = open
  }

  private startAudio(node: Node, out: CanonicalEvent[]): Audio {
    // A chunk may end within a group of four base64 characters.
    this.stream.irregular = true
    this.endFlow(out)
    this.calls.endWhole(out)
    const open = { part: this.parts++, data: new Base64Stream() }
    const source = { type: 'base64', mediaType: this.request.output.audio?.mediaType ?? 'audio/wav', data: '' } as const
    const at = { candidate: this.index, part: open.part }
    out.push({ type: 'part-start', at, part: { type: 'media', kind: 'audio', source, ...node } })
    return open
  }

  /** Emits images, each of which arrives in one chunk. */
  private appendImages(images: Json, out: CanonicalEvent[]): void {
    const parts = readImages(images)
    if (parts === undefined) this.message = withField(this.message, 'images', images)
    for (const part of parts ?? []) {
      this.endFlow(out)
      this.calls.endWhole(out)
      append(out, unfoldPart(part, { candidate: this.index, part: this.parts++ }))
    }
  }

  private endAudio(out: CanonicalEvent[]): void {
    if (this.audio === undefined) return
    const at = { candidate: this.index, part: this.audio.part }
    const append = this.audio.data.end()
    if (append !== '') out.push({ type: 'part-delta', at, append })
    out.push({ type: 'part-end', at })
    this.audio = undefined
  }

  private endFlow(out: CanonicalEvent[]): void {
    if (this.flow === undefined) return
    const at = { candidate: this.index, part: this.flow.part }
    const signature = this.flow.kind === 'reasoning' ? this.details?.take() : undefined
    if (signature !== undefined) out.push({ type: 'part-patch', at, signature })
    out.push({ type: 'part-end', at })
    this.flow = undefined
  }
}

/**
 * Returns the text part that an annotation refers to: the last part that starts at or before the annotation, else the
 * last part.
 */
function textOf(annotation: Annotation, texts: readonly Text[]): Text {
  const start = annotation.type === 'citation' ? (annotation.start ?? annotation.end) : undefined
  if (start === undefined) return texts.at(-1)!
  return texts[Math.max(0, lastAtOrBefore(texts, start))]!
}

/** Shifts a citation's offsets to count from the beginning of its part. */
function withinPart(annotation: Annotation, from: number): Annotation {
  if (annotation.type === 'opaque' || from === 0) return annotation
  const { start, end, ...citation } = annotation
  return {
    ...citation,
    ...(start === undefined ? {} : { start: start - from }),
    ...(end === undefined ? {} : { end: end - from }),
  }
}

const TEXT: Part = { type: 'text', text: '' }
const REFUSAL: Part = { type: 'refusal', text: '' }

const PLAIN: EndContent = { called: false, refused: false }

/** Merges a field that arrives in several chunks. Lists are concatenated; other values are replaced. */
function withField(fields: JsonObject | undefined, field: string, value: Json): JsonObject | undefined {
  if (value === null) return fields
  const before = fields !== undefined ? rowOf(fields, field) : undefined
  const combined = Array.isArray(before) && Array.isArray(value) ? appendedTo(before, value, true) : value
  return withFieldsAdded(fields, Object.fromEntries([[field, combined]]), true)
}
