import { type CanonicalError, type ErrorKind, upstreamFailed } from '../../canonical/error.ts'

/** A format's message for a request that is too long. Clients that recognise it compact the conversation (trap 98). */
export interface TooLongMessage {
  /** Pattern by which clients recognise the message. */
  readonly pattern: RegExp
  /** Returns the message, if both numbers are known. */
  write(tokens: number, maximum: number): string
  /** Prefix for the upstream's own message, if the numbers are unknown. */
  readonly else: string
}

/** Returns the error's message. If the request is too long, the format's own wording is used. */
export function messageOf({ kind, message, context }: CanonicalError, wording: TooLongMessage): string {
  if (kind !== 'context-too-long' || wording.pattern.test(message)) return message
  const { tokens, maximum } = context ?? {}
  return tokens === undefined || maximum === undefined ? `${wording.else} ${message}` : wording.write(tokens, maximum)
}

/** Error that ends a stream which the upstream interrupted. */
export const ENDED_EARLY = upstreamFailed('The answer ended early.', 'cut')

/** Error codes for kinds that cannot be told by status alone. For formats in which a code is optional. */
export const CODES: { readonly [K in ErrorKind]?: string } = {
  'context-too-long': 'context_length_exceeded',
  'cannot-express': 'cannot_express',
  'upstream-account': 'upstream_account',
}

/** Returns the `retry-after` header in whole seconds. Without a known delay, there is no header (trap 78). */
export const retryAfterHeader = ({ retryAfterSeconds }: CanonicalError): { readonly [name: string]: string } =>
  retryAfterSeconds === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterSeconds)) }

/**
 * Errors that last until somebody fixes the cause, although their status would make clients retry. SDKs retry any 503
 * (trap 99). Claude Code retries a 401 for minutes, so that users do not notice that their key was revoked.
 */
const LASTING: ReadonlySet<ErrorKind> = new Set(['upstream-account', 'unauthenticated'])

/**
 * Returns the headers that tell clients of OpenAI's and Anthropic's formats whether and when to retry. `x-should-retry`
 * takes precedence over the status.
 */
export const retryHeaders = (error: CanonicalError): { readonly [name: string]: string } =>
  LASTING.has(error.kind) ? { ...retryAfterHeader(error), 'x-should-retry': 'false' } : retryAfterHeader(error)
