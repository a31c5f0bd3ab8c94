import { AnswerIds } from '../../canonical/call-ids.ts'
import type { CanonicalError } from '../../canonical/error.ts'
import type { CanonicalEvent } from '../../canonical/event.ts'
import { parseExactEvent } from '../../canonical/exact-numbers.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { type EventReader, NOTHING } from '../../canonical/transducer.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { DONE } from '../answer-events.ts'
import { EarlyEvents } from '../early-events.ts'
import { CUT_SHORT, MALFORMED } from '../errors/faulty-answer.ts'
import { anyObject, anyObjects, anyText } from '../fields.ts'
import { isEmptyData } from '../transport/sse.ts'
import { readInnerError } from './error.ts'
import { readExtras, readFailure, readFinish, readHead, withCallId } from './result.ts'
import { type Sink, type StepReader, stepOf, stepReader } from './step-events.ts'
import { readUsage } from './usage.ts'
import { FORMAT } from './wire.ts'

type Handler = (wire: JsonObject) => void

/** Reads a streamed answer (docs/wire/interactions.md#stream). Events of unknown types pass unchanged. */
export class InteractionsEvents implements EventReader<WireEvent, CanonicalEvent>, Sink {
  out: CanonicalEvent[] = []
  parts = 0
  private started = false
  private ended = false
  private hasCalls = false
  /** Open steps by index, and the indexes of all steps so far. */
  private readonly open = new Map<Json, StepReader>()
  private readonly seen = new Set<Json>()
  /** Steps that have ended but may still receive annotations. */
  private readonly endedSteps = new Map<Json, StepReader>()
  private readonly ids: AnswerIds
  private readonly early = new EarlyEvents()

  constructor(request: CanonicalRequest) {
    this.ids = new AnswerIds(request, FORMAT)
  }

  push({ event, data }: WireEvent): readonly CanonicalEvent[] {
    if (this.ended || isEmptyData(data)) return NOTHING
    this.out = []
    const wire = data === DONE ? undefined : parseExactEvent(data, 'arguments')
    if (data === DONE) this.fail(CUT_SHORT)
    else if (wire === undefined) this.fail(MALFORMED)
    else this.take(anyText(wire['event_type']) ?? event ?? '', wire)
    return this.out
  }

  end(): readonly CanonicalEvent[] {
    if (this.ended) return NOTHING
    this.out = []
    this.fail(CUT_SHORT)
    return this.out
  }

  private take(type: string, wire: JsonObject): void {
    if (type === 'step.delta') this.delta(wire['index'] ?? 0, anyObject(wire['delta']) ?? {})
    else if (Object.hasOwn(this.handlers, type)) this.handlers[type]!(wire)
    else if (wire['error'] != null) this.fail(readInnerError(wire))
    else this.pass(wire)
  }

  private readonly handlers: { readonly [type: string]: Handler } = {
    'interaction.created': wire => this.startAnswer(anyObject(wire['interaction']) ?? {}),
    'interaction.status_update': wire => this.takeStatus(wire),
    'step.start': wire => this.startStep(wire['index'] ?? 0, anyObject(wire['step']) ?? {}),
    'step.stop': wire => this.stopStep(wire['index'] ?? 0, wire),
    'interaction.completed': wire => this.finish(anyObject(wire['interaction']) ?? {}),
    'interaction.requires_action': wire => this.finish(anyObject(wire['interaction']) ?? {}),
    'interaction.failed': wire => this.finish({ status: 'failed', ...anyObject(wire['interaction']) }),
    error: wire => this.fail(readInnerError(wire)),
  }

  /** Passes on an event for callers of the same format, but not before the start of the answer. */
  private pass(value: JsonObject): void {
    const event: CanonicalEvent = { type: 'opaque', format: FORMAT, value }
    if (!this.started && this.early.add(event)) return
    this.startAnswer({})
    this.out.push(event)
  }

  /** Reads the usage so far. Passes on the status, except `in_progress`, with which every answer starts. */
  private takeStatus(wire: JsonObject): void {
    this.takeUsage(wire)
    if (wire['status'] !== 'in_progress') this.pass(wire)
  }

  private startAnswer(interaction: JsonObject): void {
    if (this.started) return
    this.started = true
    const extras = readExtras(interaction)
    this.out.push({ type: 'result-start', ...readHead(interaction), ...(extras === undefined ? {} : { extras }) })
    this.early.release(this.out)
  }

  private startStep(index: Json, step: JsonObject): void {
    this.startAnswer({})
    this.open.get(index)?.end()
    this.seen.add(index)
    this.hasCalls ||= step['type'] === 'function_call'
    this.open.set(index, stepReader(withCallId(step, this.ids), this))
  }

  /** Reads a delta. A delta of a kind that its step cannot have starts another step. */
  private delta(index: Json, delta: JsonObject): void {
    if (this.open.get(index)?.accepts(delta) !== true) {
      if (delta['type'] === 'text_annotation_delta' && this.seen.has(index))
        return this.endedSteps.get(index)?.annotate?.(anyObjects(delta['annotations']))
      this.startStep(index, stepOf(delta))
    }
    this.open.get(index)!.delta(delta)
  }

  private stopStep(index: Json, wire: JsonObject): void {
    const step = this.open.get(index)
    step?.end()
    this.open.delete(index)
    if (step?.annotate !== undefined) this.endedSteps.set(index, step)
    this.takeUsage(wire)
  }

  private takeUsage(wire: JsonObject): void {
    const usage = anyObject(wire['usage'])
    if (usage === undefined) return
    this.startAnswer({})
    this.out.push({ type: 'usage', usage: readUsage(usage) })
  }

  /** Reads the last event, whose interaction may have steps that were not streamed. */
  private finish(interaction: JsonObject): void {
    this.startAnswer(interaction)
    const steps = anyObjects(interaction['steps'])
    const isSeen = this.seenIn(steps.length)
    for (const [index, step] of steps.entries()) if (!isSeen(index)) this.startStep(index, step)
    for (const step of this.open.values()) step.end()
    this.open.clear()
    const usage = anyObject(interaction['usage'])
    const error = readFailure(interaction)
    const finish = readFinish(anyText(interaction['status']), { called: this.hasCalls, refused: false })
    if (error === undefined)
      this.out.push({ type: 'candidate-end', candidate: 0, ...(finish === undefined ? {} : { finish }) })
    if (usage !== undefined) this.out.push({ type: 'usage', usage: readUsage(usage) })
    if (error === undefined) this.out.push({ type: 'result-end', ...lateFields(interaction) })
    else this.out.push({ type: 'error', error })
    this.ended = true
  }

  /**
   * Returns a function that tells which of the final steps were streamed. If the stream's indexes have gaps, they are
   * not positions in the final list, and its first steps were streamed.
   */
  private seenIn(count: number): (index: number) => boolean {
    const { seen } = this
    const hasGaps = [...seen].some(index => typeof index !== 'number' || index >= count)
    return hasGaps ? index => index < seen.size : index => seen.has(index)
  }

  private fail(error: CanonicalError): void {
    this.startAnswer({})
    this.out.push({ type: 'error', error })
    this.ended = true
  }
}

function lateFields(interaction: JsonObject) {
  const { serviceTier } = readHead(interaction)
  const extras = readExtras(interaction)
  return {
    ...(serviceTier === undefined ? {} : { serviceTier }),
    ...(extras === undefined ? {} : { extras }),
  }
}
