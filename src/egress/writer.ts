import type { MediaPart, Part, ReasoningPart } from '../canonical/content.ts'
import type { CanonicalError } from '../canonical/error.ts'
import type { CanonicalEvent, ResultStart } from '../canonical/event.ts'
import type { Loss, Written } from '../canonical/loss.ts'
import type { ModelCard } from '../canonical/model-card.ts'
import type { JsonObject } from '../canonical/node.ts'
import type { AddRateLimits } from '../canonical/rate-limit.ts'
import type { CanonicalRequest, Message } from '../canonical/request.ts'
import type { CanonicalResult } from '../canonical/result.ts'
import type { Transducer } from '../canonical/transducer.ts'
import type { WireAnswer, WireEvent, WireRequest } from '../canonical/wire.ts'
import type { Work } from '../canonical/work.ts'
import type { TaskWriter } from './task-writer.ts'
import type { ModelQuery } from './transport/model-pages.ts'

/** A vendor's quirks of a format, as declared on its channel; each format's dialect.ts lists the flags it obeys. */
export type Dialect = JsonObject

export interface WriteOptions {
  readonly dialect: Dialect
  /**
   * The caller uses this same format: its values are sent as they came, valid or not. Otherwise names, ids and schemas
   * are made valid for the upstream, and every change is reported.
   */
  readonly native: boolean
}

/** The upstream to which a thought is handed back. */
export interface HandBack extends WriteOptions {
  /** The upstream that issued the thought, which alone can read its proof. */
  readonly own: boolean
}

/** How the models that a key can call are listed to a format's clients. */
export interface ModelWriter {
  /**
   * The JSON text of the page that the query selects, of cards sorted by id.
   *
   * @throws GatewayError `invalid-request` for an invalid page.
   */
  list(cards: readonly ModelCard[], query: ModelQuery): string | Promise<string>
  record(card: ModelCard): JsonObject
}

/** How a format names the container of a recording. */
export interface Container {
  /** The media type that its callers get where they name none. */
  readonly usual: string
  /** The format's name for a media type; undefined where it has none. */
  nameOf(mediaType: string): string | undefined
}

/** Writes a streamed answer. */
export interface EventWriter extends Transducer<CanonicalEvent, WireEvent> {
  /** What a whole answer would have said: known at the end, when the headers are gone. */
  readonly lost?: readonly Loss[]
}

/** Writes a streamed answer of an upstream of its own format. */
export interface OwnEventWriter extends EventWriter {
  /** An event as it came, with what was read of it: it leaves so, but for id and model of the answer. */
  relay(wire: WireEvent, read: readonly CanonicalEvent[]): readonly WireEvent[]
}

/** Everything the gateway writes in one format. All of it is pure: equal inputs give equal bytes. */
export interface Writer {
  /** A request to an upstream. Throws GatewayError `cannot-express` only where no request at all can be written. */
  request?(request: CanonicalRequest, options: WriteOptions): Written<WireRequest>
  /** A whole answer to a caller; `id`, `model` and `createdAt` are filled in before. */
  result?(result: CanonicalResult, request: CanonicalRequest): Written<WireAnswer>
  /**
   * A streamed answer to a caller. It owns the life cycle of its format: the terminal event comes exactly once,
   * also when `end` is called before the events ended.
   */
  events?(request: CanonicalRequest): EventWriter
  /** The same of an upstream of this format. Without the method its events are written anew. */
  ownEvents?(request: CanonicalRequest): OwnEventWriter
  /** Takes media as bytes, in requests and answers; for any other format they are converted to base64 beforehand. */
  readonly bytes?: true | ((dialect: Dialect) => boolean)
  /**
   * Whether media at a URL must be fetched first, because upstreams of this format take no such URL, or none in the
   * result of a tool.
   */
  fetches?(part: MediaPart, dialect: Dialect, work: Work, inResult: boolean): boolean
  /** Also for callers of the format itself, who choose among shapes of which an upstream may take only one. */
  readonly fetchesOwn?: true
  /** How an upstream is asked about tasks: there where its answers are tasks. */
  readonly tasks?: TaskWriter
  /**
   * The parts of an answer from which a conversation is continued: the kept messages and a sealed value. `base` is the
   * prefix of ids.
   */
  compacted?(kept: readonly Message[], sealed: string, base: string): readonly Part[]
  /**
   * A thought of an answer of this format as an upstream of the format takes it back in the history, where the caller
   * no longer has it; undefined where the upstream takes no such thought. Without the method it takes none at all
   * (traps 26-36).
   */
  handsBack?(thought: ReasoningPart, to: HandBack): ReasoningPart | undefined
  /** Whether the upstream refuses proofs of thoughts when any earlier message has changed. */
  boundProofs?(options: WriteOptions): boolean
  /** An error before the first byte, in the shape and with the status of the format. */
  error?(error: CanonicalError, requestId: string): WireAnswer
  /** How its clients list models; formats of one family list them in one of them (docs/wire/common.md#model-lists). */
  readonly models?: ModelWriter
  /** Its answers may hold images as addresses. */
  readonly imageAddresses?: true
  /** Its recordings come without a media type: another container than the requested one is a loss. */
  readonly container?: Container
  /** Its answers hold the time of their completion, as `completedAt` in the spelling of the format. */
  readonly completionTime?: true
  /** Adds the headers of limits that clients of the format read, where those are not OpenAI's. */
  readonly addRateLimits?: AddRateLimits
  /**
   * An error as the stream that was requested, for kinds that the format's clients expect only there; undefined for any
   * other kind. With `socket` the events are frames of a connection that stays open.
   */
  refused?(
    error: CanonicalError,
    request: CanonicalRequest,
    head: Omit<ResultStart, 'type'>,
    socket: boolean,
  ): readonly WireEvent[] | undefined
}
