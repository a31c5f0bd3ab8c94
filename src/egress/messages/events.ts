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
import type { WireEvent } from '../../canonical/exchange.ts'
import { Losses } from '../../canonical/loss.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Usage } from '../../canonical/result.ts'
import { NOTHING, type Transducer } from '../../canonical/transducer.ts'
import { kept, spelt } from '../fields.ts'
import { type BlockWriter, DELTA, type Page, SUFFIX } from './block.ts'
import { blockWriter, hasBlock } from './blocks.ts'
import { FORMAT } from './content.ts'
import { errorBody } from './error.ts'
import { writeStop } from './finish.ts'
import { head } from './result.ts'
import { RefusalBlock } from './said-blocks.ts'
import { writeUsage } from './usage.ts'

type PartEvent = PartStart | PartDelta | PartPatch | PartEnd

/**
 * A streamed answer as the events of a message (FORMATS §6). Blocks come one after another, so events of parts that
 * are not the open one wait (traps 1, 3, 4); the end comes exactly once, an early one as an error.
 */
export class MessageStream implements Transducer<CanonicalEvent, WireEvent> {
  private readonly asked: CanonicalRequest
  private page: Page = { own: false, index: 0, out: [], held: [] }
  private start: ResultStart = { type: 'result-start' }
  private begun = false
  private over = false
  private openPart = NONE
  private open: BlockWriter | undefined
  /** Events of the parts that wait, by part; a Map keeps the order they started in. */
  private readonly waiting = new Map<number, PartEvent[]>()
  /** The part that started last, and the refusal that it is. */
  private latest = NONE
  private last: RefusalBlock | undefined
  private called = false
  private readonly refusals = new Set<number>()
  private refused = false
  private ending: CandidateEnd | undefined
  private usage: Usage | undefined

  constructor(asked: CanonicalRequest) {
    this.asked = asked
  }

  push(event: CanonicalEvent): readonly WireEvent[] {
    if (this.over) return NOTHING
    if (event.type === 'part-delta' && event.at.part === this.openPart && event.at.candidate === 0) {
      const prefix = this.open!.prefix
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
    this.open!.grown = true
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
        this.page.own = spelt(event, FORMAT)['own'] === true
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

  private say(type: string, fields: { readonly [field: string]: Json }): void {
    this.page.out.push({ event: type, data: JSON.stringify({ type, ...fields }) })
  }

  /** The start waits for the first event after it, which may be the usage it has a place for (trap 21). */
  private begin(): void {
    if (this.begun) return
    this.begun = true
    const message = {
      ...head(this.start, this.asked),
      content: [],
      ...{ stop_reason: null, stop_sequence: null, stop_details: null, container: null },
      usage: writeUsage(this.usage, this.start.serviceTier, new Losses()),
      ...kept(this.start, FORMAT),
    }
    this.say('message_start', { message })
  }

  /** An event only this format knows. */
  private pass(value: JsonObject, format: string): void {
    if (format !== FORMAT || typeof value['type'] !== 'string') return
    this.begin()
    this.page.out.push({ event: value['type'], data: JSON.stringify(value) })
  }

  private part(event: PartEvent): void {
    const { part } = event.at
    if (event.type === 'part-start') this.see(event)
    if (event.type === 'part-delta' && this.refusals.has(part)) this.refused ||= event.append !== ''
    if (part === this.openPart) this.step(event)
    else if (event.type !== 'part-start') this.waiting.get(part)?.push(event)
    else if (!hasBlock(event.part)) return
    else if (this.openPart === NONE) this.step(event)
    else this.waiting.set(part, [event])
    this.release()
  }

  private see({ part, at }: PartStart): void {
    this.latest = at.part
    this.letGo()
    this.called ||= part.type === 'tool-call'
    if (part.type === 'refusal') this.refusals.add(at.part)
  }

  /** A refusal that something follows is not the end of the answer. */
  private letGo(): void {
    this.last?.release()
    this.last = undefined
  }

  private step(event: PartEvent): void {
    switch (event.type) {
      case 'part-start':
        this.begin()
        this.openPart = event.at.part
        this.open = blockWriter(event.part, this.page)
        if (this.open instanceof RefusalBlock) this.last = this.open
        if (this.openPart !== this.latest) this.letGo()
        return
      case 'part-delta':
        if (event.of === undefined) this.open?.delta(event.append)
        return
      case 'part-patch':
        this.open?.patch(event)
        return
      case 'part-end':
        this.open?.end()
        this.open = undefined
        this.openPart = NONE
    }
  }

  /** The next of the parts that wait, and the one after it if that was whole already, and so on. */
  private release(): void {
    while (this.openPart === NONE && this.waiting.size > 0) {
      const [part, events] = this.waiting.entries().next().value!
      this.waiting.delete(part)
      for (const event of events) this.step(event)
    }
  }

  /** Ends every block, also of parts that nobody ended. */
  private close(): void {
    while (this.openPart !== NONE) {
      this.step({ type: 'part-end', at: { candidate: 0, part: this.openPart } })
      this.release()
    }
  }

  private finish(event: ResultEnd): void {
    this.over = true
    this.begin()
    this.close()
    const { container, ...late } = kept(event, FORMAT)
    const details = this.last?.details()
    if (details === undefined) this.letGo()
    const stop = writeStop(this.ending ?? {}, { called: this.called, refused: this.refused }, new Losses())
    const delta = {
      ...{ stop_reason: null, stop_sequence: null, stop_details: null },
      ...stop,
      ...(details === undefined ? {} : { stop_details: details }),
      container: container ?? null,
    }
    const tier = event.serviceTier === this.start.serviceTier ? undefined : event.serviceTier
    this.say('message_delta', { delta, usage: writeUsage(this.usage, tier, new Losses()), ...late })
    this.say('message_stop', {})
  }

  private fail(error: CanonicalError): void {
    this.over = true
    this.close()
    this.letGo()
    this.page.out.push({ event: 'error', data: JSON.stringify(errorBody(error)) })
  }
}

/** No part is open. */
const NONE = -1
