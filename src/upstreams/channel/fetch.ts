import { pipeline, type Readable } from 'node:stream'
import { Agent, type Dispatcher, fetch, ProxyAgent } from 'undici'
import type { MediaKind } from '../../canonical/content.ts'
import { type ErrorKind, GatewayError } from '../../canonical/error.ts'
import { kindOfMediaType } from '../../canonical/media/data-url.ts'
import { sniffMediaType } from '../../canonical/media/sniff.ts'
import type { Range } from '../../config/ranges.ts'
import type { ProxyConfig } from '../../config/types.ts'
import { declaredInflater } from './body-kind.ts'
import { headerValue } from './headers.ts'
import { HTTP_1 } from './origin-pool.ts'
import { proxyFor } from './proxy-for.ts'
import { checkHost, checkProxied, guardedLookup, Unreachable } from './reachable.ts'

/** Limits of media fetches. */
export interface FetchLimits {
  /** Maximum size of a resource, in bytes. */
  readonly size: number
  /** Timeout of a complete fetch, including redirects, in milliseconds. */
  readonly timeout: number
  /** Non-public addresses from which media may be fetched. */
  readonly allow: readonly Range[]
  /** Proxy, which resolves the host names. If absent, the gateway resolves them. */
  readonly proxy?: ProxyConfig
}

/** A fetched resource of the requested kind. */
export interface Fetched {
  readonly mediaType: string
  readonly bytes: Buffer
}

/** A fetched resource of any kind, with the media type that its server declared. */
export interface FetchedBytes {
  readonly declaredType: string
  readonly bytes: Buffer
}

/** Lets code that runs several fetches observe and abort one of them. */
export interface FetchObserver {
  /** Signal that aborts the fetch. */
  readonly signal: AbortSignal
  /** Receives the size of every chunk. An exception ends the fetch. */
  take(bytes: number): void
}

/** Maximum number of redirects to follow. */
const MAX_REDIRECTS = 3

/**
 * Fetches media from URLs in callers' requests, for upstreams that need bytes. Allows only http and https, and only
 * public addresses, which are checked at every redirect after name resolution (trap 50). Nothing from the caller's
 * request is sent.
 */
export class MediaFetcher {
  private readonly limits: FetchLimits
  private readonly agents: Agents
  private closing: Promise<void> | undefined

  constructor(limits: FetchLimits) {
    this.limits = limits
    const { allow, proxy, timeout } = limits
    const connect = { lookup: guardedLookup(allow), timeout }
    this.agents = new Agents({ connect, headersTimeout: timeout, bodyTimeout: timeout, connections: 16 }, proxy)
  }

  /**
   * Fetches a resource. The media type is detected from the bytes rather than read from the headers.
   *
   * @throws GatewayError `invalid-request` if the resource cannot be fetched or is not of the given kind; `too-large`.
   */
  async fetch(url: string, kind: MediaKind): Promise<Fetched> {
    const { declaredType, bytes } = await this.load(url)
    return { mediaType: mediaTypeOf(bytes, declaredType, kind), bytes }
  }

  /** Fetches a resource without checking its kind. Throws like `fetch`. */
  async load(url: string, observer?: FetchObserver): Promise<FetchedBytes> {
    const timeout = AbortSignal.timeout(this.limits.timeout)
    const signal = observer === undefined ? timeout : AbortSignal.any([timeout, observer.signal])
    try {
      return await this.follow(url, signal, observer)
    } catch (thrown) {
      throw thrown instanceof GatewayError ? thrown : refusal(thrown, timeout)
    }
  }

  close(): Promise<void> {
    this.closing ??= this.agents.close()
    return this.closing
  }

  private async follow(url: string, signal: AbortSignal, observer: FetchObserver | undefined): Promise<FetchedBytes> {
    let at = url
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
      const { origin, pathname, search } = this.checkedUrl(at)
      const answer = await this.agents.to(origin).request({
        origin,
        path: `${pathname}${search}`,
        method: 'GET',
        headers: { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'interlingua' },
        signal,
      })
      const next = answer.statusCode >= 300 && answer.statusCode < 400 ? answer.headers['location'] : undefined
      if (typeof next !== 'string')
        return { declaredType: String(answer.headers['content-type'] ?? ''), bytes: await this.body(answer, observer) }
      discard(answer.body)
      at = new URL(next, at).href
    }
    throw fault('The media is behind too many redirects.')
  }

  private checkedUrl(text: string): URL {
    if (!URL.canParse(text)) throw fault('The address of the media is not a valid URL.')
    const url = new URL(text)
    if (url.protocol !== 'http:' && url.protocol !== 'https:')
      throw fault('Media is fetched from http and https addresses only.')
    checkHost(url.hostname, this.limits.allow)
    if (this.limits.proxy !== undefined) checkProxied(url, this.limits.allow)
    return url
  }

  private async body(
    { statusCode, headers, body }: Dispatcher.ResponseData,
    observer?: FetchObserver,
  ): Promise<Buffer> {
    const declaredLength = Number(headers['content-length'])
    const error =
      statusCode !== 200
        ? fault(`The media could not be fetched: its server answered ${statusCode}.`)
        : declaredLength > this.limits.size
          ? this.tooLarge()
          : undefined
    if (error !== undefined) {
      discard(body)
      throw error
    }
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of decoded(body, headerValue(headers['content-encoding']))) {
      size += (chunk as Buffer).length
      if (size > this.limits.size) throw this.tooLarge()
      observer?.take((chunk as Buffer).length)
      chunks.push(chunk as Buffer)
    }
    return Buffer.concat(chunks, size)
  }

  private readonly tooLarge = (): GatewayError =>
    fault(`The media is larger than ${this.limits.size} bytes.`, 'too-large')
}

