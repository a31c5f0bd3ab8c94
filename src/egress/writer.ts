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

/** A vendor's deviations from a format, declared on the channel. `formats/dialects/` lists each format's flags. */
export type Dialect = JsonObject

/** The upstream's dialect, and whether the upstream uses the caller's format. */
export interface WriteOptions {
  readonly dialect: Dialect
  /**
   * True if the caller uses this format, too. Values are then sent unchanged, valid or not. Otherwise, names, ids and
   * schemas are made valid for the upstream, and every change is reported.
   */
  readonly native: boolean
  /**
   * True if the caller uses this format but named a model of another family. Settings that the dialect excludes are then
   * rewritten, and every change is reported.
   */
  readonly otherModel?: boolean | undefined
  /** Returns true if the channel passes on a value of `anthropic-beta`. Defaults to none. */
  readonly passesBeta?: ((beta: string) => boolean) | undefined
}

/** The upstream to which reasoning is returned. */
export interface ReasoningTarget extends WriteOptions {
  /** True if this upstream issued the reasoning. Only the issuer can read the signature. */
  readonly toIssuer: boolean
}

/** Lists the models that a key may call, in the form that a format's clients expect. */
export interface ModelWriter {
  /**
   * Returns one page of models as JSON text. `cards` are sorted by id.
   *
   * @throws GatewayError `invalid-request` for an invalid page query.
   */
  list(cards: readonly ModelCard[], query: ModelQuery): string | Promise<string>
  record(card: ModelCard): JsonObject
}

/** A format's names for audio containers. */
export interface Container {
  /** Media type for callers that do not state one. */
  readonly defaultType: string
  /** Returns the format's name for a media type, or undefined if the format has none. */
  nameOf(mediaType: string): string | undefined
}

/** Writes a streamed answer to a caller. */
export interface EventWriter extends Transducer<CanonicalEvent, WireEvent> {
  /**
   * Losses that a unary answer would have reported in its headers. The list is only complete at the end, after the
   * headers have been sent.
   */
  readonly lost?: readonly Loss[]
}

/** Writes a streamed answer whose upstream uses the caller's format. */
export interface NativeEventWriter extends EventWriter {
  /**
   * Passes on a wire event as received, except for the answer's id and model. `read` contains the canonical events that
   * were read from it.
   */
  relay(wire: WireEvent, read: readonly CanonicalEvent[]): readonly WireEvent[]
}

/** Methods by which a model of the format goes on after a pause in its answer. */
export interface Pauses {
  /** Returns true if the model may pause in its answer to the request, so that the caller has to have it go on. */
  mayPause(request: WireRequest): boolean
  /**
   * Writes the request that has the model go on with a paused answer.
   *
   * @param request the paused request, as written.
   */
  continued(request: WireRequest, answer: CanonicalResult): WireRequest
}

/** Writer of all the gateway's output in one format. All methods are pure: equal inputs yield equal bytes. */
export interface Writer {
  /**
   * Writes a request to an upstream. Throws GatewayError `cannot-express` only if the request cannot be written at all.
   */
  request?(request: CanonicalRequest, options: WriteOptions): Written<WireRequest>
  /** Writes a unary answer to a caller. The gateway has already set `id`, `model` and `createdAt`. */
  result?(result: CanonicalResult, request: CanonicalRequest): Written<WireAnswer>
  /**
   * Writes a streamed answer to a caller. The writer controls its format's stream life cycle: it writes the terminal
   * event exactly once, even if `end` is called before the canonical events are complete.
   */
  events?(request: CanonicalRequest): EventWriter
  /**
   * Writes a streamed answer from an upstream of this format. Without this method, its events are read and written like
   * those of any other format.
   */
  nativeEvents?(request: CanonicalRequest): NativeEventWriter
  /** Continuation of paused answers. Absent for formats whose models do not pause. */
  readonly pauses?: Pauses
  /**
   * True if the format supports media as raw bytes in requests and answers. For other formats, the gateway first
   * converts bytes to base64.
   */
  readonly bytes?: true | ((dialect: Dialect) => boolean)
  /** Returns true for callers whose answers are JSON although the format's answers are bytes. */
  answersInJson?(request: CanonicalRequest): boolean
  /**
   * Returns true if the gateway must first fetch the media from its URL, because upstreams of this format may not
   * accept URLs, either in general or in tool results.
   */
  mustFetch?(part: MediaPart, dialect: Dialect, work: Work, inResult: boolean): boolean
  /**
   * True, or a function of the dialect, if media are fetched for native callers as well, because they may choose a shape
   * that the upstream does not accept.
   */
  readonly mustFetchNative?: true | ((dialect: Dialect) => boolean)
  /** Writes requests about tasks, for formats whose upstreams answer with tasks. */
  readonly tasks?: TaskWriter
  /**
   * Writes a compacted conversation as parts of an answer: the remaining messages and the encrypted summary. `base` is
   * the prefix for generated ids.
   */
  compacted?(remaining: readonly Message[], encrypted: string, base: string): readonly Part[]
  /**
   * Converts reasoning from an earlier answer to the form that an upstream accepts in the history, for callers that no
   * longer have the reasoning. Returns undefined if the upstream does not accept it. Formats without this method accept
   * none (traps 26-36).
   */
  reasoningForHistory?(reasoning: ReasoningPart, to: ReasoningTarget): ReasoningPart | undefined
  /** Returns true if the upstream refuses reasoning signatures once any earlier message has changed. */
  boundSignatures?(options: WriteOptions): boolean
  /** Writes an error that occurs before the first byte, with the shape and status of the format. */
  error?(error: CanonicalError, requestId: string): WireAnswer
  /** True if answers of the format may contain images as URLs. */
  readonly imageUrls?: true
  /**
   * Names of audio containers, if the format's audio has no media type. Any other container than requested is a loss.
   */
  readonly container?: Container
  /** True if answers of the format state their completion time, as `completedAt` in the format's spelling. */
  readonly completionTime?: true
  /** Adds the rate limit headers that the format's clients read. Formats without this method use OpenAI's headers. */
  readonly addRateLimits?: AddRateLimits
  /**
   * Writes an error as the requested stream, for error kinds that the format's clients only expect in a stream. Returns
   * undefined for other kinds. If `socket` is set, the events are frames of a connection that stays open.
   */
  errorAsStream?(
    error: CanonicalError,
    request: CanonicalRequest,
    head: Omit<ResultStart, 'type'>,
    socket: boolean,
  ): readonly WireEvent[] | undefined
}
