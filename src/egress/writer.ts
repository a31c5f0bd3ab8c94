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

/** A vendor's deviations from a format, declared on its channel. `formats/dialects/` lists each format's flags. */
export type Dialect = JsonObject

/** The upstream's dialect, and whether the upstream uses the caller's format. */
export interface WriteOptions {
  readonly dialect: Dialect
  /**
   * Whether the caller uses this same format. If so, values are sent unchanged, valid or not. If not, names, ids and
   * schemas are made valid for the upstream, and every change is reported.
   */
  readonly native: boolean
}

/** The upstream to which reasoning is returned. */
export interface ReasoningTarget extends WriteOptions {
  /** True if this upstream issued the reasoning. Only the issuer can read the signature. */
  readonly toIssuer: boolean
}

/** Lists the models that a key can call, for the clients of a format. */
export interface ModelWriter {
  /**
   * Returns one page of models as JSON text. `cards` are sorted by id.
   *
   * @throws GatewayError `invalid-request` for an invalid page.
   */
  list(cards: readonly ModelCard[], query: ModelQuery): string | Promise<string>
  record(card: ModelCard): JsonObject
}

/** A format's names for audio containers. */
export interface Container {
  /** Media type for callers that do not name one. */
  readonly defaultType: string
  /** Returns the format's name for a media type. Undefined if the format has none. */
  nameOf(mediaType: string): string | undefined
}

/** Writes a streamed answer to a caller. */
export interface EventWriter extends Transducer<CanonicalEvent, WireEvent> {
  /**
   * Losses that a whole answer would have reported in its headers. They are only complete at the end, when the headers
   * have already been sent.
   */
  readonly lost?: readonly Loss[]
}

/** Writes a streamed answer whose upstream uses the caller's format. */
export interface NativeEventWriter extends EventWriter {
  /**
   * Passes on a wire event as received, except for the answer's id and model. `read` contains the canonical events that
   * were read from it.
   * from it.
   */
  relay(wire: WireEvent, read: readonly CanonicalEvent[]): readonly WireEvent[]
}

/** Everything that the gateway writes in one format. All methods are pure: equal inputs yield equal bytes. */
export interface Writer {
  /** Writes a request to an upstream. Throws GatewayError `cannot-express` only if no request can be written at all. */
  request?(request: CanonicalRequest, options: WriteOptions): Written<WireRequest>
  /** Writes a whole answer to a caller. The gateway has already set `id`, `model` and `createdAt`. */
  result?(result: CanonicalResult, request: CanonicalRequest): Written<WireAnswer>
  /**
   * Writes a streamed answer to a caller. The writer controls the life cycle of its format: it writes the terminal
   * event exactly once, even if `end` is called before all canonical events have ended.
   */
  events?(request: CanonicalRequest): EventWriter
  /**
   * Writes a streamed answer of an upstream of this format. Without this method, such events are read and written like
   * events of any other format.
   */
  nativeEvents?(request: CanonicalRequest): NativeEventWriter
  /**
   * Whether the format supports media as raw bytes in requests and answers. For other formats, the gateway first
   * converts bytes to base64.
   */
  readonly bytes?: true | ((dialect: Dialect) => boolean)
  /**
   * Whether the gateway must first fetch media from its URL. Upstreams of this format may not accept such URLs, either
   * in general or in tool results.
   */
  mustFetch?(part: MediaPart, dialect: Dialect, work: Work, inResult: boolean): boolean
  /**
   * Whether media are also fetched for native callers, because they may choose a shape that the upstream does not
   * accept.
   */
  readonly mustFetchNative?: true
  /** Writes requests about tasks, for formats whose upstreams answer with tasks. */
  readonly tasks?: TaskWriter
  /**
   * Writes a compacted conversation as parts of an answer: the messages that remain and the encrypted summary. `base`
   * is the prefix of generated ids.
   */
  compacted?(remaining: readonly Message[], encrypted: string, base: string): readonly Part[]
  /**
   * Converts a reasoning part of an earlier answer into the form in which an upstream accepts it in the history, for
   * callers that no longer have it. Undefined if the upstream does not accept the reasoning. Formats without this
   * method accept none (traps 26-36).
   */
  reasoningForHistory?(reasoning: ReasoningPart, to: ReasoningTarget): ReasoningPart | undefined
  /** Whether the upstream refuses reasoning signatures once any earlier message has changed. */
  boundSignatures?(options: WriteOptions): boolean
  /** Writes an error that occurs before the first byte, with the format's shape and status. */
  error?(error: CanonicalError, requestId: string): WireAnswer
  /** Whether answers of the format may contain images as URLs. */
  readonly imageUrls?: true
  /**
   * For formats whose audio has no media type: the container names. A container other than the requested one is a loss.
   */
  readonly container?: Container
  /** Whether answers of the format state their completion time, as `completedAt` in the format's spelling. */
  readonly completionTime?: true
  /** Adds the rate limit headers that clients of the format read. Only for formats that do not use OpenAI's headers. */
  readonly addRateLimits?: AddRateLimits
  /**
   * Writes an error as the requested stream, for error kinds that clients of the format only expect there. Undefined
   * for other kinds. If `socket` is set, the events are frames of a connection that stays open.
   */
  errorAsStream?(
    error: CanonicalError,
    request: CanonicalRequest,
    head: Omit<ResultStart, 'type'>,
    socket: boolean,
  ): readonly WireEvent[] | undefined
}
