import type { Caller } from '../../accounts/index.ts'
import type { CanonicalError } from '../../canonical/error.ts'
import type { Loss } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { WireFile, WireRequest } from '../../canonical/wire.ts'
import type { Answer } from '../../upstreams/channel/index.ts'
import type { Target } from '../../upstreams/router.ts'
import type { Call } from '../call.ts'
import type { Prepared } from '../prepare.ts'
import type { StoredItems } from '../stored/index.ts'
import { RecordedReply, Recording, type RecordingBudget, recordedAnswer } from './recording.ts'

/** Maximum number of upstream requests stored per captured request. An emulation may send many more. */
const MAX_EXCHANGES = 20
/** Number of bytes that are stored of an unreadable body. */
const MAX_UNREAD_SIZE = 64 * 1024

/** The caller's request, as far as it was read. */
export interface ParsedBody {
  readonly body: JsonObject
  readonly files: readonly WireFile[] | undefined
  /** Wire request, or undefined if the endpoint refused the body. */
  wire: WireRequest | undefined
}

/** Fields of an attempt that the capture needs. */
export interface CaptureSource {
  readonly incoming: { readonly call: Call }
  readonly target: Target
  readonly request: CanonicalRequest
  readonly stored: StoredItems | undefined
}

/** One request to an upstream, with its answer. */
export class CapturedExchange {
  readonly attempt: CaptureSource
  /** Request as prepared for the upstream, or undefined if it was never sent. */
  readonly prepared: Prepared | undefined
  readonly sentAfter: number
  status: number | undefined
  headers: Answer['headers'] = {}
  answeredAfter: number | undefined
  readonly body: Recording
  error: CanonicalError | undefined
  endedAfter: number | undefined

  constructor(attempt: CaptureSource, prepared: Prepared | undefined, body: Recording) {
    this.attempt = attempt
    this.prepared = prepared
    this.body = body
    this.sentAfter = this.body.elapsed
  }

  /** Records the head of the answer. Returns an answer that records its body as it is read. */
  recordAnswer(answer: Answer): Answer {
    this.status = answer.status
    this.headers = answer.headers
    this.answeredAfter = this.body.elapsed
    return recordedAnswer(answer, this.body)
  }

  recordFailure(error: CanonicalError): void {
    this.error ??= error
    this.endedAfter ??= this.body.elapsed
  }
}

/**
 * Collects a captured request while it runs. Holds only references. Values are copied, cut and scrubbed after the
 * request is over, so that the request does not wait for the capture.
 */
export class Capture {
  readonly call: Call
  readonly caller: Caller
  /** Start of the request, in Unix milliseconds. */
  readonly at = Date.now()
  readonly startTime = performance.now()
  readonly reply: RecordedReply
  readonly exchanges: CapturedExchange[] = []
  parsedBody: ParsedBody | undefined
  /** Bytes of a body that could not be parsed. */
  unread: Recording | undefined
  request: CanonicalRequest | undefined
  /** Fact that identified the conversation, if it decided between channels or keys. */
  affinity: string | undefined
  /** Losses of the answer on its way to the caller. */
  answerLosses: readonly Loss[] = []
  /** True if the answer continues in the background after the request is over. */
  isBackground = false
  /** Number of upstream requests beyond the limit, which are not stored. */
  omittedExchanges = 0
  private readonly budget: RecordingBudget

  /**
   * Replaces the call's reply with one that records what is sent.
   *
   * @param budget the byte budget that all captures in progress share.
   */
  constructor(call: Call, caller: Caller, budget: RecordingBudget) {
    this.call = call
    this.caller = caller
    this.budget = budget
    this.reply = new RecordedReply(call.reply, new Recording(this.startTime, budget))
    call.reply = this.reply
  }

  /** Records the bytes of the body until it is parsed. */
  recordBytes(): void {
    const { headers } = this.call.message
    if (this.call.body !== undefined || headers['content-encoding'] !== undefined) return
    const unread = new Recording(this.startTime, this.budget, MAX_UNREAD_SIZE)
    this.unread = unread
    this.call.message.on('data', (chunk: Uint8Array) => {
      if (this.unread === unread) unread.take(chunk)
    })
  }

  /** Records the parsed body. The caller sets `wire` of the result if the endpoint accepts the body. */
  recordBody(body: JsonObject, files: readonly WireFile[] | undefined): ParsedBody {
    this.unread?.release()
    this.unread = undefined
    this.parsedBody = { body, files, wire: undefined }
    return this.parsedBody
  }

  /** Records the failure of a target, which may have occurred before anything was sent to it. */
  recordFailure(attempt: CaptureSource, error: CanonicalError): void {
    const last = this.exchanges.at(-1)
    const exchange = last?.attempt.target === attempt.target ? last : this.addExchange(attempt, undefined)
    exchange?.recordFailure(error)
  }

  /** Adds a request to an upstream. Returns undefined beyond the limit. */
  addExchange(attempt: CaptureSource, prepared: Prepared | undefined): CapturedExchange | undefined {
    if (this.exchanges.length >= MAX_EXCHANGES) {
      this.omittedExchanges++
      return undefined
    }
    const exchange = new CapturedExchange(attempt, prepared, new Recording(this.startTime, this.budget))
    this.exchanges.push(exchange)
    return exchange
  }

  /** Frees the recorded bytes once the capture is written. */
  release(): void {
    const recordings = [this.reply.body, this.unread, ...this.exchanges.map(({ body }) => body)]
    for (const recording of recordings) recording?.release()
  }
}
