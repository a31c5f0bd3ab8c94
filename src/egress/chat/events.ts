import type { CanonicalError } from '../../canonical/error.ts'
import type { CanonicalEvent, PartDelta, ResultEnd } from '../../canonical/event.ts'
import { type Loss, Losses } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Usage } from '../../canonical/result.ts'
import { NOTHING, type Transducer } from '../../canonical/transducer.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { ENDED_EARLY } from '../errors/error.ts'
import { errorBody } from '../errors/openai-error.ts'
import { extrasFor } from '../fields.ts'
import { writeUsage } from '../usage/openai.ts'
import { CandidateWriter } from './candidate.ts'
import { ChunkTemplate } from './chunk-template.ts'
import { FORMAT } from './content.ts'

/** The event that ends every successful stream. */
export const DONE: WireEvent = { data: '[DONE]' }

/**
 * Writes a streamed answer as chunks (docs/wire/chat.md#stream), followed by the usage if requested, and `[DONE]`. An
 * error ends the stream without `[DONE]`.
 */
export class ChatChunks implements Transducer<CanonicalEvent, WireEvent> {
  /** The service tier last sent to the caller. */
  tier: string | undefined
  private readonly request: CanonicalRequest
  private readonly countsUnasked: boolean
  private readonly candidates: CandidateWriter[] = []
  private createdTemplate: ChunkTemplate | undefined
  private usage: Usage | undefined
  private isOver = false
  private readonly losses = new Losses()

  /** @param countsUnasked whether the usage is written although the caller did not request it. */
  constructor(request: CanonicalRequest, countsUnasked = false) {
    this.request = request
    this.countsUnasked = countsUnasked
  }

  /** Fixed text around the chunks, with default values if there was no `result-start` event. */
  private get template(): ChunkTemplate {
    this.createdTemplate ??= new ChunkTemplate({ type: 'result-start' }, this.request)
    return this.createdTemplate
  }

  /** Losses of signatures, stop sequences and counts. */
  get lost(): readonly Loss[] {
    return this.losses.list
  }

  push(event: CanonicalEvent): readonly WireEvent[] {
    if (this.isOver) return NOTHING
    switch (event.type) {
      case 'part-delta':
        return this.candidate(event.at.candidate).delta(event)
      case 'part-start':
      case 'part-patch':
      case 'part-end':
        return this.candidate(event.at.candidate).part(event)
      case 'logprobs':
        this.candidate(event.candidate).holdLogprobs(event.append)
        return NOTHING
      case 'result-start':
        this.createdTemplate = new ChunkTemplate(event, this.request)
        this.tier = event.serviceTier
        return NOTHING
      case 'candidate-end':
        return this.candidate(event.candidate).end(event)
      case 'usage':
        this.usage = event.usage
        return NOTHING
      case 'result-end':
        return this.close(event)
      case 'error':
        return this.fail(event.error)
      case 'transcript':
      case 'preview':
      case 'opaque':
        return NOTHING
    }
  }

  end(): readonly WireEvent[] {
    return this.isOver ? NOTHING : this.fail(ENDED_EARLY)
  }

  /** True if the caller requested usage. */
  get withUsage(): boolean {
    return this.template.withUsage
  }

  /** Records a delta that was relayed to the caller. */
  recordDelta(event: PartDelta): void {
    this.candidate(event.at.candidate).recordDelta(event)
  }

  /** Records a choice of a chunk that was relayed to the caller. */
  recordChoice({ index, finish_reason }: JsonObject): void {
    const candidate = this.candidate(Number(index))
    candidate.hasRole = true
    candidate.discardHeld()
    candidate.isOver ||= typeof finish_reason === 'string'
  }

  private candidate(index: number): CandidateWriter {
    while (this.candidates.length <= index)
      this.candidates.push(new CandidateWriter(this.candidates.length, this.template, this.losses))
    return this.candidates[index]!
  }

  private close(event: ResultEnd): readonly WireEvent[] {
    this.isOver = true
    const { serviceTier = this.tier } = event
    const lateFields: JsonObject = {
      ...(serviceTier === undefined || serviceTier === this.tier ? {} : { service_tier: serviceTier }),
      ...extrasFor(event, FORMAT),
    }
    const isRead = this.withUsage || this.countsUnasked
    const usage = isRead && this.usage !== undefined ? { usage: writeUsage(FORMAT, this.usage, this.losses) } : {}
    const facts = { ...lateFields, ...usage }
    return Object.keys(facts).length === 0 ? [DONE] : [{ data: this.template.closing(facts) }, DONE]
  }

  private fail(error: CanonicalError): readonly WireEvent[] {
    this.isOver = true
    return [...this.candidates.flatMap(candidate => candidate.flushHeld()), { data: JSON.stringify(errorBody(error)) }]
  }
}
