import type { WireRequest } from '../../canonical/wire.ts'
import { MESSAGES_VERSION, type MessagesDialect } from '../../formats/dialects/messages.ts'

type Headers = WireRequest['headers']

/**
 * Writes the headers. The version is always sent: the dialect's, else the caller's, else the default. Betas and other
 * headers come only from callers of this format (trap 79).
 */
export function writeHeaders(callerHeaders: Headers, dialect: MessagesDialect): Headers {
  const { 'msgfmt-version': service, ...headers } = callerHeaders
  const version = dialect.version ?? headers['anthropic-version'] ?? service ?? MESSAGES_VERSION
  return { ...headers, 'anthropic-version': version }
}
