import type { Transform } from 'node:stream'
import type { Bytes } from '../../canonical/bytes.ts'
import { type ErrorKind, type FailureReason, GatewayError } from '../../canonical/error.ts'
import { defined } from '../../canonical/node.ts'
import { type Consumer, streamedBytes } from './body-bytes.ts'
import { type BodyKind, bodyKindOf, inflaterFor } from './body-kind.ts'
import { type Headers, headerValue } from './headers.ts'
import type { StaleRetry } from './origin-pool.ts'
import type { Silence } from './silence.ts'
import { TextConsumer } from './text-consumer.ts'
import { NotSent, unreachable } from './unreachable.ts'
import type { Watchdog, Watched } from './watchdog.ts'

/** The head of an upstream's answer. The body can be read only once: in chunks, as text or as bytes. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** Kind of the body, detected from its first bytes regardless of the headers. */
  readonly bodyKind: BodyKind
  pipeTo(consumer: Consumer): void
  /**
   * Reads the whole body as text.
   *
   * @param onPart called with the part that arrived of a body that is broken.
   * @throws GatewayError `upstream-failed` if the body is broken or longer than `limit` bytes, `timed-out`,
   *   `cancelled`.
   */
  text(limit: number, onPart?: (part: Uint8Array) => void): Promise<string>
  /** Returns the body as bytes to read while they arrive. A slow reader slows down the upstream. */
  bytes(): Bytes
}

/** The HTTP client's controls for a request in flight. */
interface Controller {
  pause(): void
  resume(): void
  abort(reason: Error): void
}

/** Maximum time for an upstream to end an answer that is already complete, in milliseconds. */
const END_TIMEOUT = 2000

/** Limits of an exchange, and callbacks to its channel. */
export interface ExchangeOptions {
  readonly watchdog: Watchdog
  /**
   * Maximum time until the head of the upstream's answer, in milliseconds, or undefined while the request is still
   * being sent.
   */
  readonly head: number | undefined
  /** Maximum silence of the upstream during its answer, in milliseconds. */
  readonly idle: number
  /** Retry of the request after a stale connection, or undefined if the request cannot be sent twice. */
  readonly staleRetry: StaleRetry | undefined
  /** Silence of the channel, or undefined if the answer is not streamed, so that its head may take long. */
  readonly silence: Silence | undefined
  /** Called once, when the exchange has ended and no longer counts towards the upstream's load. */
  endInFlight(): void
}

/**
 * One request to an upstream and its answer. Implemented as a handler of the HTTP client, so that there is no layer
 * between socket and consumer.
 */
export class Exchange implements Watched {
  /** Promise of the answer's head. Rejects with GatewayError if no head arrives. */
  readonly answer: Promise<Answer>
  private resolve!: (answer: Answer) => void
  private reject!: (error: GatewayError) => void
  silenceLimit: number | undefined
  lastActivity = 0
  index = 0
  private readonly options: ExchangeOptions
  private controller: Controller | undefined
  private hasHead = false
  /** True if this request counts as overdue. */
  private isOverdue = false
  /** The head of the answer, until the kind of the body is detected. */
  private head: Pick<Answer, 'status' | 'headers'> | undefined
  /** Declared encoding, or undefined once the first bytes have shown whether the body is compressed. */
  private encoding: string | undefined
  private outcome: GatewayError | 'ended' | undefined
  private consumer: Consumer | undefined
  private inflater: Transform | undefined
  /** Chunks of the body that the consumer has not received yet. */
  private chunks: Uint8Array[] = []
  /** End of the last chunk in the memory of its read. A chunk behind it probably belongs to the same read. */
  private chunkEnd = Number.POSITIVE_INFINITY
  private endTimer: NodeJS.Timeout | undefined
  /** True while the gateway itself pauses the body, so that the upstream's silence does not count. */
  private isPaused = false

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

  /**
   * Sets a deadline for the upstream to read the next chunk or to start its answer. Undefined removes the deadline
   * while the caller is still sending.
   */
  setDeadline(milliseconds: number | undefined): void {
    if (this.hasHead) return
    this.silenceLimit = milliseconds
    this.touch()
  }

  expire(): void {
    if (this.isPaused) return
    if (this.hasHead) return this.terminate(failure('timed-out', 'idle-timeout', SILENCE_DURING_ANSWER))
    const timeout = failure('timed-out', 'first-byte-timeout', NO_ANSWER_IN_TIME)
    // A request that has not been written yet is aborted before it is.
    this.terminate(this.controller === undefined ? new NotSent(timeout.error) : timeout)
  }

