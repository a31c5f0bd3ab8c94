import type { IncomingMessage } from 'node:http'
import type { Format } from '../canonical/node.ts'
import type { Query } from '../formats/routes.ts'

/** The path of the console. */
export const CONSOLE_PATH = '/console'

/** The path as it was written, without its query. */
export const pathOf = (message: IncomingMessage): string => message.url!.split('?', 1)[0]!

/**
 * The address as a path: callers that use the gateway as a proxy send all of it, and a base with a final slash makes
 * two.
 */
export const inOriginForm = (url: string): string => url.replace(/^https?:\/\/[^/?]*(?=\/)/i, '').replace(/^\/+/, '/')

/** The query without the credential in it, and that credential. */
export function queryOf(message: IncomingMessage): { readonly query: Query; readonly queryKey?: string } {
  const mark = message.url!.indexOf('?')
  if (mark < 0) return { query: {} }
  const { key, ...query } = Object.fromEntries(new URLSearchParams(message.url!.slice(mark)))
  return key === undefined ? { query } : { query, queryKey: key }
}

/**
 * Anthropic's clients send their version, Google's a key of their own kind; all others use OpenAI's formats
 * (docs/wire/common.md#routing).
 */
export function familyOf(message: IncomingMessage): Format {
  const { headers } = message
  if (headers['anthropic-version'] !== undefined || headers['msgfmt-version'] !== undefined) return 'messages'
  return headers['x-goog-api-key'] !== undefined || queryOf(message).queryKey !== undefined ? 'contents' : 'chat'
}
