import type { GatewayError } from '../../canonical/error.ts'
import { isObject, type JsonObject, parseObject } from '../../canonical/node.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { eventParser } from '../../ingress/transport/event-parser.ts'
import type { Abortable, Reply } from '../call.ts'
import { EventLog } from './event-log.ts'
import { ending, eventText, replayedEvents } from './resume.ts'
import { responseIn } from './saving-stream.ts'

export type Ended = 'cancelled' | 'failed'

/** Reply of a background response. Collects the answer for later requests instead of sending it to a caller. */
export class BackgroundReply implements Reply {
  gone = false
  started = false
  readonly log = new EventLog()
  /** Current response. */
  response: JsonObject
  private latest: JsonObject
  /** Whether items have completed that `response` does not contain yet. */
  private isBehind = false
  /** Queued response, which is sent immediately. */
  readonly first: JsonObject
  /** Whether the response changed since this was last reset. */
  changed = false
  /** Called to store the waiting events if there are many. */
  onBacklog: (() => void) | undefined
  private drained: (() => void) | undefined
  private working: Abortable | undefined
  private readonly parser = eventParser()
  /** Completed items by output index. */
  private readonly items = new Map<number, JsonObject>()
  /** Whether the answer is complete. */
  private finished = false
  private failure: JsonObject | undefined

  /** @param response the response before any work. */
  constructor(response: JsonObject) {
    this.first = { ...response, status: 'queued', background: true }
    this.response = this.first
    this.latest = this.first
    for (const type of ['response.created', 'response.queued']) this.log.push(eventText(type, this.response))
  }

  get abortable(): Abortable | undefined {
    return this.working
  }

  /** Records that work has started. */
  set abortable(abortable: Abortable | undefined) {
    this.working = abortable
    if (this.gone) abortable?.abort()
    if (abortable !== undefined && this.response['status'] === 'queued') this.update({ status: 'in_progress' })
  }

  /** Response for readers. They see its end only after the end is stored. */
  get published(): JsonObject {
    this.catchUp()
    return this.latest
  }

  set published(response: JsonObject) {
    this.latest = response
  }

  private update(more: JsonObject): void {
    this.response = { ...this.response, ...more }
    this.latest = this.response
    this.changed = true
  }

  /** Adds the completed items to the response. Done on access rather than once per item. */
  private catchUp(): void {
    if (!this.isBehind) return
    this.isBehind = false
    const inOrder = [...this.items].sort(([a], [b]) => a - b)
    this.response = { ...this.response, output: inOrder.map(([, one]) => one) }
    this.latest = this.response
  }

  whole(status: number, _: object, text: string): void {
    const body = parseObject(text)
    if (status !== 200 || body === undefined) this.failure = failureIn(body)
    else if (!isUnfinished(body)) {
      for (const event of replayedEvents(body)) this.receive(event)
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

  /** Logs an event. The first event was already sent. The final one is sent after the answer is stored. */
  private receive(event: WireEvent): void {
    if (this.finished || event.event === undefined || event.event === 'response.created') return
    const response = responseIn(event)
    if (response !== undefined) return this.finish(response)
    if (event.event === 'response.output_item.done') this.noteItem(event)
    this.log.push(event.data)
  }

  private finish(response: JsonObject): void {
    this.catchUp()
    this.response = { ...response, background: true }
    this.finished = true
  }

  private noteItem({ data }: WireEvent): void {
    const { item, output_index } = parseObject(data) ?? {}
    if (!isObject(item)) return
    this.items.set(typeof output_index === 'number' ? output_index : this.items.size, item)
    this.isBehind = true
    this.changed = true
  }

  /** Sets the final status of a response that did not finish by itself. */
  settle(ended: Ended | undefined): void {
    if (this.finished) return
    this.catchUp()
    const status = ended ?? 'failed'
    this.response = { ...this.response, status, error: status === 'failed' ? (this.failure ?? BROKEN) : null }
  }

  /** Sends the final event to readers. */
  conclude(): void {
    this.log.finish(ending(this.response, this.log.length))
  }

  /** Aborts the work. `why` is the response's error if it fails. */
  abort(why?: GatewayError): void {
    if (why !== undefined) this.failure ??= { code: why.error.code ?? 'server_error', message: why.message }
    this.gone = true
    this.working?.abort()
  }
}

/** Whether the upstream continues in the background although that was not requested. Its result is not awaited. */
const isUnfinished = ({ status }: JsonObject): boolean => status === 'queued' || status === 'in_progress'

const BROKEN: JsonObject = { code: 'server_error', message: 'The response was not finished.' }

function failureIn(body: JsonObject | undefined): JsonObject {
  const error = body?.['error']
  if (!isObject(error)) return BROKEN
  const { code, message } = error
  return { code: typeof code === 'string' ? code : 'server_error', message: message ?? '' }
}
