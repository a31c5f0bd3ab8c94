import type { WireRequest } from '../../canonical/wire.ts'
import { CALLERS_VERSION, MESSAGES_VERSION, type MessagesDialect } from '../../formats/dialects/messages.ts'

type Headers = WireRequest['headers']

/** Headers for requests whose caller does not use this format. */
export const NO_HEADERS: Headers = {}

/**
 * Returns the API version to send to the upstream: the dialect's, or the caller's if the upstream accepts any version.
 */
export function versionOf(callerHeaders: Headers, { version }: MessagesDialect): string {
  if (version !== CALLERS_VERSION) return version ?? MESSAGES_VERSION
  return callerHeaders['anthropic-version'] ?? callerHeaders['msgfmt-version'] ?? MESSAGES_VERSION
}

/** Writes the headers. Betas and other caller headers are only sent for callers of this format (trap 79). */
export function writeHeaders(callerHeaders: Headers, dialect: MessagesDialect): Headers {
  const { 'msgfmt-version': _, ...headers } = callerHeaders
  return { ...headers, 'anthropic-version': versionOf(callerHeaders, dialect) }
}
