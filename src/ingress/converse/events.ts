import { AnswerIds } from '../../canonical/call-ids.ts'
import type { Part } from '../../canonical/content.ts'
import type { CanonicalError } from '../../canonical/error.ts'
import type { CanonicalEvent } from '../../canonical/event.ts'
import { type Json, type JsonObject, parseObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { type EventReader, NOTHING } from '../../canonical/transducer.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { EarlyEvents } from '../early-events.ts'
import { CUT_SHORT, MALFORMED } from '../errors/faulty-answer.ts'
import { anyObject, anyText, extrasOf, NO_FIELDS, put } from '../fields.ts'
import { BlockReader, partOfDelta, partOfStart } from './block.ts'
import { readException } from './error.ts'
import { readFinish, readTier, readUsage } from './result.ts'
import { FORMAT } from './wire.ts'

type Handler = (wire: JsonObject) => void

const EXCEPTION = /(?:Exception|^error)$/

/**
 * Reads the events of a streamed answer (docs/wire/converse.md#stream). A text starts with its first delta. The usage
 * arrives after the end of the message. An exception ends the answer at any point.
 */
export class ConverseEvents implements EventReader<WireEvent, CanonicalEvent> {
  private out: CanonicalEvent[] = []
  private readonly open = new Map<Json, BlockReader>()
  private parts = 0
  private started = false
  private ended = false
  private stopped = false
  private hasCalls = false
  private tier: string | undefined
  private readonly lateFields: { [field: string]: Json } = {}
  private readonly early = new EarlyEvents()
  private readonly ids: AnswerIds

  constructor(request: CanonicalRequest) {
    this.ids = new AnswerIds(request, FORMAT)
  }

  push({ event = '', data }: WireEvent): readonly CanonicalEvent[] {
    if (this.ended) return NOTHING
    const wire = parseObject(data)
    this.out = []
    if (EXCEPTION.test(event)) this.fail(readException(event, wire ?? {}))
    else if (wire === undefined) this.fail(MALFORMED)
    else if (event === 'contentBlockDelta') this.delta(wire)
    else if (Object.hasOwn(this.handlers, event)) this.handlers[event]!(wire)
    else this.pass(event, wire)
    return this.out.length === 0 ? NOTHING : this.out
  }

  end(): readonly CanonicalEvent[] {
    if (this.ended) return NOTHING
    this.out = []
    if (this.stopped) this.finish()
    else this.fail(CUT_SHORT)
    return this.out
  }

  private readonly handlers: { readonly [event: string]: Handler } = {
    messageStart: () => this.startAnswer(),
    contentBlockStart: wire => this.startBlock(wire),
    contentBlockStop: wire => this.stopBlock(wire['contentBlockIndex'] ?? 0),
    messageStop: wire => this.stop(wire),
    metadata: wire => this.readMetadata(wire),
  }

  /** Passes on an event of an unknown type, but not before the start of the answer. */
  private pass(name: string, wire: JsonObject): void {
    const event: CanonicalEvent = { type: 'opaque', format: FORMAT, value: { [name]: wire } }
    if (!this.started && this.early.add(event)) return
    this.startAnswer()
    this.out.push(event)
  }

  private startAnswer(): void {
    if (this.started) return
    this.started = true
    this.out.push({ type: 'result-start' })
    this.early.release(this.out)
  }

  private startBlock(wire: JsonObject): void {
    if (this.stopped) return
    const part = partOfStart(anyObject(wire['start']) ?? {}, this.ids)
    if (part !== undefined) this.openBlock(wire['contentBlockIndex'] ?? 0, part)
  }

  private openBlock(index: Json, part: Part): BlockReader {
    this.startAnswer()
    this.stopBlock(index)
    const block = new BlockReader(part, this.parts++, this.out)
    this.hasCalls ||= part.type === 'tool-call'
    this.open.set(index, block)
    return block
  }

  private stopBlock(index: Json): void {
    this.open.get(index)?.end(this.out)
    this.open.delete(index)
  }

  /** Reads a delta. If there is no block of its kind at its index, it starts one. */
  private delta(wire: JsonObject): void {
    if (this.stopped) return
    const delta = anyObject(wire['delta']) ?? {}
    const index = wire['contentBlockIndex'] ?? 0
    const open = this.open.get(index)
    if (open?.accepts(delta) === true) return open.delta(delta, this.out)
    const part = partOfDelta(delta)
    if (part !== undefined) this.openBlock(index, part).delta(delta, this.out)
  }

  private stop(wire: JsonObject): void {
    if (this.stopped) return
    this.startAnswer()
    this.stopped = true
    for (const block of this.open.values()) block.end(this.out)
    this.open.clear()
    const finish = readFinish(anyText(wire['stopReason']), this.hasCalls)
    this.out.push({ type: 'candidate-end', candidate: 0, ...(finish === undefined ? {} : { finish }) })
    this.addLate(wire, STOP)
  }

  /** Reads usage, tier and trace. If the message has ended, this also ends the answer. */
  private readMetadata(wire: JsonObject): void {
    this.startAnswer()
    const usage = anyObject(wire['usage'])
    if (usage !== undefined) this.out.push({ type: 'usage', usage: readUsage(usage) })
    this.tier = readTier(wire) ?? this.tier
    this.addLate(wire, METADATA)
    if (this.stopped) this.finish()
  }

  private addLate(wire: JsonObject, knownFields: ReadonlySet<string>): void {
    for (const [field, value] of Object.entries(wire)) if (!knownFields.has(field)) put(this.lateFields, field, value)
  }

  private finish(): void {
    this.ended = true
    this.out.push({
      type: 'result-end',
      ...(this.tier === undefined ? {} : { serviceTier: this.tier }),
      ...extrasOf(FORMAT, this.lateFields, NO_FIELDS),
    })
  }

  private fail(error: CanonicalError): void {
    this.startAnswer()
    this.out.push({ type: 'error', error })
    this.ended = true
  }
}

/** Fields that are read from `messageStop`, and `p`, the padding that hides the length of an event. */
const STOP = new Set(['stopReason', 'p'])
/** Fields that are read from `metadata`, and the padding. */
const METADATA = new Set(['usage', 'metrics', 'serviceTier', 'p'])
