import type { CanonicalError } from '../../canonical/error.ts'
import type { CanonicalEvent, ResultEnd } from '../../canonical/event.ts'
import { type Loss, Losses } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { Usage } from '../../canonical/result.ts'
import { NOTHING, type Transducer } from '../../canonical/transducer.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { ENDED_EARLY } from '../errors/error.ts'
import { CandidateWriter } from './candidate-events.ts'
import { errorBody } from './error.ts'
import { EventTemplate } from './event-template.ts'
import { FORMAT, nativeExtras } from './fields.ts'
import { isBlocked } from './result.ts'
import { writeUsage } from './usage.ts'

/**
 * Writes a streamed answer, part by part (docs/wire/contents.md#stream). Every event is an answer with only the new
 * parts. The last event has the finish reason and the usage, and nothing else marks the end (trap 81). An error is a
 * separate event (trap 75).
 */
export class ContentsStream implements Transducer<CanonicalEvent, WireEvent> {
  private readonly candidates: CandidateWriter[] = []
  private template = new EventTemplate(undefined)
  private usage: Usage | undefined
  private serviceTier: string | undefined
  private isOver = false
  private readonly losses = new Losses()

  /** Losses of hidden reasoning, stop sequences and counts. */
  get lost(): readonly Loss[] {
    return this.losses.list
  }

  push(event: CanonicalEvent): readonly WireEvent[] {
    if (this.isOver) return NOTHING
    switch (event.type) {
      case 'part-delta':
        return this.candidate(event.at.candidate).delta(event)
      case 'part-start':
        return this.candidate(event.at.candidate).start(event)
      case 'part-patch':
        this.candidate(event.at.candidate).patch(event)
        return NOTHING
      case 'part-end':
        return this.candidate(event.at.candidate).partEnd()
      case 'logprobs':
        this.candidate(event.candidate).addLogprobs(event.append)
        return NOTHING
      case 'result-start':
        this.template = new EventTemplate(event)
        this.serviceTier = event.serviceTier
        return NOTHING
      case 'candidate-end':
        if (event.finish?.stopSequence !== undefined)
          this.losses.drop(['candidates', event.candidate, 'finish', 'stopSequence'], 'no-stop-sequence')
        return this.candidate(event.candidate).end(event)
      case 'usage':
        this.usage = event.usage
        return NOTHING
      case 'opaque':
        return event.format === FORMAT ? [{ data: JSON.stringify(event.value) }] : NOTHING
      case 'transcript':
      case 'preview':
        return NOTHING
      case 'result-end':
        return this.close(event)
      case 'error':
        return this.fail(event.error)
    }
  }

  end(): readonly WireEvent[] {
    return this.isOver ? NOTHING : this.fail(ENDED_EARLY)
  }

  private candidate(index: number): CandidateWriter {
    while (this.candidates.length <= index)
      this.candidates.push(new CandidateWriter(this.candidates.length, this.template, this.losses))
    return this.candidates[index]!
  }

  private close(event: ResultEnd): readonly WireEvent[] {
    this.isOver = true
    this.serviceTier = event.serviceTier ?? this.serviceTier
    return [this.lastEvent(nativeExtras(event) ?? {})]
  }

  /**
   * Returns the last event, with the usage and the finish reasons of all candidates, including candidates that finished
   * before an error.
   */
  private lastEvent(late: JsonObject): WireEvent {
    const usageMetadata = writeUsage(this.usage, this.serviceTier, this.losses)
    const [first] = this.candidates
    const isPromptBlocked = first?.finish !== undefined && isBlocked(first.finish)
    const candidates = isPromptBlocked ? undefined : this.candidates.map(candidate => candidate.written())
    const facts = { ...(usageMetadata === undefined ? {} : { usageMetadata }), ...late }
    return { data: this.template.lastEvent(candidates, facts) }
  }

  private fail(error: CanonicalError): readonly WireEvent[] {
    this.isOver = true
    const heldEvents = this.candidates.flatMap(candidate => candidate.flushHeld())
    const hasFinished = this.candidates.some(({ finish }) => finish !== undefined)
    const lastEvents = hasFinished || this.usage !== undefined ? [this.lastEvent({})] : []
    return [...heldEvents, ...lastEvents, { data: JSON.stringify(errorBody(error)) }]
  }
}
