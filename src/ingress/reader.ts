import type { CanonicalError } from '../canonical/error.ts'
import type { CanonicalEvent } from '../canonical/event.ts'
import type { JsonObject } from '../canonical/node.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { CanonicalResult } from '../canonical/result.ts'
import type { Transducer } from '../canonical/transducer.ts'
import type { WireAnswer, WireEvent, WireRequest } from '../canonical/wire.ts'
import type { Locate } from './locate.ts'

/** Everything that can arrive in one format. A format that has only some directions has only some methods. */
export interface Reader {
  /** A caller's request. Throws GatewayError `invalid-request` naming the field at fault. */
  request?(wire: WireRequest): CanonicalRequest
  /** Where in the caller's body the messages of its request stand, where that is not as canonical has them. */
  locate?(request: CanonicalRequest): Locate
  /**
   * An upstream's whole answer (2xx). Throws GatewayError where it is no answer of this format, e.g. an error body under
   * 200. Where its answers are tasks, the result has a `task` and no candidates; what the upstream answers when it is
   * asked for a task's state is read here, too, `asked` being what is left of the request: the upstream's model, the
   * `output`, and no messages.
   */
  result?(answer: WireAnswer, asked: CanonicalRequest): CanonicalResult
  /** An upstream's streamed answer. Never throws: rubbish becomes an error event, and an early end is one too. */
  events?(asked: CanonicalRequest): Transducer<WireEvent, CanonicalEvent>
  /** The body of a whole answer that goes out in this very format; instead of JSON.parse, for what need not be read. */
  parse?(text: string): JsonObject | undefined
  /** Its whole answers may be something else than JSON: they come with a raw body then. */
  readonly raw?: true
  /** Callers may leave the ids of calls out that they were told: a call is known by its place then (trap 5). */
  readonly dropsIds?: true
  /** An upstream's answer of status 400 or more; total on any body. */
  error?(answer: WireAnswer): CanonicalError
}
