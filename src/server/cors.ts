import type { IncomingMessage, ServerResponse } from 'node:http'
import { KEY_HEADERS } from '../accounts/key-ring.ts'
import type { ServerConfig } from '../config/index.ts'

type Settings = Pick<ServerConfig, 'cors' | 'publicUrls'>

/** Response headers that pages of other origins may read. */
const EXPOSED_HEADERS = [
  ...['x-request-id', 'request-id', 'retry-after', 'retry-after-ms', 'x-should-retry', 'allow'],
  ...['interlingua-loss', 'interlingua-loss-count', 'interlingua-added', 'interlingua-estimate'],
  ...['limit', 'remaining', 'reset'].flatMap(field => [
    `x-ratelimit-${field}-requests`,
    `x-ratelimit-${field}-tokens`,
    ...['requests', 'tokens', 'input-tokens', 'output-tokens'].map(unit => `anthropic-ratelimit-${unit}-${field}`),
  ]),
].join(', ')

const ALLOWED_METHODS = 'GET, HEAD, POST, DELETE'
/** Seconds for which browsers cache a preflight response. This is Chrome's maximum. */
const PREFLIGHT_MAX_AGE = '7200'
/** Paths for operators, which other origins may never use. Case-insensitive, like the routes. */
const OPERATOR_PATHS = /^\/(?:admin|console|metrics)(?:[/?]|$)/i
/** Matches a comma-separated list of header names. */
const HEADER_NAMES = /^[\w!#$%&'*+.^`|~-]+(?:\s*,\s*[\w!#$%&'*+.^`|~-]+)*$/
/** Headers that prove that the client is not a browser page, because pages cannot set headers on WebSockets. */
const CREDENTIAL_HEADERS = ['authorization', ...KEY_HEADERS] as const

/**
 * Implements CORS (fetch.spec.whatwg.org), so that pages of configured origins may call the gateway. Pages send
 * credentials in headers. Browser credentials such as cookies are never allowed.
 */
export class Cors {
  private allowedOrigins: ReadonlySet<string> = new Set()
  /** Origins of the gateway's public URLs, whose pages may open WebSockets. */
  private ownOrigins: ReadonlySet<string> = new Set()
  private allowsAny = false

  constructor(settings: Settings) {
    this.reload(settings)
  }

  reload({ cors, publicUrls }: Settings): void {
    this.allowsAny = cors.includes('*')
    this.allowedOrigins = new Set(cors.filter(origin => origin !== '*').map(originOf))
    this.ownOrigins = new Set(publicUrls.map(originOf))
  }

  /** Returns true if a WebSocket may be opened. If origins are configured, pages of other origins may not open one. */
  allowsSocket({ headers }: IncomingMessage): boolean {
    const { origin } = headers
    if (origin === undefined || (!this.allowsAny && this.allowedOrigins.size === 0)) return true
    if (CREDENTIAL_HEADERS.some(name => headers[name] !== undefined)) return true
    return this.allows(origin) || this.ownOrigins.has(origin)
  }

  private allows(origin: string): boolean {
    return this.allowsAny || this.allowedOrigins.has(origin)
  }

  /** Adds CORS headers to the response. If the request is a preflight, answers it and returns true. */
  handlePreflight(origin: string, message: IncomingMessage, response: ServerResponse): boolean {
    if ((!this.allowsAny && this.allowedOrigins.size === 0) || OPERATOR_PATHS.test(message.url!)) return false
    if (!this.allowsAny) response.setHeader('vary', 'origin')
    if (!this.allows(origin)) return false
    response.setHeader('access-control-allow-origin', this.allowsAny ? '*' : origin)
    if (message.method !== 'OPTIONS' || message.headers['access-control-request-method'] === undefined) {
      response.setHeader('access-control-expose-headers', EXPOSED_HEADERS)
      return false
    }
    const requested = String(message.headers['access-control-request-headers'] ?? '').trim()
    response.writeHead(204, {
      'access-control-allow-methods': ALLOWED_METHODS,
      ...(HEADER_NAMES.test(requested) ? { 'access-control-allow-headers': requested } : {}),
      'access-control-max-age': PREFLIGHT_MAX_AGE,
      vary: `${this.allowsAny ? '' : 'origin, '}access-control-request-headers`,
    })
    response.end()
    return true
  }
}

const originOf = (address: string): string => new URL(address).origin
