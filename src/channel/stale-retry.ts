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
