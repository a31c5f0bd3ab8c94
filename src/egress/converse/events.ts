import type { CanonicalError } from '../../canonical/error.ts'
import type { CandidateEnd, CanonicalEvent, PartStart, ResultEnd, ResultStart } from '../../canonical/event.ts'
import { type Loss, Losses } from '../../canonical/loss.ts'
import { defined, type JsonObject } from '../../canonical/node.ts'
import type { Usage } from '../../canonical/result.ts'
import { NOTHING, type Transducer } from '../../canonical/transducer.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { ENDED_EARLY } from '../errors/error.ts'
import { extrasFor } from '../fields.ts'
import { blockOf, type MessageState, type OpenBlock } from './blocks.ts'
import { FORMAT } from './context.ts'
import { errorEvent } from './error.ts'
import { NO_METRICS, tierOf, writeStop } from './result.ts'
import { writeUsage } from './usage.ts'

/**
 * Writes a streamed answer as the events of a message (docs/wire/converse.md#stream). Parts arrive one after another.
 * The end is written exactly once. An early end is an exception and does not close the open block, because clients
 * execute a call as soon as its block stops (trap 88).
 */
export class ConverseStream implements Transducer<CanonicalEvent, WireEvent> {
  private readonly state: MessageState = { index: 0, out: [] }
  private start: ResultStart = { type: 'result-start' }
  private hasStarted = false
  private isOver = false
  /** Block of the open part, or undefined if the part has no block. */
  private openBlock: OpenBlock | undefined
  private openIndex = -1
  private readonly losses = new Losses()
  private readonly content = { called: false, refused: false }
  private candidateEnd: CandidateEnd | undefined
  private usage: Usage | undefined

  push(event: CanonicalEvent): readonly WireEvent[] {
    if (this.isOver) return NOTHING
    this.state.out = []
    this.handleEvent(event)
    return this.state.out
  }

  end(): readonly WireEvent[] {
    return this.push({ type: 'error', error: ENDED_EARLY })
  }

  get lost(): readonly Loss[] {
    return this.losses.list
  }

  private handleEvent(event: CanonicalEvent): void {
    switch (event.type) {
      case 'part-start':
        if (event.at.candidate === 0) this.startPart(event)
        return
      case 'part-delta':
        if (event.at.candidate === 0 && event.of === undefined) this.grow(event.append)
        return
      case 'part-patch':
        if (event.at.candidate !== 0) return
        if (event.at.part === this.openIndex) this.openBlock?.patch(event)
        else if (event.annotations !== undefined)
          this.losses.drop(['candidates', 0, 'content', event.at.part, 'annotations'], 'the-text-had-ended')
        return
      case 'part-end':
        if (event.at.candidate === 0) this.endPart()
        return
      case 'result-start':
        this.start = event
        return
      case 'candidate-end':
        if (event.candidate === 0) this.candidateEnd = event
        return
      case 'usage':
        this.usage = event.usage
        return
      case 'opaque':
        return this.pass(event.value, event.format)
      case 'result-end':
        return this.finish(event)
      case 'error':
        return this.fail(event.error)
    }
  }

  private write(event: string, wire: JsonObject): void {
    this.state.out.push({ event, data: JSON.stringify(wire) })
  }

  private begin(): void {
    if (this.hasStarted) return
    this.hasStarted = true
    this.write('messageStart', { role: 'assistant' })
  }

  private startPart({ part, at }: PartStart): void {
    this.begin()
    this.openIndex = at.part
    this.content.called ||= part.type === 'tool-call'
    this.isRefusing = part.type === 'refusal'
    this.openBlock = blockOf(part, this.state)
  }

  private isRefusing = false

  private grow(append: string): void {
    this.content.refused ||= this.isRefusing && append !== ''
    this.openBlock?.delta(append)
  }

  private endPart(): void {
    this.openBlock?.end()
    this.openBlock = undefined
    this.openIndex = -1
  }

  /** Passes on an event that only this format defines. */
  private pass(value: JsonObject, format: string): void {
    if (format !== FORMAT) return
    this.begin()
    for (const [name, wire] of Object.entries(value)) this.write(name, wire as JsonObject)
  }

  private finish(event: ResultEnd): void {
    this.isOver = true
    this.begin()
    const stopReason = writeStop(this.candidateEnd ?? {}, this.content, this.losses)
    const { additionalModelResponseFields, ...late } = { ...extrasFor(this.start, FORMAT), ...extrasFor(event, FORMAT) }
    this.write('messageStop', { stopReason, ...(defined({ additionalModelResponseFields }) as JsonObject) })
    const serviceTier = tierOf(event) ?? tierOf(this.start)
    this.write('metadata', {
      usage: writeUsage(this.usage, this.losses),
      metrics: NO_METRICS,
      ...(defined({ serviceTier }) as JsonObject),
      ...late,
    })
  }

  private fail(error: CanonicalError): void {
    this.isOver = true
    this.state.out.push(errorEvent(error))
  }
}
