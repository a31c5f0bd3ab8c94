import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import type { ChannelConfig } from '../../src/config/index.ts'
import { type Log, openServer, type RunningServer } from '../../src/server/index.ts'
import { configOf, KEY, type TestServerOptions } from './config.ts'
import { jsonOf, textOf } from './http.ts'

export interface Line {
  readonly level: keyof Log
  readonly fields: { readonly [name: string]: unknown }
  readonly message: string
}

/** A gateway on the loopback and its log. */
export class TestServer {
  readonly lines: Line[] = []
  readonly server: RunningServer

  private constructor(server: RunningServer, lines: Line[]) {
    this.server = server
    this.lines = lines
  }

  static async open(channels: readonly ChannelConfig[], options: TestServerOptions = {}): Promise<TestServer> {
    const lines: Line[] = []
    const noting = (level: keyof Log) => (fields: object, message: string) =>
      void lines.push({ level, fields: fields as Line['fields'], message })
    const log: Log = { info: noting('info'), warn: noting('warn'), error: noting('error') }
    return new TestServer(await openServer({ config: configOf(channels, options), log }), lines)
  }

  /** Sends a request and leaves the answer to be read. */
  send(path: string, body: unknown, { method = 'POST', headers = {} }: SendOptions = {}): Sent {
    const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body)
    const out = request(`${this.server.address}${path}`, {
      method,
      agent: false,
      headers: { authorization: `Bearer ${KEY}`, 'content-length': Buffer.byteLength(text), ...headers },
    })
    const answer = new Promise<IncomingMessage>((resolve, reject) => out.on('response', resolve).on('error', reject))
    answer.catch(() => {})
    out.end(text)
    return { out, answer }
  }

  /** Sends a request and reads the whole answer. */
  async ask(path: string, body: unknown, options: SendOptions = {}): Promise<Asked> {
    const answer = await this.send(path, body, options).answer
    const text = await textOf(answer)
    return { status: answer.statusCode!, headers: answer.headers as Asked['headers'], text, json: jsonOf(text) }
  }
}

export interface SendOptions {
  readonly method?: string
  readonly headers?: { readonly [name: string]: string }
}

export interface Sent {
  readonly out: ClientRequest
  readonly answer: Promise<IncomingMessage>
}

export interface Asked {
  readonly status: number
  readonly headers: { readonly [name: string]: string }
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of many shapes
  readonly json: any
}
