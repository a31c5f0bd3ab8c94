import type { GatewayError } from '../../canonical/error.ts'
import { defined, isObject, type JsonObject, parseObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { eventParser } from '../../ingress/transport/event-parser.ts'
import type { Abortable, Reply } from '../call.ts'
import { EventLog } from './event-log.ts'
import type { AnswerCollector, EndReason, StoredFailure, StoredFormat } from './stored-format.ts'

/** Reply of a background response. Collects the answer for later requests instead of sending it to the caller. */
export class BackgroundReply implements Reply {
  gone = false
  started = false
  readonly log: EventLog
  readonly format: StoredFormat
  /** Current response. */
  response: JsonObject
  private publishedResponse: JsonObject
  /** The response before any work. It is sent immediately. */
  readonly queuedResponse: JsonObject
  /** True if the response has changed since this field was last reset. */
  hasChanged = false
  /** Called to store the waiting events when there are too many. */
  onBacklog: (() => void) | undefined
  private onDrain: (() => void) | undefined
  private currentWork: Abortable | undefined
  private readonly parser = eventParser()
  private readonly collector: AnswerCollector
  /** True if the answer is complete. */
  private isFinished = false
  private failure: StoredFailure | undefined

  /** Collects the answer to a request under an id. */
  constructor(format: StoredFormat, id: string, request: CanonicalRequest) {
    this.format = format
    this.log = new EventLog(format)
    this.collector = format.collector(request, true)
    this.queuedResponse = format.newAnswer(id, request)
    this.response = this.queuedResponse
    this.publishedResponse = this.queuedResponse
    for (const text of format.firstEvents(this.queuedResponse)) this.log.push(text)
  }

  get abortable(): Abortable | undefined {
    return this.currentWork
  }

  /** Records that work has started. */
  set abortable(abortable: Abortable | undefined) {
    this.currentWork = abortable
    if (this.gone) abortable?.abort()
    const working = abortable === undefined ? this.response : this.format.startedAnswer(this.response)
    if (working !== this.response) this.update(working)
  }

  /** Response that readers see. They see its end only once the end is stored. */
  get published(): JsonObject {
    this.catchUp()
    return this.publishedResponse
  }

  private update(response: JsonObject): void {
    this.response = response
    this.publishedResponse = response
    this.hasChanged = true
  }

  /** Adds new items to the response. Called on access rather than for each item. */
  private catchUp(): void {
    const items = this.isFinished ? undefined : this.collector.newItems()
    if (items === undefined) return
    this.response = { ...this.response, [this.format.outputField]: items }
    this.publishedResponse = this.response
  }

  whole(status: number, _: object, text: string): void {
    const body = parseObject(text)
    if (status !== 200 || body === undefined) this.failure = failureIn(body)
    else if (!this.format.isUnfinished(body)) {
      for (const event of this.format.replayEvents(body)) this.receive(event)
      this.finish(body)
    }
  }

  begin(): void {
    this.started = true
  }

  write(piece: string | Uint8Array): boolean {
    for (const event of this.parser.push(Buffer.from(piece))) this.receive(event)
    if (!this.log.isFull) return true
    this.onBacklog?.()
    return false
  }

  end(text: string): void {
    this.write(text)
    for (const event of this.parser.end()) this.receive(event)
  }

  once(_: 'drain', listener: () => void): void {
    this.onDrain = listener
  }

  /** Lets the writer continue. */
  drain(): void {
    const { onDrain: drained } = this
    this.onDrain = undefined
    drained?.()
  }

  destroy(): void {}

  /** Logs an event. The first event has already been sent, and the final one is sent once the answer is stored. */
  private receive(event: WireEvent): void {
    if (this.isFinished || event.event === undefined) return
    const response = this.collector.take(event)
    if (response !== undefined) return this.finish(response)
    this.failure ??= this.collector.failure
    this.hasChanged ||= this.collector.hasNews
    if (!this.format.isReplaced(event)) this.log.push(event.data)
  }

  private finish(response: JsonObject): void {
    this.catchUp()
    this.response = { ...response, background: true }
    this.isFinished = true
  }

  /** Sets the final status of a response that did not finish on its own. */
  settle(ended: EndReason | undefined): void {
    if (this.isFinished) return
    this.catchUp()
    this.response = this.format.endedAnswer(this.response, ended ?? 'failed', this.failure ?? UNFINISHED)
  }

  /** Sends the final event to readers. */
  sendFinalEvent(): void {
    this.log.finish(this.format.lastEvent(this.response))
  }

  /** Aborts the work. `why` is the response's error if it fails. */
  abort(why?: GatewayError): void {
    if (why !== undefined) this.failure ??= { ...defined({ code: why.error.code }), message: why.message }
    this.gone = true
    this.currentWork?.abort()
  }
}

const UNFINISHED: StoredFailure = { message: 'The answer was not finished.' }

function failureIn(body: JsonObject | undefined): StoredFailure {
  const error = body?.['error']
  if (!isObject(error)) return UNFINISHED
  const { code, message } = error
  return { ...(typeof code === 'string' ? { code } : {}), message: typeof message === 'string' ? message : '' }
}
