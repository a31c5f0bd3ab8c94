import { type CanonicalError, type ErrorKind, upstreamFailed } from '../../canonical/error.ts'

/** A format's message for a request that is too long. Clients that match it compact the conversation (trap 98). */
export interface TooLongMessage {
  /** The pattern that clients match. */
  readonly pattern: RegExp
  /** The message, if both numbers are known. */
  write(tokens: number, maximum: number): string
  /** A prefix for the upstream's own message, if the numbers are unknown. */
  readonly else: string
}

/** Returns the error's message. A message about the request's length gets the format's own wording. */
export function messageOf({ kind, message, context }: CanonicalError, wording: TooLongMessage): string {
  if (kind !== 'context-too-long' || wording.pattern.test(message)) return message
  const { tokens, maximum } = context ?? {}
  return tokens === undefined || maximum === undefined ? `${wording.else} ${message}` : wording.write(tokens, maximum)
}

/** Error that ends a stream whose upstream broke off. */
export const ENDED_EARLY = upstreamFailed('The answer ended early.', 'cut')

/** Error codes of kinds that the status alone does not identify, for formats in which a code is optional. */
export const CODES: { readonly [K in ErrorKind]?: string } = {
  'context-too-long': 'context_length_exceeded',
  'cannot-express': 'cannot_express',
  'upstream-account': 'upstream_account',
}

/** Returns the `retry-after` header in whole seconds. No header if the time is unknown (trap 78). */
export const retryAfterHeader = ({ retryAfterSeconds }: CanonicalError): { readonly [name: string]: string } =>
  retryAfterSeconds === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterSeconds)) }

/**
 * Errors that last until somebody fixes the cause, although clients would retry them because of their status. SDKs
 * retry any 503 (trap 99), and Claude Code retries a 401 for minutes, so that nobody notices a revoked key.
 */
const LASTING: ReadonlySet<ErrorKind> = new Set(['upstream-account', 'unauthenticated'])

/**
 * Returns the headers by which clients of OpenAI's and Anthropic's formats decide whether and when to retry.
 * `x-should-retry` takes precedence over the status.
 */
export const retryHeaders = (error: CanonicalError): { readonly [name: string]: string } =>
  LASTING.has(error.kind) ? { ...retryAfterHeader(error), 'x-should-retry': 'false' } : retryAfterHeader(error)
