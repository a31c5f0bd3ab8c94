import { type CanonicalError, type ErrorKind, upstreamFailed } from '../../canonical/error.ts'

/** A format's message for a request that is too long. Clients that recognise it compact the conversation (trap 98). */
export interface TooLongMessage {
  /** Pattern by which clients recognise the message. */
  readonly pattern: RegExp
  /** Returns the message with both numbers. */
  write(tokens: number, maximum: number): string
  /** Prefix for the upstream's own message if the numbers are unknown. */
  readonly else: string
}

/** Returns the error's message, in the format's wording if the request is too long. */
export function messageOf({ kind, message, context }: CanonicalError, wording: TooLongMessage): string {
  if (kind !== 'context-too-long' || wording.pattern.test(message)) return message
  const { tokens, maximum } = context ?? {}
  return tokens === undefined || maximum === undefined ? `${wording.else} ${message}` : wording.write(tokens, maximum)
}

/** Error that ends a stream if the upstream interrupted it. */
export const ENDED_EARLY = upstreamFailed('The answer ended early.', 'cut')

/** Error codes for kinds that the status alone does not identify. Used for formats in which a code is optional. */
export const CODES: { readonly [K in ErrorKind]?: string } = {
  'context-too-long': 'context_length_exceeded',
  'cannot-express': 'cannot_express',
  'upstream-account': 'upstream_account',
}

/** Returns the `retry-after` header in whole seconds, or no header if the delay is unknown (trap 78). */
export const retryAfterHeader = ({ retryAfterSeconds }: CanonicalError): { readonly [name: string]: string } =>
  retryAfterSeconds === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterSeconds)) }

/**
 * Errors that persist until somebody fixes the cause, although their status would make clients retry. SDKs retry any
 * 503 (trap 99). Claude Code retries a 401 for minutes, so users do not notice that their key was revoked.
 */
const LASTING_KINDS: ReadonlySet<ErrorKind> = new Set(['upstream-account', 'unauthenticated'])

/** Returns true for an error that persists. A failed account with a delay passes by itself: its token server is down. */
const lasts = ({ kind, retryAfterSeconds }: CanonicalError): boolean =>
  LASTING_KINDS.has(kind) && !(kind === 'upstream-account' && retryAfterSeconds !== undefined)

/**
 * Returns the headers that tell clients of OpenAI's and Anthropic's formats whether and when to retry. `x-should-retry`
 * takes precedence over the status.
 */
export const retryHeaders = (error: CanonicalError): { readonly [name: string]: string } =>
  lasts(error) ? { ...retryAfterHeader(error), 'x-should-retry': 'false' } : retryAfterHeader(error)
