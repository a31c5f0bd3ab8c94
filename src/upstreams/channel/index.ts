import { Readable } from 'node:stream'
import { isDeepStrictEqual } from 'node:util'
import type { WireRequest } from '../../canonical/wire.ts'
import type { ChannelConfig, ChannelFormat } from '../../config/index.ts'
import type { ChannelHealth } from '../channel-health.ts'
import { type Credential, credentialOf, type SignableRequest, type TokenSharing } from '../credentials/index.ts'
import { refusesCredential } from '../credentials/refusal.ts'
import { endpointAt, type Outgoing, outgoingRequest, type RequestParts } from './address.ts'
import { Exchange } from './exchange.ts'
import { ChannelStats, RestingState } from './health.ts'
import { type KeyLimits, keyLimitsOf } from './key-limits.ts'
import { Latencies } from './latencies.ts'
import { OriginPool, StaleRetry } from './origin-pool.ts'
import { OVERDUE_TIME, Silence } from './silence.ts'
import { Watchdog } from './watchdog.ts'

export { keyPairOf } from '../credentials/key-pair.ts'
export { outgoingRequest } from './address.ts'
export { AddressGuard, isInternal, type Resolve } from './address-guard.ts'
export type { Consumer } from './body-bytes.ts'
export { type Answer, answeredTooMuch, type Exchange } from './exchange.ts'
export { type Fetched, MediaFetcher, mediaTypeOf, SNIFF_BYTES } from './fetch.ts'
export { forwardable, type Headers, headerValue, upstreamId, withSingleValues } from './headers.ts'
export { isReachable } from './reachable.ts'
export { passedTrace, type TraceHeaders } from './trace-context.ts'
export { connectionDetail, NotSent, unreachable } from './unreachable.ts'

/** A request to an upstream, with options for sending it. */
export interface ChannelRequest extends RequestParts {
  /** Default: true. If false, the answer is not streamed, and the timeout for its headers is `whole`. */
  readonly stream?: boolean
  /**
   * True if the request must not reach the upstream twice. Such a request uses a new connection and is never retried.
   */
  readonly single?: boolean
}

type Method = 'GET' | 'POST' | 'DELETE'

/** Maximum of `setupTimeout`, in milliseconds. A model may think for minutes before it answers, a list may not. */
const MAX_SETUP_TIME = 60_000

/** A request to an origin. A streamed body is created anew for each attempt. */
interface OriginRequest extends Pick<Outgoing, 'path' | 'headers'> {
  readonly method: Method
  readonly body?: string | (() => Readable)
  /** True if the body can be sent only once. */
  readonly once?: boolean
  readonly single?: boolean
  /** Silence of the channel. Absent if the answer is not streamed. */
  readonly silence?: Silence | undefined
}

/** Converts a request for the HTTP client. The client's timeouts are off, because the watchdog enforces them. */
const undiciRequest = (origin: string, { method, path, headers, body }: OriginRequest) => ({
  origin,
  method,
  path,
  headers,
  headersTimeout: 0,
  bodyTimeout: 0,
  body: typeof body === 'function' ? body() : (body ?? null),
})

/** Returns the parts of a request that a credential signs. A streamed body is not signed. */
const signablePart = (origin: string, { method, path, headers, body = '' }: OriginRequest): SignableRequest => ({
  ...{ origin, method, path, headers },
  body: typeof body === 'string' ? body : undefined,
})

/** Observes the sending of a body, which shows whether the caller or the upstream must act next. */
interface BodyObserver {
  /** Called when a chunk is ready for the upstream. */
  ready(): void
  /** Called when the upstream has read the chunk and the next chunk from the caller is awaited. */
  taken(): void
  ended(): void
}

async function* observedBody(body: AsyncIterable<Uint8Array>, watch: BodyObserver): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    watch.ready()
    yield chunk
    watch.taken()
  }
  watch.ended()
}

/** Discards the current credential if the answer refuses it. */
function discardRefused(credential: Credential, { answer }: Exchange): void {
  const sent = credential.current
  answer.then(
    head => {
      if (refusesCredential(head)) credential.refused(sent)
    },
    () => {},
  )
}

/** Parts of a config that decide at which account of which upstream requests arrive. */
const accountOf = ({ formats, auth, proxy, tls, key, keys }: ChannelConfig) => ({
  ...{ formats, auth, proxy, tls },
  ...(keys === undefined ? { key } : { hasPool: true }),
})

/** Returns true if requests of both configs arrive at the same account. */
const areSameAccount = (one: ChannelConfig, other: ChannelConfig): boolean =>
  isDeepStrictEqual(accountOf(one), accountOf(other))