/**
 * Returns a body without its encoding. A storage sends a file that was stored compressed in this encoding, whatever the
 * request accepts.
 */
function decoded(body: Dispatcher.ResponseData['body'], encoding: string): Readable {
  const declared = encoding.trim().toLowerCase()
  if (declared === '' || declared === 'identity') return body
  const inflater = declaredInflater(declared)
  if (inflater === undefined) {
    discard(body)
    throw fault('The media has an unknown encoding.')
  }
  // The reader of the decoded body gets the error.
  return pipeline(body, inflater, () => {})
}

/** Discards an unread body and ignores the resulting error of the HTTP client. */
const discard = (body: Dispatcher.ResponseData['body']): void => void body.on('error', () => {}).destroy()

/**
 * Returns the media type of a resource. An image must have a known signature, because an error page may be declared as
 * an image. For any other resource without a signature, the declared type is used if it is of the requested kind and
 * the content is not markup.
 *
 * @param head the first bytes.
 * @throws GatewayError `invalid-request` if the resource is of another kind.
 */
export function mediaTypeOf(head: Buffer, declaredType: string, kind: MediaKind): string {
  const type = declaredType.split(';')[0]!.trim().toLowerCase()
  const detected = sniffMediaType(head)
  const found = detected ?? type
  if (kind === 'file') return found === '' ? 'application/octet-stream' : found
  const isTrustedType =
    detected !== undefined || (kind !== 'image' && !MARKUP_START.test(head.toString('latin1', 0, SNIFF_BYTES)))
  if (isTrustedType && (kindOfMediaType(found) === kind || (kind === 'audio' && found.startsWith('video/'))))
    return found
  throw fault(`The resource at the media URL is not of the kind "${kind}".`)
}

/** Number of first bytes that `mediaTypeOf` needs. */
export const SNIFF_BYTES = 64
const MARKUP_START = /^(?:\xef\xbb\xbf)?\s*</

function refusal(thrown: unknown, timeout: AbortSignal): GatewayError {
  const cause = thrown instanceof Error ? thrown : undefined
  if (timeout.aborted) return fault('The media could not be fetched in time.', 'invalid-request', cause)
  const message =
    thrown instanceof Unreachable || cause?.cause instanceof Unreachable
      ? 'Media is not fetched from this address.'
      : 'The media could not be fetched.'
  return fault(message, 'invalid-request', cause)
}

const fault = (message: string, kind: ErrorKind = 'invalid-request', cause?: Error): GatewayError =>
  new GatewayError({ kind, message, code: 'media_not_fetched' }, cause === undefined ? {} : { cause })

/** Options that agents with and without a proxy have in common. */
type Options = Pick<Agent.Options, 'connect' | 'connections' | 'headersTimeout' | 'bodyTimeout'>

/** Connections to any host, each through its proxy if there is one. */
export class Agents {
  private readonly proxy: ProxyConfig | undefined
  private readonly direct: Dispatcher
  /** Agents by the URL of their proxy. */
  private readonly proxied: ReadonlyMap<string, Dispatcher>

  constructor(options: Options, proxy: ProxyConfig | undefined) {
    this.proxy = proxy
    this.direct = new Agent({ ...options, ...HTTP_1 })
    const urls = proxy === undefined ? [] : [proxy.http, proxy.https].filter(url => url !== '')
    this.proxied = new Map(urls.map(uri => [uri, new ProxyAgent({ ...options, ...HTTP_1, uri })]))
  }

  /** Returns the agent for an origin. */
  to(origin: string | URL): Dispatcher {
    const url = this.proxy && proxyFor(origin, this.proxy)
    return (url === undefined ? undefined : this.proxied.get(url)) ?? this.direct
  }

  async close(): Promise<void> {
    await Promise.all([this.direct, ...this.proxied.values()].map(agent => agent.close()))
  }

  async destroy(): Promise<void> {
    await Promise.all([this.direct, ...this.proxied.values()].map(agent => agent.destroy()))
  }
}

/** Returns a `fetch` that connects through a proxy. */
export function fetchThrough(proxy: ProxyConfig): (url: string, options: object) => Promise<Response> {
  const agents = new Agents({}, proxy)
  return async (url, options) => (await fetch(url, { ...options, dispatcher: agents.to(url) })) as unknown as Response
}
