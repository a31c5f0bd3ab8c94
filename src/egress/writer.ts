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

/** A vendor's deviations from a format, declared on its channel. `formats/dialects/` lists the flags of each format. */
export type Dialect = JsonObject

/** The upstream's dialect, and whether it uses the caller's format. */
export interface WriteOptions {
  readonly dialect: Dialect
  /**
   * Whether the caller uses this same format. If so, its values are sent unchanged, valid or not. Otherwise names, ids
   * and schemas are made valid for the upstream, and every change is reported.
   */
  readonly native: boolean
}

/** The upstream to which reasoning is returned. */
export interface ReasoningTarget extends WriteOptions {
  /** Whether this upstream issued the reasoning. Only the issuer can read its signature. */
  readonly toIssuer: boolean
}

/** Lists the models that a key can call, for the clients of a format. */
export interface ModelWriter {
  /**
   * Returns one page of models as JSON text; `cards` are sorted by id.
   *
   * @throws GatewayError `invalid-request` for an invalid page.
   */
  list(cards: readonly ModelCard[], query: ModelQuery): string | Promise<string>
  record(card: ModelCard): JsonObject
}

/** A format's names for audio containers. */
export interface Container {
  /** Media type for callers that name none. */
  readonly defaultType: string
  /** Returns the format's name for a media type. Undefined if it has none. */
  nameOf(mediaType: string): string | undefined
}

/** Writes a streamed answer to a caller. */
export interface EventWriter extends Transducer<CanonicalEvent, WireEvent> {
  /**
   * Losses that a whole answer would have reported in its headers. Complete only at the end, when the headers are
   * already sent.
   */
  readonly lost?: readonly Loss[]
}

/** Writes a streamed answer whose upstream uses the caller's format. */
export interface NativeEventWriter extends EventWriter {
  /**
   * Passes on a wire event as received, except for the id and model of the answer. `read` are the canonical events read
   * from it.
   */
  relay(wire: WireEvent, read: readonly CanonicalEvent[]): readonly WireEvent[]
}

/** Everything that the gateway writes in one format. All methods are pure: equal inputs give equal bytes. */
export interface Writer {
  /** Writes a request to an upstream. Throws GatewayError `cannot-express` only if no request at all can be written. */
  request?(request: CanonicalRequest, options: WriteOptions): Written<WireRequest>
  /** Writes a whole answer to a caller. The gateway has filled in `id`, `model` and `createdAt` before. */
  result?(result: CanonicalResult, request: CanonicalRequest): Written<WireAnswer>
  /**
   * Writes a streamed answer to a caller. The writer owns the life cycle of its format: it writes the terminal event
   * exactly once, even if `end` is called before the canonical events ended.
   */
  events?(request: CanonicalRequest): EventWriter
  /**
   * Writes a streamed answer of an upstream of this format. Without this method such events are read and written like
   * those of other formats.
   */
  nativeEvents?(request: CanonicalRequest): NativeEventWriter
  /**
   * Whether the format takes media as raw bytes, in requests and answers. For other formats the gateway converts bytes
   * to base64 first.
   */
  readonly bytes?: true | ((dialect: Dialect) => boolean)
  /**
   * Whether the gateway must fetch media at a URL first, because upstreams of this format take no such URL, or none in
   * a tool result.
   */
  mustFetch?(part: MediaPart, dialect: Dialect, work: Work, inResult: boolean): boolean
  /** Whether media are also fetched for native callers, who may choose a shape that the upstream does not take. */
  readonly mustFetchNative?: true
  /** Writes the requests about tasks, for formats whose upstreams answer with tasks. */
  readonly tasks?: TaskWriter
  /**
   * Writes a compacted conversation as parts of an answer: the messages that stay and the encrypted summary. `base` is
   * the prefix of ids.
   */
  compacted?(remaining: readonly Message[], encrypted: string, base: string): readonly Part[]
  /**
   * Turns a reasoning part of an earlier answer into the form in which an upstream takes it back in the history, for
   * callers that no longer have it. Undefined if the upstream takes no such reasoning. Formats without this method take
   * none (traps 26-36).
   */
  reasoningForHistory?(reasoning: ReasoningPart, to: ReasoningTarget): ReasoningPart | undefined
  /** Whether the upstream refuses reasoning signatures once any earlier message has changed. */
  boundSignatures?(options: WriteOptions): boolean
  /** Writes an error before the first byte, with the shape and the status of the format. */
  error?(error: CanonicalError, requestId: string): WireAnswer
  /** Whether answers of the format may contain images as URLs. */
  readonly imageUrls?: true
  /**
   * Containers of formats whose audio comes without a media type: another container than the requested one is a loss.
   */
  readonly container?: Container
  /** Whether answers of the format contain their completion time, as `completedAt` in the format's spelling. */
  readonly completionTime?: true
  /** Adds the rate limit headers that clients of the format read, for formats that do not use OpenAI's headers. */
  readonly addRateLimits?: AddRateLimits
  /**
   * Writes an error as the requested stream, for error kinds that clients of the format expect only there. Undefined
   * for any other kind. With `socket` the events are frames of a connection that stays open.
   */
  errorAsStream?(
    error: CanonicalError,
    request: CanonicalRequest,
    head: Omit<ResultStart, 'type'>,
    socket: boolean,
  ): readonly WireEvent[] | undefined
}
