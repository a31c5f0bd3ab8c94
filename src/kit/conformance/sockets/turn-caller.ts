import { setTimeout as wait } from 'node:timers/promises'
import type { Bounds } from '../client.ts'
import type { Exchange, ReceivedAnswer, SentRequest } from '../exchange.ts'
import type { Headers, TurnError, Turns } from '../format.ts'
import type { JsonObject } from '../json.ts'
import { type Behaviour, leaveLater } from '../leaving.ts'
import { type Frame, typeOf } from './frame.ts'
import { connect, type Refusal, SOCKET_BOUNDS, type Socket } from './socket.ts'

/* Caller for formats over a WebSocket. One connection carries all steps of a cell. Each step is an exchange. */

/** Time after an answer during which nothing more may arrive, in milliseconds. */
const QUIET_MS = 10

/**
 * Event in which a target reports losses. It takes the place of the HTTP loss header, because WebSocket frames have no
 * headers.
 */
export interface LossEvent {
  readonly type: string
  /** Handshake headers that enable the event. */
  readonly headers: Headers
}

export interface TurnOptions {
  readonly url: string
  readonly headers: Headers
  readonly turns: Turns
  readonly bounds: Bounds
  /** Name of the header under which an exchange records the event. */
  readonly losses?: { readonly event: LossEvent; readonly header: string }
}

/** Converts a frame into an event of a stream. */
const eventOf = ({ data, text }: Frame): string =>
  `event: ${typeOf(data).replace(/[\r\n]/g, ' ')}\ndata: ${text.replace(/\r\n|\r|\n/g, '\ndata: ')}\n\n`

const asAnswer = (error: TurnError | Refusal): ReceivedAnswer => ({
  ...{ status: error.status, headers: error.headers, trailers: {}, isComplete: true },
  body: Buffer.from(typeof error.body === 'string' ? error.body : JSON.stringify(error.body)),
})

type Fault = NonNullable<Exchange['fault']>

export class TurnCaller {
  private socket: Socket | undefined
  private readonly options: TurnOptions

  constructor(options: TurnOptions) {
    this.options = options
  }

  /** Sends a request and waits for its answer. Never rejects. */
  async send(body: JsonObject, behaviour: Behaviour = {}): Promise<Exchange> {
    const startedAt = performance.now()
    const { url, headers, turns } = this.options
    const text = JSON.stringify(turns.frame(body))
    const sent = { method: 'GET', url, headers: { ...headers, upgrade: 'websocket' }, body: Buffer.from(text) }
    const got = await this.answerTo(text, behaviour)
    return { sent: sent satisfies SentRequest, ...got, took: Math.round(performance.now() - startedAt) }
  }

  close(): void {
    this.socket?.close(1000, '')
  }

  private async open(): Promise<Omit<Exchange, 'sent' | 'took'> | Socket> {
    if (this.socket !== undefined) return this.socket
    const { url, headers, bounds, losses } = this.options
    const handshakeHeaders = { ...headers, ...losses?.event.headers }
    const connection = await connect(url, handshakeHeaders, {
      ...SOCKET_BOUNDS,
      handshake: bounds.idle,
      bytes: bounds.bytes,
    })
    if ('refusal' in connection) return { got: asAnswer(connection.refusal) }
    if ('fault' in connection) return { fault: { kind: 'http.connect', detail: connection.fault } }
    this.socket = connection.socket
    return connection.socket
  }

  private async answerTo(text: string, behaviour: Behaviour): Promise<Omit<Exchange, 'sent' | 'took'>> {
    const socket = await this.open()
    if (!('received' in socket)) return socket
    const firstFrame = socket.received.length
    socket.pause = behaviour.reads_every
    let firstByte: number | undefined
    socket.onFrame = () => {
      firstByte ??= performance.now()
    }
    const cancelLeaving = leaveLater(behaviour, () => socket.terminate())
    socket.send(text)
    const hasLastEvent = await this.waitForLastEvent(socket, firstFrame)
    cancelLeaving()
    if (hasLastEvent) await wait(QUIET_MS)
    const fault = hasLastEvent || behaviour.leaves_after !== undefined ? undefined : this.faultOf(socket)
    return {
      ...this.gotFrom(socket.received.slice(firstFrame), hasLastEvent),
      ...(fault === undefined ? {} : { fault }),
      ...(firstByte === undefined ? {} : { firstByte }),
    }
  }

  /** Waits for the last event of an answer. Returns false if it does not arrive within the limits. */
  private async waitForLastEvent(socket: Socket, firstFrame: number): Promise<boolean> {
    const { bounds, turns } = this.options
    const deadline = performance.now() + bounds.total
    for (let at = firstFrame; ; ) {
      while (at < socket.received.length) {
        const { data } = socket.received[at++]!
        if (data !== undefined && turns.isLast(data)) return true
      }
      const remaining = Math.min(bounds.idle, deadline - performance.now())
      if (!(await socket.waitUntil(() => socket.received.length > at, remaining))) return false
    }
  }

  private faultOf(socket: Socket): Fault {
    if (socket.fault !== undefined) return { kind: 'http.too-large', detail: socket.fault }
    const { closed } = socket
    if (closed !== undefined)
      return { kind: 'http.closed', detail: `Closed with ${closed.code} ${closed.reason}`.trimEnd() }
    socket.terminate()
    const { idle, total } = this.options.bounds
    return {
      kind: 'http.deadline',
      detail: `The last event did not arrive within ${total} ms, or no data was received for ${idle} ms.`,
    }
  }

  private gotFrom(frames: readonly Frame[], isComplete: boolean): Pick<Exchange, 'got'> {
    const { turns, losses } = this.options
    const reports = frames.filter(({ data }) => losses !== undefined && typeOf(data) === losses.event.type)
    const events = frames.filter(frame => !reports.includes(frame))
    if (events.length === 0) return {}
    const lossText = reports.map(({ text }) => text).join()
    const headers: Headers = lossText === '' ? {} : { [losses!.header]: lossText }
    const [{ data } = { data: undefined }] = events
    const error = data && turns.errorIn(data)
    if (error !== undefined) return { got: asAnswer({ ...error, headers: { ...headers, ...error.headers } }) }
    return { got: { status: 200, headers, trailers: {}, body: Buffer.from(events.map(eventOf).join('')), isComplete } }
  }
}
