import { AnswerIds } from '../../canonical/call-ids.ts'
import type { CanonicalError } from '../../canonical/error.ts'
import type { CanonicalEvent } from '../../canonical/event.ts'
import { type Json, type JsonObject, parseObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { type EventReader, NOTHING } from '../../canonical/transducer.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { DONE } from '../answer-events.ts'
import { EarlyEvents } from '../early-events.ts'
import { CUT_SHORT, MALFORMED } from '../errors/faulty-answer.ts'
import { anyObject, anyObjects, anyText, extrasOf } from '../fields.ts'
import { citedPart, readCitation } from './citations.ts'
import { assistantExtras, opaqueCall, PLAN, readCall } from './content.ts'
import { readInnerError } from './error.ts'
import { readLogprob } from './logprobs.ts'
import { CallStream, openPart, TextStream } from './parts.ts'
import { leniently, readBlock, readFinish } from './result.ts'
import { readUsage } from './usage.ts'
import { FORMAT } from './wire.ts'

type Handler = (wire: JsonObject) => void

/** Fields that are read from the first event. */
const START_FIELDS = new Set(['type', 'id', 'delta'])
/** Fields that are read from the last event's delta. */
const END_FIELDS = new Set(['finish_reason', 'usage', 'error', 'message'])

/**
 * Reads the events of a streamed answer (docs/wire/cohere-chat.md#stream). Content blocks and calls have separate
 * indexes. The last event has the finish reason and the usage, or an error.
 */
export class CohereChatEvents implements EventReader<WireEvent, CanonicalEvent> {
  private out: CanonicalEvent[] = []
  private started = false
  private ended = false
  private parts = 0
  private readonly blocks = new Map<Json, TextStream>()
  private readonly calls = new Map<Json, CallStream>()
  private plan: TextStream | undefined
  private hasCalls = false
  private readonly ids: AnswerIds
  /** Part indexes: of each text by its block index, of the first text, and of the first plan. */
  private readonly textParts = new Map<Json, number>()
  private firstText: number | undefined
  private planPart: number | undefined
  private readonly unplaced: JsonObject[] = []
  private readonly early = new EarlyEvents()

  constructor(request: CanonicalRequest) {
    this.ids = new AnswerIds(request, FORMAT)
  }

  push({ event, data }: WireEvent): readonly CanonicalEvent[] {
    if (this.ended) return NOTHING
    this.out = []
    if (data === DONE) this.fail(CUT_SHORT)
    else if (data.trim() !== '') this.take(event, parseObject(data))
    return this.out
  }

  end(): readonly CanonicalEvent[] {
    if (this.ended) return NOTHING
    this.out = []
    this.fail(CUT_SHORT)
    return this.out
  }

  private take(event: string | undefined, wire: JsonObject | undefined): void {
    if (wire === undefined) return this.fail(MALFORMED)
    const type = anyText(wire['type']) ?? event ?? ''
    if (Object.hasOwn(this.handlers, type)) this.handlers[type]!(wire)
    else if (type === 'error' || (type === '' && (wire['error'] != null || wire['message'] != null)))
      this.fail(readInnerError(wire))
    else this.pass(wire)
  }

  private readonly handlers: { readonly [type: string]: Handler } = {
    'content-delta': wire => this.appendToBlock(wire),
    'message-start': wire => this.startAnswer(wire),
    'content-start': wire => this.startBlock(wire['index'] ?? 0, contentIn(wire)),
    'content-end': wire => this.endBlock(wire['index'] ?? 0),
    'tool-plan-delta': wire => this.appendToPlan(anyText(messageIn(wire)['tool_plan']) ?? ''),
    'tool-call-start': wire => this.startCall(wire['index'] ?? 0, callIn(wire)),
    'tool-call-delta': wire => this.appendToCall(wire['index'] ?? 0, callIn(wire)),
    'tool-call-end': wire => this.endCall(wire['index'] ?? 0),
    'citation-start': wire => this.addCitations(messageIn(wire)['citations']),
    'citation-end': () => {},
    'message-end': wire => this.finish(anyObject(wire['delta']) ?? {}),
  }

  /** Passes on an event of an unknown type, but not before the start of the answer. */
  private pass(value: JsonObject): void {
    const event: CanonicalEvent = { type: 'opaque', format: FORMAT, value }
    if (!this.started && this.early.add(event)) return
    this.startAnswer({})
    this.out.push(event)
  }

  private startAnswer(wire: JsonObject): void {
    if (this.started) return
    this.started = true
    const id = anyText(wire['id'])
    this.out.push({
      type: 'result-start',
      ...(id === undefined ? {} : { id }),
      ...extrasOf(FORMAT, wire, START_FIELDS),
    })
    this.early.release(this.out)
  }

  private get nextAt() {
    this.startAnswer({})
    return { candidate: 0, part: this.parts++ }
  }

  private startBlock(index: Json, content: JsonObject): void {
    this.endBlock(index)
    this.endPlan()
    const kind = anyText(content['type']) ?? (content['thinking'] === undefined ? 'text' : 'thinking')
    const body = kind === 'text' || kind === 'thinking' ? { [kind]: anyText(content[kind]) ?? '' } : {}
    const part = leniently({ ...content, type: kind, ...body }, readBlock)
    const at = this.nextAt
    openPart(part, at, this.out)
    if (part.type === 'text') {
      this.textParts.set(index, at.part)
      this.firstText ??= at.part
    }
    this.blocks.set(index, new TextStream(part.type, at))
  }

  /** Reads a chunk of a block. A chunk without a block, or of a different kind, starts a new block. */
  private appendToBlock(wire: JsonObject): void {
    const index = wire['index'] ?? 0
    const content = contentIn(wire)
    const thinking = anyText(content['thinking'])
    const append = thinking ?? anyText(content['text']) ?? ''
    const kind = thinking === undefined ? 'text' : 'reasoning'
    const type = this.blocks.get(index)?.type
    if (append !== '' && type !== kind && type !== 'opaque')
      this.startBlock(index, kind === 'text' ? { text: '' } : { thinking: '' })
    this.blocks.get(index)?.append(append, this.out)
    const logprobs = anyObject(wire['logprobs'])
    if (logprobs === undefined) return
    this.startAnswer({})
    this.out.push({ type: 'logprobs', candidate: 0, append: [readLogprob(logprobs)] })
  }

  private endBlock(index: Json): void {
    this.blocks.get(index)?.end(this.out)
    this.blocks.delete(index)
  }

  private appendToPlan(append: string): void {
    if (append === '') return
    if (this.plan === undefined) {
      const at = this.nextAt
      openPart({ type: 'text', text: '', spelling: PLAN }, at, this.out)
      this.planPart ??= at.part
      this.plan = new TextStream('text', at)
    }
    this.plan.append(append, this.out)
  }

  private endPlan(): void {
    this.plan?.end(this.out)
    this.plan = undefined
  }

  private startCall(index: Json, wire: JsonObject): void {
    this.endCall(index)
    this.endPlan()
    const name = anyText(anyObject(wire['function'])?.['name'])
    const id = name === undefined ? undefined : this.ids.call(anyText(wire['id']), name)
    const part = leniently(id === undefined ? wire : { ...wire, id }, readCall, opaqueCall)
    this.hasCalls ||= part.type === 'tool-call'
    const at = this.nextAt
    openPart(part, at, this.out)
    this.calls.set(index, new CallStream(part, at))
  }

  private appendToCall(index: Json, wire: JsonObject): void {
    const append = anyText(anyObject(wire['function'])?.['arguments']) ?? ''
    if (append !== '') this.calls.get(index)?.append(append, this.out)
  }

  private endCall(index: Json): void {
    this.calls.get(index)?.end(this.out)
    this.calls.delete(index)
  }

  /**
   * Reads a citation, which may arrive after its text has ended. Citations without a text are reported with the end of
   * the answer.
   */
  private addCitations(value: Json | undefined): void {
    for (const wire of Array.isArray(value) ? anyObjects(value) : anyObjects([value ?? null])) {
      const { textParts, firstText: first, planPart: plan } = this
      const part = citedPart(wire, { blockAt: index => textParts.get(index), first, plan })
      if (part === undefined) this.unplaced.push(wire)
      else this.out.push({ type: 'part-patch', at: { candidate: 0, part }, annotations: [readCitation(wire)] })
    }
  }

  private finish(delta: JsonObject): void {
    const error = anyText(delta['error'])
    if (error !== undefined) return this.fail(readInnerError(delta))
    this.startAnswer({})
    this.endPlan()
    for (const open of [...this.blocks.values(), ...this.calls.values()]) open.end(this.out)
    const finish = readFinish(anyText(delta['finish_reason']), { called: this.hasCalls, refused: false })
    this.out.push({
      type: 'candidate-end',
      candidate: 0,
      finish,
      ...this.messageExtras(anyObject(delta['message']) ?? {}),
    })
    const usage = anyObject(delta['usage'])
    if (usage !== undefined) this.out.push({ type: 'usage', usage: readUsage(usage) })
    this.out.push({ type: 'result-end', ...extrasOf(FORMAT, delta, END_FIELDS) })
    this.ended = true
  }

  /** Returns extras for the unread fields of the last event's message and for all citations without a text. */
  private messageExtras(message: JsonObject) {
    return assistantExtras(message, [...this.unplaced, ...anyObjects(message['citations'])])
  }

  private fail(error: CanonicalError): void {
    this.startAnswer({})
    this.out.push({ type: 'error', error })
    this.ended = true
  }
}

const NO_FIELDS: JsonObject = {}

const messageIn = (wire: JsonObject): JsonObject => anyObject(anyObject(wire['delta'])?.['message']) ?? NO_FIELDS

const contentIn = (wire: JsonObject): JsonObject => anyObject(messageIn(wire)['content']) ?? NO_FIELDS

/** Returns the tool call in an event. According to the documentation, it may also be the only item of a list. */
function callIn(wire: JsonObject): JsonObject {
  const { tool_calls: calls } = messageIn(wire)
  return (Array.isArray(calls) ? anyObjects(calls)[0] : anyObject(calls)) ?? NO_FIELDS
}
