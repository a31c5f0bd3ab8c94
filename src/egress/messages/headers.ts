import type { WireRequest } from '../../canonical/wire.ts'
import { CALLERS_VERSION, MESSAGES_VERSION, type MessagesDialect } from '../../formats/dialects/messages.ts'

type Headers = WireRequest['headers']

/** The headers of a request that no caller of this format sent. */
export const NO_HEADERS: Headers = {}

/** The version that the upstream is sent: the dialect's, or the caller's where the upstream takes any. */
export function versionOf(callerHeaders: Headers, { version }: MessagesDialect): string {
  if (version !== CALLERS_VERSION) return version ?? MESSAGES_VERSION
  return callerHeaders['anthropic-version'] ?? callerHeaders['msgfmt-version'] ?? MESSAGES_VERSION
}

/** Writes the headers. Betas and other headers come only from callers of this format (trap 79). */
export function writeHeaders(callerHeaders: Headers, dialect: MessagesDialect): Headers {
  const { 'msgfmt-version': _, ...headers } = callerHeaders
  return { ...headers, 'anthropic-version': versionOf(callerHeaders, dialect) }
}
