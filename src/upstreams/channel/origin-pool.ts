import type { Socket } from 'node:net'
import { buildConnector, Client, type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici'
import type { ChannelConfig, ProxyConfig, UpstreamTls } from '../../config/types.ts'

/** A request that names its origin, which proxies need. */
type Request = Dispatcher.DispatchOptions & { readonly origin: string }
type Handler = Dispatcher.DispatchHandler
/** A way to connect, or options of the default one. */
type Connect = buildConnector.connector | buildConnector.BuildOptions | undefined

/** Connections to one origin: a keep-alive pool, and single connections for one request each. */
export class OriginPool {
  /**
   * Whether a connection was just made or has just failed. A request that is written or fails at this moment is the
   * first on its connection.
   */
  fresh = false
  private readonly origin: string
  private readonly timeout: number
  private readonly tls: UpstreamTls | undefined
  private readonly proxy: ProxyConfig | undefined
  private readonly pool: Dispatcher
  private readonly singleClients = new Set<Dispatcher>()

  /**
   * @param timeout time that the upstream, or the proxy before it, may take to accept a connection, in milliseconds.
   */
  constructor(origin: string, timeout: number, { proxy, tls }: Pick<ChannelConfig, 'proxy' | 'tls'> = {}) {
    this.origin = origin
    this.timeout = timeout
    this.tls = tls
    this.proxy = proxy
    this.pool = proxy === undefined ? this.keepAlive(origin) : this.proxied(proxy)
  }

  dispatch(request: Request, handler: Handler): void {
    this.pool.dispatch(request, handler)
  }

  /** Sends a request over a separate connection, which is closed afterwards. */
  dispatchAlone(request: Request, handler: Handler): void {
    const client =
      this.proxy === undefined
        ? new Client(this.origin, { connect: this.observed(undefined) })
        : this.proxied(this.proxy)
    this.singleClients.add(client)
    client.dispatch(request, handler)
    const done = (): boolean => this.singleClients.delete(client)
    void client.close().then(done, done)
  }

  /** Closes the keep-alive connections once no request uses them. */
  close(): Promise<void> {
    return this.pool.close()
  }

  /** Aborts all running requests. */
  async destroy(): Promise<void> {
    await Promise.all([this.pool, ...this.singleClients].map(one => one.destroy()))
  }

  /**
   * Creates a keep-alive pool in which every request in flight has its own connection. Waiting for another request's
   * answer would cost more.
   */
  private keepAlive(origin: string | URL, connect?: Connect): Pool {
    return new Pool(origin, { connections: null, pipelining: 1, connect: this.observed(connect) })
  }

  /** Connections through a proxy, except to hosts that are excluded: tunnels for https, absolute URLs for http. */
  private proxied({ http, https, except }: ProxyConfig): Dispatcher {
    const { timeout, tls } = this
    return new EnvHttpProxyAgent({
      ...{ httpProxy: http, httpsProxy: https, noProxy: except, connectTimeout: timeout },
      ...(tls === undefined ? {} : { requestTls: tls }),
      factory: (origin, options: { readonly connect?: Connect }) => this.keepAlive(origin, options.connect),
    })
  }

  /** Wraps a way to connect, by default directly to the upstream, so that new connections are noticed. */
  private observed(connect: Connect): buildConnector.connector {
    const { timeout, tls } = this
    const connector =
      typeof connect === 'function'
        ? connect
        : buildConnector({ timeout, ...tls, ...connect } as buildConnector.BuildOptions)
    return (to, done) =>
      connector(to, (...outcome) => {
        this.fresh = true
        done(...outcome)
        this.fresh = false
        if (outcome[0] === null) ignoreContinue(outcome[1])
      })
  }
}

/** Method of the HTTP client's parser that receives the head of a message, including informational ones. */
interface Parser {
  onHeadersComplete(status: number, upgrade: boolean, keepAlive: boolean): number
}

/** Status that clients treat like 100 if they expect neither: another head follows (RFC 9110 §15.2). */
const PROCESSING = 102

/**
 * Makes the HTTP client ignore `100 Continue` on a connection, like any other informational answer. Some upstreams send
 * it without a request, and the client would close the connection (undici 8, `onHeadersComplete`). The client has no
 * setting for that. Its parser therefore gets another status. Without such a parser (HTTP/2) nothing changes.
 */
function ignoreContinue(socket: Socket): void {
  const symbol = Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'parser')
  const parser = symbol === undefined ? undefined : (socket as unknown as { [symbol]: Parser | null })[symbol]
  if (parser == null) return
  const { onHeadersComplete } = parser
  parser.onHeadersComplete = (status, upgrade, keepAlive) =>
    onHeadersComplete.call(parser, status === 100 ? PROCESSING : status, upgrade, keepAlive)
}

/** State of the connection over which a request is sent. */
interface Connection {
  /** Whether the connection was made, or has failed, for this request. */
  readonly fresh: boolean
}

/**
 * Time within which a request over a closed connection fails, in milliseconds: a round trip and one lost packet. An
 * upstream that closes later may have begun to answer.
 */
const RETRY_WINDOW = 1000

/** The HTTP client's error codes for a connection that the other side closed. The code depends on timing. */
const CLOSED: ReadonlySet<unknown> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE', 'ECONNABORTED'])

/**
 * Retries, once, a request on a stale connection: one that the upstream closed just as the request was sent, so that it
 * was never read. A request is not retried if its connection was new, if it was sent some time ago, or if even one byte
 * of an answer arrived.
 */
export class StaleRetry {
  private readonly connection: Connection
  /**
   * Sends the request again. Undefined if no retry is possible any more, so that the request can be garbage-collected.
   */
  private send: (() => void) | undefined
  /** Time on the monotonic clock at which the request was written, in milliseconds. Undefined before. */
  private written: number | undefined

  constructor(connection: Connection, send: () => void) {
    this.connection = connection
    this.send = send
  }

  sent(): void {
    if (this.connection.fresh) this.send = undefined
    else this.written = performance.now()
  }

  /** Called when the first byte of an answer arrives. */
  answered(): void {
    this.send = undefined
  }

  /** Sends the request again if the failure allows a retry. Returns whether it did. */
  retries(error: Error): boolean {
    const { send, written, connection } = this
    this.send = undefined
    if (send === undefined || connection.fresh || !CLOSED.has((error as { code?: unknown }).code)) return false
    if (written !== undefined && performance.now() - written > RETRY_WINDOW) return false
    send()
    return true
  }
}
