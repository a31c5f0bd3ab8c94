import type { Annotation } from '../../canonical/content.ts'
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
import { type Json, type JsonObject, stringIn } from '../../canonical/node.ts'
import type { Usage } from '../../canonical/result.ts'
import { NOTHING, type Transducer } from '../../canonical/transducer.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { ENDED_EARLY } from '../errors/error.ts'
import { extrasFor } from '../fields.ts'
import { writeFinish } from './answer.ts'
import { type CitedText, writeCitation } from './citations.ts'
import { FORMAT } from './context.ts'
import { errorDelta } from './error.ts'
import { flushLogprobs, type OpenPart, openedPart, type StreamState, writeEvent } from './parts.ts'
import { writeUsage } from './usage.ts'

/** The event that ends every successful stream. */
const DONE: WireEvent = { data: '[DONE]' }

/**
 * Writes a streamed answer (docs/wire/cohere-chat.md#stream). Parts arrive one after another. An error is the last
 * event and does not end the open part, because clients execute a call as soon as it ends (trap 88).
 */
export class CohereChatStream implements Transducer<CanonicalEvent, WireEvent> {
  private readonly state: StreamState = { blocks: 0, calls: 0, hasPlan: false, out: [], logprobs: [] }
  private start: ResultStart = { type: 'result-start' }
  private hasStarted = false
  private isOver = false
  /** The open part, or undefined if the format cannot express it. */
  private openPart: OpenPart | undefined
  private openIndex = -1
  /** Texts that have ended, by part index. Their citations may still arrive. */
  private readonly endedTexts = new Map<number, CitedText>()
  private citationCount = 0
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
      case 'part-delta':
        if (event.at.candidate === 0 && event.of === undefined) this.openPart?.delta(event.append)
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
      case 'logprobs':
        if (event.candidate === 0) for (const one of event.append) this.state.logprobs.push(one)
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

  private begin(): void {
    if (this.hasStarted) return
    this.hasStarted = true
    const { id } = this.start
    const message = { role: 'assistant', content: [], tool_plan: '', tool_calls: [], citations: [] }
    writeEvent(this.state, 'message-start', { ...(id === undefined ? {} : { id }), delta: { message } })
  }

  private startPart({ part, at }: PartStart): void {
    this.begin()
    this.openIndex = at.part
    this.content.called ||= part.type === 'tool-call'
    this.openPart = openedPart(part, this.state)
    if (part.type === 'text' && part.annotations !== undefined) this.cite(part.annotations, this.openPart?.citedText)
  }

  private patch(event: PartPatch): void {
    const isOpen = event.at.part === this.openIndex
    if (isOpen) this.openPart?.patch(event)
    if (event.annotations !== undefined)
      this.cite(event.annotations, isOpen ? this.openPart?.citedText : this.endedTexts.get(event.at.part))
  }

  /** Writes citations, each of which starts and ends immediately. */
  private cite(annotations: readonly Annotation[], text: CitedText | undefined): void {
    if (text === undefined) return
    for (const annotation of annotations) {
      const citation = writeCitation(annotation, text)
      if (citation === undefined) continue
      const index = this.citationCount++
      writeEvent(this.state, 'citation-start', { index, delta: { message: { citations: citation } } })
      writeEvent(this.state, 'citation-end', { index })
    }
  }

  private endPart(): void {
    this.openPart?.end()
    const text = this.openPart?.endedText
    if (text !== undefined) this.endedTexts.set(this.openIndex, text)
    this.openPart = undefined
    this.openIndex = -1
  }

  /** Passes on an event that only this format defines. */
  private pass(value: JsonObject, format: string): void {
    if (format !== FORMAT) return
    this.begin()
    this.state.out.push({ event: stringIn(value['type']) || 'debug', data: JSON.stringify(value) })
  }

  private finish(event: ResultEnd): void {
    this.isOver = true
    this.begin()
    flushLogprobs(this.state, 0)
    const { candidateEnd, usage, losses } = this
    const message = extrasFor(candidateEnd, FORMAT)
    const fields: { [field: string]: Json } = { finish_reason: writeFinish(candidateEnd?.finish, this.content, losses) }
    fields['usage'] = writeUsage(usage, losses)
    if (Object.keys(message).length > 0) fields['message'] = message
    const delta = { ...fields, ...extrasFor(this.start, FORMAT), ...extrasFor(event, FORMAT) }
    writeEvent(this.state, 'message-end', { delta })
    this.state.out.push(DONE)
  }

  private fail(error: CanonicalError): void {
    this.isOver = true
    writeEvent(this.state, 'message-end', { delta: errorDelta(error) })
  }
}