  overdue(): void {
    const { silence } = this.options
    if (this.hasHead || this.isOverdue || silence === undefined) return
    this.isOverdue = true
    silence.begin()
  }

  private endOverdue(): void {
    if (this.isOverdue) this.options.silence!.end()
    this.isOverdue = false
  }

  /** Aborts the exchange and closes the upstream's connection. */
  abort(): void {
    if (this.outcome !== 'ended') this.terminate(failure('cancelled', undefined, 'The caller went away.'))
  }

  /** Ends the exchange because its request cannot be sent. */
  fail(thrown: unknown): void {
    this.terminate(thrown instanceof GatewayError ? thrown : unreachable(thrown as Error, false))
  }

  private terminate(reason: GatewayError): void {
    this.settle(reason)
    this.controller?.abort(reason)
    this.inflater?.destroy()
  }

  /** Drops the rest of an answer. The upstream has a short time to end it. */
  discardRest(): void {
    if (this.outcome !== undefined) return
    if (this.consumer === undefined) this.pipeTo(DISCARD)
    this.resume()
    this.endTimer = setTimeout(() => this.abort(), END_TIMEOUT)
  }

  pause(): void {
    this.isPaused = true
    this.controller?.pause()
    this.inflater?.pause()
  }

  resume(): void {
    this.isPaused = false
    this.touch()
    this.inflater?.resume()
    if (this.inflater?.writableNeedDrain !== true) this.controller?.resume()
  }

  onRequestStart(controller: Controller): void {
    this.controller = controller
    if (this.outcome instanceof GatewayError) controller.abort(this.outcome)
    else this.options.staleRetry?.sent()
  }

  onResponseStarted(): void {
    this.options.staleRetry?.answered()
  }

  onResponseStart(_: Controller, status: number, headers: Headers): void {
    if (status < 200) return
    this.hasHead = true
    this.options.silence?.answered()
    this.endOverdue()
    this.silenceLimit = this.options.idle
    this.touch()
    this.encoding = headerValue(headers['content-encoding']).toLowerCase()
    this.head = { status, headers }
  }

  onResponseData(_: Controller, chunk: Uint8Array): void {
    this.touch()
    if (this.encoding !== undefined) this.decompress(this.encoding, chunk)
    if (this.inflater === undefined) this.deliver(chunk)
    else if (this.outcome === undefined && !this.inflater.write(chunk)) this.controller?.pause()
  }

  onResponseEnd(): void {
    if (this.inflater === undefined) this.settle('ended')
    else this.inflater.end()
  }

  onResponseError(_: Controller, error: Error): void {
    if (this.outcome === undefined && this.options.staleRetry?.retries(error) === true) this.touch()
    else this.settle(this.failureOf(error))
  }

  /** Converts an error of the HTTP client into one whose message names no address. */
  private failureOf(error: Error): GatewayError {
    if (error instanceof GatewayError) return error
    if (this.hasHead) return failure('upstream-failed', 'cut', 'The upstream broke off its answer.', error)
    // The client sets the controller right before it writes the request.
    return unreachable(error, this.controller !== undefined)
  }

  private touch(): void {
    this.lastActivity = this.options.watchdog.now
  }

  /**
   * Decompresses the body. Does so no faster than the consumer reads, because a few compressed bytes may expand to
   * many.
   */
  private decompress(encoding: string, first: Uint8Array): void {
    this.encoding = undefined
    const inflater = inflaterFor(encoding, first)
    if (inflater === undefined) return
    this.inflater = inflater
    inflater.on('data', (chunk: Uint8Array) => {
      this.touch()
      this.deliver(chunk)
    })
    inflater.on('drain', () => {
      if (!this.isPaused) this.controller?.resume()
    })
    inflater.on('end', () => this.settle('ended'))
    inflater.on('error', error => this.terminate(this.failureOf(error)))
  }

  private deliver(chunk: Uint8Array): void {
    if (this.outcome !== undefined) return
    const isFirstOfRead = chunk.byteOffset <= this.chunkEnd
    this.chunkEnd = chunk.byteOffset + chunk.length
    if (this.consumer !== undefined && isFirstOfRead && this.chunks.length === 0) return this.consumer.onData(chunk)
    if (this.chunks.push(chunk) === 1 && this.consumer !== undefined) process.nextTick(flushed, this)
    if (this.head === undefined) return
    const bodyKind = bodyKindOf(joined(this.chunks))
    if (bodyKind !== undefined) this.resolveAnswer(this.head, bodyKind)
  }

