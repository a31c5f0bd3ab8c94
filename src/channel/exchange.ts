import type { Transform } from 'node:stream'
import type { Bytes } from '../canonical/bytes.ts'
import { type ErrorKind, GatewayError } from '../canonical/error.ts'
import { type Beginning, beginningOf } from './beginning.ts'
import { flowing } from './flowing.ts'
import { type Headers, single } from './headers.ts'
import { inflaterFor } from './inflate.ts'
import type { StaleRetry } from './stale-retry.ts'
import type { Watchdog, Watched } from './watchdog.ts'

/** Who takes the body of an answer, piece by piece; after `end` or `fail` nothing more comes. */
export interface Taker {
  take(bytes: Uint8Array): void
  end(): void
  fail(error: GatewayError): void
}

/** The head of an upstream's answer, with its body still to be taken, once: in pieces or as a text. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** What its body begins like, whatever its headers say. */
  readonly begins: Beginning
  flow(taker: Taker): void
  /**
   * The whole body.
   *
   * @throws GatewayError `upstream-failed` for more than `limit` bytes or a broken body, `timed-out`, `cancelled`.
   */
  text(limit: number): Promise<string>
  /** The body as bytes to be read as they come; a slow reader holds up the upstream. */
  bytes(): Bytes
}

/** What the HTTP client lets its handlers do. */
interface Controller {
  pause(): void
  resume(): void
  abort(reason: Error): void
}

/** How long an upstream may take to end an answer that already said everything. */
const LINGER = 2000

export interface ExchangeOptions {
  readonly watchdog: Watchdog
  /** Milliseconds the upstream may take for the head of its answer; undefined until it is its turn. */
  readonly head: number | undefined
  /** Milliseconds it may be silent within its answer. */
  readonly idle: number
  /** Undefined where the request cannot be sent again. */
  readonly again: StaleRetry | undefined
  /** Called once, when the exchange no longer burdens the upstream. */
  closed(): void
}

/** One request to an upstream, as the HTTP client's handler: nothing between the socket and the taker but this. */
export class Exchange implements Watched {
  /** Rejects with GatewayError when there will be no head. */
  readonly answer: Promise<Answer>
  private resolve!: (answer: Answer) => void
  private reject!: (error: GatewayError) => void
  patience: number | undefined
  heard = 0
  place = 0
  private readonly options: ExchangeOptions
  private controller: Controller | undefined
  private begun = false
  /** The head, until it is known what the body begins with. */
  private head: Pick<Answer, 'status' | 'headers'> | undefined
  /** Undefined once the body's first bytes told whether it is packed. */
  private encoding: string | undefined
  private settled: GatewayError | 'ended' | undefined
  private taker: Taker | undefined
  private inflater: Transform | undefined
  private early: Uint8Array[] = []
  private lingering: NodeJS.Timeout | undefined
  /** The body is held up by us, so that the upstream's silence means nothing. */
  private deaf = false

  constructor(options: ExchangeOptions) {
    this.options = options
    this.patience = options.head
    options.watchdog.watch(this)
    this.answer = new Promise((resolve, reject) => {
      this.resolve = resolve
      this.reject = reject
    })
    this.answer.catch(() => {})
  }

  /** The upstream must take more, or begin to answer, within so many milliseconds; undefined where it is not its turn. */
  expect(milliseconds: number | undefined): void {
    if (this.begun) return
    this.patience = milliseconds
    this.hear()
  }

  expire(): void {
    if (this.deaf) return
    this.breakOff(failure('timed-out', this.begun ? FELL_SILENT : NEVER_BEGAN))
  }

  /** Ends it from our side: the upstream's connection is closed. */
  abort(): void {
    if (this.settled !== 'ended') this.breakOff(failure('cancelled', 'The caller went away.'))
  }

  private breakOff(reason: GatewayError): void {
    this.settle(reason)
    this.controller?.abort(reason)
    this.inflater?.destroy()
  }

  /** The rest of the answer does not matter: it may end by itself, within a short time. */
  release(): void {
    if (this.settled !== undefined) return
    if (this.taker === undefined) this.flow(NOBODY)
    this.resume()
    this.lingering = setTimeout(() => this.abort(), LINGER)
  }

  pause(): void {
    this.deaf = true
    this.controller?.pause()
    this.inflater?.pause()
  }

  resume(): void {
    this.deaf = false
    this.hear()
    this.inflater?.resume()
    if (this.inflater?.writableNeedDrain !== true) this.controller?.resume()
  }

  onRequestStart(controller: Controller): void {
    this.controller = controller
    if (this.settled instanceof GatewayError) controller.abort(this.settled)
    else this.options.again?.begins()
  }

  onResponseStarted(): void {
    this.options.again?.answered()
  }

  onResponseStart(_: Controller, status: number, headers: Headers): void {
    if (status < 200) return
    this.begun = true
    this.patience = this.options.idle
    this.hear()
    this.encoding = single(headers['content-encoding']).toLowerCase()
    this.head = { status, headers }
  }

