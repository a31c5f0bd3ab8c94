import type { GatewayError } from '../../canonical/error.ts'
import { defined, isObject, type JsonObject, parseObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { eventParser } from '../../ingress/transport/event-parser.ts'
import type { Abortable, Reply } from '../call.ts'
import { EventLog } from './event-log.ts'
import type { AnswerCollector, Ended, StoredFailure, StoredFormat } from './stored-format.ts'

/** Reply of a background response. Collects the answer for later requests instead of sending it to the caller. */
export class BackgroundReply implements Reply {
  gone = false
  started = false
  readonly log: EventLog
  readonly format: StoredFormat
  /** Current response. */
  response: JsonObject
  private latest: JsonObject
  /** The response before any work. It is sent immediately. */
  readonly first: JsonObject
  /** True if the response has changed since this field was last reset. */
  changed = false
  /** Called to store the waiting events when there are too many. */
  onBacklog: (() => void) | undefined
  private drained: (() => void) | undefined
  private working: Abortable | undefined
  private readonly parser = eventParser()
  private readonly collector: AnswerCollector
  /** True if the answer is complete. */
  private finished = false
  private failure: StoredFailure | undefined

  /** Collects the answer to a request under an id. */
  constructor(format: StoredFormat, id: string, request: CanonicalRequest) {
    this.format = format
    this.log = new EventLog(format)
    this.collector = format.collector(request, true)
    this.first = format.newAnswer(id, request)
    this.response = this.first
    this.latest = this.first
    for (const text of format.firstEvents(this.first)) this.log.push(text)
  }

  get abortable(): Abortable | undefined {
    return this.working
  }

  /** Records that work has started. */
  set abortable(abortable: Abortable | undefined) {
    this.working = abortable
    if (this.gone) abortable?.abort()
    const working = abortable === undefined ? this.response : this.format.startedAnswer(this.response)
    if (working !== this.response) this.update(working)
  }

  /** Response that readers see. They see its end only once the end is stored. */
  get published(): JsonObject {
    this.catchUp()
    return this.latest
  }

  private update(response: JsonObject): void {
    this.response = response
    this.latest = response
    this.changed = true
  }

  /** Adds new items to the response. Called on access rather than for each item. */
  private catchUp(): void {
    const items = this.finished ? undefined : this.collector.newItems()
    if (items === undefined) return
    this.response = { ...this.response, [this.format.outputField]: items }
    this.latest = this.response
  }

  whole(status: number, _: object, text: string): void {
    const body = parseObject(text)
    if (status !== 200 || body === undefined) this.failure = failureIn(body)
    else if (!this.format.isUnfinished(body)) {
      for (const event of this.format.replayed(body)) this.receive(event)
      this.finish(body)
    }
  }

  begin(): void {
    this.started = true
  }

  write(piece: string | Uint8Array): boolean {
    for (const event of this.parser.push(Buffer.from(piece))) this.receive(event)
    if (!this.log.full) return true
    this.onBacklog?.()
    return false
  }

  end(text: string): void {
    this.write(text)
    for (const event of this.parser.end()) this.receive(event)
  }

  once(_: 'drain', listener: () => void): void {
    this.drained = listener
  }

  /** Lets the writer continue. */
  drain(): void {
    const { drained } = this
    this.drained = undefined
    drained?.()
  }

  destroy(): void {}

  /** Logs an event. The first event has already been sent, and the final one is sent once the answer is stored. */
  private receive(event: WireEvent): void {
    if (this.finished || event.event === undefined) return
    const response = this.collector.take(event)
    if (response !== undefined) return this.finish(response)
    this.failure ??= this.collector.failure
    this.changed ||= this.collector.hasNews
    if (!this.format.isReplaced(event)) this.log.push(event.data)
  }

  private finish(response: JsonObject): void {
    this.catchUp()
    this.response = { ...response, background: true }
    this.finished = true
  }

  /** Sets the final status of a response that did not finish on its own. */
  settle(ended: Ended | undefined): void {
    if (this.finished) return
    this.catchUp()
    this.response = this.format.ended(this.response, ended ?? 'failed', this.failure ?? BROKEN)
  }

  /** Sends the final event to readers. */
  conclude(): void {
    this.log.finish(this.format.lastEvent(this.response))
  }

  /** Aborts the work. `why` is the response's error if it fails. */
  abort(why?: GatewayError): void {
    if (why !== undefined) this.failure ??= { ...defined({ code: why.error.code }), message: why.message }
    this.gone = true
    this.working?.abort()
  }
}

const BROKEN: StoredFailure = { message: 'The answer was not finished.' }

function failureIn(body: JsonObject | undefined): StoredFailure {
  const error = body?.['error']
  if (!isObject(error)) return BROKEN
  const { code, message } = error
  return { ...(typeof code === 'string' ? { code } : {}), message: typeof message === 'string' ? message : '' }
}
