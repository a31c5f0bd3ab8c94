import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'
import type { JsonObject } from '../../src/canonical/node.ts'
import type { ChannelConfig } from '../../src/config/index.ts'

/** One connection of a gateway, as seen by a scripted upstream. */
export class Connection {
  readonly received: JsonObject[] = []
  readonly message: IncomingMessage
  readonly socket: WebSocket
  closed: { readonly code: number; readonly reason: string } | undefined
  private readonly waiting: (() => void)[] = []

  constructor(socket: WebSocket, message: IncomingMessage) {
    this.socket = socket
    this.message = message
    socket.on('message', data => {
      this.received.push(JSON.parse(String(data)))
      for (const wake of this.waiting.splice(0)) wake()
    })
    socket.on('close', (code, reason) => (this.closed = { code, reason: reason.toString() }))
    socket.on('error', () => {})
  }

  send(event: JsonObject | string): void {
    this.socket.send(typeof event === 'string' ? event : JSON.stringify(event))
  }

  /** Resolves when `count` events were received. */
  async until(count: number): Promise<void> {
    while (this.received.length < count) await new Promise<void>(resolve => this.waiting.push(resolve))
  }
}

export type Script = (connection: Connection) => void | Promise<void>

/** A WebSocket upstream that follows a script. */
export class ScriptedUpstream {
  readonly connections: Connection[] = []
  /** Refuses the handshake with this HTTP answer. */
  refusal: { readonly status: number; readonly body: JsonObject } | undefined
  private readonly server: Server
  private readonly sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: 2 ** 28 })

  private constructor(script: Script) {
    this.server = createServer((_, response) => response.writeHead(404).end('{}'))
    this.server.on('upgrade', (message, socket, head) => {
      if (this.refusal !== undefined) {
        const text = JSON.stringify(this.refusal.body)
        const lines = [
          'content-type: application/json',
          `content-length: ${Buffer.byteLength(text)}`,
          'connection: close',
        ]
        socket.end(`HTTP/1.1 ${this.refusal.status} No\r\n${lines.join('\r\n')}\r\n\r\n${text}`)
        return
      }
      this.sockets.handleUpgrade(message, socket, head, accepted => {
        const connection = new Connection(accepted, message)
        this.connections.push(connection)
        void Promise.resolve(script(connection)).catch(() => accepted.terminate())
      })
    })
  }

  static async open(script: Script): Promise<ScriptedUpstream> {
    const upstream = new ScriptedUpstream(script)
    await new Promise<void>(resolve => upstream.server.listen(0, '127.0.0.1', resolve))
    return upstream
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }

  /** Number of open connections. */
  get open(): number {
    return this.sockets.clients.size
  }

  async close(): Promise<void> {
    for (const client of this.sockets.clients) client.terminate()
    this.server.closeAllConnections()
    await new Promise(resolve => this.server.close(resolve))
  }
}

export interface ChannelOptions {
  readonly name?: string
  readonly format?: string
  readonly dialect?: JsonObject
  readonly priority?: number
  readonly models?: { readonly [id: string]: string }
}

/** A channel to a scripted upstream. */
export const channelTo = (
  { url }: { readonly url: string },
  {
    name = 'up',
    format = 'realtime',
    dialect = {},
    priority = 0,
    models = { voice: 'upstream-voice' },
  }: ChannelOptions = {},
): ChannelConfig => ({
  name,
  provider: 'custom',
  formats: [
    {
      format,
      baseUrl: format === 'realtime' ? `${url}/v1` : url,
      auth: 'bearer',
      headers: {},
      query: {},
      dialect,
    },
  ],
  key: 'upstream-key',
  models: { named: new Map(Object.entries(models)), patterns: [] },
  priority,
  weight: 1,
  timeout: { connect: 10_000, firstByte: 20_000, idle: 20_000 },
  allowHeaders: [],
  betas: 'none',
})

/** The `session.created` event of an OpenAI upstream. */
export const created = (more: JsonObject = {}): JsonObject => ({
  type: 'session.created',
  event_id: 'event_up_1',
  session: {
    type: 'realtime',
    object: 'realtime.session',
    id: 'sess_up',
    model: 'upstream-voice',
    output_modalities: ['audio'],
    audio: {
      input: { format: { type: 'audio/pcm', rate: 24_000 }, turn_detection: { type: 'server_vad' } },
      output: { format: { type: 'audio/pcm', rate: 24_000 }, voice: 'alloy' },
    },
    ...more,
  },
})
