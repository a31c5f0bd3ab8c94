import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ServerConfig } from '../config/index.ts'

type Settings = Pick<ServerConfig, 'cors' | 'publicUrls'>

/** What pages of other origins may read of an answer besides its body. */
const EXPOSED = [
  ...['x-request-id', 'request-id', 'retry-after', 'retry-after-ms', 'x-should-retry', 'allow'],
  ...['interlingua-loss', 'interlingua-loss-count', 'interlingua-added', 'interlingua-estimate'],
  ...['limit', 'remaining', 'reset'].flatMap(what => [
    `x-ratelimit-${what}-requests`,
    `x-ratelimit-${what}-tokens`,
    ...['requests', 'tokens', 'input-tokens', 'output-tokens'].map(of => `anthropic-ratelimit-${of}-${what}`),
  ]),
].join(', ')

const METHODS = 'GET, HEAD, POST, DELETE'
/** Seconds a browser remembers a preflight: the most that Chrome does. */
const REMEMBERED = '7200'
/** What only the operator uses: never for pages of other origins. Routes take any case. */
const OWN = /^\/(?:admin|console|metrics)(?:[/?]|$)/i
/** Names of headers, separated by commas. */
const NAMES = /^[\w!#$%&'*+.^`|~-]+(?:\s*,\s*[\w!#$%&'*+.^`|~-]+)*$/
/** Where clients other than browsers put their key: pages cannot set headers of sockets. */
const KEY_HEADERS = ['authorization', 'x-api-key', 'x-goog-api-key'] as const

/**
 * Lets pages of the configured origins call the gateway from browsers (CORS, fetch.spec.whatwg.org). Credentials are
 * headers that a page sets itself, so that browsers never send any.
 */
export class Cors {
  private listed: ReadonlySet<string> = new Set()
  /** Origins of the gateway's own addresses: their pages may open sockets. */
  private own: ReadonlySet<string> = new Set()
  private any = false

  constructor(settings: Settings) {
    this.reload(settings)
  }

  reload({ cors, publicUrls }: Settings): void {
    this.any = cors.includes('*')
    this.listed = new Set(cors.filter(one => one !== '*').map(originOf))
    this.own = new Set(publicUrls.map(originOf))
  }

  /** Whether a socket may be opened: one by a page only of a listed origin, where any is listed. */
  allowsSocket({ headers }: IncomingMessage): boolean {
    const { origin } = headers
    if (origin === undefined || (!this.any && this.listed.size === 0)) return true
    if (KEY_HEADERS.some(name => headers[name] !== undefined)) return true
    return this.allows(origin) || this.own.has(origin)
  }

  private allows(origin: string): boolean {
    return this.any || this.listed.has(origin)
  }

  /** Adds the headers for the page's origin; true where the request was a preflight, which is answered. */
  preflights(origin: string, message: IncomingMessage, response: ServerResponse): boolean {
    if ((!this.any && this.listed.size === 0) || OWN.test(message.url!)) return false
    if (!this.any) response.setHeader('vary', 'origin')
    if (!this.allows(origin)) return false
    response.setHeader('access-control-allow-origin', this.any ? '*' : origin)
    if (message.method !== 'OPTIONS' || message.headers['access-control-request-method'] === undefined) {
      response.setHeader('access-control-expose-headers', EXPOSED)
      return false
    }
    const asked = String(message.headers['access-control-request-headers'] ?? '').trim()
    response.writeHead(204, {
      'access-control-allow-methods': METHODS,
      ...(NAMES.test(asked) ? { 'access-control-allow-headers': asked } : {}),
      'access-control-max-age': REMEMBERED,
      vary: `${this.any ? '' : 'origin, '}access-control-request-headers`,
    })
    response.end()
    return true
  }
}

const originOf = (address: string): string => new URL(address).origin
