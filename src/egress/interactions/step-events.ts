import type { Annotation, MediaPart, OpaquePart, Part, ReasoningPart, ToolCallPart } from '../../canonical/content.ts'
import type { PartPatch } from '../../canonical/event.ts'
import { bodyOf, patched, withBody } from '../../canonical/fold.ts'
import { append } from '../../canonical/lists.ts'
import { Losses } from '../../canonical/loss.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import { Offsets } from '../../canonical/text.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { isSearch, type SearchPart } from '../searches.ts'
import { isEmptyReasoning, isHidden, signatureOf } from './answer.ts'
import { contentExtras, isEmpty, writeAnnotations, writeContent } from './content.ts'
import { isContent, stepFields, writeCall, writeSearch, writeThought } from './steps.ts'

/** Numbers the steps and the events of one answer, and collects its events. */
export class StepSink {
  /** The events written for the current input. */
  out: WireEvent[] = []
  /** Index of the next step. */
  steps = 0
  /** Index of the open step. */
  open: number | undefined
  /** Number of events so far. */
  events = 0

  /** Writes an event. Its last field is the id, which is the event number. */
  emit(type: string, fields: { readonly [field: string]: Json }): void {
    const text = JSON.stringify(fields).slice(1, -1)
    this.write(type, text === '' ? '' : `${text},`)
  }

  /** Writes an event from the JSON text of its fields, which ends with a comma. */
  write(type: string, text: string): void {
    this.out.push({ event: type, data: `{${text}"event_type":"${type}","event_id":"${++this.events}"}` })
  }

  /** Ends the open step. */
  stop(): void {
    this.emit('step.stop', { index: this.open! })
    this.open = undefined
  }
}

const DELTA = 'step.delta'

/** Writes a part of a streamed answer as a separate step. */
export abstract class StepWriter {
  protected readonly sink: StepSink
  private index = -1

  constructor(sink: StepSink) {
    this.sink = sink
  }

  abstract delta(append: string): void
  abstract patch(event: PartPatch): void
  /** Ends the step. */
  abstract end(): void

  protected get isOpen(): boolean {
    return this.index !== -1
  }

  protected open(step: JsonObject): void {
    this.index = this.sink.open = this.sink.steps++
    this.sink.emit('step.start', { index: this.index, step })
  }

  protected change(delta: JsonObject): void {
    this.sink.emit(DELTA, { index: this.index, delta })
  }

  /** Writes a delta that ends with a text, without building an object. */
  protected grow(fields: string, text: string, end: string): void {
    this.sink.write(DELTA, `"index":${this.index},"delta":{${fields}${JSON.stringify(text)}${end}},`)
  }

  protected stop(): void {
    this.sink.stop()
  }
}

/** Writes nothing, for parts for which the format has no step. */
class NoStep extends StepWriter {
  delta(): void {}
  patch(): void {}
  end(): void {}
}

/** Creates the writer of a part. */
export function stepWriter(part: Part, sink: StepSink): StepWriter {
  if (part.type === 'reasoning') return new ThoughtWriter(part, sink)
  if (part.type === 'tool-call') return part.freeform ? new WrappedCallWriter(part, sink) : new CallWriter(part, sink)
  if (part.type === 'text' || part.type === 'refusal') return new TextWriter(part, sink)
  if (part.type === 'media') return isChunked(part) ? new AudioWriter(part, sink) : new ContentWriter(part, sink)
  if (isSearch(part)) return new WholeWriter(part, sink)
  if (part.type !== 'opaque') return new NoStep(sink)
  return isContent(part) ? new ContentWriter(part, sink) : new WholeWriter(part, sink)
}

const isChunked = ({ kind, source }: MediaPart): boolean => kind === 'audio' && source.type === 'base64'

const modelOutput = (part: Part): JsonObject => ({ type: 'model_output', ...stepFields(part) })

/** Writes a text. The step starts with the first characters, so that an empty text produces no step. */
class TextWriter extends StepWriter {
  private readonly part: Part
  /** Text so far, for locating citations. */
  private text = ''
  private readonly offsets = new Offsets('')
  private hasEnded = false
  /** Citations of text that has not arrived yet. */
  private waitingCitations: Annotation[] = []

  constructor(part: Part, sink: StepSink) {
    super(sink)
    this.part = part
  }

  delta(append: string): void {
    if (append === '') return
    this.begin()
    this.text += append
    this.offsets.append(append)
    this.grow('"type":"text","text":', append, '')
    this.flush()
  }

  patch({ annotations }: PartPatch): void {
    if (annotations === undefined) return
    append(this.waitingCitations, annotations)
    this.flush()
  }

  end(): void {
    if (!isEmpty(withBody(this.part, this.text))) this.begin()
    this.hasEnded = true
    this.flush()
    if (this.isOpen) this.stop()
  }

  private begin(): void {
    if (this.isOpen) return
    this.open(modelOutput(this.part))
    const extras = contentExtras(this.part)
    if (Object.keys(extras).length > 0) this.change({ type: 'text', text: '', ...extras })
  }

  /** Writes the citations whose text has arrived. At the end of the text, writes all of them. */
  private flush(): void {
    if (this.waitingCitations.length === 0 || !this.isOpen) return
    if (!this.hasEnded && this.waitingCitations.some(one => neededLength(one) > this.text.length)) return
    const { waitingCitations } = this
    this.waitingCitations = []
    this.annotate(waitingCitations)
  }

  /** Writes citations. Citations that arrive after the end of the text still refer to its step. */
  private annotate(newAnnotations: readonly Annotation[]): void {
    const annotations = writeAnnotations(newAnnotations, this.text, this.offsets)
    if (annotations.length > 0) this.change({ type: 'text_annotation_delta', annotations })
  }
}

