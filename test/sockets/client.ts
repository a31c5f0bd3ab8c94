import { WebSocket } from 'ws'
import type { JsonObject } from '../../src/canonical/node.ts'
import { KEY } from '../builders/config.ts'
import { until } from '../builders/time.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests look into events of many shapes
export type Event = any

/** A client of a responses socket that records received events. */
export class Client {
  readonly events: Event[] = []
  /** Code with which the connection was closed. */
  closed: number | undefined
  /** Reason with which the connection was closed. */
  reason = ''
  readonly socket: WebSocket
  private taken = 0

  private constructor(socket: WebSocket) {
    this.socket = socket
    socket.on('message', data => this.events.push(JSON.parse(String(data))))
    socket.on('close', (code, reason) => {
      this.closed = code
      this.reason = String(reason)
    })
    socket.on('error', () => {})
  }

  /** Opens a connection. Rejects with the status of a refused upgrade. */
  static async open(address: string, options: { readonly [name: string]: string } = {}, path = '/v1/responses') {
    const { version = '13', ...headers } = options
    const socket = new WebSocket(`${address.replace('http', 'ws')}${path}`, {
      headers: { authorization: `Bearer ${KEY}`, ...headers },
      protocolVersion: Number(version),
    })
    const client = new Client(socket)
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve)
      socket.once('unexpected-response', (_, response) => {
        reject(Object.assign(new Error('refused'), { status: response.statusCode, headers: response.headers }))
        socket.terminate()
      })
      socket.once('error', reject)
    })
    return client
  }

  send(event: JsonObject | string | Buffer): void {
    this.socket.send(typeof event === 'string' || Buffer.isBuffer(event) ? event : JSON.stringify(event))
  }

  /** Requests one turn, waits for its last event, and returns all its events. */
  async turn(body: JsonObject): Promise<Event[]> {
    this.send({ type: 'response.create', model: 'm', ...body })
    return this.next()
  }

  /** Returns the events up to the next one that ends a turn. */
  async next(): Promise<Event[]> {
    const from = this.taken
    const end = () => this.events.findIndex((event, index) => index >= from && LAST.has(event.type))
    await until(() => end() >= 0)
    this.taken = end() + 1
    return this.events.slice(from, this.taken)
  }

  async close(): Promise<void> {
    this.socket.close()
    await until(() => this.closed !== undefined)
  }
}

const LAST = new Set(['response.completed', 'response.failed', 'response.incomplete', 'error', 'response.steer.failed'])
