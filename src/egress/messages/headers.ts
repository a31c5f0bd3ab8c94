import type { WireRequest } from '../../canonical/wire.ts'
import type { MessagesDialect } from '../../formats/dialects/messages.ts'

/** The version of the API if neither the dialect nor the caller states one. */
const VERSION = '2023-06-01'

type Headers = WireRequest['headers']

/**
 * Writes the headers. The version is always sent; betas and other headers come only from callers of this format (trap
 * 79).
 */
export function writeHeaders(callerHeaders: Headers, dialect: MessagesDialect): Headers {
  const { 'msgfmt-version': service, ...headers } = callerHeaders
  return { ...headers, 'anthropic-version': dialect.version ?? headers['anthropic-version'] ?? service ?? VERSION }
}
