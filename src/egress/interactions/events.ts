import type { CanonicalError } from '../../canonical/error.ts'
import {
  type CanonicalEvent,
  candidateIn,
  type PartStart,
  type ResultEnd,
  type ResultStart,
} from '../../canonical/event.ts'
import { type Loss, Losses } from '../../canonical/loss.ts'
import { type JsonObject, stringIn } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { EndContent, Finish, Usage } from '../../canonical/result.ts'
import { NOTHING, type Transducer } from '../../canonical/transducer.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { ENDED_EARLY } from '../errors/error.ts'
import { extrasFor } from '../fields.ts'
import { writeStatus } from './answer.ts'
import { FORMAT } from './context.ts'
import { innerErrorFields } from './error.ts'
import { head, late } from './result.ts'
import { StepSink, type StepWriter, stepWriter } from './step-events.ts'
import { writeUsage } from './usage.ts'

/** The event that ends a stream. */
export const DONE: WireEvent = { event: 'done', data: '[DONE]' }

/**
 * Writes a streamed answer (docs/wire/interactions.md#stream). Parts arrive one after another, and each becomes a
 * separate step. A step that is open when an error occurs is not stopped (trap 88).
 */
export class InteractionStream implements Transducer<CanonicalEvent, WireEvent> {
  readonly sink = new StepSink()
  private readonly request: CanonicalRequest
  private readonly losses = new Losses()
  private start: ResultStart = { type: 'result-start' }
  private readonly steps: StepWriter[] = []
  private readonly content: EndContent & { called: boolean; refused: boolean } = { called: false, refused: false }
  /** Index of the last refusal. */
  private lastRefusalIndex = -1
  private finish: Finish | undefined
  private usage: Usage | undefined
  private isOver = false

  constructor(request: CanonicalRequest) {
    this.request = request
  }

  /** Losses that the headers of a unary answer would have reported. */
  get lost(): readonly Loss[] {
    return this.losses.list
  }

  push(event: CanonicalEvent): readonly WireEvent[] {
    if (this.isOver) return NOTHING
    if (event.type === 'part-delta') {
      if (event.at.candidate > 0 || event.of !== undefined) return NOTHING
      if (event.at.part === this.lastRefusalIndex) this.content.refused = true
      this.steps[event.at.part]?.delta(event.append)
    } else this.handleEvent(event)
    return this.takeEvents()
  }

  end(): readonly WireEvent[] {
    if (this.isOver) return NOTHING
    this.fail(ENDED_EARLY)
    return this.takeEvents()
  }

  private takeEvents(): readonly WireEvent[] {
    const { out } = this.sink
    if (out.length === 0) return NOTHING
    this.sink.out = []
    return out
  }

  private handleEvent(event: Exclude<CanonicalEvent, { type: 'part-delta' }>): void {
    if (candidateIn(event) > 0) return
    switch (event.type) {
      case 'result-start':
        return this.begin(event)
      case 'part-start':
        return this.startPart(event)
      case 'part-patch':
        return this.steps[event.at.part]?.patch(event)
      case 'part-end':
        return this.steps[event.at.part]?.end()
      case 'candidate-end':
        this.finish = event.finish
        if (event.finish?.stopSequence !== undefined)
          this.losses.drop(['candidates', 0, 'finish', 'stopSequence'], 'no-stop-sequence')
        return
      case 'usage':
        this.usage = event.usage
        return
      case 'opaque':
        return this.pass(event.format, event.value)
      case 'result-end':
        return this.complete(event)
      case 'error':
        return this.fail(event.error)
    }
  }

  private begin(start: ResultStart): void {
    this.start = start
    const headFields = head(start, this.request)
    const interaction = { ...headFields, status: 'in_progress', ...late(start), ...extrasFor(start, FORMAT) }
    this.sink.emit('interaction.created', { interaction })
    this.sink.emit('interaction.status_update', { interaction_id: headFields['id']!, status: 'in_progress' })
  }

  private startPart({ at, part }: PartStart): void {
    this.content.called ||= part.type === 'tool-call'
    if (part.type === 'refusal') this.lastRefusalIndex = at.part
    this.steps[at.part] = stepWriter(part, this.sink)
  }

  /** Passes on an event that only this format defines. */
  private pass(format: string, value: JsonObject): void {
    const type = stringIn(value['event_type'])
    if (format === FORMAT && type !== '') this.sink.out.push({ event: type, data: JSON.stringify(value) })
  }

  private complete(end: ResultEnd): void {
    this.isOver = true
    const interaction: JsonObject = {
      ...head(this.start, this.request),
      status: writeStatus(this.finish, this.content),
      ...(this.usage === undefined ? {} : { usage: writeUsage(this.usage, this.losses) }),
      ...late({ ...this.start, ...end }),
      ...extrasFor(this.start, FORMAT),
      ...extrasFor(end, FORMAT),
    }
    this.sink.emit('interaction.completed', { interaction })
    this.sink.out.push(DONE)
  }

  private fail(error: CanonicalError): void {
    this.isOver = true
    this.sink.emit('error', { error: innerErrorFields(error) })
  }
}
