import { defined, type Node } from './node.ts'
import { excerpt } from './text.ts'

/** All kinds of errors: the status for the caller, and whether the router may try another channel. */
export const ERRORS = {
  'invalid-request': { status: 400, retry: false },
  /** The request exceeds the model's context. Another channel's model may have a larger one. */
  'context-too-long': { status: 400, retry: true },
  unauthenticated: { status: 401, retry: false },
  'out-of-credit': { status: 402, retry: true },
  forbidden: { status: 403, retry: false },
  'not-found': { status: 404, retry: true },
  'method-not-allowed': { status: 405, retry: false },
  conflict: { status: 409, retry: false },
  'too-large': { status: 413, retry: true },
  'cannot-express': { status: 422, retry: true },
  'rate-limited': { status: 429, retry: true },
  cancelled: { status: 499, retry: false },
  internal: { status: 500, retry: false },
  'upstream-failed': { status: 502, retry: true },
  /** The upstream could not be reached, or closed the connection before it answered. */
  unreachable: { status: 502, retry: true },
  overloaded: { status: 503, retry: true },
  /** The gateway's account at the upstream failed: its key, its permissions or its credit. */
  'upstream-account': { status: 503, retry: true },
  'timed-out': { status: 504, retry: true },
} as const satisfies { readonly [kind: string]: { readonly status: number; readonly retry: boolean } }

export type ErrorKind = keyof typeof ERRORS

/** Reasons of failures, more specific than the kind. For operators; callers never see them. */
export const FAILURE_REASONS = [
  /** The upstream's host refused the connection. */
  'refused',
  /** The name of the host has no address. */
  'dns',
  /** The TLS handshake failed, mostly because of the certificate. */
  'tls',
  /** No route leads to the host. */
  'unroutable',
  /** The connection was closed before the answer began. */
  'reset',
  /** The connection was not accepted in time. */
  'connect-timeout',
  /** The answer did not begin in time. */
  'first-byte-timeout',
  /** The upstream was silent for too long within its answer. */
  'idle-timeout',
  /** The upstream answered with the status of an error. */
  'status',
  /** The upstream reported an error within an answer that had begun well. */
  'reported',
  /** The answer is not what was requested: not JSON, a web page, empty, too large. */
  'content',
  /** The answer ended before it was complete. */
  'cut',
  /** The gateway refused the request, or failed itself. */
  'gateway',
] as const

export type FailureReason = (typeof FAILURE_REASONS)[number]

/** A failure of a request, independent of the format that reported it or will report it. */
export interface CanonicalError extends Node {
  readonly kind: ErrorKind
  readonly message: string
  /** Reason for operators. Undefined if it follows from the other fields. */
  readonly reason?: FailureReason
  /** Invalid field, in the caller's notation. */
  readonly param?: string
  /** Machine-readable code that is more specific than the kind, such as `model_not_found`. */
  readonly code?: string
  /** Status for the caller if HTTP has a more specific one than the kind's, such as 431. */
  readonly httpStatus?: number
  /** Status of the upstream, if it differs from the kind's. */
  readonly status?: number
  readonly retryAfterSeconds?: number
  /** Whether another channel may be tried although errors of this kind are otherwise final. */
  readonly retry?: true
  /** Number of tokens of a request that is too long, and the model's maximum, as far as the upstream reports them. */
  readonly context?: { readonly tokens?: number; readonly maximum?: number }
}

/** An error thrown before the first byte of an answer. Later errors are sent as an event of the stream. */
export class GatewayError extends Error {
  readonly error: CanonicalError
  constructor(error: CanonicalError, options?: ErrorOptions) {
    super(error.message, options)
    this.name = 'GatewayError'
    this.error = error
  }
}

/** Maximum length of the message of a refusal, in UTF-16 units. The message may repeat text of the caller. */
const MAX_MESSAGE_LENGTH = 4000

/**
 * Returns a function that creates errors of one kind.
 *
 * @param param the invalid field, in the caller's notation. Empty for the whole request.
 */
const refusal =
  (kind: ErrorKind) =>
  (message: string, param = '', code?: string): GatewayError =>
    new GatewayError({
      kind,
      message: excerpt(message, MAX_MESSAGE_LENGTH),
      ...defined({ param: param === '' ? undefined : excerpt(param), code }),
    })

/** Creates an error for a malformed or invalid request. */
export const invalid = refusal('invalid-request')

/** Creates an error for something the caller's key does not permit. */
export const forbidden = refusal('forbidden')

/** Creates an error for a request that exceeds a size limit. */
export const tooLarge = refusal('too-large')

/** Creates an error for a request that conflicts with the current state. */
export const conflict = refusal('conflict')

const retryLater =
  (kind: 'rate-limited' | 'overloaded') =>
  (message: string, retryAfterSeconds: number, code?: string): GatewayError =>
    new GatewayError({ kind, message, ...defined({ code }), retryAfterSeconds })

/** Creates an error for an exceeded rate limit, with the seconds after which the caller may retry. */
export const rateLimited = retryLater('rate-limited')

/** Creates an error for missing capacity, with the seconds after which the caller may retry. */
export const overloaded = retryLater('overloaded')

/** Creates an error for something that does not exist. */
export const notFound = refusal('not-found')

/** Creates an error for a request that the upstream's format cannot express. */
export const cannotExpress = refusal('cannot-express')

/** Returns the error for an upstream that failed without reporting one. */
export const upstreamFailed = (message: string, reason: FailureReason = 'content'): CanonicalError => ({
  kind: 'upstream-failed',
  message,
  reason,
})

/** Error kinds by HTTP status. 529 is Anthropic's status for an overloaded server (trap 78). */
const BY_STATUS: { readonly [status: number]: ErrorKind } = {
  400: 'invalid-request',
  401: 'unauthenticated',
  402: 'out-of-credit',
  403: 'forbidden',
  404: 'not-found',
  405: 'method-not-allowed',
  408: 'timed-out',
  409: 'conflict',
  413: 'too-large',
  422: 'invalid-request',
  429: 'rate-limited',
  499: 'cancelled',
  503: 'overloaded',
  504: 'timed-out',
  529: 'overloaded',
}

/** Returns the kind of error for the HTTP status of an upstream's answer. */
export const errorKindOf = (status: number): ErrorKind =>
  BY_STATUS[status] ?? (status >= 400 && status < 500 ? 'invalid-request' : 'upstream-failed')

/** A temporary failure of the gateway itself. It does not count against any channel. */
export class GatewayFailure extends GatewayError {}
