import type { Caller } from '../../access/index.ts'
import type { CanonicalError } from '../../canonical/error.ts'
import type { Loss } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { WireFile, WireRequest } from '../../canonical/wire.ts'
import type { Answer } from '../../channel/index.ts'
import type { Candidate } from '../../router.ts'
import type { Stored } from '../../stored/index.ts'
import type { Call } from '../call.ts'
import type { Prepared } from '../prepare.ts'
import { recordedAnswer } from './recorded-answer.ts'
import { RecordedReply } from './recorded-reply.ts'
import { Recording } from './recording.ts'

/** Requests to upstreams that are kept of one request: an emulation may need many. */
const MOST_EXCHANGES = 20
/** Bytes kept of a body that could not be read. */
const UNREAD = 64 * 1024

/** What the caller sent, as far as it was read. */
export interface SentByCaller {
  readonly body: JsonObject
  readonly files: readonly WireFile[] | undefined
  /** Undefined where the endpoint refused it. */
  wire: WireRequest | undefined
}

/** What is kept of an attempt. */
export interface CapturedFrom {
  readonly call: Call
  readonly candidate: Candidate
  readonly request: CanonicalRequest
  readonly stored: Stored | undefined
}

/** One request to an upstream. */
export class CapturedExchange {
  readonly candidate: Candidate
  readonly attempt: CapturedFrom
  /** Undefined where it was not sent. */
  readonly prepared: Prepared | undefined
  readonly sentAfter: number
  status: number | undefined
  headers: Answer['headers'] = {}
  answeredAfter: number | undefined
  readonly body: Recording
  error: CanonicalError | undefined
  endedAfter: number | undefined

  constructor(attempt: CapturedFrom, prepared: Prepared | undefined, began: number) {
    this.candidate = attempt.candidate
    this.attempt = attempt
    this.prepared = prepared
    this.body = new Recording(began)
    this.sentAfter = this.body.elapsed
  }

  /** The head of the answer came; its body is recorded as it is read. */
  answered(answer: Answer): Answer {
    this.status = answer.status
    this.headers = answer.headers
    this.answeredAfter = this.body.elapsed
    return recordedAnswer(answer, this.body)
  }

  failed(error: CanonicalError): void {
    this.error ??= error
    this.endedAfter ??= this.body.elapsed
  }
}

/**
 * What is gathered of a request that is captured, by reference as long as it runs: it is copied, cut and freed of secrets
 * once it is over.
 */
export class Capture {
  readonly call: Call
  readonly caller: Caller
  /** Unix time in milliseconds. */
  readonly at = Date.now()
  readonly began = performance.now()
  readonly reply: RecordedReply
  readonly exchanges: CapturedExchange[] = []
  sent: SentByCaller | undefined
  /** The body as it came, where it could not be read. */
  unread: Recording | undefined
  request: CanonicalRequest | undefined
  /** What the answer lost on its way back. */
  lostInAnswer: readonly Loss[] = []
  /** Its answer goes on after the request is over. */
  isBackground = false
  private omitted = 0

  /** Has everything the call reads and answers recorded from now on. */
  constructor(call: Call, caller: Caller) {
    this.call = call
    this.caller = caller
    this.reply = new RecordedReply(call.reply, this.began)
    call.reply = this.reply
    const read = call.wire
    call.wire = (body, files) => {
      this.unread = undefined
      const sent: SentByCaller = { body, files, wire: undefined }
      this.sent = sent
      const wire = read(body, files)
      sent.wire = wire
      return wire
    }
  }

  /** Requests to upstreams that are not kept. */
  get omittedExchanges(): number {
    return this.omitted
  }

  /** The body is about to be read. */
  reading(): void {
    const { headers } = this.call.message
    if (this.call.body !== undefined || headers['content-encoding'] !== undefined) return
    const unread = new Recording(this.began, UNREAD)
    this.unread = unread
    this.call.message.on('data', (chunk: Uint8Array) => {
      if (this.unread === unread) unread.take(chunk)
    })
  }

  /** A request goes to an upstream; undefined where there were too many. */
  sending(attempt: CapturedFrom, prepared: Prepared): CapturedExchange | undefined {
    return this.add(attempt, prepared)
  }

  /** A candidate failed, perhaps before anything was sent to it. */
  failed(attempt: CapturedFrom, error: CanonicalError): void {
    const last = this.exchanges.at(-1)
    const exchange = last?.candidate === attempt.candidate ? last : this.add(attempt, undefined)
    exchange?.failed(error)
  }

  private add(attempt: CapturedFrom, prepared: Prepared | undefined): CapturedExchange | undefined {
    if (this.exchanges.length >= MOST_EXCHANGES) {
      this.omitted++
      return undefined
    }
    const exchange = new CapturedExchange(attempt, prepared, this.began)
    this.exchanges.push(exchange)
    return exchange
  }
}
