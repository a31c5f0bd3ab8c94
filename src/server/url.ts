import type { IncomingMessage } from 'node:http'
import type { ModelShape } from '../gateway/index.ts'

export interface Query {
  readonly [name: string]: string
}

/** The path as it was written, without its query. */
export const pathOf = (message: IncomingMessage): string => message.url!.split('?', 1)[0]!

/** The address as a path: callers that think the gateway a proxy write it whole, and a base that ends in a slash makes two. */
export const inOriginForm = (url: string): string => url.replace(/^https?:\/\/[^/?]*(?=\/)/i, '').replace(/^\/+/, '/')

/** The query without the credential in it, and that credential. */
export function queryOf(message: IncomingMessage): { readonly query: Query; readonly queryKey?: string } {
  const mark = message.url!.indexOf('?')
  if (mark < 0) return { query: {} }
  const { key, ...query } = Object.fromEntries(new URLSearchParams(message.url!.slice(mark)))
  return key === undefined ? { query } : { query, queryKey: key }
}

/** Anthropic's clients say their version, Google's have their own key; all others speak OpenAI's (FORMATS §1). */
export function familyOf(message: IncomingMessage): ModelShape {
  const { headers } = message
  if (headers['anthropic-version'] !== undefined || headers['msgfmt-version'] !== undefined) return 'messages'
  return headers['x-goog-api-key'] !== undefined || queryOf(message).queryKey !== undefined ? 'contents' : 'chat'
}
