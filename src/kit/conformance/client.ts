import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { Exchange, FaultKind, GotAnswer, SentRequest } from './exchange.ts'
import type { Headers } from './format.ts'

/** Limits for a target: milliseconds for the whole exchange and for a silence, bytes of an answer. */
export interface Bounds {
  readonly whole: number
  readonly idle: number
  readonly bytes: number
}

export const BOUNDS: Bounds = { whole: 60_000, idle: 20_000, bytes: 32 * 1024 * 1024 }

const headersOf = ({ headers }: IncomingMessage): Headers =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  )

/** One exchange under way. Its connection is its own, redirects are not followed, and it always ends. */
class Sending {
  private readonly began = performance.now()
  private readonly chunks: Buffer[] = []
  private size = 0
  private got: GotAnswer | undefined
  private head: { readonly status: number; readonly headers: Headers } | undefined
  private readonly settled = Promise.withResolvers<Exchange>()
  private readonly deadline: NodeJS.Timeout
  private readonly message: ClientRequest
  private readonly sent: SentRequest
  private readonly bounds: Bounds

  constructor(sent: SentRequest, bounds: Bounds) {
    this.sent = sent
    this.bounds = bounds
    const begin = sent.url.startsWith('https:') ? requestHttps : requestHttp
    const headers = { ...sent.headers, 'content-length': sent.body.length, connection: 'close' }
    this.message = begin(sent.url, { method: sent.method, headers, agent: false })
    this.deadline = setTimeout(() => this.fail('http.deadline', `No end after ${bounds.whole} ms.`), bounds.whole)
    this.message.setTimeout(bounds.idle, () => this.fail('http.deadline', `Silent for ${bounds.idle} ms.`))
    this.message.once('response', answer => this.receive(answer))
    this.message.on('error', fault =>
      this.fail(this.head === undefined ? 'http.connect' : 'http.closed', (fault as Error).message),
    )
    this.message.end(sent.body)
  }

  get exchange(): Promise<Exchange> {
    return this.settled.promise
  }

  private receive(answer: IncomingMessage): void {
    this.head = { status: answer.statusCode ?? 0, headers: headersOf(answer) }
    answer.on('data', (chunk: Buffer) => {
      this.size += chunk.length
      if (this.size > this.bounds.bytes) this.fail('http.too-large', `More than ${this.bounds.bytes} bytes.`)
      else this.chunks.push(chunk)
    })
    answer.on('error', fault => this.fail('http.closed', fault.message))
    answer.once('close', () => {
      if (answer.complete) this.finish(true)
      else this.fail('http.closed', 'The connection was closed within the body.')
    })
  }

  private fail(kind: FaultKind, detail: string): void {
    this.finish(false, { kind, detail })
  }

  private finish(isComplete: boolean, fault?: { readonly kind: FaultKind; readonly detail: string }): void {
    clearTimeout(this.deadline)
    if (this.head !== undefined) this.got ??= { ...this.head, body: Buffer.concat(this.chunks), isComplete }
    this.settled.resolve({
      sent: this.sent,
      ...(this.got === undefined ? {} : { got: this.got }),
      ...(fault === undefined ? {} : { fault }),
      took: Math.round(performance.now() - this.began),
    })
    this.message.destroy()
  }
}

/** Sends one request and waits for its answer. Never rejects: what goes wrong is the exchange's `fault`. */
export function send(sent: SentRequest, bounds: Bounds = BOUNDS): Promise<Exchange> {
  try {
    return new Sending(sent, bounds).exchange
  } catch (fault) {
    return Promise.resolve({ sent, fault: { kind: 'http.connect', detail: (fault as Error).message }, took: 0 })
  }
}
