import type { CanonicalError } from '../../canonical/error.ts'
import type {
  CandidateEnd,
  CanonicalEvent,
  PartDelta,
  PartEnd,
  PartPatch,
  PartStart,
  ResultEnd,
  ResultStart,
} from '../../canonical/event.ts'
import { Losses } from '../../canonical/loss.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Usage } from '../../canonical/result.ts'
import { NOTHING, type Transducer } from '../../canonical/transducer.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { defined, kept } from '../fields.ts'
import { type BlockContext, type BlockWriter, DELTA, SUFFIX, writeHeld } from './block.ts'
import { blockWriter, hasBlock } from './blocks.ts'
import { printsLastBlock } from './client.ts'
import { FORMAT } from './content.ts'
import { errorBody } from './error.ts'
import { writeStop } from './finish.ts'
import { RelayedBlock } from './relayed-block.ts'
import { head } from './result.ts'
import { RefusalBlock } from './text-blocks.ts'
import { writeUsage } from './usage.ts'

type PartEvent = PartStart | PartDelta | PartPatch | PartEnd

/**
 * A streamed answer, its parts one after another, as the events of a message (FORMATS §6, traps 1, 3, 4). The end is
 * written exactly once; an early end is an error and leaves the open block open, as clients execute a call whose block
 * was stopped (trap 88).
 */
export class MessageStream implements Transducer<CanonicalEvent, WireEvent> {
  private readonly request: CanonicalRequest
  private page: BlockContext = { index: 0, out: [], held: [] }
  private start: ResultStart = { type: 'result-start' }
  private begun = false
  private over = false
  /** The block of the open part, if it has one. */
  private open: BlockWriter | undefined
  /** The last part that started, if it is a refusal. */
  private last: RefusalBlock | undefined
  private called = false
  private refused = false
  private ending: CandidateEnd | undefined
  private usage: Usage | undefined
  /** The caller is sent what these events were read of; what is written is thrown away. */
  relaying = false

  constructor(request: CanonicalRequest) {
    this.request = request
  }

  push(event: CanonicalEvent): readonly WireEvent[] {
    if (this.over) return NOTHING
    if (event.type === 'part-delta' && event.at.candidate === 0) {
      const prefix = this.open?.prefix
      if (prefix !== undefined && event.of === undefined && event.append !== '' && this.begun)
        return this.grow(prefix, event.append)
    }
    this.page.out = []
    this.take(event)
    return this.page.out
  }

  end(): readonly WireEvent[] {
    if (this.over) return NOTHING
    this.page.out = []
    this.fail({ kind: 'upstream-failed', message: 'The answer ended early.' })
    return this.page.out
  }

  private grow(prefix: string, append: string): readonly WireEvent[] {
    const open = this.open!
    open.grown = true
    if (open.body !== undefined) open.body += append
    return [{ event: DELTA, data: prefix + JSON.stringify(append) + SUFFIX }]
  }

  private take(event: CanonicalEvent): void {
    switch (event.type) {
      case 'part-start':
      case 'part-delta':
      case 'part-patch':
      case 'part-end':
        if (event.at.candidate === 0) this.part(event)
        return
      case 'result-start':
        this.start = event
        return
      case 'usage':
        this.usage = event.usage
        return this.begin()
      case 'candidate-end':
        if (event.candidate === 0) this.ending = event
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
    this.page.out.push({ event: type, data: JSON.stringify({ type, ...fields }) })
  }

  /** The start is written at the first event after it, which may be the usage it has a field for (trap 21). */
  private begin(): void {
    if (this.begun) return
    this.begun = true
    const message = {
      ...head(this.start, this.request),
      content: [],
      ...{ stop_reason: null, stop_sequence: null },
      usage: writeUsage(this.usage, this.start.serviceTier, new Losses()),
      ...kept(this.start, FORMAT),
    }
    this.writeEvent('message_start', { message })
  }

  /** Passes on an event that only this format defines. */
  private pass(value: JsonObject, format: string): void {
    if (format !== FORMAT || typeof value['type'] !== 'string') return
    this.begin()
    this.page.out.push({ event: value['type'], data: JSON.stringify(value) })
  }

  private part(event: PartEvent): void {
    switch (event.type) {
      case 'part-start':
        return this.startPart(event)
      case 'part-delta':
        if (this.open instanceof RefusalBlock) this.refused ||= event.append !== ''
        if (event.of === undefined) this.open?.delta(event.append)
        return
      case 'part-patch':
        this.open?.patch(event)
        return
      case 'part-end':
        this.open?.end()
        this.open = undefined
    }
  }

  private startPart({ part }: PartStart): void {
    this.releaseRefusal()
    this.called ||= part.type === 'tool-call'
    if (!this.relaying && !hasBlock(part)) return
    this.begin()
    this.open = this.relaying ? new RelayedBlock(part, this.page) : blockWriter(part, this.page)
    if (this.open instanceof RefusalBlock) this.last = this.open
  }

  /** A refusal that another part follows is not the end of the answer. */
  private releaseRefusal(): void {
    this.last?.release()
    this.last = undefined
  }

  private finish(event: ResultEnd): void {
    this.over = true
    this.begin()
    const { container, ...late } = kept(event, FORMAT)
    const explained = this.last?.details()
    if (explained === undefined) this.releaseRefusal()
    if (!printsLastBlock(this.request)) writeHeld(this.page)
    const content = { called: this.called, refused: this.refused }
    const { stop_details, ...stop } = writeStop(this.ending ?? {}, content, new Losses())
    const details = explained ?? stop_details
    const delta = {
      ...{ stop_reason: null, stop_sequence: null },
      ...stop,
      // A whole answer has the field as null, a stream omits it (trap 87).
      ...(details === null ? {} : defined({ stop_details: details })),
      ...defined({ container }),
    }
    const tier = event.serviceTier === this.start.serviceTier ? undefined : event.serviceTier
    this.writeEvent('message_delta', { delta, usage: writeUsage(this.usage, tier, new Losses()), ...late })
    this.writeEvent('message_stop', {})
  }

  private fail(error: CanonicalError): void {
    this.over = true
    this.releaseRefusal()
    this.page.out.push({ event: 'error', data: JSON.stringify(errorBody(error)) })
  }
}
