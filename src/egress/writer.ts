import type { MediaPart, Part, ReasoningPart } from '../canonical/content.ts'
import type { CanonicalError } from '../canonical/error.ts'
import type { CanonicalEvent, ResultStart } from '../canonical/event.ts'
import type { Written } from '../canonical/loss.ts'
import type { JsonObject } from '../canonical/node.ts'
import type { RateLimitHeaders } from '../canonical/rate-limit.ts'
import type { CanonicalRequest, Message } from '../canonical/request.ts'
import type { CanonicalResult } from '../canonical/result.ts'
import type { Transducer } from '../canonical/transducer.ts'
import type { WireAnswer, WireEvent, WireRequest } from '../canonical/wire.ts'
import type { Work } from '../canonical/work.ts'
import type { TaskWriter } from './task-writer.ts'

/** A vendor's quirks of a format, as declared on its channel; each format's dialect.ts lists the flags it obeys. */
export type Dialect = JsonObject

export interface WriteOptions {
  readonly dialect: Dialect
  /**
   * The caller speaks this very format: what it wrote goes out as it came, legal or not. Otherwise names, ids and
   * schemas are made legal for the upstream, and every change is reported.
   */
  readonly native: boolean
}

/** To whom a thought is handed back. */
export interface HandBack extends WriteOptions {
  /** The upstream that made it, which alone can read its proof. */
  readonly own: boolean
}

/** Everything that can leave in one format. All of it is pure: equal inputs give equal bytes. */
export interface Writer {
  /** A request to an upstream. Throws GatewayError `cannot-express` only where no request at all can be written. */
  request?(request: CanonicalRequest, options: WriteOptions): Written<WireRequest>
  /** A whole answer to a caller; `id`, `model` and `createdAt` are filled in before. */
  result?(result: CanonicalResult, asked: CanonicalRequest): Written<WireAnswer>
  /**
   * A streamed answer to a caller. It owns the life cycle of its format: the terminal event comes exactly once,
   * also when `end` is called before the events ended.
   */
  events?(asked: CanonicalRequest): Transducer<CanonicalEvent, WireEvent>
  /** Takes media as bytes, in requests and answers; for any other format they are made base64 beforehand. */
  readonly bytes?: true | ((dialect: Dialect) => boolean)
  /**
   * Whether media at an address must be fetched first, as an upstream of this format cannot be told the address, or not
   * in the result of a tool.
   */
  fetches?(part: MediaPart, dialect: Dialect, work: Work, inResult: boolean): boolean
  /** Also for callers of the format itself, who choose among shapes of which an upstream may take but one. */
  readonly fetchesOwn?: true
  /** How an upstream is asked about tasks: there where its answers are tasks. */
  readonly tasks?: TaskWriter
  /**
   * How an answer says that a conversation goes on from these messages and what was sealed: parts of a candidate.
   * `base` is what ids are made of.
   */
  compacted?(kept: readonly Message[], sealed: string, base: string): readonly Part[]
  /**
   * A thought of an answer of this format as an upstream of the format takes it back in the history, where the caller no
   * longer has it; undefined where it takes none of the kind. Without the method it takes none at all (traps 26-36).
   */
  handsBack?(thought: ReasoningPart, to: HandBack): ReasoningPart | undefined
  /** Whether the upstream refuses proofs of thoughts where anything that was said before them has changed. */
  boundProofs?(options: WriteOptions): boolean
  /** An error before the first byte, in the shape and with the status of the format. */
  error?(error: CanonicalError, requestId: string): WireAnswer
  /** How its clients read what their key may still ask, where that is not by OpenAI's headers. */
  readonly rateLimitHeaders?: RateLimitHeaders
  /**
   * The same as the stream that was asked for, for kinds which the format's clients look for nowhere else; undefined
   * for any other kind. `socket` says that its events are the frames of a connection that stays.
   */
  refused?(
    error: CanonicalError,
    asked: CanonicalRequest,
    head: Omit<ResultStart, 'type'>,
    socket: boolean,
  ): readonly WireEvent[] | undefined
}

export const NATIVE: WriteOptions = { dialect: {}, native: true }
export const FOREIGN: WriteOptions = { dialect: {}, native: false }
