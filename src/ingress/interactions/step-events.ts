import type { Annotation, Part } from '../../canonical/content.ts'
import type { CanonicalEvent, PartPosition } from '../../canonical/event.ts'
import { parseCallData } from '../../canonical/exact-numbers.ts'
import { bodyOf, openingEvents, withBody } from '../../canonical/fold.ts'
import { append } from '../../canonical/lists.ts'
import { Base64Stream } from '../../canonical/media/base64.ts'
import { isObject, type Json, type JsonObject, stringIn } from '../../canonical/node.ts'
import { unwrapReasoning } from '../../canonical/signature.ts'
import { Offsets } from '../../canonical/text.ts'
import { anyNumber, anyObjects, anyText } from '../fields.ts'
import { readAnnotations } from './content.ts'
import { readAnyStep } from './result.ts'
import { opaqueStep } from './steps.ts'
import { CONTENT_TYPES, FORMAT } from './wire.ts'

/** Output of all steps of one answer. */
export interface Sink {
  out: CanonicalEvent[]
  /** Number of parts started so far. */
  parts: number
}

/** Reads one step of a streamed answer, from `step.start` to `step.stop`. */
export interface StepReader {
  /** Returns false for a delta that cannot belong to the step, for example a text delta for a thought. */
  accepts(delta: JsonObject): boolean
  delta(delta: JsonObject): void
  end(): void
  /** Reads annotations that arrive after the step has ended. */
  annotate?(wires: readonly JsonObject[]): void
}

/** Starts a part with its body, and returns its position. */
function start(part: Part, sink: Sink): PartPosition {
  const at = { candidate: 0, part: sink.parts++ }
  append(sink.out, openingEvents(part, at))
  return at
}

const end = (at: PartPosition, sink: Sink): void => void sink.out.push({ type: 'part-end', at })

function grow(at: PartPosition, text: string, sink: Sink): void {
  if (text !== '') sink.out.push({ type: 'part-delta', at, append: text })
}

/** Creates the reader of a step. */
export function stepReader(step: JsonObject, sink: Sink): StepReader {
  switch (step['type']) {
    case 'model_output':
      return new OutputReader(step, sink)
    case 'thought':
      return new ThoughtReader(step, sink)
    case 'function_call':
      return new CallReader(step, sink)
    default:
      return new WholeReader(step, sink)
  }
}

/** Types of contents that arrive in chunks. */
const CHUNKED: ReadonlySet<Json | undefined> = new Set(['text', 'audio'])

/** The open content of a step. */
interface OpenContent {
  readonly type: Json | undefined
  readonly at: PartPosition
  /** Converter of annotation offsets, for the text so far. */
  readonly offsets: Offsets
  readonly bytes: Base64Stream | undefined
}

/** Reads the model's output: texts and audio in chunks, other contents in one piece. */
class OutputReader implements StepReader {
  private readonly sink: Sink
  /** Fields of the step, which become extras of its first part. */
  private step: JsonObject
  private open: OpenContent | undefined
  /** The last text, which may be annotated after its end. */
  private lastText: OpenContent | undefined
  /** Annotations that cite text which has not arrived yet. They are read when the open text ends. */
  private early: JsonObject[] = []
  private hasEnded = false

  constructor({ content, ...step }: JsonObject, sink: Sink) {
    this.sink = sink
    this.step = step
    for (const one of anyObjects(content)) this.add(one)
  }

  accepts({ type }: JsonObject): boolean {
    return type !== 'thought_summary' && type !== 'thought_signature' && type !== 'arguments_delta'
  }

  delta(delta: JsonObject): void {
    const { type } = delta
    if (type === 'text_annotation_delta') this.annotate(anyObjects(delta['annotations']))
    else if (this.open?.type === type && CHUNKED.has(type) && isChunk(delta)) this.grow(delta)
    else this.add(delta)
  }

  end(): void {
    this.close()
    if (Object.keys(this.step).some(field => field !== 'type')) this.add({ type: 'text', text: '' })
    this.close()
    this.hasEnded = true
  }