/**
 * A configured upstream at run time: its connections, load and resting state. Each key of a pool is a separate channel,
 * with its own load and resting state, but uses the connections of the channel that it belongs to.
 */
export class Channel {
  readonly config: ChannelConfig
  /** One channel for each key of the pool, or undefined if there is no pool. */
  readonly keys: readonly Channel[] | undefined
  /** The channel with the pool, if this is a key of a pool. */
  readonly parent: Channel | undefined
  /** Limits per minute, if this is a key of a pool. */
  readonly limits: KeyLimits | undefined
  private readonly pools = new Map<string, OriginPool>()
  private readonly watchdog: Watchdog
  private readonly silence: Silence
  private readonly credential: Credential | undefined
  private inFlight = 0
  /** The channel of the same account before a config change, as long as it has requests in flight. */
  private previous: Channel | undefined
  /** True while the channel is closing and accepts no new requests. */
  private isClosing = false
  readonly resting: RestingState
  readonly stats: ChannelStats
  /** Measured times to the first byte, shared by all keys of a pool. */
  readonly latencies: Latencies
  /** True if an administrator has stopped new requests to the channel. */
  drained = false
  /** Model ids in the upstream's list, or undefined until the list is fetched. */
  listed: ReadonlySet<string> | undefined

  /**
   * @param before the channel of the same name before a config change, whose request counts are continued. If requests
   * still arrive at the same account, its token, rests, quotas and load are continued, too.
   * @param parent the channel with the pool, if this is a key of a pool.
   * @param sharing shares access tokens with other processes, or undefined if there are none.
   */
  constructor(config: ChannelConfig, before?: Channel, parent?: Channel, sharing?: TokenSharing) {
    this.config = config
    this.parent = parent
    this.stats = before?.stats ?? new ChannelStats(parent?.stats)
    const same = before !== undefined && areSameAccount(before.config, config) ? before : undefined
    this.previous = same
    this.resting = same?.resting ?? new RestingState(parent?.resting)
    this.latencies = parent?.latencies ?? before?.latencies ?? new Latencies()
    this.credential = same?.credential ?? credentialOf(config, sharing)
    this.limits = keyLimitsOf(config.pooled, same?.limits)
    const { firstByte, whole = firstByte, idle } = config.timeout
    this.watchdog = parent?.watchdog ?? new Watchdog(Math.min(firstByte, whole, idle))
    this.silence = parent?.silence ?? new Silence()
    this.keys = config.keys?.map(key => new Channel(key, before?.keyOf(key.pooled!.id), this, sharing))
  }

  /** The channel's state for the router. */
  get health(): ChannelHealth {
    const { load, listed, resting, drained, limits, silence } = this
    const isSpent = limits?.isSpent()
    const restingUntil = silence.isOngoing ? Date.now() + OVERDUE_TIME : resting.until
    return { inFlight: load, resting: resting.models, restingUntil, drained, isSpent, listed }
  }

  /** Number of requests in flight at the account, including those that were sent before a config change. */
  private get load(): number {
    if (this.previous === undefined) return this.inFlight
    const before = this.previous.load
    if (before === 0) this.previous = undefined
    return this.inFlight + before
  }

  /** Returns the key of the pool with this id, or undefined if there is none. */
  keyOf(id: string): Channel | undefined {
    return this.keys?.find(({ config }) => config.pooled?.id === id)
  }

  /**
   * Returns the number of resting channels (0 or 1) and models. A channel with a pool also rests if all its keys do.
   */
  restCount(now: number): { readonly channels: number; readonly models: number } {
    const counts = this.resting.count(now)
    const areResting = this.keys?.every(({ resting }) => resting.rests(now)) === true
    return areResting ? { ...counts, channels: 1 } : counts
  }

  /**
   * The channel for requests that are not routed: the channel itself, or if it has a pool, one of its keys, preferably
   * one that does not rest.
   */
  get sender(): Channel {
    const now = Date.now()
    return this.keys?.find(({ resting }) => !resting.rests(now)) ?? this.keys?.[0] ?? this
  }

  /**
   * Resolves when the credential for requests is ready. Returns undefined if it is ready now. Must be awaited before
   * `send`, `call` and `endpoint`.
   *
   * @throws GatewayError `upstream-account` if no credential can be obtained.
   */
  ready(): Promise<void> | undefined {
    return this.credential?.ready()
  }

  /** The token or keys with which the next request is sent, or undefined if they are fixed or not there. */
  get currentCredential(): string | undefined {
    return this.credential?.current
  }

  /**
   * Records that the upstream refused a credential, so that the next request gets a new one. Exchanges record refusals
   * themselves.
   *
   * @param sent the credential from `endpoint`.
   */
  credentialRefused(sent: string | undefined): void {
    this.credential?.refused(sent)
  }

