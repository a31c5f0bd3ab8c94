import { Agent, type Dispatcher } from 'undici'
import type { MediaKind } from '../canonical/content.ts'
import { type ErrorKind, GatewayError } from '../canonical/error.ts'
import { kindOfMediaType } from '../canonical/media.ts'
import { sniffed } from '../canonical/sniff.ts'
import { checkHost, guarded, type Range, Unreachable } from './reachable.ts'

export interface FetchLimits {
  /** Bytes a thing may have. */
  readonly size: number
  /** Milliseconds for all of it, redirects included. */
  readonly timeout: number
  /** Addresses that are fetched from although they are not public. */
  readonly allow: readonly Range[]
}

/** What was found at an address. */
export interface Fetched {
  readonly mediaType: string
  readonly bytes: Buffer
}

const REDIRECTS = 3

/**
 * Fetches media callers name by address, for upstreams that want bytes. Only http and https, only from public
 * addresses, at every redirect and after name resolution (trap 50); nothing of the caller's request goes along.
 */
export class MediaFetcher {
  private readonly limits: FetchLimits
  private readonly agent: Agent
  private closing: Promise<void> | undefined

  constructor(limits: FetchLimits) {
    this.limits = limits
    this.agent = new Agent({
      connect: { lookup: guarded(limits.allow), timeout: limits.timeout },
      headersTimeout: limits.timeout,
      bodyTimeout: limits.timeout,
      connections: 16,
    })
  }

  /**
   * The thing at the address, its media type by what it is rather than by what is claimed.
   *
   * @throws GatewayError `invalid-request` where it cannot be had, is too large, or is of another kind than `kind`.
   */
  async fetch(url: string, kind: MediaKind): Promise<Fetched> {
    const signal = AbortSignal.timeout(this.limits.timeout)
    try {
      const { claimed, bytes } = await this.follow(url, signal)
      return { mediaType: mediaTypeOf(bytes, claimed, kind), bytes }
    } catch (thrown) {
      throw thrown instanceof GatewayError ? thrown : refusal(thrown, signal)
    }
  }

  close(): Promise<void> {
    this.closing ??= this.agent.close()
    return this.closing
  }

  private async follow(url: string, signal: AbortSignal) {
    let at = url
    for (let hop = 0; hop <= REDIRECTS; hop++) {
      const { origin, pathname, search } = this.checked(at)
      const answer = await this.agent.request({
        origin,
        path: `${pathname}${search}`,
        method: 'GET',
        headers: { accept: '*/*', 'user-agent': 'interlingua' },
        signal,
      })
      const next = answer.statusCode >= 300 && answer.statusCode < 400 ? answer.headers['location'] : undefined
      if (typeof next !== 'string')
        return { claimed: String(answer.headers['content-type'] ?? ''), bytes: await this.body(answer) }
      leave(answer.body)
      at = new URL(next, at).href
    }
    throw fault('The media is behind too many redirects.')
  }

  private checked(text: string): URL {
    if (!URL.canParse(text)) throw fault('The address of the media is no URL.')
    const url = new URL(text)
    if (url.protocol !== 'http:' && url.protocol !== 'https:')
      throw fault('Media is fetched from http and https addresses only.')
    checkHost(url.hostname, this.limits.allow)
    return url
  }

  private async body({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<Buffer> {
    const announced = Number(headers['content-length'])
    const refused =
      statusCode !== 200
        ? fault(`The media cannot be had: its server answered ${statusCode}.`)
        : announced > this.limits.size
          ? this.tooLarge()
          : undefined
    if (refused !== undefined) {
      leave(body)
      throw refused
    }
    const pieces: Buffer[] = []
    let size = 0
    for await (const piece of body) {
      size += (piece as Buffer).length
      if (size > this.limits.size) throw this.tooLarge()
      pieces.push(piece as Buffer)
    }
    return Buffer.concat(pieces, size)
  }

  private readonly tooLarge = (): GatewayError =>
    fault(`The media is larger than ${this.limits.size} bytes.`, 'too-large')
}

/** Left unread: the client tells of that as an error. */
const leave = (body: Dispatcher.ResponseData['body']): void => void body.on('error', () => {}).destroy()

/** A page that says it is a picture is none; what no signature tells is believed as far as it is of the kind. */
function mediaTypeOf(bytes: Buffer, claimed: string, kind: MediaKind): string {
  const type = claimed.split(';')[0]!.trim().toLowerCase()
  const found = sniffed(bytes) ?? type
  if (kind === 'file' || kindOfMediaType(found) === kind) return found === '' ? 'application/octet-stream' : found
  if (kind === 'audio' && found.startsWith('video/')) return found
  throw fault(`What is at the address of the media is not of the kind "${kind}".`)
}

function refusal(thrown: unknown, signal: AbortSignal): GatewayError {
  const cause = thrown instanceof Error ? thrown : undefined
  if (signal.aborted) return fault('The media could not be fetched in time.', 'invalid-request', cause)
  const message =
    thrown instanceof Unreachable || cause?.cause instanceof Unreachable
      ? 'Media is not fetched from this address.'
      : 'The media could not be fetched.'
  return fault(message, 'invalid-request', cause)
}

const fault = (message: string, kind: ErrorKind = 'invalid-request', cause?: Error): GatewayError =>
  new GatewayError({ kind, message, code: 'media_not_fetched' }, cause === undefined ? {} : { cause })
