import { type CanonicalError, ERRORS, type ErrorKind, GatewayError, upstreamFailed } from '../canonical/error.ts'
import type { Format } from '../canonical/node.ts'
import { WRITERS } from '../egress/index.ts'
import { answeredTooMuch } from '../upstreams/channel/index.ts'
import type { Target } from '../upstreams/router.ts'
import { withoutCredentials } from './scrub.ts'

/** Maximum length of an upstream's message in the log, in characters. */
const MAX_LOGGED_LENGTH = 500

/** Shortens an upstream's message for the log and removes credentials, because some messages quote the refused key. */
export const logMessage = ({ message }: CanonicalError, target: Target): string =>
  withoutCredentials(message.slice(0, 2 * MAX_LOGGED_LENGTH), target).slice(0, MAX_LOGGED_LENGTH)

/** An upstream's error, with the headers that a caller of the same format may see (trap 78). */
export class UpstreamFailure extends GatewayError {
  readonly headers: { readonly [name: string]: string }
  constructor(error: CanonicalError, headers: UpstreamFailure['headers'], options?: ErrorOptions) {
    super(error, options)
    this.headers = headers
  }
}

/** Returns the upstream's headers that a caller may see along with its failure. */
export const headersOf = (failure: unknown): UpstreamFailure['headers'] =>
  failure instanceof UpstreamFailure ? failure.headers : {}

/** Returns true if another channel may succeed after this error. */
export const mayRetry = ({ kind, retry }: CanonicalError): boolean => retry ?? ERRORS[kind].retry

/** The upstream answered a request for audio without a single byte. */
export const EMPTY_BODY = new GatewayError(upstreamFailed('The upstream sent an empty answer.'))

/** The upstream answered with an HTML page, such as a proxy's error page or a sign-in page. */
export const MARKUP_BODY = new GatewayError(upstreamFailed('The upstream sent a web page instead of an answer.'))

/** The caller closed its connection. */
export const CALLER_GONE = new GatewayError({ kind: 'cancelled', message: 'The caller went away.' })

/**
 * Ranks of failures by kind. If several channels fail, the failure with the highest rank is reported to the caller.
 * Temporary failures come first, because the same request may succeed later. Failures that the caller can correct come
 * second. A missing model or object, or a request that is too large, is reported only if every channel agrees. Requests
 * that were never sent come last.
 */
const RANKS: { readonly [K in ErrorKind]?: number } = {
  'rate-limited': 4,
  overloaded: 4,
  'timed-out': 4,
  'context-too-long': 3,
  'not-found': 1,
  'too-large': 1,
  'cannot-express': 0,
}
const DEFAULT_RANK = 2

const rankOf = ({ error: { kind, retry } }: GatewayError): number =>
  retry === true ? RANKS['not-found']! : (RANKS[kind] ?? DEFAULT_RANK)

/**
 * Chooses which of two channels' failures to report. If they rank equally, chooses the one after which the caller may
 * retry sooner, because any channel may answer then, or else the later one.
 */
export function moreUsefulFailure(previous: GatewayError | undefined, latest: GatewayError): GatewayError {
  if (previous === undefined) return latest
  const difference = rankOf(previous) - rankOf(latest)
  return difference > 0 || (difference === 0 && isSooner(previous.error, latest.error)) ? previous : latest
}

const isSooner = ({ retryAfterSeconds: one }: CanonicalError, { retryAfterSeconds: other }: CanonicalError): boolean =>
  one !== undefined && other !== undefined && one < other

/**
 * Converts any thrown value to a failure. A bug in the gateway becomes `internal`, with the thrown value as its cause.
 */
export function toFailure(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown
  if (thrown instanceof RangeError && thrown.message.includes('call stack'))
    return new GatewayError({ kind: 'invalid-request', message: 'The body is nested too deeply.' })
  return new GatewayError(
    { kind: 'internal', message: 'The gateway failed to handle this request.' },
    { cause: thrown },
  )
}

/**
 * Converts an error from reading an upstream's answer to a failure. A `RangeError` means that the answer is too large,
 * which is not the caller's fault.
 */
export const answerFailure = (thrown: unknown): GatewayError =>
  thrown instanceof RangeError ? answeredTooMuch(thrown) : toFailure(thrown)

/** An error as a whole HTTP answer. */
export interface ErrorAnswer {
  readonly status: number
  readonly headers: { readonly [name: string]: string }
  readonly text: string
}

/** Writes any thrown value as an error answer of the format. `id` is the request's id. */
export function errorAnswer(format: Format, thrown: unknown, id: string): ErrorAnswer {
  const { status, headers, body } = WRITERS[format]!.error!(toFailure(thrown).error, id)
  return { status, headers: { ...headersOf(thrown), ...headers }, text: JSON.stringify(body) }
}
