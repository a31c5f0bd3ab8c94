import { GatewayError } from '../../canonical/error.ts'
import type { CanonicalEvent } from '../../canonical/event.ts'
import { unfold } from '../../canonical/fold.ts'
import { isObject, type JsonObject, parseObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { NOTHING, type Transducer } from '../../canonical/transducer.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import type { Reader } from '../../ingress/reader.ts'
import type { Reply, Worker } from '../call.ts'

/** Events that may wait for the iterator before the upstream is paused. */
const HIGH = 256
const LOW = 64

/** The answer to a request of the gateway's own: read back into canonical events, for one iterator. */
export class EventReply implements Reply {
  gone = false
  begun = false
  worker: Worker | undefined
  private readonly reader: Reader
  private readonly request: CanonicalRequest
  private readonly machine: Transducer<WireEvent, CanonicalEvent> | undefined
  private events: CanonicalEvent[] = []
  private failure: GatewayError | undefined
  private over = false
  private wake: (() => void) | undefined
  private drained: (() => void) | undefined

  constructor(reader: Reader, request: CanonicalRequest) {
    this.reader = reader
    this.request = request
    this.machine = request.stream ? reader.events?.(request) : undefined
  }

  begin(): void {
    this.begun = true
  }

  whole(status: number, headers: { readonly [name: string]: string }, text: string): void {
    this.begun = true
    const answer = { status, headers, body: parseObject(text) ?? ({} as JsonObject) }
    if (status >= 400) this.failure = new GatewayError(this.reader.error!(answer))
    else this.add([...unfold(this.reader.result!(answer, this.request))])
    this.finish()
  }

  write(piece: string | Uint8Array): boolean {
    for (const line of String(piece).split('\n'))
      if (line !== '') this.add(this.machine?.push(eventOf(line)) ?? NOTHING)
    return this.events.length < HIGH
  }

  end(text: string): void {
    this.write(text)
    this.add(this.machine?.end() ?? NOTHING)
    this.finish()
  }

  once(_: 'drain', listener: () => void): void {
    this.drained = listener
  }

  destroy(): void {
    this.fail(BROKEN)
  }

  /** What went wrong before anything was written, or where it broke off. */
  fail(error: GatewayError): void {
    this.failure ??= error
    this.finish()
  }

  /** The iterator was closed: the upstream's work ends. */
  leave(): void {
    if (this.gone) return
    this.gone = true
    this.worker?.abort()
    this.finish()
  }

  async *read(): AsyncGenerator<CanonicalEvent> {
    try {
      while (true) {
        const events = this.events
        this.events = []
        yield* events
        if (this.drained !== undefined && this.events.length < LOW) this.drain()
        if (this.events.length > 0) continue
        if (this.failure !== undefined) throw this.failure
        if (this.over) return
        await new Promise<void>(resolve => (this.wake = resolve))
      }
    } finally {
      this.leave()
    }
  }

  private drain(): void {
    const { drained } = this
    this.drained = undefined
    drained?.()
  }

  private add(events: readonly CanonicalEvent[]): void {
    for (const event of events) this.events.push(event)
    this.wakeUp()
  }

  private finish(): void {
    this.over = true
    this.wakeUp()
  }

  private wakeUp(): void {
    const { wake } = this
    this.wake = undefined
    wake?.()
  }
}

/** A line of a stream; formats whose events have names repeat them inside. */
function eventOf(line: string): WireEvent {
  const value = line.startsWith('{') ? parseObject(line) : undefined
  return isObject(value) && typeof value['error'] === 'object' && value['error'] !== null && !('choices' in value)
    ? { event: 'error', data: line }
    : { data: line }
}

const BROKEN = new GatewayError({ kind: 'upstream-failed', message: 'The answer broke off.' })
