import type { AnswerIds } from '../../canonical/call-ids.ts'
import type { CanonicalError } from '../../canonical/error.ts'
import type { CanonicalEvent } from '../../canonical/event.ts'
import { type Json, type JsonObject, parseObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { NOTHING, type Transducer } from '../../canonical/transducer.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { EarlyEvents } from '../early-events.ts'
import { CUT_SHORT, MALFORMED } from '../errors/faulty-answer.ts'
import { anyObject, anyObjects } from '../fields.ts'
import { isEmptyData } from '../transport/sse.ts'
import { readInnerError } from './error.ts'
import { HANDLERS, openItem } from './handlers.ts'
import { type ItemReader, MessageReader, type Sink } from './item-events.ts'
import { ItemPositions } from './item-positions.ts'
import { callIdsFor } from './items.ts'
import { readFinish, readHead, readNode, readOutput } from './result.ts'
import { UpstreamCalls } from './upstream-calls.ts'
import { usageOf } from './usage.ts'
import { FORMAT } from './wire.ts'

/** Reads a streamed answer (docs/wire/responses.md#stream). Events of unknown types pass through unchanged. */
export class ResponsesEvents implements Transducer<WireEvent, CanonicalEvent>, Sink {
  out: CanonicalEvent[] = []
  parts = 0
  tokens = 0
  called = false
  refused = false
  readonly positions = new ItemPositions()
  /** Open items by position. */
  readonly items = new Map<number, ItemReader>()
  /** Positions of items that have ended. */
  readonly ended = new Set<number>()
  readonly messages = new Map<number, MessageReader>()
  readonly upstreamCalls: UpstreamCalls
  readonly callIds: AnswerIds | undefined
  private readonly request: CanonicalRequest
  private started = false
  private over = false
  private readonly early = new EarlyEvents()

  constructor(request: CanonicalRequest) {
    this.request = request
    this.upstreamCalls = new UpstreamCalls(request)
    this.callIds = callIdsFor(request)
  }

  push({ event: name, data }: WireEvent): readonly CanonicalEvent[] {
    if (this.over || isEmptyData(data)) return NOTHING
    this.out = []
    const event = parseObject(data)
    if (event === undefined) this.fail(MALFORMED)
    else this.read(event['type'] === undefined && name !== undefined ? { type: name, ...event } : event)
    return this.out
  }

  end(): readonly CanonicalEvent[] {
    if (this.over) return NOTHING
    this.out = []
    this.fail(CUT_SHORT)
    return this.out
  }

  private read(event: JsonObject): void {
    const handle = HANDLERS.get(event['type'])
    if (handle === undefined) {
      if (event['type'] === undefined && event['error'] != null) this.fail(readInnerError(event))
      else this.pass(event)
    } else handle(this, event)
  }

  /** Passes on an event of an unknown type for callers of the same format. */
  pass(value: JsonObject): void {
    const event: CanonicalEvent = { type: 'opaque', format: FORMAT, value }
    if (!this.started && this.early.add(event)) return
    this.start(undefined)
    this.out.push(event)
  }

  /** Emits the start of the answer, unless it has started already. */
  start(response: JsonObject | undefined): void {
    if (this.started) return
    this.started = true
    if (response !== undefined) this.upstreamCalls.read(response)
    if (response === undefined) this.out.push({ type: 'result-start' })
    else this.out.push({ type: 'result-start', ...readHead(response), ...readNode(response) })
    this.early.release(this.out)
  }

  /** Reads the final event. Its response supplies everything that the stream left out. */
  finish(response: JsonObject): void {
    this.start(response)
    const error = response['status'] === 'failed' ? anyObject(response['error']) : undefined
    if (error === undefined) this.complete(response)
    const usage = usageOf(response, this.request)
    if (usage !== undefined) this.out.push({ type: 'usage', usage })
    if (error !== undefined) this.out.push({ type: 'error', error: readInnerError(error) })
    else this.out.push({ type: 'result-end', ...tierOf(response), ...readNode(response) })
    this.over = true
  }

  /** Emits the items and citations that the stream left out, and ends the candidate. */
  private complete(response: JsonObject): void {
    const items = anyObjects(response['output'])
    for (const [index, knownPosition] of this.positions.findAll(items).entries()) {
      const item = items[index]!
      const isOther = knownPosition !== undefined && this.isOpenAsOther(knownPosition, item)
      const position = knownPosition === undefined || isOther ? this.positions.add({ item }) : knownPosition
      if (this.ended.has(position)) {
        if (isCited(item)) this.messages.get(position)?.repeatDone(item)
        continue
      }
      openItem(this, position, item)
      this.close(position, item)
    }
    this.closeAll()
    this.logRest(response)
    const finish = readFinish(response, this)
    this.out.push({ type: 'candidate-end', candidate: 0, ...(finish === undefined ? {} : { finish }) })
  }

  /** Returns true if the item at a position is still open, and has another type than the given one. */
  private isOpenAsOther(position: number, item: JsonObject): boolean {
    return this.items.has(position) && this.positions.isOfOtherType(position, item)
  }

  close(position: number, item: JsonObject | undefined): void {
    const open = this.items.get(position)
    open?.done(item)
    if (open instanceof MessageReader) this.messages.set(position, open)
    this.items.delete(position)
    this.ended.add(position)
  }

  fail(error: CanonicalError): void {
    this.start(undefined)
    this.out.push({ type: 'error', error })
    this.over = true
  }

  private closeAll(): void {
    for (const position of [...this.items.keys()]) this.close(position, undefined)
  }

  /** Emits the remaining log probabilities, which arrived without a text. */
  private logRest({ output }: JsonObject): void {
    if (!hasTokens(output)) return
    const append = readOutput(output, this.upstreamCalls).tokens.slice(this.tokens)
    if (append.length > 0) this.out.push({ type: 'logprobs', candidate: 0, append })
  }
}

/**
 * Returns true if the output may contain log probabilities. Only a full reading shows which of them belong to the
 * answer.
 */
const hasTokens = (output: Json | undefined): boolean =>
  anyObjects(output).some(item => anyObjects(item['content']).some(({ logprobs }) => anyObjects(logprobs).length > 0))

/** Returns true if an output message has citations. */
const isCited = ({ content }: JsonObject): boolean =>
  anyObjects(content).some(({ annotations }) => Array.isArray(annotations) && annotations.length > 0)

const tierOf = (response: JsonObject): { serviceTier?: string } => {
  const { serviceTier } = readHead(response)
  return serviceTier === undefined ? {} : { serviceTier }
}
