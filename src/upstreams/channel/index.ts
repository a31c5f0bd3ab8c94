import { Readable } from 'node:stream'
import type { WireRequest } from '../../canonical/wire.ts'
import type { ChannelConfig, ChannelFormat } from '../../config/index.ts'
import type { ChannelHealth } from '../router.ts'
import { type Addressing, addressed, type Outgoing, place as placeOf } from './address.ts'
import { Exchange } from './exchange.ts'
import { ChannelStats, Resting } from './health.ts'
import { OriginPool, StaleRetry } from './origin-pool.ts'
import { type SignedToken, signedTokenOf } from './signed-token.ts'
import { Watchdog } from './watchdog.ts'

export { addressed } from './address.ts'
export { AddressGuard, isInHouse, type Resolve } from './address-guard.ts'
export { type Answer, answeredTooMuch, type Exchange } from './exchange.ts'
export { type Fetched, MARKS, MediaFetcher, mediaTypeOf } from './fetch.ts'
export type { Consumer } from './flowing.ts'
export { flat, forwardable, type Headers, single, upstreamId } from './headers.ts'
export { isReachable } from './reachable.ts'
export { keyPairOf } from './signed-token.ts'
export { passedTrace, type TraceHeaders } from './trace-context.ts'

/** A request of a format to send, and the caller's headers, of which the channel may pass some on. */
export interface Sending extends Addressing {
  /** Whether the answer is streamed: the head of a whole one may take longer. Default true. */
  readonly stream?: boolean
  /** It must not reach the upstream twice: it goes over a new connection and is never sent again. */
  readonly single?: boolean
}

type Method = 'GET' | 'POST' | 'DELETE'

/** A request to an origin; its body is made anew each time it is sent. */
interface OriginRequest extends Pick<Outgoing, 'path' | 'headers'> {
  readonly method: Method
  readonly body?: string | (() => Readable)
  /** The body can be sent only once. */
  readonly once?: boolean
  readonly single?: boolean
}

/** A request as the HTTP client takes it; time is kept by the watchdog. */
const undiciRequest = ({ method, path, headers, body }: OriginRequest) => ({
  method,
  path,
  headers,
  headersTimeout: 0,
  bodyTimeout: 0,
  body: typeof body === 'function' ? body() : (body ?? null),
})

/** Follows whose turn it is while a body is sent. */
interface Watch {
  /** A chunk is ready for the upstream. */
  ready(): void
  /** The chunk was taken: the caller's next one is awaited. */
  taken(): void
  ended(): void
}

async function* followed(body: AsyncIterable<Uint8Array>, watch: Watch): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    watch.ready()
    yield chunk
    watch.taken()
  }
  watch.ended()
}

/** One upstream in use: its connections, its load, and what of it rests. */
export class Channel {
  readonly config: ChannelConfig
  private readonly lines = new Map<string, OriginPool>()
  private readonly watchdog: Watchdog
  private readonly token: SignedToken | undefined
  private inFlight = 0
  /** It accepts no new requests and closes. */
  private closing = false
  readonly resting = new Resting()
  readonly stats: ChannelStats
  /** Administrators had it take no new requests. */
  drained = false
  /** The ids the upstream lists, once they have been fetched. */
  listed: ReadonlySet<string> | undefined

  /** @param before the channel of that name with another config. */
  constructor(config: ChannelConfig, before?: Channel) {
    this.config = config
    this.stats = before?.stats ?? new ChannelStats()
    this.token = signedTokenOf(config)
    const { firstByte, whole = firstByte, idle } = config.timeout
    this.watchdog = new Watchdog(Math.min(firstByte, whole, idle))
  }

  /** The state the router decides by. */
  get health(): ChannelHealth {
    const { inFlight, listed, resting, drained } = this
    return { inFlight, resting: resting.models, restingUntil: resting.until, drained, listed }
  }

  /**
   * Settles when the credential is there that requests are to show; undefined where it is there already. Awaited before
   * `send` and `call`.
   *
   * @throws GatewayError `upstream-account` where none can be made.
   */
  ready(): Promise<void> | undefined {
    return this.token?.ready()
  }

  /** Sends a request; failures are reported by the exchange, never thrown here. */
  send(sending: Sending): Exchange {
    const { origin, path, headers, body } = addressed(this.config, sending, this.token?.text)
    const { firstByte, idle, whole = firstByte } = this.config.timeout
    const headTimeout = sending.stream === false ? whole : firstByte
    const single = sending.single === true
    if (typeof body === 'string')
      return this.exchange(origin, { method: 'POST', path, headers, body, single }, headTimeout)
    let exchange: Exchange | undefined
    // A caller may send as slowly as it likes; timeouts apply to the upstream when it is its turn to read or to answer.
    const watch = {
      ready: () => exchange?.expect(idle),
      taken: () => exchange?.expect(undefined),
      ended: () => exchange?.expect(headTimeout),
    }
    const flow = () => Readable.from(followed(body.read(), watch), { objectMode: false })
    exchange = this.exchange(origin, { method: 'POST', path, headers, body: flow, once: body.once, single }, undefined)
    return exchange
  }

  /** Where a path of a format is, and what a request to it shows; a WebSocket is opened there. */
  place(
    format: ChannelFormat,
    where: Pick<WireRequest, 'path' | 'query'>,
  ): { readonly url: string; readonly headers: { readonly [name: string]: string } } {
    const { origin, path, headers } = placeOf(this.config, format, where, this.token?.text)
    return { url: `${origin}${path}`, headers }
  }

  /** Counts a session as a request in flight; called once, the result ends it. */
  hold(): () => void {
    this.inFlight++
    return this.endInFlight
  }

  /** Sends a request without a body: for the list of models, or a stored response at the upstream. */
  call(method: Method, format: ChannelFormat, where: Pick<WireRequest, 'path' | 'query' | 'headers'>): Exchange {
    const { origin, path, headers } = placeOf(this.config, format, where, this.token?.text)
    const { firstByte } = this.config.timeout
    return this.exchange(origin, { method, path, headers: { ...where.headers, ...headers } }, firstByte)
  }

  /**
   * Lets running exchanges end, then closes the connections. A request that was routed here before may still arrive:
   * its connections are closed after it.
   */
  async close(): Promise<void> {
    this.closing = true
    const lines = [...this.lines.values()]
    this.lines.clear()
    await Promise.all(lines.map(line => line.close()))
  }

  /** Aborts what is running. */
  async destroy(): Promise<void> {
    await Promise.all([...this.lines.values()].map(line => line.destroy()))
  }

  private exchange(origin: string, request: OriginRequest, head: number | undefined): Exchange {
    const { watchdog, endInFlight } = this
    const line = this.line(origin)
    const resend = (): void => line.dispatchAlone(undiciRequest(request), exchange)
    const staleRetry = request.once === true || request.single === true ? undefined : new StaleRetry(line, resend)
    this.inFlight++
    const exchange = new Exchange({ watchdog, head, idle: this.config.timeout.idle, staleRetry, endInFlight })
    if (request.single === true) line.dispatchAlone(undiciRequest(request), exchange)
    else line.dispatch(undiciRequest(request), exchange)
    return exchange
  }

  private readonly endInFlight = (): void => {
    this.inFlight--
    if (this.closing && this.inFlight === 0) void this.close()
  }

  private line(origin: string): OriginPool {
    let line = this.lines.get(origin)
    if (line === undefined) {
      line = new OriginPool(origin, this.config.timeout.connect)
      this.lines.set(origin, line)
    }
    return line
  }
}
