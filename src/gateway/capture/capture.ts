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
import type { Stored } from '../stored/index.ts'
import { RecordedReply, Recording, type Room, recordedAnswer } from './recording.ts'

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
  readonly target: Target
  readonly request: CanonicalRequest
  readonly stored: Stored | undefined
}

/** One request to an upstream. */
export class CapturedExchange {
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

  constructor(attempt: CapturedFrom, prepared: Prepared | undefined, body: Recording) {
    this.attempt = attempt
    this.prepared = prepared
    this.body = body
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
  /** Requests to upstreams that are not kept. */
  omittedExchanges = 0
  private readonly room: Room

  /**
   * Has everything the call reads and answers recorded from now on.
   *
   * @param room shared by all that is captured at once.
   */
  constructor(call: Call, caller: Caller, room: Room) {
    this.call = call
    this.caller = caller
    this.room = room
    this.reply = new RecordedReply(call.reply, new Recording(this.began, room))
    call.reply = this.reply
  }

  /** The body is about to be read. */
  reading(): void {
    const { headers } = this.call.message
    if (this.call.body !== undefined || headers['content-encoding'] !== undefined) return
    const unread = new Recording(this.began, this.room, UNREAD)
    this.unread = unread
    this.call.message.on('data', (chunk: Uint8Array) => {
      if (this.unread === unread) unread.take(chunk)
    })
  }

  /** The body was parsed; `wire` of what is returned is set where its endpoint takes it. */
  parsed(body: JsonObject, files: readonly WireFile[] | undefined): SentByCaller {
    this.unread?.release()
    this.unread = undefined
    this.sent = { body, files, wire: undefined }
    return this.sent
  }

  /** A target failed, perhaps before anything was sent to it. */
  failed(attempt: CapturedFrom, error: CanonicalError): void {
    const last = this.exchanges.at(-1)
    const exchange = last?.attempt.target === attempt.target ? last : this.sending(attempt, undefined)
    exchange?.failed(error)
  }

  /** A request goes to an upstream, where it was prepared; undefined where there were too many. */
  sending(attempt: CapturedFrom, prepared: Prepared | undefined): CapturedExchange | undefined {
    if (this.exchanges.length >= MOST_EXCHANGES) {
      this.omittedExchanges++
      return undefined
    }
    const exchange = new CapturedExchange(attempt, prepared, new Recording(this.began, this.room))
    this.exchanges.push(exchange)
    return exchange
  }

  /** It was written: others have the room of what was recorded. */
  release(): void {
    for (const one of [this.reply.body, this.unread, ...this.exchanges.map(({ body }) => body)]) one?.release()
  }
}
