import { Readable } from 'node:stream'
import type { WireRequest } from '../canonical/wire.ts'
import type { ChannelConfig, ChannelFormat } from '../config/index.ts'
import type { LateParts } from '../egress/transport/multipart.ts'
import type { ChannelHealth } from '../router.ts'
import { addressed, type Outgoing, place } from './address.ts'
import { Exchange } from './exchange.ts'
import type { Headers } from './headers.ts'
import { OriginPool } from './origin-pool.ts'
import { Resting } from './resting.ts'
import { type SignedToken, signedTokenOf } from './signed-token.ts'
import { StaleRetry } from './stale-retry.ts'
import { Watchdog } from './watchdog.ts'

export { AddressGuard, isInHouse, type Resolve } from './address-guard.ts'
export { forwardable, upstreamId } from './answer-headers.ts'
export { type Answer, answeredTooMuch, type Exchange, type Taker } from './exchange.ts'
export { type Fetched, MARKS, MediaFetcher, mediaTypeOf } from './fetch.ts'
export { flat, type Headers, single } from './headers.ts'
export { isReachable } from './reachable.ts'
export { keyPairOf } from './signed-token.ts'

/** What is sent: a request of a format, and the caller's headers some of which the channel may pass on. */
export interface Sending {
  readonly format: ChannelFormat
  readonly wire: WireRequest
  readonly from?: Headers
  /** Whether the answer is to be streamed: the head of a whole one is waited for longer. Absent means it is. */
  readonly stream?: boolean
  /** It must not reach the upstream twice: it goes over a new connection and is never sent again. */
  readonly single?: true
  /** Of a form that is not whole yet: what comes last. */
  readonly late?: LateParts
}

type Method = 'GET' | 'POST' | 'DELETE'

/** What goes to an origin; its body is made anew each time it is sent. */
interface Going extends Pick<Outgoing, 'path' | 'headers'> {
  readonly method: Method
  body?(): string | Readable
  /** The body can be sent once only. */
  readonly once?: boolean
  readonly single?: boolean
}

/** Who is told whose turn it is while a body is sent. */
interface Watch {
  /** A piece lies ready for the upstream. */
  gives(): void
  /** It was taken: the next one is waited for. */
  waits(): void
  ends(): void
}

async function* followed(body: AsyncIterable<Uint8Array>, watch: Watch): AsyncGenerator<Uint8Array> {
  for await (const piece of body) {
    watch.gives()
    yield piece
    watch.waits()
  }
  watch.ends()
}

/** A way to one upstream while it is in use: its connections, how busy it is, and what of it rests. */
export class Channel {
  readonly config: ChannelConfig
  private readonly lines = new Map<string, OriginPool>()
  private readonly watchdog: Watchdog
  private readonly token: SignedToken | undefined
  private open = 0
  /** Nobody new comes here. */
  private leaving = false
  readonly resting = new Resting()
  /** The ids the upstream lists, once they are known. */
  listed: ReadonlySet<string> | undefined

  constructor(config: ChannelConfig) {
    this.config = config
    this.token = signedTokenOf(config)
    const { firstByte, whole = firstByte, idle } = config.timeout
    this.watchdog = new Watchdog(Math.min(firstByte, whole, idle))
  }

  /** The state the router decides by. */
  get health(): ChannelHealth {
    const { open, listed, resting } = this
    return {
      open,
      resting: resting.models,
      ...(resting.until === undefined ? {} : { restingUntil: resting.until }),
      ...(listed === undefined ? {} : { listed }),
    }
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

  /** Sends a request; what comes of it is told by the exchange, never thrown here. */
  send(sending: Sending): Exchange {
    const { origin, path, headers, body } = addressed(this.config, sending, this.token?.text)
    const { firstByte, idle, whole = firstByte } = this.config.timeout
    const patience = sending.stream === false ? whole : firstByte
    const going = { method: 'POST', path, headers, single: sending.single === true } as const
    if (typeof body === 'string') return this.exchange(origin, { ...going, body: () => body }, patience)
    let exchange: Exchange | undefined
    // A caller may send as slowly as it likes; the upstream is waited for when it is its turn to take or to answer.
    const watch = {
      gives: () => exchange?.expect(idle),
      waits: () => exchange?.expect(undefined),
      ends: () => exchange?.expect(patience),
    }
    const flow = () => Readable.from(followed(body.read(), watch), { objectMode: false })
    exchange = this.exchange(origin, { ...going, body: flow, once: body.once }, undefined)
    return exchange
  }

  /** Sends a request without a body: for the list of models, about a response the upstream keeps. */
  call(method: Method, format: ChannelFormat, where: Pick<WireRequest, 'path' | 'query' | 'headers'>): Exchange {
    const { origin, path, headers } = place(this.config, format, where, this.token?.text)
    const { firstByte } = this.config.timeout
    return this.exchange(origin, { method, path, headers: { ...where.headers, ...headers } }, firstByte)
  }

  /**
   * Lets running exchanges end, then closes the connections. A request that found the channel before may still come
   * to it: its connections are closed after it.
   */
  async close(): Promise<void> {
    this.leaving = true
    const lines = [...this.lines.values()]
    this.lines.clear()
    await Promise.all(lines.map(line => line.close()))
  }

  /** Breaks off what is running. */
  async destroy(): Promise<void> {
    await Promise.all([...this.lines.values()].map(line => line.destroy()))
  }

  private exchange(
    origin: string,
    { method, path, headers, body, once, single }: Going,
    head: number | undefined,
  ): Exchange {
    const { watchdog, closed } = this
    const line = this.line(origin)
    const request = () =>
      ({ method, path, headers, body: body?.() ?? null, headersTimeout: 0, bodyTimeout: 0 }) as const
    const again =
      once === true || single === true ? undefined : new StaleRetry(line, () => line.dispatchAlone(request(), exchange))
    this.open++
    const exchange = new Exchange({ watchdog, head, idle: this.config.timeout.idle, again, closed })
    if (single === true) line.dispatchAlone(request(), exchange)
    else line.dispatch(request(), exchange)
    return exchange
  }

  private readonly closed = (): void => {
    this.open--
    if (this.leaving && this.open === 0) void this.close()
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
