import type { Socket } from 'node:net'
import { buildConnector, Client, type Dispatcher, Pool, ProxyAgent } from 'undici'
import type { ChannelConfig, UpstreamTls } from '../../config/types.ts'
import { lookup } from './lookup.ts'
import { proxyFor } from './proxy-for.ts'

/** A request with its origin, which a dispatcher for proxies requires. */
type Request = Dispatcher.DispatchOptions & { readonly origin: string }
type Handler = Dispatcher.DispatchHandler
/** A connector, or options for the default connector. */
type Connect = buildConnector.connector | buildConnector.BuildOptions | undefined

/**
 * Options for HTTP/1.1 only, in which each running request has a connection of its own. With HTTP/2, requests would
 * share a connection, and one that fell silent would take all of them
 * (docs/decisions/2026-11-29-http-1-to-upstreams.md).
 */
export const HTTP_1 = { allowH2: false } as const

/** Connections to one origin: a keep-alive pool, and separate connections for single requests. */
export class OriginPool {
  /**
   * True if a connection was just made or has just failed. Set only during that callback, so a request that is written
   * or fails in the callback is the first on its connection.
   */
  isFresh = false
  private readonly origin: string
  private readonly timeout: number
  private readonly tls: UpstreamTls | undefined
  /** URL of the proxy for the origin, or undefined if it is reached directly. */
  private readonly proxy: string | undefined
  private readonly pool: Dispatcher
  private readonly singleUseClients = new Set<Dispatcher>()

  /** @param timeout maximum time for connecting to the upstream or its proxy, in milliseconds. */
  constructor(origin: string, timeout: number, { proxy, tls }: Pick<ChannelConfig, 'proxy' | 'tls'> = {}) {
    this.origin = origin
    this.timeout = timeout
    this.tls = tls
    this.proxy = proxy && proxyFor(origin, proxy)
    this.pool = this.proxy === undefined ? this.keepAlivePool(origin) : this.proxiedDispatcher(this.proxy)
  }

  dispatch(request: Request, handler: Handler): void {
    this.pool.dispatch(request, handler)
  }

  /** Sends a request over a separate connection, which is closed afterwards. */
  dispatchAlone(request: Request, handler: Handler): void {
    const client =
      this.proxy === undefined
        ? new Client(this.origin, { ...HTTP_1, connect: this.observedConnector(undefined) })
        : this.proxiedDispatcher(this.proxy)
    this.singleUseClients.add(client)
    client.dispatch(request, handler)
    const done = (): boolean => this.singleUseClients.delete(client)
    void client.close().then(done, done)
  }

  /** Closes the keep-alive connections once no request uses them. */
  close(): Promise<void> {
    return this.pool.close()
  }

  /** Aborts all running requests. */
  async destroy(): Promise<void> {
    await Promise.all([this.pool, ...this.singleUseClients].map(one => one.destroy()))
  }

  /**
   * Creates a keep-alive pool with unlimited connections and without pipelining, so that no request waits for another
   * request's answer.
   */
  private keepAlivePool(origin: string | URL, connect?: Connect): Pool {
    return new Pool(origin, { ...HTTP_1, connections: null, pipelining: 1, connect: this.observedConnector(connect) })
  }

  /** Creates a dispatcher that connects through a proxy. Uses tunnels for https, and absolute URLs for http. */
  private proxiedDispatcher(uri: string): Dispatcher {
    const { timeout, tls } = this
    return new ProxyAgent({
      ...{ uri, connectTimeout: timeout, proxyTls: { lookup }, ...HTTP_1 },
      ...(tls === undefined ? {} : { requestTls: tls }),
      // A proxy may accept connections without ever opening a tunnel.
      clientFactory: (proxy, options) => new Pool(proxy, { ...options, headersTimeout: timeout }),
      factory: (origin, options: { readonly connect?: Connect }) => this.keepAlivePool(origin, options.connect),
    })
  }

  /** Wraps a connector to set `isFresh` when a connection is made or fails. By default, wraps a direct connector. */
  private observedConnector(connect: Connect): buildConnector.connector {
    const { timeout, tls } = this
    const connector =
      typeof connect === 'function'
        ? connect
        : buildConnector({ timeout, lookup, ...HTTP_1, ...tls, ...connect } as buildConnector.BuildOptions)
    return (to, done) =>
      connector(to, (...outcome) => {
        this.isFresh = true
        done(...outcome)
        this.isFresh = false
        if (outcome[0] === null) ignoreContinue(outcome[1])
      })
  }
}

/** The HTTP client's parser. This method receives the status of every response, including informational responses. */
interface Parser {
  onHeadersComplete(status: number, upgrade: boolean, keepAlive: boolean): number
}

/** Informational status that clients ignore if they did not ask for it (RFC 9110 §15.2). */
const PROCESSING = 102

/**
 * Makes the HTTP client ignore `100 Continue` like other informational responses. Some upstreams send it unrequested,
 * whereupon the client would close the connection (undici 8, `onHeadersComplete`). The client has no setting for this,
 * so its parser is given another status. Connections without such a parser are left unchanged.
 */
function ignoreContinue(socket: Socket): void {
  const symbol = Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'parser')
  const parser = symbol === undefined ? undefined : (socket as unknown as { [symbol]: Parser | null })[symbol]
  if (parser == null) return
  const { onHeadersComplete } = parser
  parser.onHeadersComplete = (status, upgrade, keepAlive) =>
    onHeadersComplete.call(parser, status === 100 ? PROCESSING : status, upgrade, keepAlive)
}

/** State of the connection of a request. */
interface Connection {
  /** True if the connection was made, or has failed, for this request. */
  readonly isFresh: boolean
}

/**
 * Maximum time between sending a request and its failure for a retry to be allowed, in milliseconds: a round trip and
 * one lost packet. An upstream that closes the connection later may have started to answer.
 */
const RETRY_WINDOW = 1000

/** The HTTP client's error codes for a connection that the peer closed. The code depends on timing. */
const CLOSED_CODES: ReadonlySet<unknown> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE', 'ECONNABORTED'])

/**
 * Retries a request once if its connection was stale, that is, if the upstream closed it just as the request was sent
 * and never read the request. A request is not retried if its connection was new, if it was sent some time ago, or if
 * even one byte of an answer arrived.
 */
export class StaleRetry {
  private readonly connection: Connection
  /**
   * Function that sends the request again. Returns undefined once no retry is possible, so that the request can be
   * garbage-collected.
   */
  private send: (() => void) | undefined
  /** Time at which the request was written, in milliseconds of the monotonic clock, or undefined until then. */
  private sentAt: number | undefined

  constructor(connection: Connection, send: () => void) {
    this.connection = connection
    this.send = send
  }

  sent(): void {
    if (this.connection.isFresh) this.send = undefined
    else this.sentAt = performance.now()
  }

  /** Called when the first byte of an answer arrives. */
  answered(): void {
    this.send = undefined
  }

  /** Sends the request again if the failure allows a retry. Returns false if there is no retry. */
  retries(error: Error): boolean {
    const { send, sentAt, connection } = this
    this.send = undefined
    if (send === undefined || connection.isFresh || !CLOSED_CODES.has((error as { code?: unknown }).code)) return false
    if (sentAt !== undefined && performance.now() - sentAt > RETRY_WINDOW) return false
    send()
    return true
  }
}
