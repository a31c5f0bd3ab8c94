import { defined, type Node } from './node.ts'
import { excerpt } from './text.ts'

/** All error kinds, each with the caller's HTTP status and whether the router may try another channel. */
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
  /** The upstream could not be reached, or closed the connection before answering. */
  unreachable: { status: 502, retry: true },
  overloaded: { status: 503, retry: true },
  /** The gateway's account at the upstream failed: an invalid key, missing permissions or no credit. */
  'upstream-account': { status: 503, retry: true },
  'timed-out': { status: 504, retry: true },
} as const satisfies { readonly [kind: string]: { readonly status: number; readonly retry: boolean } }

export type ErrorKind = keyof typeof ERRORS

/** Failure reasons, more specific than the kind. For operators only: callers never see them. */
export const FAILURE_REASONS = [
  /** The upstream's host refused the connection. */
  'refused',
  /** The hostname does not resolve. */
  'dns',
  /** The TLS handshake failed, usually because of the certificate. */
  'tls',
  /** No route leads to the host. */
  'unroutable',
  /** The connection was closed before the answer started. */
  'reset',
  /** The connection was not established in time. */
  'connect-timeout',
  /** The answer did not start in time. */
  'first-byte-timeout',
  /** The upstream was silent for too long in the middle of its answer. */
  'idle-timeout',
  /** The upstream answered with an error status. */
  'status',
  /** The upstream reported an error in an answer that had started successfully. */
  'reported',
  /** The answer is not what was requested: for example not JSON, a web page, empty or too large. */
  'content',
  /** The answer ended before it was complete. */
  'cut',
  /** The gateway refused the request or failed. */
  'gateway',
] as const

export type FailureReason = (typeof FAILURE_REASONS)[number]

/** A failure of a request, independent of the format that reported it or will report it. */
export interface CanonicalError extends Node {
  readonly kind: ErrorKind
  readonly message: string
  /** Reason for operators, or undefined if it follows from the other fields. */
  readonly reason?: FailureReason
  /** Invalid field, in the caller's notation. */
  readonly param?: string
  /** Machine-readable code that is more specific than the kind, such as `model_not_found`. */
  readonly code?: string
  /** Status for the caller if HTTP has a more specific status than the kind's, such as 431. */
  readonly httpStatus?: number
  /** Upstream's status, if it differs from the kind's. */
  readonly status?: number
  readonly retryAfterSeconds?: number
  /** True if another channel may be tried even though errors of this kind are normally final. */
  readonly retry?: true
  /** Token count of a request that is too long, and the model's maximum, if the upstream reports them. */
  readonly context?: { readonly tokens?: number; readonly maximum?: number }
}

/** An error thrown before the first byte of an answer. Later errors are sent as an event of the stream. */
export class GatewayError extends Error {
  readonly error: CanonicalError
  // Programs for older runtimes do not have the type `ErrorOptions`.
  constructor(error: CanonicalError, options?: { readonly cause?: unknown }) {
    super(error.message, options)
    this.name = 'GatewayError'
    this.error = error
  }
}

/** Maximum length of a refusal's message, in UTF-16 units. The message may quote the caller's text. */
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

/** Creates an error for an action that the caller's key does not permit. */
export const forbidden = refusal('forbidden')

/** Creates an error for a request that exceeds a size limit. */
export const tooLarge = refusal('too-large')

/** Creates an error for a request that conflicts with the current state. */
export const conflict = refusal('conflict')

const retryLater =
  (kind: 'rate-limited' | 'overloaded') =>
  (message: string, retryAfterSeconds: number, code?: string): GatewayError =>
    new GatewayError({ kind, message, ...defined({ code }), retryAfterSeconds })

/** Creates an error for an exceeded rate limit, with the number of seconds after which the caller may retry. */
export const rateLimited = retryLater('rate-limited')

/** Creates an error for insufficient capacity, with the number of seconds after which the caller may retry. */
export const overloaded = retryLater('overloaded')

/** Creates an error for a resource that does not exist. */
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
const KIND_BY_STATUS: { readonly [status: number]: ErrorKind } = {
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

/** Returns the error kind for the HTTP status of an upstream's answer. */
export const errorKindOf = (status: number): ErrorKind =>
  KIND_BY_STATUS[status] ?? (status >= 400 && status < 500 ? 'invalid-request' : 'upstream-failed')

/** A temporary failure of the gateway itself, which does not count against any channel. */
export class GatewayFailure extends GatewayError {}
