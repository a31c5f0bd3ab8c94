import { type CanonicalError, ERRORS, type ErrorKind, GatewayError } from '../canonical/error.ts'
import type { Format } from '../canonical/node.ts'
import { WRITERS } from '../egress/index.ts'
import { answeredTooMuch } from '../upstreams/channel/index.ts'
import type { Target } from '../upstreams/router.ts'
import { withoutCredentials } from './scrub.ts'

/** Characters of an upstream's message that are logged. */
const LONGEST = 500

/** An upstream's message for the log; some contain the very key they refuse. */
export const logMessage = ({ message }: CanonicalError, target: Target): string =>
  withoutCredentials(message.slice(0, 2 * LONGEST), target).slice(0, LONGEST)

/** An upstream's error, with what of its headers a caller of the same format may see (trap 78). */
export class UpstreamFailure extends GatewayError {
  readonly headers: { readonly [name: string]: string }
  constructor(error: CanonicalError, headers: UpstreamFailure['headers'], options?: ErrorOptions) {
    super(error, options)
    this.headers = headers
  }
}

export const headersOf = (failure: unknown): UpstreamFailure['headers'] =>
  failure instanceof UpstreamFailure ? failure.headers : {}

/** Whether another channel may do better. */
export const mayRetry = ({ kind, retry }: CanonicalError): boolean => retry ?? ERRORS[kind].retry

/** The failure of an upstream that answers a recording without a byte. */
export const SENT_NOTHING = new GatewayError({ kind: 'upstream-failed', message: 'The upstream sent nothing.' })

/** The failure of an upstream that answers a page, such as a proxy's or one to sign in at, instead of what was requested. */
export const SENT_A_PAGE = new GatewayError({ kind: 'upstream-failed', message: 'The upstream sent a page.' })

export const GONE = new GatewayError({ kind: 'cancelled', message: 'The caller went away.' })

/**
 * Which of several channels' failures is reported to the caller, by kind; the larger number wins. Temporary failures
 * come first, as the same request may succeed later; then those that the caller can correct. That a model or an object
 * does not exist, or a request is too large, is reported only where every channel agrees; what was not tried comes last.
 */
const WORTH: { readonly [K in ErrorKind]?: number } = {
  'rate-limited': 4,
  overloaded: 4,
  'timed-out': 4,
  'context-too-long': 3,
  'not-found': 1,
  'too-large': 1,
  'cannot-express': 0,
}
const USUAL = 2

const worth = ({ error: { kind, retry } }: GatewayError): number =>
  retry === true ? WORTH['not-found']! : (WORTH[kind] ?? USUAL)

/** Of two channels' failures the one to report; of equals the later one. */
export const moreUsefulFailure = (before: GatewayError | undefined, now: GatewayError): GatewayError =>
  before !== undefined && worth(before) > worth(now) ? before : now

/** Whatever was thrown on the way, as a failure; our own bugs carry the thrown value as their cause. */
export function toFailure(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown
  if (thrown instanceof RangeError && thrown.message.includes('call stack'))
    return new GatewayError({ kind: 'invalid-request', message: 'The body is nested too deeply.' })
  return new GatewayError(
    { kind: 'internal', message: 'The gateway failed to handle this request.' },
    { cause: thrown },
  )
}

/** What was thrown over an upstream's answer: one too large to handle is no fault of the caller's. */
export const answerFailure = (thrown: unknown): GatewayError =>
  thrown instanceof RangeError ? answeredTooMuch(thrown) : toFailure(thrown)

/** An error as a whole answer. */
export interface ErrorAnswer {
  readonly status: number
  readonly headers: { readonly [name: string]: string }
  readonly text: string
}

/** Whatever was thrown, as an answer of the format; `id` names the request. */
export function errorAnswer(format: Format, thrown: unknown, id: string): ErrorAnswer {
  const { status, headers, body } = WRITERS[format]!.error!(toFailure(thrown).error, id)
  return { status, headers: { ...headersOf(thrown), ...headers }, text: JSON.stringify(body) }
}
