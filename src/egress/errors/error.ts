import { type CanonicalError, type ErrorKind, upstreamFailed } from '../../canonical/error.ts'

/** A format's message for a request that is too long: its clients compact when they match it (trap 98). */
export interface TooLongMessage {
  /** What its clients match. */
  readonly pattern: RegExp
  /** The message where both numbers are known. */
  write(tokens: number, maximum: number): string
  /** The prefix of the upstream's own message, where they are not. */
  readonly else: string
}

/** The error's message; one about the length of the request in the format's own wording. */
export function messageOf({ kind, message, context }: CanonicalError, wording: TooLongMessage): string {
  if (kind !== 'context-too-long' || wording.pattern.test(message)) return message
  const { tokens, maximum } = context ?? {}
  return tokens === undefined || maximum === undefined ? `${wording.else} ${message}` : wording.write(tokens, maximum)
}

/** The last event of a streamed answer of any format that no end came for. */
export const ENDED_EARLY = upstreamFailed('The answer ended early.')

/** Codes of kinds that their status does not identify, in formats whose errors need no code. */
export const CODES: { readonly [K in ErrorKind]?: string } = {
  'context-too-long': 'context_length_exceeded',
  'cannot-express': 'cannot_express',
  'upstream-account': 'upstream_account',
}

/** The header with the time of the next attempt, in whole seconds; none where it is unknown (trap 78). */
export const retryAfterHeader = ({ retryAfterSeconds }: CanonicalError): { readonly [name: string]: string } =>
  retryAfterSeconds === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterSeconds)) }

/**
 * Errors that last until somebody does something about them, although clients ask again after their status: SDKs after any
 * 503 (trap 99), Claude Code for minutes after a 401, so that nobody sees that a key was revoked.
 */
const LASTING: ReadonlySet<ErrorKind> = new Set(['upstream-account', 'unauthenticated'])

/**
 * The headers by which clients of OpenAI's and Anthropic's formats decide whether and when to retry; `x-should-retry`
 * counts before the status.
 */
export const retryHeaders = (error: CanonicalError): { readonly [name: string]: string } =>
  LASTING.has(error.kind) ? { ...retryAfterHeader(error), 'x-should-retry': 'false' } : retryAfterHeader(error)