  /** Ends the previous content and starts a new one. */
  private add(wire: JsonObject): void {
    this.close()
    const { annotations, ...unannotated } = wire
    const cited = wire['type'] === 'text' ? anyObjects(annotations) : []
    const isEarly = reaches(cited, new Offsets(stringIn(wire['text'])))
    const bytes = wire['type'] === 'audio' ? new Base64Stream() : undefined
    const part = this.read(isEarly ? unannotated : wire)
    const isStream = part.type === 'media' && bytes !== undefined && part.source.type === 'base64'
    const first = isStream ? withBody(part, bytes.push(bodyOf(part))) : part
    const at = start(first, this.sink)
    this.open = { type: wire['type'], at, offsets: new Offsets(bodyOf(part)), bytes: isStream ? bytes : undefined }
    if (wire['type'] === 'text') this.lastText = this.open
    if (isEarly) append(this.early, cited)
    if (!CHUNKED.has(wire['type'])) this.close()
  }

  private read(wire: JsonObject): Part {
    const [part] = readAnyStep({ ...this.step, content: [wire] })
    this.step = { type: 'model_output' }
    return part!
  }

  private grow(delta: JsonObject): void {
    const { at, bytes } = this.open!
    const chunk = stringIn(delta['text'] ?? delta['data'])
    if (bytes === undefined) this.open!.offsets.append(chunk)
    grow(at, bytes === undefined ? chunk : bytes.push(chunk), this.sink)
    const annotations = anyObjects(delta['annotations'])
    if (annotations.length > 0) this.annotate(annotations)
  }

  annotate(wires: readonly JsonObject[]): void {
    if (wires.length === 0) return
    if (this.lastText === undefined) this.add({ type: 'text', text: '' })
    const isOpen = this.open !== undefined && this.open === this.lastText
    if (isOpen && (this.early.length > 0 || reaches(wires, this.lastText!.offsets))) append(this.early, wires)
    else this.patch(wires)
    if (this.hasEnded) this.close()
  }

  private patch(wires: readonly JsonObject[]): void {
    const { at, offsets } = this.lastText!
    const annotations: readonly Annotation[] = readAnnotations(wires, offsets)
    this.sink.out.push({ type: 'part-patch', at, annotations })
  }

  private close(): void {
    if (this.open === undefined) return
    const { at, bytes } = this.open
    if (this.early.length > 0) this.patch(this.early)
    this.early = []
    grow(at, bytes?.end() ?? '', this.sink)
    end(at, this.sink)
    this.open = undefined
  }
}

/** Returns true if an annotation cites a place beyond the text so far. */
const reaches = (wires: readonly JsonObject[], offsets: Offsets): boolean =>
  wires.some(wire => ['start_index', 'end_index'].some(field => (anyNumber(wire[field]) ?? 0) > offsets.bytes))

/** Returns true for a delta that continues a content instead of starting one. */
const isChunk = (delta: JsonObject): boolean =>
  typeof delta['text'] === 'string' || (typeof delta['data'] === 'string' && delta['uri'] == null)

/** Reads reasoning. Its signature may arrive before or after its summary. A step without either yields no part. */
class ThoughtReader implements StepReader {
  private readonly sink: Sink
  /** The initial step, without the contents of its deltas. */
  private readonly step: JsonObject
  private at: PartPosition | undefined
  private hasText = false

  constructor(step: JsonObject, sink: Sink) {
    this.sink = sink
    this.step = step
    if (Object.keys(step).some(field => field !== 'type')) this.startParts(readAnyStep(step))
  }

  accepts({ type }: JsonObject): boolean {
    return type === 'thought_summary' || type === 'thought_signature'
  }

  delta(delta: JsonObject): void {
    if (delta['type'] === 'thought_signature') this.sign(stringIn(delta['signature']))
    else this.add(stringIn(isObject(delta['content']) ? delta['content']['text'] : undefined))
  }

  end(): void {
    if (this.at !== undefined) end(this.at, this.sink)
    this.at = undefined
  }

