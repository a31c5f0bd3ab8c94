import { AnswerIds } from '../../canonical/call-ids.ts'
import type { Part } from '../../canonical/content.ts'
import type { CanonicalError } from '../../canonical/error.ts'
import type { CanonicalEvent } from '../../canonical/event.ts'
import { isObject, type Json, type JsonObject, parseObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { type EventReader, NOTHING } from '../../canonical/transducer.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { EarlyEvents } from '../early-events.ts'
import { CUT_SHORT, MALFORMED } from '../errors/faulty-answer.ts'
import { anyObject, extrasOf, NO_FIELDS, put } from '../fields.ts'
import { isBlank, isEmptyData } from '../transport/sse.ts'
import { BlockReader, kindOfDelta } from './block.ts'
import { readInnerError } from './error.ts'
import { HEAD, leniently, readHead, readStop, readTier, readUsage, STOP_FIELDS, withCallId } from './result.ts'
import { FORMAT } from './wire.ts'

/**
 * Reads the events of a streamed answer (docs/wire/messages.md#stream). Accepts missing starts, and deltas whose kind
 * differs from their block's (trap 4).
 */
export class MessagesEvents implements EventReader<WireEvent, CanonicalEvent> {
  /** True if the stream deviates from the format, so that its events cannot be passed on unchanged. */
  irregular = false
  private out: CanonicalEvent[] = []
  private readonly open = new Map<Json, BlockReader>()
  /** Last text block at each index, because a text may be cited after its end. */
  private readonly texts = new Map<Json, BlockReader>()
  private parts = 0
  private started = false
  private ended = false
  private hasCalls = false
  /** Usage and stop reason, merged from several events. A later value replaces an earlier one. */
  private readonly usage: { [field: string]: Json } = {}
  private readonly stop: { [field: string]: Json } = {}
  private readonly lateFields: { [field: string]: Json } = {}
  private tier: string | undefined
  private readonly early = new EarlyEvents()
  private readonly ids: AnswerIds

  constructor(request: CanonicalRequest) {
    this.ids = new AnswerIds(request, FORMAT)
  }

  push({ event, data }: WireEvent): readonly CanonicalEvent[] {
    if (isEmptyData(data)) {
      this.irregular ||= !isBlank(data)
      return NOTHING
    }
    if (this.ended) return NOTHING
    const wire = parseObject(data)
    this.out = []
    if (wire === undefined) this.fail(MALFORMED)
    else {
      if (wire['type'] !== event) this.irregular = true
      this.read(typeof wire['type'] === 'string' ? wire['type'] : (event ?? ''), wire)
    }
    return this.out.length === 0 ? NOTHING : this.out
  }

  end(): readonly CanonicalEvent[] {
    if (this.ended) return NOTHING
    this.out = []
    if (typeof this.stop['stop_reason'] === 'string') this.finish()
    else this.fail(CUT_SHORT)
    return this.out
  }

  private read(type: string, wire: JsonObject): void {
    if (type === 'content_block_delta') this.delta(wire)
    else if (Object.hasOwn(MessagesEvents.handlers, type)) MessagesEvents.handlers[type]!(this, wire)
    else if (isObject(wire['error'])) this.fail(readInnerError(wire))
    else this.pass({ type: 'opaque', format: FORMAT, value: wire })
  }

  /** Passes on an event of an unknown type, but not before the start of the answer. */
  private pass(event: CanonicalEvent): void {
    if (!this.started && this.early.add(event)) this.irregular = true
    else {
      this.startAnswer()
      this.out.push(event)
    }
  }

  private static readonly handlers: { readonly [type: string]: (reader: MessagesEvents, wire: JsonObject) => void } = {
    ping: () => {},
    message_start: (reader, wire) => reader.readStart(anyObject(wire['message']) ?? {}),
    content_block_start: (reader, wire) =>
      reader.startBlock(wire['index'] ?? 0, anyObject(wire['content_block']) ?? {}),
    content_block_stop: (reader, wire) => reader.stopBlock(wire['index'] ?? 0),
    message_delta: (reader, wire) => reader.readDelta(wire),
    message_stop: reader => reader.finish(),
    error: (reader, wire) => reader.fail(readInnerError(wire)),
  }

  private readStart(message: JsonObject): void {
    if (this.started || !isObject(message['usage']) || !Array.isArray(message['content'])) this.irregular = true
    if (this.started) return
    this.started = true
    const usage = anyObject(message['usage'])
    this.tier = readTier(usage)
    this.out.push({
      type: 'result-start',
      ...readHead(message),
      ...(this.tier === undefined ? {} : { serviceTier: this.tier }),
      ...extrasOf(FORMAT, message, HEAD),
    })
    this.early.release(this.out)
    if (usage !== undefined) this.count(usage)
  }

  /** Emits the start of the answer if the upstream has not sent it. */
  private startAnswer(): void {
    if (!this.started) this.readStart({})
  }

  private startBlock(index: Json, block: JsonObject): void {
    this.startAnswer()
    if (this.open.size > 0 || index !== this.parts) this.irregular = true
    this.open.get(index)?.end(this.out)
    const blockWithId = withCallId(block, this.ids)
    if (blockWithId !== block) this.irregular = true
    this.openBlock(index, leniently(blockWithId))
  }

  private openBlock(index: Json, part: Part): BlockReader {
    const block = new BlockReader(part, this.parts++, this.out)
    this.hasCalls ||= part.type === 'tool-call'
    this.open.set(index, block)
    if (part.type === 'text') this.texts.set(index, block)
    return block
  }

  private stopBlock(index: Json): void {
    const open = this.open.get(index)
    if (open === undefined) this.irregular = true
    open?.end(this.out)
    this.open.delete(index)
  }

  private delta(wire: JsonObject): void {
    const delta = anyObject(wire['delta']) ?? {}
    const index = wire['index'] ?? 0
    const open = this.open.get(index)
    const kind = kindOfDelta(delta)
    if (open !== undefined && (kind === undefined || open.kind === kind || open.isCollected))
      open.delta(delta, this.out)
    else {
      this.irregular = true
      if (kind === 'text' || kind === 'reasoning') this.openImplied(index, kind).delta(delta, this.out)
      else if (delta['type'] === 'citations_delta') this.texts.get(index)?.delta(delta, this.out)
    }
  }

  /** Starts a part for a delta without a block, or whose kind differs from its block's. */
  private openImplied(index: Json, type: 'text' | 'reasoning'): BlockReader {
    this.startAnswer()
    this.stopBlock(index)
    return this.openBlock(index, { type, text: '' })
  }

  /** Reads `message_delta`: the stop reason, the usage, and late answer-level fields. */
  private readDelta(wire: JsonObject): void {
    this.startAnswer()
    if (!isObject(wire['delta']) || !isObject(wire['usage'])) this.irregular = true
    const delta = anyObject(wire['delta'])
    for (const field in delta)
      if ((STOP_FIELDS as readonly string[]).includes(field)) this.stop[field] = delta[field]!
      else put(this.lateFields, field, delta[field])
    for (const field in wire) if (!DELTA.has(field)) put(this.lateFields, field, wire[field])
    const usage = anyObject(wire['usage'])
    if (usage !== undefined) this.count(usage)
  }

  /**
   * Merges usage. Counts are cumulative, so later counts replace earlier ones. Null is not a count, nor are those of a
   * prompt of no tokens, which some servers state at the end (docs/wire/messages.md#stream).
   */
  private count(usage: JsonObject): void {
    const hasPrompt = PROMPT_COUNTS.some(field => usage[field])
    for (const field in usage) {
      const isEmpty = !hasPrompt && PROMPT_COUNTS.includes(field) && Boolean(this.usage[field])
      if ((usage[field] !== null && !isEmpty) || !(field in this.usage)) put(this.usage, field, usage[field])
    }
    this.tier = readTier(this.usage)
    this.out.push({ type: 'usage', usage: readUsage(this.usage) })
  }

  private finish(): void {
    this.startAnswer()
    if (this.open.size > 0 || this.stop['stop_reason'] === undefined) this.irregular = true
    for (const block of this.open.values()) block.end(this.out)
    this.open.clear()
    const { refusal, ...stop } = readStop(this.stop, this.hasCalls)
    if (refusal !== undefined) new BlockReader(refusal, this.parts++, this.out).end(this.out)
    this.out.push({ type: 'candidate-end', candidate: 0, ...stop })
    this.out.push({
      type: 'result-end',
      ...(this.tier === undefined ? {} : { serviceTier: this.tier }),
      ...extrasOf(FORMAT, this.lateFields, NO_FIELDS),
    })
    this.ended = true
  }

  private fail(error: CanonicalError): void {
    this.startAnswer()
    this.out.push({ type: 'error', error })
    this.ended = true
  }
}

const DELTA = new Set(['type', 'delta', 'usage'])

/** Counts whose sum is that of the prompt. */
const PROMPT_COUNTS: readonly string[] = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens']
