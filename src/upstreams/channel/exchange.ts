import type { Transform } from 'node:stream'
import type { Bytes } from '../../canonical/bytes.ts'
import { type ErrorKind, GatewayError } from '../../canonical/error.ts'
import { type Beginning, beginningOf, inflaterFor } from './beginning.ts'
import { type Consumer, flowing } from './flowing.ts'
import { type Headers, single } from './headers.ts'
import type { StaleRetry } from './origin-pool.ts'
import type { Watchdog, Watched } from './watchdog.ts'

/** The head of an upstream's answer, whose body is read once: in chunks, as a text or as bytes. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** The kind of its body by its first bytes, whatever its headers declare. */
  readonly begins: Beginning
  pipeTo(consumer: Consumer): void
  /**
   * The whole body.
   *
   * @throws GatewayError `upstream-failed` for more than `limit` bytes or a broken body, `timed-out`, `cancelled`.
   */
  text(limit: number): Promise<string>
  /** The body as bytes to be read as they arrive; a slow reader slows down the upstream. */
  bytes(): Bytes
}

/** The HTTP client's control over a request in flight. */
interface Controller {
  pause(): void
  resume(): void
  abort(reason: Error): void
}

/** Milliseconds an upstream may take to end an answer that is complete. */
const END_TIMEOUT = 2000

export interface ExchangeOptions {
  readonly watchdog: Watchdog
  /** Milliseconds the upstream may take for the head of its answer; undefined while it waits for the request. */
  readonly head: number | undefined
  /** Milliseconds it may be silent within its answer. */
  readonly idle: number
  /** Undefined where the request cannot be sent again. */
  readonly staleRetry: StaleRetry | undefined
  /** Called once, when the exchange is over: it no longer loads the upstream. */
  endInFlight(): void
}

/** One request to an upstream, implemented as the HTTP client's handler: no layers between socket and consumer. */
export class Exchange implements Watched {
  /** Rejects with GatewayError when the answer has no head. */
  readonly answer: Promise<Answer>
  private resolve!: (answer: Answer) => void
  private reject!: (error: GatewayError) => void
  silenceLimit: number | undefined
  lastActivity = 0
  place = 0
  private readonly options: ExchangeOptions
  private controller: Controller | undefined
  private begun = false
  /** The head, until the kind of the body is detected. */
  private head: Pick<Answer, 'status' | 'headers'> | undefined
  /** Undefined once the body's first bytes have shown whether it is compressed. */
  private encoding: string | undefined
  private settled: GatewayError | 'ended' | undefined
  private consumer: Consumer | undefined
  private inflater: Transform | undefined
  private earlyChunks: Uint8Array[] = []
  private endTimer: NodeJS.Timeout | undefined
  /** We hold the body up ourselves, so the upstream's silence does not count. */
  private paused = false

  constructor(options: ExchangeOptions) {
    this.options = options
    this.silenceLimit = options.head
    options.watchdog.watch(this)
    this.answer = new Promise((resolve, reject) => {
      this.resolve = resolve
      this.reject = reject
    })
    this.answer.catch(() => {})
  }

  /** The upstream must read on, or begin to answer, within so many milliseconds; undefined while it waits for us. */
  expect(milliseconds: number | undefined): void {
    if (this.begun) return
    this.silenceLimit = milliseconds
    this.touch()
  }

  expire(): void {
    if (this.paused) return
    this.terminate(failure('timed-out', this.begun ? SILENT : NO_HEAD_IN_TIME))
  }

  /** Ends the exchange from our side: the upstream's connection is closed. */
  abort(): void {
    if (this.settled !== 'ended') this.terminate(failure('cancelled', 'The caller went away.'))
  }

  private terminate(reason: GatewayError): void {
    this.settle(reason)
    this.controller?.abort(reason)
    this.inflater?.destroy()
  }

  /** The rest of the answer is not needed: it is dropped, and may end by itself within a short time. */
  discardRest(): void {
    if (this.settled !== undefined) return
    if (this.consumer === undefined) this.pipeTo(DISCARD)
    this.resume()
    this.endTimer = setTimeout(() => this.abort(), END_TIMEOUT)
  }

  pause(): void {
    this.paused = true
    this.controller?.pause()
    this.inflater?.pause()
  }

  resume(): void {
    this.paused = false
    this.touch()
    this.inflater?.resume()
    if (this.inflater?.writableNeedDrain !== true) this.controller?.resume()
  }

  onRequestStart(controller: Controller): void {
    this.controller = controller
    if (this.settled instanceof GatewayError) controller.abort(this.settled)
    else this.options.staleRetry?.sent()
  }

  onResponseStarted(): void {
    this.options.staleRetry?.answered()
  }

  onResponseStart(_: Controller, status: number, headers: Headers): void {
    if (status < 200) return
    this.begun = true
    this.silenceLimit = this.options.idle
    this.touch()
    this.encoding = single(headers['content-encoding']).toLowerCase()
    this.head = { status, headers }
  }

  onResponseData(_: Controller, chunk: Uint8Array): void {
    this.touch()
    if (this.encoding !== undefined) this.unpack(this.encoding, chunk)
    if (this.inflater === undefined) this.deliver(chunk)
    else if (this.settled === undefined && !this.inflater.write(chunk)) this.controller?.pause()
  }

  onResponseEnd(): void {
    if (this.inflater === undefined) this.settle('ended')
    else this.inflater.end()
  }

  onResponseError(_: Controller, error: Error): void {
    if (this.settled === undefined && this.options.staleRetry?.retries(error) === true) this.touch()
    else this.settle(exchangeFailure(error, this.begun))
  }

  private touch(): void {
    this.lastActivity = this.options.watchdog.now
  }