  /**
   * Passes chunks that were read from the socket at once to the consumer as one. An upstream may send every event in a
   * chunk of its own, and decoding and parsing cost more per chunk than per byte.
   */
  flush(): void {
    const { chunks, consumer } = this
    if (chunks.length === 0 || consumer === undefined) return
    this.chunks = []
    let start = 0
    let size = 0
    for (const [index, { length }] of chunks.entries()) {
      if (size > 0 && size + length > MAX_JOINED_SIZE) {
        consumer.onData(joined(chunks.slice(start, index)))
        start = index
        size = 0
      }
      size += length
    }
    consumer.onData(joined(start === 0 ? chunks : chunks.slice(start)))
  }

  private resolveAnswer({ status, headers }: Pick<Answer, 'status' | 'headers'>, bodyKind: BodyKind): void {
    this.head = undefined
    this.resolve(new ExchangeAnswer(this, status, headers, bodyKind))
  }

  private settle(outcome: GatewayError | 'ended'): void {
    if (this.outcome === undefined) this.flush()
    if (this.outcome !== undefined) return
    this.outcome = outcome
    clearTimeout(this.endTimer)
    this.options.watchdog.unwatch(this)
    this.endOverdue()
    this.options.endInFlight()
    if (outcome !== 'ended') this.reject(outcome)
    else if (this.head !== undefined) this.resolveAnswer(this.head, this.chunks.length === 0 ? 'nothing' : 'other')
    if (this.consumer !== undefined) this.notify(this.consumer, outcome)
  }

  /**
   * Reports the end to the consumer. Consumers that have already finished, for example after the last event of a
   * stream, ignore the report.
   */
  private notify(consumer: Consumer, outcome: GatewayError | 'ended'): void {
    if (outcome === 'ended') consumer.onEnd()
    else consumer.onError(outcome)
  }

  /** True if the body is compressed, so that its declared length is not the length of the content. */
  get isCompressed(): boolean {
    return this.inflater !== undefined
  }

  /** Passes the body to the consumer, starting with the buffered chunks. */
  pipeTo(consumer: Consumer): void {
    this.consumer = consumer
    this.flush()
    if (this.outcome !== undefined) this.notify(consumer, this.outcome)
  }

  /** Aborts the exchange because the body exceeds its reader's limit, and returns the error. */
  overflow(): GatewayError {
    const error = answeredTooMuch()
    this.terminate(error)
    return error
  }
}

/**
 * Called after the HTTP client has parsed one read. Shared, because a function per exchange would cost an object each.
 */
const flushed = (exchange: Exchange): void => exchange.flush()

/** Maximum size of joined chunks, in bytes. The parser of events searches the rest of a text once per line. */
const MAX_JOINED_SIZE = 8192

const joined = (chunks: readonly Uint8Array[]): Uint8Array => (chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))

/** Answer of an exchange whose body has not been read yet. */
class ExchangeAnswer implements Answer {
  readonly status: number
  readonly headers: Headers
  readonly bodyKind: BodyKind
  private readonly exchange: Exchange

  constructor(exchange: Exchange, status: number, headers: Headers, bodyKind: BodyKind) {
    this.exchange = exchange
    this.status = status
    this.headers = headers
    this.bodyKind = bodyKind
  }

  pipeTo(consumer: Consumer): void {
    this.exchange.pipeTo(consumer)
  }

  text(limit: number, onPart?: (part: Uint8Array) => void): Promise<string> {
    const { exchange } = this
    return new Promise((resolve, reject) =>
      exchange.pipeTo(new TextConsumer({ limit, overflow: () => exchange.overflow(), resolve, reject, onPart })),
    )
  }

  bytes(): Bytes {
    const { exchange, headers } = this
    return streamedBytes(exchange, exchange.isCompressed ? NO_HEADERS : headers, consumer => exchange.pipeTo(consumer))
  }
}

const NO_HEADERS: Headers = {}

/** A consumer that drops the body. */
const DISCARD: Consumer = { onData: () => {}, onEnd: () => {}, onError: () => {} }

const NO_ANSWER_IN_TIME = 'The upstream did not begin to answer in time.'
const SILENCE_DURING_ANSWER = 'The upstream stopped sending in the middle of its answer.'

/** Returns the error for an answer that is too large to buffer. */
export const answeredTooMuch = (cause?: Error): GatewayError =>
  failure('upstream-failed', 'content', "The upstream's answer is larger than the gateway accepts.", cause)

const failure = (kind: ErrorKind, reason: FailureReason | undefined, message: string, cause?: Error): GatewayError =>
  new GatewayError({ kind, message, ...defined({ reason }) }, cause === undefined ? {} : { cause })