  /** Sends a request. Never throws; failures are reported by the exchange. */
  send(request: ChannelRequest): Exchange {
    const { origin, path, headers, body } = outgoingRequest(this.config, request, this.credential?.token)
    const { firstByte, idle, whole = firstByte } = this.config.timeout
    const headTimeout = request.stream === false ? whole : firstByte
    const single = request.single === true
    const silence = request.stream === false ? undefined : this.silence
    const sent = { method: 'POST' as const, path, headers, single, silence }
    if (typeof body === 'string') return this.exchange(origin, { ...sent, body }, headTimeout)
    let exchange: Exchange | undefined
    // Timeouts apply only while the upstream must read or answer, because a caller may send slowly.
    const watch = {
      ready: () => exchange?.setDeadline(idle),
      taken: () => exchange?.setDeadline(undefined),
      ended: () => exchange?.setDeadline(headTimeout),
    }
    const openBody = () => Readable.from(observedBody(body.read(), watch), { objectMode: false })
    exchange = this.exchange(origin, { ...sent, body: openBody, once: body.once }, undefined)
    return exchange
  }

  /** Returns the URL and headers to open a WebSocket at a path of the format, and the token in these headers. */
  endpoint(
    format: ChannelFormat,
    endpoint: Pick<WireRequest, 'path' | 'query'>,
  ): {
    readonly url: string
    readonly headers: { readonly [name: string]: string }
    readonly credential: string | undefined
  } {
    const credential = this.credential?.token
    const { origin, path, headers } = endpointAt(this.config, format, endpoint, credential)
    return { url: `${origin}${path}`, headers, credential }
  }

  /** Maximum time until an upstream answers what needs no model, such as opening a voice session, in milliseconds. */
  get setupTimeout(): number {
    return Math.min(this.config.timeout.firstByte, MAX_SETUP_TIME)
  }

  /** Counts a voice session as a request in flight until the returned function is called. */
  countSession(): () => void {
    this.limits?.sent()
    this.startInFlight()
    return this.endInFlight
  }

  /** Sends a request without a body, for example to list models or to fetch a stored response. */
  call(method: Method, format: ChannelFormat, endpoint: Pick<WireRequest, 'path' | 'query' | 'headers'>): Exchange {
    const { origin, path, headers } = endpointAt(this.config, format, endpoint, this.credential?.token)
    return this.exchange(origin, { method, path, headers: { ...endpoint.headers, ...headers } }, this.setupTimeout)
  }

  /**
   * Closes the connections after the running exchanges have ended. A request that was already routed to this channel
   * may still be sent; connections for such requests are closed afterwards.
   */
  async close(): Promise<void> {
    this.isClosing = true
    const pools = [...this.pools.values()]
    this.pools.clear()
    await Promise.all(pools.map(pool => pool.close()))
  }

  /** Aborts all running exchanges. */
  async destroy(): Promise<void> {
    await Promise.all([...this.pools.values()].map(pool => pool.destroy()))
  }

  private exchange(origin: string, unsignedRequest: OriginRequest, head: number | undefined): Exchange {
    const { watchdog, endInFlight, limits } = this
    const pool = (this.parent ?? this).pool(origin)
    limits?.sent()
    let request = unsignedRequest
    const sendAlone = (): void => pool.dispatchAlone(undiciRequest(origin, request), exchange)
    const isOnce = request.once === true || request.single === true
    const staleRetry = isOnce ? undefined : new StaleRetry(pool, sendAlone)
    this.startInFlight()
    const { idle } = this.config.timeout
    const exchange = new Exchange({ watchdog, head, idle, staleRetry, silence: request.silence, endInFlight })
    if (this.credential !== undefined) discardRefused(this.credential, exchange)
    const send = request.single ? sendAlone : () => pool.dispatch(undiciRequest(origin, request), exchange)
    const signing = this.credential?.sign?.(signablePart(origin, request))
    if (signing === undefined) send()
    else
      signing.then(
        headers => {
          request = { ...unsignedRequest, headers }
          send()
        },
        (thrown: unknown) => exchange.fail(thrown),
      )
    return exchange
  }

  private startInFlight(): void {
    this.inFlight++
    if (this.parent !== undefined) this.parent.inFlight++
  }

  private readonly endInFlight = (): void => {
    this.inFlight--
    this.parent?.endInFlight()
    if (this.isClosing && this.inFlight === 0) void this.close()
  }

  private pool(origin: string): OriginPool {
    let pool = this.pools.get(origin)
    if (pool === undefined) {
      pool = new OriginPool(origin, this.config.timeout.connect, this.config)
      this.pools.set(origin, pool)
    }
    return pool
  }
}