  /** Decompresses no faster than the result is taken: few compressed bytes may be many. */
  private unpack(encoding: string, first: Uint8Array): void {
    this.encoding = undefined
    const inflater = inflaterFor(encoding, first)
    if (inflater === undefined) return
    this.inflater = inflater
    inflater.on('data', (chunk: Uint8Array) => {
      this.touch()
      this.deliver(chunk)
    })
    inflater.on('drain', () => {
      if (!this.paused) this.controller?.resume()
    })
    inflater.on('end', () => this.settle('ended'))
    inflater.on('error', error => this.terminate(exchangeFailure(error, true)))
  }

  private deliver(chunk: Uint8Array): void {
    if (this.settled !== undefined) return
    if (this.consumer !== undefined) return this.consumer.onData(chunk)
    this.earlyChunks.push(chunk)
    if (this.head === undefined) return
    const begins = beginningOf(this.earlyChunks.length === 1 ? chunk : Buffer.concat(this.earlyChunks))
    if (begins !== undefined) this.begin(this.head, begins)
  }

  private begin({ status, headers }: Pick<Answer, 'status' | 'headers'>, begins: Beginning): void {
    this.head = undefined
    this.resolve(new ExchangeAnswer(this, status, headers, begins))
  }

  private settle(outcome: GatewayError | 'ended'): void {
    if (this.settled !== undefined) return
    this.settled = outcome
    clearTimeout(this.endTimer)
    this.options.watchdog.unwatch(this)
    this.options.endInFlight()
    if (outcome !== 'ended') this.reject(outcome)
    else if (this.head !== undefined) this.begin(this.head, this.earlyChunks.length === 0 ? 'nothing' : 'other')
    if (this.consumer !== undefined) this.notify(this.consumer, outcome)
  }

  /** A consumer that is over already, as after the last event of a stream, ignores it. */
  private notify(consumer: Consumer, outcome: GatewayError | 'ended'): void {
    if (outcome === 'ended') consumer.onEnd()
    else consumer.onError(outcome)
  }

  /** The length of a compressed body is not that of its content. */
  get isCompressed(): boolean {
    return this.inflater !== undefined
  }

  /** Chunks that arrived before this call were kept, in order. */
  pipeTo(consumer: Consumer): void {
    this.consumer = consumer
    for (const chunk of this.earlyChunks) consumer.onData(chunk)
    this.earlyChunks = []
    if (this.settled !== undefined) this.notify(consumer, this.settled)
  }

  /** Ends the exchange because of a body of more bytes than its reader takes. */
  overflow(): void {
    this.terminate(answeredTooMuch())
  }
}

class ExchangeAnswer implements Answer {
  readonly status: number
  readonly headers: Headers
  readonly begins: Beginning
  private readonly exchange: Exchange

  constructor(exchange: Exchange, status: number, headers: Headers, begins: Beginning) {
    this.exchange = exchange
    this.status = status
    this.headers = headers
    this.begins = begins
  }

  pipeTo(consumer: Consumer): void {
    this.exchange.pipeTo(consumer)
  }

  text(limit: number): Promise<string> {
    return new Promise((resolve, reject) =>
      this.exchange.pipeTo(new TextConsumer(this.exchange, limit, resolve, reject)),
    )
  }

  bytes(): Bytes {
    const { exchange, headers } = this
    return flowing(exchange, exchange.isCompressed ? UNSIZED : headers, consumer => exchange.pipeTo(consumer))
  }
}

/** Collects a body as a text. */
class TextConsumer implements Consumer {
  private readonly exchange: Exchange
  private readonly limit: number
  private readonly resolve: (text: string) => void
  readonly onError: (error: GatewayError) => void
  private chunks: Uint8Array[] = []
  private size = 0

  constructor(
    exchange: Exchange,
    limit: number,
    resolve: (text: string) => void,
    onError: (error: GatewayError) => void,
  ) {
    this.exchange = exchange
    this.limit = limit
    this.resolve = resolve
    this.onError = onError
  }

  onData(chunk: Uint8Array): void {
    this.size += chunk.length
    if (this.size <= this.limit) this.chunks.push(chunk)
    else {
      this.chunks = []
      this.onError(answeredTooMuch())
      this.exchange.overflow()
    }
  }

  onEnd(): void {
    const { chunks, size } = this
    this.resolve((chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size)).toString('utf8'))
  }
}

const UNSIZED: Headers = {}

/** Drops a body that is not needed. */
const DISCARD: Consumer = { onData: () => {}, onEnd: () => {}, onError: () => {} }

const NO_HEAD_IN_TIME = 'The upstream did not begin to answer in time.'
const SILENT = 'The upstream fell silent in the middle of its answer.'

const TIMEOUTS: { readonly [code: string]: string } = {
  UND_ERR_CONNECT_TIMEOUT: 'The upstream did not take the connection in time.',
  ETIMEDOUT: 'The upstream did not take the connection in time.',
}

/** The failure for an answer too large to hold or to handle. */
export const answeredTooMuch = (cause?: Error): GatewayError =>
  failure('upstream-failed', 'The upstream answered more than the gateway takes.', cause)

/** The HTTP client's error as one whose message names no address. */
function exchangeFailure(error: Error, begun: boolean): GatewayError {
  if (error instanceof GatewayError) return error
  const timeout = TIMEOUTS[String((error as { code?: unknown }).code)]
  if (timeout !== undefined) return failure('timed-out', timeout, error)
  return begun
    ? failure('upstream-failed', 'The upstream broke off its answer.', error)
    : failure('unreachable', 'The upstream could not be reached.', error)
}

const failure = (kind: ErrorKind, message: string, cause?: Error): GatewayError =>
  new GatewayError({ kind, message }, cause === undefined ? {} : { cause })