  onResponseData(_: Controller, chunk: Uint8Array): void {
    this.hear()
    if (this.encoding !== undefined) this.unpack(this.encoding, chunk)
    if (this.inflater === undefined) this.give(chunk)
    else if (this.settled === undefined && !this.inflater.write(chunk)) this.controller?.pause()
  }

  onResponseEnd(): void {
    if (this.inflater === undefined) this.settle('ended')
    else this.inflater.end()
  }

  onResponseError(_: Controller, error: Error): void {
    if (this.settled === undefined && this.options.again?.takes(error) === true) this.hear()
    else this.settle(toFailure(error, this.begun))
  }

  private hear(): void {
    this.heard = this.options.watchdog.now
  }

  /** A little that was packed may be a lot: it is unpacked no faster than it is taken. */
  private unpack(encoding: string, first: Uint8Array): void {
    this.encoding = undefined
    const inflater = inflaterFor(encoding, first)
    if (inflater === undefined) return
    this.inflater = inflater
    inflater.on('data', (chunk: Uint8Array) => {
      this.hear()
      this.give(chunk)
    })
    inflater.on('drain', () => {
      if (!this.deaf) this.controller?.resume()
    })
    inflater.on('end', () => this.settle('ended'))
    inflater.on('error', error => this.breakOff(toFailure(error, true)))
  }

  private give(chunk: Uint8Array): void {
    if (this.settled !== undefined) return
    if (this.taker !== undefined) return this.taker.take(chunk)
    this.early.push(chunk)
    if (this.head === undefined) return
    const begins = beginningOf(this.early.length === 1 ? chunk : Buffer.concat(this.early))
    if (begins !== undefined) this.begin(this.head, begins)
  }

  private begin({ status, headers }: Pick<Answer, 'status' | 'headers'>, begins: Beginning): void {
    this.head = undefined
    this.resolve({
      status,
      headers,
      begins,
      flow: taker => this.flow(taker),
      text: limit => this.text(limit),
      bytes: () => flowing(this, this.inflater === undefined ? headers : UNSIZED, taker => this.flow(taker)),
    })
  }

  private settle(outcome: GatewayError | 'ended'): void {
    if (this.settled !== undefined) return
    this.settled = outcome
    clearTimeout(this.lingering)
    this.options.watchdog.leave(this)
    this.options.closed()
    if (outcome !== 'ended') this.reject(outcome)
    else if (this.head !== undefined) this.begin(this.head, this.early.length === 0 ? 'nothing' : 'other')
    if (this.taker !== undefined) this.tell(this.taker, outcome)
  }

  private tell(taker: Taker, outcome: GatewayError | 'ended'): void {
    if (outcome === 'ended') taker.end()
    else taker.fail(outcome)
  }

  /** What came between the head and this call was kept, in order. */
  private flow(taker: Taker): void {
    this.taker = taker
    for (const chunk of this.early) taker.take(chunk)
    this.early = []
    if (this.settled !== undefined) this.tell(taker, this.settled)
  }

  private text(limit: number): Promise<string> {
    return new Promise((resolve, reject) => {
      const chunks: Uint8Array[] = []
      let size = 0
      this.flow({
        take: chunk => {
          size += chunk.length
          if (size <= limit) chunks.push(chunk)
          else {
            chunks.length = 0
            this.breakOff(answeredTooMuch())
          }
        },
        end: () =>
          resolve((chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size)).toString('utf8')),
        fail: reject,
      })
    })
  }
}

/** What is packed says nothing of how long it is unpacked. */
const UNSIZED: Headers = {}

/** What nobody wants is not kept. */
const NOBODY: Taker = { take: () => {}, end: () => {}, fail: () => {} }

const NEVER_BEGAN = 'The upstream did not begin to answer in time.'
const FELL_SILENT = 'The upstream fell silent in the middle of its answer.'

const TIMEOUTS: { readonly [code: string]: string } = {
  UND_ERR_CONNECT_TIMEOUT: 'The upstream did not take the connection in time.',
  ETIMEDOUT: 'The upstream did not take the connection in time.',
}

/** The failure of an answer too large to hold or to handle. */
export const answeredTooMuch = (cause?: Error): GatewayError =>
  failure('upstream-failed', 'The upstream answered more than the gateway takes.', cause)

/** What the HTTP client says, in words that name no address. */
function toFailure(error: Error, begun: boolean): GatewayError {
  if (error instanceof GatewayError) return error
  const timeout = TIMEOUTS[String((error as { code?: unknown }).code)]
  if (timeout !== undefined) return failure('timed-out', timeout, error)
  return begun
    ? failure('upstream-failed', 'The upstream broke off its answer.', error)
    : failure('unreachable', 'The upstream could not be reached.', error)
}

const failure = (kind: ErrorKind, message: string, cause?: Error): GatewayError =>
  new GatewayError({ kind, message }, cause === undefined ? {} : { cause })