  private startParts([part, ...others]: readonly Part[]): void {
    this.at = start(part!, this.sink)
    this.hasText = bodyOf(part!) !== ''
    for (const one of others) end(start(one, this.sink), this.sink)
  }

  private add(text: string): void {
    if (text === '') return
    if (this.at === undefined) this.startParts(readAnyStep({ type: 'thought' }))
    this.hasText = true
    grow(this.at!, text, this.sink)
  }

  /** Reads a signature. If it contains hidden reasoning text, it forms a separate part. */
  private sign(value: string): void {
    if (value === '') return
    const [first, ...others] = unwrapReasoning(value, FORMAT)
    if (this.at === undefined || (!this.hasText && first?.redacted !== undefined)) {
      this.end()
      this.startParts(readAnyStep({ ...this.step, signature: value }))
      if (first?.redacted !== undefined || others.length > 0) this.end()
    } else if (first?.signature !== undefined)
      this.sink.out.push({ type: 'part-patch', at: this.at, signature: first.signature })
  }
}

/** Reads a tool call. Its arguments arrive in chunks, or completely with its start. */
class CallReader implements StepReader {
  private readonly sink: Sink
  private readonly at: PartPosition
  /** Arguments from the start of the call. Used if no arguments follow. */
  private readonly initial: string
  private hasGrown = false

  constructor(step: JsonObject, sink: Sink) {
    const parts = readAnyStep(step)
    const call = parts.at(-1)!
    for (const one of parts.slice(0, -1)) end(start(one, sink), sink)
    const argumentsText = bodyOf(call)
    this.sink = sink
    this.initial = argumentsText === '{}' ? '' : argumentsText
    this.at = start(withBody(call, ''), sink)
  }

  accepts({ type }: JsonObject): boolean {
    return type === 'arguments_delta'
  }

  delta(delta: JsonObject): void {
    const chunk = stringIn(delta['arguments'])
    this.hasGrown ||= chunk !== ''
    grow(this.at, chunk, this.sink)
  }

  end(): void {
    if (!this.hasGrown) grow(this.at, this.initial, this.sink)
    end(this.at, this.sink)
  }
}

/** Reads a step that becomes a single part: a search, or a step that other formats lack. Deltas replace its fields. */
class WholeReader implements StepReader {
  private readonly sink: Sink
  private readonly at: PartPosition
  private readonly start: Part
  /** Fields of the step, and the chunks of its arguments. */
  private readonly fields: Map<string, Json>
  private readonly args: string[] = []
  private hasChanged = false

  constructor(step: JsonObject, sink: Sink) {
    this.sink = sink
    this.fields = new Map(Object.entries(step))
    this.start = readAnyStep(step)[0]!
    this.at = start(this.start, sink)
  }

  accepts(): boolean {
    return true
  }

  delta({ type, ...fields }: JsonObject): void {
    this.hasChanged = true
    if (type === 'arguments_delta') this.args.push(stringIn(fields['arguments']))
    else for (const [field, value] of Object.entries(fields)) this.fields.set(field, value)
  }

  private get step(): JsonObject {
    const args = this.args.join('')
    if (args !== '') this.fields.set('arguments', parseCallData(args) ?? args)
    return Object.fromEntries(this.fields)
  }

  /**
   * Ends the step. If its deltas changed its kind, for example by making it malformed, the final step becomes another
   * part.
   */
  end(): void {
    const { step } = this
    const part = this.start.type === 'opaque' ? opaqueStep(step) : readAnyStep(step)[0]!
    const isKind = part.type === this.start.type
    if (this.hasChanged && isKind) this.sink.out.push({ type: 'part-patch', at: this.at, part })
    end(this.at, this.sink)
    if (!isKind) end(start(part, this.sink), this.sink)
  }
}

/** Returns a step for a delta that arrived without one. */
export function stepOf(delta: JsonObject): JsonObject {
  const type = anyText(delta['type']) ?? ''
  if (CONTENT_TYPES.has(type) || type === 'text_annotation_delta') return { type: 'model_output' }
  return type === 'thought_summary' || type === 'thought_signature' ? { type: 'thought' } : { type }
}
