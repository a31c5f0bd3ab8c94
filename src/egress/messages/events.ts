import type { RefusalPart } from '../../canonical/content.ts'
import type { CanonicalError } from '../../canonical/error.ts'
import type {
  CandidateEnd,
  CanonicalEvent,
  PartPatch,
  PartStart,
  ResultEnd,
  ResultStart,
} from '../../canonical/event.ts'
import { type Loss, Losses } from '../../canonical/loss.ts'
import { grouped } from '../../canonical/maps.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Usage } from '../../canonical/result.ts'
import { NOTHING, type Transducer } from '../../canonical/transducer.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { ENDED_EARLY } from '../errors/error.ts'
import { defined, extrasFor } from '../fields.ts'
import { explanationIn, isUnprintable, stopDetails } from './answer.ts'
import { blockOf, emit, type MessageState, type OpenBlock, RelayedBlock, TextBlock, writeHeld } from './blocks.ts'
import { FORMAT } from './context.ts'
import { errorBody } from './error.ts'
import { head, printsLastBlock, writeStop } from './result.ts'
import { writeUsage } from './usage.ts'

/**
 * Writes a streamed answer as the events of a message (docs/wire/messages.md#stream, traps 1, 3, 4). Parts arrive one
 * after another. The end is written exactly once. An early end is an error and does not close the open block, because
 * clients execute a call as soon as its block stops (trap 88).
 */
export class MessageStream implements Transducer<CanonicalEvent, WireEvent> {
  private readonly request: CanonicalRequest
  private readonly state: MessageState
  private start: ResultStart = { type: 'result-start' }
  private hasStarted = false
  private isOver = false
  /** Block of the open part, or undefined if the part has no block. */
  private openBlock: OpenBlock | undefined
  /** Index of the most recently started part. */
  private partIndex = -1
  /** Citations that arrived after the block of their text part had ended. */
  private lateCitations: PartPatch[] | undefined
  private readonly losses = new Losses()
  private hasCalls = false
  private candidateEnd: CandidateEnd | undefined
  private usage: Usage | undefined
  /** True if the caller receives the upstream's events unchanged. The writer's output for these events is discarded. */
  isRelaying = false

  constructor(request: CanonicalRequest) {
    this.request = request
    this.state = { index: 0, out: NOTHING, held: [], refused: false, endsInText: printsLastBlock(request) }
  }

  push(event: CanonicalEvent): readonly WireEvent[] {
    if (this.isOver) return NOTHING
    this.state.out = NOTHING
    this.handleEvent(event)
    return this.state.out
  }

  end(): readonly WireEvent[] {
    if (this.isOver) return NOTHING
    this.state.out = NOTHING
    this.fail(ENDED_EARLY)
    return this.state.out
  }

  private handleEvent(event: CanonicalEvent): void {
    switch (event.type) {
      case 'part-delta':
        if (event.at.candidate === 0 && event.of === undefined) this.openBlock?.delta(event.append)
        return
      case 'part-start':
        if (event.at.candidate === 0) this.startPart(event)
        return
      case 'part-patch':
        if (event.at.candidate === 0) this.patch(event)
        return
      case 'part-end':
        if (event.at.candidate === 0) this.endPart()
        return
      case 'result-start':
        this.start = event
        return
      case 'usage':
        this.usage = event.usage
        return this.begin()
      case 'candidate-end':
        if (event.candidate === 0) this.candidateEnd = event
        return
      case 'opaque':
        return this.pass(event.value, event.format)
      case 'result-end':
        return this.finish(event)
      case 'error':
        return this.fail(event.error)
      case 'logprobs':
        return
    }
  }

  private writeEvent(type: string, fields: { readonly [field: string]: Json }): void {
    emit(this.state, { event: type, data: JSON.stringify({ type, ...fields }) })
  }

