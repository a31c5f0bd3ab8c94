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

/** Everything that can arrive in one format; a format has the methods of its directions only. */
export interface Reader {
  /** A caller's request. Throws GatewayError `invalid-request` naming the field at fault. */
  request?(wire: WireRequest): CanonicalRequest
  /** Where in the caller's body the settings of its request stand (`body-paths.ts`). */
  readonly fields?: BodyFields
  /** Where each tool stands, in the order in which they are read; by default where canonical has it. */
  toolPaths?(body: JsonObject): readonly Path[]
  /** Where in a body the request stands that it wraps. */
  root?(body: JsonObject): Path
  /** Where in the caller's body the messages of its request stand, where that differs from canonical. */
  locate?(request: CanonicalRequest): Locate
  /**
   * An upstream's whole answer (2xx). Throws GatewayError where it is no answer of this format, e.g. an error body under
   * 200. Where its answers are tasks, the result has a `task` and no candidates; what the upstream answers when it is
   * asked for a task's state is read here, too; `request` then has only the upstream's model and the `output`.
   */
  result?(answer: WireAnswer, request: CanonicalRequest): CanonicalResult
  /** An upstream's streamed answer. Never throws: malformed input becomes an error event, and so does an early end. */
  events?(request: CanonicalRequest): EventReader<WireEvent, CanonicalEvent>
  /**
   * Parses the body of a whole answer that goes out in the same format; instead of JSON.parse, for what need not be
   * read.
   */
  parse?(text: string): JsonObject | undefined
  /** Its whole answers may be something other than JSON: they come with a raw body then. */
  readonly raw?: true
  /** Callers may leave out the ids of calls they received: a call is identified by its place then (trap 5). */
  readonly dropsIds?: true
  /**
   * What of a model's reasoning a caller gets, by its request. Without the method it gets whatever the upstream shows.
   */
  reasoningShown?(request: CanonicalRequest): ReasoningShown
  /** An upstream's answer of status 400 or more; total on any body. */
  error?(answer: WireAnswer): CanonicalError
}
