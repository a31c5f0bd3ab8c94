import type { IncomingMessage } from 'node:http'
import type { Format } from '../canonical/node.ts'
import type { Query } from '../formats/routes.ts'

/** The path of the console. */
export const CONSOLE_PATH = '/console'

/** Returns the request's path as sent, without the query. */
export const pathOf = (message: IncomingMessage): string => message.url!.split('?', 1)[0]!

/**
 * Normalizes a request target to a path. Clients that use the gateway as an HTTP proxy send an absolute URL, base URLs
 * with a trailing slash lead to a double slash, and clients of other gateways and of Azure and Groq have other paths.
 */
export function inOriginForm(url: string): string {
  const path = url.replace(/^https?:\/\/[^/?]*(?=\/)/i, '').replace(/^\/+/, '/')
  const alias = ALIASES.find(([pattern]) => pattern.test(path))
  return alias === undefined ? path : path.replace(...alias)
}

/** Names of the endpoints below `/v1`. */
const VERSIONED_NAMES = [
  ...[
    'chat/completions',
    'completions',
    'responses',
    'conversations',
    'messages',
    'interactions',
    'embeddings',
    'embed',
  ],
  ...['rerank', 'images', 'audio', 'videos', 'video', 'models', 'realtime'],
]

/** Starts of paths that mean an endpoint of this gateway, and what stands in their place (docs/wire/common.md). */
const ALIASES: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  // Azure and Groq. Deployments of Azure have endpoints of their own.
  [/^\/openai\/(?:v1\/|(?!deployments\/))/, '/v1/'],
  // LiteLLM, for clients of Anthropic and Google.
  [/^\/(?:anthropic|gemini)(?=\/v1)/, ''],
  // A base URL with a version, for clients that add one.
  [/^\/v1(?=\/v1(?:beta)?\/)/, ''],
  // A base URL without a version, as LiteLLM's documentation has it.
  [new RegExp(`^(?=/(?:${VERSIONED_NAMES.join('|')})(?:[/?]|$))`), '/v1'],
]

/** Returns true for a request target that `inOriginForm` changes. */
export const isUnusual = (url: string): boolean =>
  url[0] !== '/' || url[1] === '/' || ALIASES.some(([pattern]) => pattern.test(url))

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
