import { createHash } from 'node:crypto'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ChannelConfig, Config, GroupConfig } from '../../src/config/index.ts'
import { type Log, openServer, type RunningServer } from '../../src/server/index.ts'

export const KEY = 'caller-key-of-the-tests'

export interface Line {
  readonly level: keyof Log
  readonly fields: { readonly [name: string]: unknown }
  readonly message: string
}

const hash = (key: string): string => createHash('sha256').update(key).digest('hex')

export const configOf = (
  channels: readonly ChannelConfig[],
  {
    heartbeat = 15_000,
    earlyHead = true,
    body = 32 * 1024 * 1024,
    group = {},
    allow,
    keep,
    sockets = SOCKETS,
    limits = {},
    config = {},
  }: HouseOptions = {},
): Config => ({
  server: {
    host: '127.0.0.1',
    port: 0,
    heartbeat,
    earlyHead,
    drain: 0,
    grace: 2000,
    limits: { ...LIMITS, body, ...limits },
    sockets,
  },
  media: { fetch: allow !== undefined, limit: 2 ** 20, count: 20, total: 2 ** 21, timeout: 2000, allow: allow ?? [] },
  responses: { keep: keep === undefined ? 0 : 3_600_000, background: 2 },
  thoughts: { keep: 3_600_000, memory: 2 ** 20 },
  tasks: { poll: 0, keep: 0, limit: 2 ** 30, vendorPath: 'videovendor' },
  realtime: REALTIME,
  dataDir: keep ?? join(tmpdir(), 'interlingua-tests-without-keys'),
  groups: new Map([['default', { name: 'default', models: ['*'], onLoss: 'show', ...group }]]),
  keys: [{ name: 'dev', hash: hash(KEY), group: 'default' }],
  channels,
  models: new Map(),
  ...config,
})

/** A fixed key of the default group, as a config has it. */
export const keyOf = (key: string, name: string) => ({ name, hash: hash(key), group: 'default' })

export const LIMITS = {
  byFormat: new Map<string, number>(),
  waiting: { key: 2 ** 28, all: 2 ** 30 },
  spooled: { key: 2 ** 33, all: 2 ** 35 },
  connections: 1000,
}

export const REALTIME: Config['realtime'] = {
  lifetime: 60_000,
  idle: 60_000,
  message: 2 ** 20,
  buffer: 2 ** 22,
  sessions: { key: 100, all: 1000 },
  browserKeys: false,
}

export const SOCKETS = { lifetime: 60_000, idle: 60_000, queue: 16, turns: 64, memory: 2 ** 20 }

export interface HouseOptions {
  readonly sockets?: Config['server']['sockets']
  readonly heartbeat?: number
  readonly earlyHead?: boolean
  readonly body?: number
  readonly limits?: Partial<Config['server']['limits']>
  readonly group?: Partial<GroupConfig>
  /** Addresses of our own that media is fetched from; absent, none is fetched at all. */
  readonly allow?: readonly string[]
  /** A directory of the test's own, where responses are kept; without it none are. */
  readonly keep?: string
  /** Parts of the config as they are. */
  readonly config?: Partial<Config>
}

/** A gateway on the loopback, and what it logged. */
export class House {
  readonly lines: Line[] = []
  readonly server: RunningServer

  private constructor(server: RunningServer, lines: Line[]) {
    this.server = server
    this.lines = lines
  }

  static async open(channels: readonly ChannelConfig[], options: HouseOptions = {}): Promise<House> {
    const lines: Line[] = []
    const noting = (level: keyof Log) => (fields: object, message: string) =>
      void lines.push({ level, fields: fields as Line['fields'], message })
    const log: Log = { info: noting('info'), warn: noting('warn'), error: noting('error') }
    return new House(await openServer({ config: configOf(channels, options), log }), lines)
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

/** The text of an answer; what came before a broken end counts. */
export function textOf(answer: IncomingMessage): Promise<string> {
  return new Promise(resolve => {
    let text = ''
    answer.setEncoding('utf8')
    answer.on('data', chunk => (text += chunk))
    answer.on('close', () => resolve(text))
    answer.on('error', () => {})
  })
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The data of each server-sent event in a text. */
export const dataOf = (text: string): string[] =>
  text.split('\n').flatMap(line => (line.startsWith('data: ') ? [line.slice(6)] : []))
