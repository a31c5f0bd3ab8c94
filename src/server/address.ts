import type { IncomingMessage } from 'node:http'
import type { Format } from '../canonical/node.ts'
import type { Query } from '../formats/routes.ts'

/** The path of the console. */
export const CONSOLE_PATH = '/console'

/** Returns the request's path as sent, without the query. */
export const pathOf = (message: IncomingMessage): string => message.url!.split('?', 1)[0]!

/**
 * Normalizes a request target to a path. Clients that use the gateway as an HTTP proxy send an absolute URL, base URLs
 * with a trailing slash lead to a double slash, and clients of Azure OpenAI and Groq add `/openai`.
 */
export const inOriginForm = (url: string): string =>
  url
    .replace(/^https?:\/\/[^/?]*(?=\/)/i, '')
    .replace(/^\/+/, '/')
    .replace(VENDOR_PREFIX, '/v1/')

/** Prefix of OpenAI's paths at Groq and Azure. Deployments of Azure have endpoints of their own. */
const VENDOR_PREFIX = /^\/openai\/(?:v1\/|(?!deployments\/))/

/** Returns true for a request target that `inOriginForm` changes. */
export const isUnusual = (url: string): boolean => url[0] !== '/' || url[1] === '/' || VENDOR_PREFIX.test(url)

/** Parses the query. The credential (`key`) is returned separately. */
export function queryOf(message: IncomingMessage): { readonly query: Query; readonly queryKey?: string } {
  const mark = message.url!.indexOf('?')
  if (mark < 0) return { query: {} }
  const { key, ...query } = Object.fromEntries(new URLSearchParams(message.url!.slice(mark)))
  return key === undefined ? { query } : { query, queryKey: key }
}

/** Names by which Cohere's own clients identify themselves. */
const COHERE_CLIENTS = new Set(['cohere', 'cohere-ai'])

/**
 * Guesses the format family from headers. Anthropic clients send an API version, Cohere clients send their name,
 * Google clients send a key in Google's header or query parameter, and all other clients use OpenAI's formats
 * (docs/wire/common.md#routing).
 */
export function familyOf(message: IncomingMessage): Format {
  const { headers } = message
  if (headers['anthropic-version'] !== undefined || headers['msgfmt-version'] !== undefined) return 'messages'
  if (COHERE_CLIENTS.has(String(headers['x-fern-sdk-name'])) || headers['x-client-name'] !== undefined)
    return 'cohere-chat'
  return headers['x-goog-api-key'] !== undefined || queryOf(message).queryKey !== undefined ? 'contents' : 'chat'
}
