import type { WireRequest } from '../../canonical/wire.ts'
import type { MessagesDialect } from './dialect.ts'

const VERSION = '2023-06-01'

type Headers = WireRequest['headers']

/** The version is always sent; betas and other headers are the caller's own, for its own format only (trap 79). */
export function writeHeaders(own: Headers, dialect: MessagesDialect): Headers {
  const { 'msgfmt-version': service, ...headers } = own
  return { ...headers, 'anthropic-version': dialect.version ?? headers['anthropic-version'] ?? service ?? VERSION }
}