/** Returns the length of text needed to locate an annotation. */
const neededLength = (one: Annotation): number => (one.type === 'opaque' ? 0 : Math.max(one.start ?? 0, one.end ?? 0))

/** Writes audio in chunks. */
class AudioWriter extends StepWriter {
  private readonly part: MediaPart
  private readonly fields: string

  constructor(part: MediaPart, sink: StepSink) {
    super(sink)
    this.part = part
    const { data: _, ...fields } = writeContent(part, [], new Losses())!
    this.fields = `${JSON.stringify(fields).slice(1, -1)},"data":`
    this.open(modelOutput(this.part))
  }

  delta(append: string): void {
    if (append !== '') this.grow(this.fields, append, '')
  }

  patch(): void {}

  end(): void {
    this.stop()
  }
}

/** Writes a content as a single delta: immediately, or at its end if its bytes arrive later. */
class ContentWriter extends StepWriter {
  private part: Part

  constructor(part: Part, sink: StepSink) {
    super(sink)
    this.part = part
    if (part.type !== 'media' || part.source.type !== 'base64') this.write()
  }

  delta(append: string): void {
    this.part = withBody(this.part, bodyOf(this.part) + append)
  }

  patch(event: PartPatch): void {
    this.part = patched(this.part, event)
  }

  end(): void {
    if (!this.isOpen) this.write()
    if (this.isOpen) this.stop()
  }

  private write(): void {
    const wire = writeContent(this.part, [], new Losses())
    if (wire === undefined) return
    this.open(modelOutput(this.part))
    this.change(wire)
  }
}

/**
 * Writes reasoning: its summary in chunks, and its signature (trap 28). Hidden reasoning is only a signature at the
 * end.
 */
class ThoughtWriter extends StepWriter {
  private part: ReasoningPart
  private text = ''

  constructor(part: ReasoningPart, sink: StepSink) {
    super(sink)
    this.part = part
    this.sign()
  }

  delta(append: string): void {
    if (append === '') return
    this.text += append
    if (isHidden(this.part)) return
    this.begin()
    this.grow('"type":"thought_summary","content":{"type":"text","text":', append, '}')
  }

  patch(event: PartPatch): void {
    this.part = patched(this.part, event) as ReasoningPart
    if (event.signature !== undefined) this.sign()
  }

  end(): void {
    if (isHidden(this.part)) this.write()
    else if (!isEmptyReasoning({ ...this.part, text: this.text })) this.begin()
    if (this.isOpen) this.stop()
  }

  /** Writes the signature as soon as it is known. */
  private sign(): void {
    if (!isHidden(this.part)) this.write()
  }

  private write(): void {
    const signature = signatureOf({ ...this.part, text: this.text })
    if (signature === undefined) return
    this.begin()
    this.change({ type: 'thought_signature', signature })
  }

  private begin(): void {
    if (!this.isOpen) this.open(writeThought({ ...this.part, text: '' }, undefined))
  }
}

/** Writes a call, with its arguments as text chunks. A call without arguments gets `{}` as its only chunk (trap 8). */
class CallWriter extends StepWriter {
  private hasGrown = false

  constructor(part: ToolCallPart, sink: StepSink) {
    super(sink)
    this.open(writeCall(part, {}))
  }

  delta(append: string): void {
    if (append === '') return
    this.hasGrown = true
    this.grow('"type":"arguments_delta","arguments":', append, '')
  }

  patch({ part }: PartPatch): void {
    if (part?.type === 'tool-call' && !this.hasGrown) this.delta(part.arguments)
  }

  end(): void {
    this.delta(this.hasGrown ? '' : '{}')
    this.stop()
  }
}

/** Writes a freeform call as a function call with one argument, when its text is complete. */
class WrappedCallWriter extends StepWriter {
  private text = ''

  constructor(part: ToolCallPart, sink: StepSink) {
    super(sink)
    this.open(writeCall(part, {}))
  }

  delta(append: string): void {
    this.text += append
  }

  patch({ part }: PartPatch): void {
    if (part?.type === 'tool-call' && this.text === '') this.text = part.arguments
  }

  end(): void {
    this.grow('"type":"arguments_delta","arguments":', JSON.stringify({ input: this.text }), '')
    this.stop()
  }
}

/** Search fields that are part of the step's start. All others follow in a delta. */
const START_FIELDS: ReadonlySet<string> = new Set(['type', 'id', 'call_id', 'signature'])

/** Writes a step that is only complete at its end: a search, or a step of this format. */
class WholeWriter extends StepWriter {
  private part: SearchPart | OpaquePart
  /** The start of the step. */
  private readonly startFields: JsonObject

  constructor(part: SearchPart | OpaquePart, sink: StepSink) {
    super(sink)
    this.part = part
    this.startFields = part.type === 'opaque' ? part.value : startOf(writeSearch(part))
    this.open(this.startFields)
  }

  delta(): void {}

  patch(event: PartPatch): void {
    this.part = patched(this.part, event) as SearchPart | OpaquePart
  }

  /** Writes the fields that were not part of the step's start, then ends the step. */
  end(): void {
    const step = this.part.type === 'opaque' ? this.part.value : writeSearch(this.part)
    const remainingFields = Object.entries(step).filter(([field, value]) => this.startFields[field] !== value)
    if (remainingFields.length > 0) this.change({ type: step['type']!, ...Object.fromEntries(remainingFields) })
    this.stop()
  }
}

const startOf = (step: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(step).filter(([field]) => START_FIELDS.has(field)))