  /**
   * Writes `message_start` when the next event arrives, because that event may be the usage, for which `message_start`
   * has a field (trap 21).
   */
  private begin(): void {
    if (this.hasStarted) return
    this.hasStarted = true
    const message = {
      ...head(this.start, this.request),
      content: [],
      ...{ stop_reason: null, stop_sequence: null },
      usage: writeUsage(this.usage, this.start.serviceTier, new Losses()),
      ...extrasFor(this.start, FORMAT),
    }
    this.writeEvent('message_start', { message })
  }

  /** Passes on an event that only this format defines. */
  private pass(value: JsonObject, format: string): void {
    if (format !== FORMAT || typeof value['type'] !== 'string') return
    this.begin()
    emit(this.state, { event: value['type'], data: JSON.stringify(value) })
  }

  private startPart({ part, at }: PartStart): void {
    this.partIndex = at.part
    // If another part follows, the refusal does not end the answer.
    if (this.state.held.at(-1)?.type === 'refusal') writeHeld(this.state)
    this.hasCalls ||= part.type === 'tool-call'
    this.begin()
    this.openBlock = this.isRelaying ? new RelayedBlock(part, this.state) : blockOf(part, this.state)
  }

  private finish(event: ResultEnd): void {
    this.isOver = true
    this.begin()
    const { container, ...late } = extrasFor(event, FORMAT)
    const explanation = this.writeRest()
    const content = { called: this.hasCalls, refused: this.state.refused }
    const { stop_details, ...stop } = writeStop(this.candidateEnd ?? {}, content, new Losses())
    const details = explanation === undefined ? stop_details : stopDetails(explanation)
    const delta = {
      ...{ stop_reason: null, stop_sequence: null },
      ...stop,
      // The field is null in a unary answer, but omitted in a stream (trap 87).
      ...(details === null ? {} : defined({ stop_details: details })),
      ...defined({ container }),
    }
    const tier = event.serviceTier === this.start.serviceTier ? undefined : event.serviceTier
    this.writeEvent('message_delta', {
      delta,
      usage: writeUsage(this.usage, tier, this.isRelaying ? new Losses() : this.losses),
      ...late,
    })
    this.writeEvent('message_stop', {})
  }

  private patch(event: PartPatch): void {
    if (event.at.part === this.partIndex && this.openBlock !== undefined) this.openBlock.patch(event)
    else if (event.annotations !== undefined && !this.isRelaying) (this.lateCitations ??= []).push(event)
  }

  /** Records that the input of the open block was relayed. The part itself only changes when the block ends. */
  relayedInput(): void {
    if (this.openBlock !== undefined) this.openBlock.hasInput = true
  }

  get lost(): readonly Loss[] {
    return this.losses.list
  }

  private endPart(): void {
    this.openBlock?.end()
    this.openBlock = undefined
  }

  /** Writes the parts that are still held, except for a refusal at the end of the answer, which is returned. */
  private writeRest(): RefusalPart | undefined {
    const { held } = this.state
    const explanation = explanationIn(held)
    if (explanation !== undefined) held.pop()
    if (printsLastBlock(this.request)) while (held.length > 0 && isUnprintable(held.at(-1)!)) held.pop()
    writeHeld(this.state)
    this.writeLate()
    return explanation
  }

  /**
   * Writes late citations in a separate empty text block, because a block that has ended must not get any more deltas
   * (trap 3). Clients that would print that block as the answer do not get the citations.
   */
  private writeLate(): void {
    if (this.lateCitations === undefined) return
    const byPart = grouped(this.lateCitations, ({ at }) => at.part)
    for (const partIndex of byPart.keys())
      this.losses.drop(['candidates', 0, 'content', partIndex, 'annotations'], 'the-text-had-ended')
    if (printsLastBlock(this.request)) return
    const annotations = [...byPart.values()].flat().flatMap(({ annotations = [] }) => annotations)
    new TextBlock({ type: 'text', text: '', annotations }, this.state).end()
  }

  private fail(error: CanonicalError): void {
    this.isOver = true
    if (this.state.held.at(-1)?.type === 'refusal') writeHeld(this.state)
    if (this.openBlock === undefined) this.writeLate()
    this.openBlock?.writeHeldText()
    emit(this.state, { event: 'error', data: JSON.stringify(errorBody(error)) })
  }
}
