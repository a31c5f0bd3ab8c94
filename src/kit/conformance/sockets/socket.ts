import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { type RawData, WebSocket, WebSocketServer } from 'ws'
import type { Headers } from '../format.ts'
import { type Closing, type Frame, frameOf } from './frame.ts'

/* The kit's sockets. Only this file imports the WebSocket library. */

/**
 * Limits of a session: duration of the handshake in milliseconds, size of a frame in bytes, and total size and number
 * of all frames.
 */
export interface SocketBounds {
  readonly handshake: number
  readonly frame: number
  readonly bytes: number
  readonly frames: number
}

export const SOCKET_BOUNDS: SocketBounds = {
  handshake: 20_000,
  frame: 16 * 1024 * 1024,
  bytes: 32 * 1024 * 1024,
  frames: 20_000,
}

const textOf = (data: RawData): string =>
  (Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer)).toString('utf8')

/** One end of a connection. Collects arriving frames, and lets its owner wait for them. */
export class Socket {
  readonly received: Frame[] = []
  closed: Closing | undefined
  /** Reason why the kit closed the connection, or the error of the WebSocket library. */
  fault: string | undefined
  /** Called with every frame that arrives. */
  onFrame: ((frame: Frame) => void) | undefined
  /** Time for which reading stops after every frame, in milliseconds. */
  pause: number | undefined
  private waiters: (() => void)[] = []
  private size = 0
  private pings = 0
  private readonly ws: WebSocket

  constructor(ws: WebSocket, { bytes, frames }: SocketBounds) {
    this.ws = ws
    ws.on('message', data => {
      const frame = frameOf(textOf(data))
      this.size += frame.text.length
      if (this.size > bytes || this.received.length >= frames)
        this.abort(`The session has more than ${bytes} bytes or ${frames} frames.`)
      else {
        this.received.push(frame)
        this.onFrame?.(frame)
        this.rest()
      }
      this.wake()
    })
    // The library answers every ping, even if the other side does not read the answers.
    ws.on('ping', () => {
      if (++this.pings > frames) this.abort(`The session has more than ${frames} pings.`)
    })
    ws.on('error', error => (this.fault ??= error.message))
    ws.on('close', (code, reason) => {
      this.closed = { code, reason: reason.toString() }
      this.wake()
    })
  }

  send(text: string): void {
    if (this.ws.readyState === WebSocket.OPEN) this.ws.send(text)
  }

  /** Waits until all sent data has left the buffer, for at most one second. */
  async waitUntilDrained(): Promise<void> {
    for (let count = 0; count < 100 && this.ws.bufferedAmount > 0; count++) await wait(10)
  }

  close(code: number, reason: string): void {
    this.ws.close(code, reason)
  }

  /** Closes the connection without a close frame. */
  terminate(): void {
    this.ws.terminate()
  }

  /** Waits until a condition holds. Resolves to false if the connection closes or the time is up first. */
  async waitUntil(condition: () => boolean, ms: number): Promise<boolean> {
    const deadline = performance.now() + ms
    while (!condition()) {
      const remaining = deadline - performance.now()
      if (this.closed !== undefined || remaining <= 0) return false
      await new Promise<void>(resolve => {
        const timer = setTimeout(resolve, remaining)
        this.waiters.push(() => {
          clearTimeout(timer)
          resolve()
        })
      })
    }
    return true
  }

  private rest(): void {
    if (this.pause === undefined) return
    this.ws.pause()
    setTimeout(() => this.ws.resume(), this.pause)
  }

  private abort(fault: string): void {
    this.fault ??= fault
    this.ws.terminate()
  }

  private wake(): void {
    const waiters = this.waiters
    this.waiters = []
    for (const resolve of waiters) resolve()
  }
}

/** The answer to a handshake that did not open a session. */
export interface Refusal {
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

export type ConnectionOutcome = { readonly socket: Socket } | { readonly refusal: Refusal } | { readonly fault: string }

/** Maximum stored size of a refusal's body, in bytes. */
const MAX_REFUSAL_BYTES = 65_536
/** Timeout for reading a refusal's body, in milliseconds. */
const REFUSAL_TIMEOUT_MS = 5000

async function refusalOf(answer: IncomingMessage): Promise<Refusal> {
  let body = ''
  const timer = setTimeout(() => answer.destroy(), REFUSAL_TIMEOUT_MS)
  try {
    for await (const chunk of answer) {
      body += String(chunk)
      if (body.length > MAX_REFUSAL_BYTES) break
    }
  } catch {
    // The status is known, so the rest of the body is not needed.
  }
  clearTimeout(timer)
  answer.destroy()
  const headers = Object.entries(answer.headers).map(([name, value]) => [name, String(value)])
  return {
    status: answer.statusCode ?? 0,
    headers: Object.fromEntries(headers),
    body: body.slice(0, MAX_REFUSAL_BYTES),
  }
}

/** Opens a session. Does not follow redirects. Never rejects. */
export async function connect(
  url: string,
  headers: Headers,
  bounds: SocketBounds = SOCKET_BOUNDS,
): Promise<ConnectionOutcome> {
  try {
    return await openSocket(url, headers, bounds)
  } catch (thrown) {
    // A target may issue a credential that is not a valid header value.
    return { fault: (thrown as Error).message }
  }
}

function openSocket(url: string, headers: Headers, bounds: SocketBounds): Promise<ConnectionOutcome> {
  const { promise, resolve } = Promise.withResolvers<ConnectionOutcome>()
  const ws = new WebSocket(url.replace(/^http/, 'ws'), {
    ...{ headers: { ...headers }, maxPayload: bounds.frame, perMessageDeflate: false },
  })
  // The library restarts its own timeout with every byte.
  const timer = setTimeout(() => {
    resolve({ fault: `The handshake did not complete within ${bounds.handshake} ms.` })
    ws.terminate()
  }, bounds.handshake)
  void promise.then(() => clearTimeout(timer))
  const socket = new Socket(ws, bounds)
  ws.once('open', () => resolve({ socket }))
  ws.once('unexpected-response', (_, answer) => {
    void refusalOf(answer).then(refusal => resolve({ refusal }))
  })
  ws.once('error', error => resolve({ fault: error.message }))
  return promise
}

/** Accepts the handshake of a peer. */
export function accept(message: IncomingMessage, connection: Duplex, head: Buffer): Promise<Socket> {
  const server = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: SOCKET_BOUNDS.frame })
  return new Promise(resolve =>
    server.handleUpgrade(message, connection, head, ws => resolve(new Socket(ws, SOCKET_BOUNDS))),
  )
}
