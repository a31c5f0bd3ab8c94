import type { Socket } from 'node:net'
import { buildConnector, Client, type Dispatcher, Pool } from 'undici'

type Request = Dispatcher.DispatchOptions
type Handler = Dispatcher.DispatchHandler

/** The connections to one origin: kept alive and reused, or made for a single request. */
export class OriginPool {
  /** A connection was just made, or could not be: a request that is written or fails now is its first. */
  fresh = false
  private readonly origin: string
  private readonly connect: buildConnector.connector
  private readonly pool: Pool
  private readonly single = new Set<Client>()

  /** @param timeout milliseconds the other side may take to accept a connection. */
  constructor(origin: string, timeout: number) {
    this.origin = origin
    const connector = buildConnector({ timeout } as buildConnector.BuildOptions)
    this.connect = (to, done) =>
      connector(to, (...outcome) => {
        this.fresh = true
        done(...outcome)
        this.fresh = false
        if (outcome[0] === null) takesContinue(outcome[1])
      })
    // A connection for each request in flight: waiting for another's answer costs more than a connection.
    this.pool = new Pool(origin, { connections: null, pipelining: 1, connect: this.connect })
  }

  dispatch(request: Request, handler: Handler): void {
    this.pool.dispatch(request, handler)
  }

  /** Sends a request over a separate connection, which is closed after it. */
  dispatchAlone(request: Request, handler: Handler): void {
    const client = new Client(this.origin, { connect: this.connect })
    this.single.add(client)
    client.dispatch(request, handler)
    const done = (): boolean => this.single.delete(client)
    void client.close().then(done, done)
  }

  /** Closes kept-alive connections, once nothing runs over them. */
  close(): Promise<void> {
    return this.pool.close()
  }

  /** Aborts what is running. */
  async destroy(): Promise<void> {
    await Promise.all([this.pool, ...this.single].map(one => one.destroy()))
  }
}

/** The part of the HTTP client's parser that receives the head of a message, also of informational ones. */
interface Parser {
  onHeadersComplete(status: number, upgrade: boolean, keepAlive: boolean): number
}

/** Handled like 100 by a client that expects neither: another head follows (RFC 9110 §15.2). */
const PROCESSING = 102

/**
 * Makes the HTTP client ignore `100 Continue` on a connection, as it does any other informational answer: some
 * upstreams send it unasked, and the client would close the connection (undici 8, `onHeadersComplete`). It has no
 * setting for that, so its parser receives another status; where there is no such parser (HTTP/2), nothing is changed.
 */
function takesContinue(socket: Socket): void {
  const symbol = Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'parser')
  const parser = symbol === undefined ? undefined : (socket as unknown as { [symbol]: Parser | null })[symbol]
  if (parser == null) return
  const { onHeadersComplete } = parser
  parser.onHeadersComplete = (status, upgrade, keepAlive) =>
    onHeadersComplete.call(parser, status === 100 ? PROCESSING : status, upgrade, keepAlive)
}

/** The state of the connection a request is sent over. */
interface Connection {
  /** It was made for the request that is being written or fails, or could not be made for it. */
  readonly fresh: boolean
}

/**
 * Milliseconds within which a request over a closed connection fails: a round trip, and one packet lost. An upstream
 * that closes later may have begun to answer.
 */
const RETRY_WINDOW = 1000

/** The HTTP client's codes for a connection that the other side closed, which depend on what came first. */
const CLOSED: ReadonlySet<unknown> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE', 'ECONNABORTED'])

/**
 * Retries a request that was sent over a kept-alive connection just as its upstream closed it: the upstream has not
 * read it, so it is sent again, once. A request over a new connection, one sent a while before, or one answered by as
 * much as a byte is not retried.
 */
export class StaleRetry {
  private readonly connection: Connection
  /** Undefined when no retry is possible any more: what it holds of the request is released. */
  private send: (() => void) | undefined
  /** When the request was written, if it was. */
  private written: number | undefined

  constructor(connection: Connection, send: () => void) {
    this.connection = connection
    this.send = send
  }

  sent(): void {
    if (this.connection.fresh) this.send = undefined
    else this.written = performance.now()
  }

  /** The first byte of an answer arrived. */
  answered(): void {
    this.send = undefined
  }

  /** Sends the request again if the failure allows it; returns whether it did. */
  retries(error: Error): boolean {
    const { send, written, connection } = this
    this.send = undefined
    if (send === undefined || connection.fresh || !CLOSED.has((error as { code?: unknown }).code)) return false
    if (written !== undefined && performance.now() - written > RETRY_WINDOW) return false
    send()
    return true
  }
}
