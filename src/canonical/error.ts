import { defined, type Node } from './node.ts'
import { excerpt } from './text.ts'

/** Every way a request can fail: the status a caller sees, and whether another channel may be tried. */
export const ERRORS = {
  'invalid-request': { status: 400, retry: false },
  /** The request is longer than the model's context, which another channel's may hold. */
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
  /** The upstream could not be connected to, or closed the connection before it answered. */
  unreachable: { status: 502, retry: true },
  overloaded: { status: 503, retry: true },
  /** The account the gateway has at the upstream is at fault: its key, its rights, its credit. */
  'upstream-account': { status: 503, retry: true },
  'timed-out': { status: 504, retry: true },
} as const satisfies { readonly [kind: string]: { readonly status: number; readonly retry: boolean } }

export type ErrorKind = keyof typeof ERRORS

export interface CanonicalError extends Node {
  readonly kind: ErrorKind
  readonly message: string
  /** The field at fault, as the caller would write it. */
  readonly param?: string
  /** A machine-readable code finer than the kind, e.g. `model_not_found`. */
  readonly code?: string
  /** The status a caller sees where HTTP has a finer one than the kind's, e.g. 431. */
  readonly httpStatus?: number
  /** The upstream's own status, where it differs from the kind's. */
  readonly status?: number
  readonly retryAfterSeconds?: number
  /** Another channel may do better, although errors of this kind are final otherwise. */
  readonly retry?: true
  /** Of a request that is too long: its tokens, and the model's maximum, as far as the upstream reports them. */
  readonly context?: { readonly tokens?: number; readonly maximum?: number }
}

/** Thrown before the first byte of an answer; after it, the same error travels as an event. */
export class GatewayError extends Error {
  readonly error: CanonicalError
  constructor(error: CanonicalError, options?: ErrorOptions) {
    super(error.message, options)
    this.name = 'GatewayError'
    this.error = error
  }
}

/** UTF-16 units of the message of a refusal, whatever of the caller's is in it. */
const LONGEST = 4000

/** @param param the field at fault, as the caller would write it; empty for the whole. */
const refusal =
  (kind: ErrorKind) =>
  (message: string, param = '', code?: string): GatewayError =>
    new GatewayError({
      kind,
      message: excerpt(message, LONGEST),
      ...defined({ param: param === '' ? undefined : excerpt(param), code }),
    })

/** A refusal of what a caller sent. */
export const invalid = refusal('invalid-request')

/** A refusal of what a key may not do. */
export const forbidden = refusal('forbidden')

/** A refusal of what is larger than it may be. */
export const tooLarge = refusal('too-large')

/** A refusal of what something else stands against, for now or for good. */
export const conflict = refusal('conflict')

const later =
  (kind: 'rate-limited' | 'overloaded') =>
  (message: string, retryAfterSeconds: number, code?: string): GatewayError =>
    new GatewayError({ kind, message, ...defined({ code }), retryAfterSeconds })

/** A refusal of what is too much for now: it may be asked for again after so many seconds. */
export const rateLimited = later('rate-limited')

/** A refusal for want of room: there may be some after so many seconds. */
export const overloaded = later('overloaded')

/** A refusal of what a caller asked for and nobody has. */
export const notFound = refusal('not-found')

/** A refusal of what an upstream cannot be asked for. */
export const inexpressible = refusal('cannot-express')

/** The failure of an upstream that gave no error of its own. */
export const upstreamFailed = (message: string): CanonicalError => ({ kind: 'upstream-failed', message })

/** The kind of failure by HTTP status; 529 is Anthropic's status for overloaded (trap 78). */
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

export const kindOf = (status: number): ErrorKind =>
  BY_STATUS[status] ?? (status >= 400 && status < 500 ? 'invalid-request' : 'upstream-failed')

/** Something of the gateway's own is out of order for a while: no channel is to blame for it. */
export class OwnFailure extends GatewayError {}
