import type { CanonicalError } from '../canonical/error.ts'
import type { CanonicalEvent } from '../canonical/event.ts'
import type { Path } from '../canonical/loss.ts'
import type { JsonObject } from '../canonical/node.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { CanonicalResult } from '../canonical/result.ts'
import type { ReasoningShown } from '../canonical/shown-reasoning.ts'
import type { EventReader } from '../canonical/transducer.ts'
import type { WireAnswer, WireEvent, WireRequest } from '../canonical/wire.ts'
import type { BodyFields } from './body-fields.ts'
import type { Locate } from './locate.ts'

/** Reads requests and answers of one format. A format implements only the directions that it supports. */
export interface Reader {
  /**
   * Reads a caller's request.
   * @throws GatewayError `invalid-request` naming the field at fault.
   */
  request?(wire: WireRequest): CanonicalRequest
  /** Fields of the caller's body that contain the request's settings (`body-paths.ts`). */
  readonly fields?: BodyFields
  /** Returns the path of each tool in the body, in reading order. Without this method, canonical paths are used. */
  toolPaths?(body: JsonObject): readonly Path[]
  /** Returns the path of the request in a body that wraps it. */
  root?(body: JsonObject): Path
  /** Maps paths of messages to paths in the caller's body. Needed for formats in which the two differ. */
  locate?(request: CanonicalRequest): Locate
  /**
   * Reads an upstream's whole answer (2xx). For a task, the result has a `task` and no candidates. This method also
   * reads answers to status queries of a task; their `request` has only the upstream's model and the `output`.
   * @throws GatewayError if the body is not an answer of this format, for example an error under status 200.
   */
  result?(answer: WireAnswer, request: CanonicalRequest): CanonicalResult
  /** Reads an upstream's streamed answer. Never throws: malformed input and an early end become error events. */
  events?(request: CanonicalRequest): EventReader<WireEvent, CanonicalEvent>
  /**
   * Parses a whole answer that is passed on in the same format. Used instead of JSON.parse to skip parts that need not
   * be read.
   */
  parse?(text: string): JsonObject | undefined
  /** True if whole answers may be something other than JSON. Such answers have a raw body. */
  readonly raw?: true
  /** True if callers may leave out the ids of tool calls, which are then identified by position (trap 5). */
  readonly mayOmitCallIds?: true
  /**
   * Matches the ids of tool calls that the format's own vendor issues. Some clients number the calls with other ids anew
   * in each request, so that these are identified by position.
   */
  readonly vendorCallId?: RegExp
  /**
   * Returns which reasoning of the model the caller gets, depending on the request. Without this method, the caller
   * gets everything that the upstream shows.
   */
  reasoningShown?(request: CanonicalRequest): ReasoningShown
  /** Reads an upstream's answer with status 400 or more. Accepts any body. */
  error?(answer: WireAnswer): CanonicalError
}
