import { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { decodedBody } from './content-coding.ts'
import type { Exchange, FaultKind, ReceivedAnswer, SentRequest } from './exchange.ts'
import type { Headers } from './format.ts'
import { type Behaviour, leaveLater } from './leaving.ts'

/**
 * Limits of one exchange with a target: total duration and longest silence in milliseconds, and size of the answer in
 * bytes.
 */
export interface Bounds {
  readonly total: number
  readonly idle: number
  readonly bytes: number
}

export const BOUNDS: Bounds = { total: 60_000, idle: 20_000, bytes: 32 * 1024 * 1024 }

const headersOf = (fields: IncomingHttpHeaders | NodeJS.Dict<string>): Headers =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  )

interface Fault {
  readonly kind: FaultKind
  readonly detail: string
}

/** One exchange in progress. It uses a separate connection, follows no redirects, and always ends. */
class PendingExchange {
  private readonly startedAt = performance.now()
  private readonly chunks: Buffer[] = []
  private size = 0
  private got: ReceivedAnswer | undefined
  private head: { readonly status: number; readonly headers: Headers } | undefined
  private readonly completion = Promise.withResolvers<Exchange>()
  private readonly deadline: NodeJS.Timeout
  private readonly message: ClientRequest
  private readonly sent: SentRequest
  private readonly bounds: Bounds
  private readonly behaviour: Behaviour
  private readonly cancelLeaving: () => void
  private firstByte: number | undefined

  constructor(sent: SentRequest, bounds: Bounds, behaviour: Behaviour) {
    this.sent = sent
    this.bounds = bounds
    this.behaviour = behaviour
    this.cancelLeaving = leaveLater(behaviour, () => this.leave())
    const openRequest = sent.url.startsWith('https:') ? requestHttps : requestHttp
    // A gateway may use trailers to report what a stream lost.
    const headers = { te: 'trailers', ...sent.headers, 'content-length': sent.body.length, connection: 'close, te' }
    this.message = openRequest(sent.url, { method: sent.method, headers, agent: false })
    this.deadline = setTimeout(
      () => this.fail('http.deadline', `The answer did not end within ${bounds.total} ms.`),
      bounds.total,
    )
    this.message.setTimeout(bounds.idle, () =>
      this.fail('http.deadline', `No data was received for ${bounds.idle} ms.`),
    )
    this.message.once('response', answer => this.receive(answer))
    // A target that switches to another protocol sends no answer of this one.
    this.message.once('upgrade', (answer, socket) => {
      socket.destroy()
      this.head = { status: answer.statusCode ?? 0, headers: headersOf(answer.headers) }
      this.finish(true)
    })
    this.message.on('error', fault =>
      this.fail(this.head === undefined ? 'http.connect' : 'http.closed', (fault as Error).message),
    )
    this.message.end(sent.body)
  }

  get exchange(): Promise<Exchange> {
    return this.completion.promise
  }

  /** Closes the connection, as a caller does that no longer wants the answer. */
  leave(): void {
    this.finish(false)
  }

  private receive(answer: IncomingMessage): void {
    this.head = { status: answer.statusCode ?? 0, headers: headersOf(answer.headers) }
    const { reads_every: pause } = this.behaviour
    answer.on('data', (chunk: Buffer) => {
      this.firstByte ??= performance.now()
      if (pause !== undefined) {
        answer.pause()
        setTimeout(() => answer.resume(), pause)
      }
      this.size += chunk.length
      if (this.size > this.bounds.bytes)
        this.fail('http.too-large', `The answer is larger than ${this.bounds.bytes} bytes.`)
      else this.chunks.push(chunk)
    })
    answer.on('error', fault => this.fail('http.closed', fault.message))
    answer.once('close', () => {
      if (answer.complete) this.finish(true, undefined, headersOf(answer.trailers))
      else this.fail('http.closed', 'The connection was closed before the body was complete.')
    })
  }

  /** Returns the decoded body. A body that cannot be decoded stays as it arrived, with the fault. */
  private bodyOf({ 'content-encoding': coding }: Headers): { readonly body: Buffer; readonly fault?: Fault } {
    const body = Buffer.concat(this.chunks)
    const decoded = coding === undefined ? body : decodedBody(body, coding, this.bounds.bytes)
    if (decoded === undefined)
      return { body, fault: { kind: 'http.coding', detail: `The bytes are not in ${JSON.stringify(coding)}.` } }
    if (decoded !== 'too-large') return { body: decoded }
    const detail = `The decoded answer is larger than ${this.bounds.bytes} bytes.`
    return { body: Buffer.alloc(0), fault: { kind: 'http.too-large', detail } }
  }

  private fail(kind: FaultKind, detail: string): void {
    this.finish(false, { kind, detail })
  }

  private finish(isComplete: boolean, fault?: Fault, trailers: Headers = {}): void {
    clearTimeout(this.deadline)
    this.cancelLeaving()
    const read = this.head === undefined || this.got !== undefined ? undefined : this.bodyOf(this.head.headers)
    if (read !== undefined) this.got = { ...this.head!, trailers, body: read.body, isComplete }
    const outcome = fault ?? read?.fault
    this.completion.resolve({
      sent: this.sent,
      ...(this.got === undefined ? {} : { got: this.got }),
      ...(outcome === undefined ? {} : { fault: outcome }),
      ...(this.firstByte === undefined ? {} : { firstByte: this.firstByte }),
      took: Math.round(performance.now() - this.startedAt),
    })
    this.message.destroy()
  }
}

/**
 * Sends one request and waits for its answer. Never rejects. A failure is stored as the exchange's `fault`.
 *
 * @param signal closes the connection when aborted.
 */
export function send(
  sent: SentRequest,
  bounds: Bounds = BOUNDS,
  behaviour: Behaviour = {},
  signal?: AbortSignal,
): Promise<Exchange> {
  try {
    const pending = new PendingExchange(sent, bounds, behaviour)
    signal?.addEventListener('abort', () => pending.leave(), { once: true })
    return pending.exchange
  } catch (fault) {
    return Promise.resolve({ sent, fault: { kind: 'http.connect', detail: (fault as Error).message }, took: 0 })
  }
}
