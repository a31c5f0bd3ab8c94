/** What a connection says of itself. */
interface Connection {
  /** It was made for the request that is being written or fails, or could not be made for it. */
  readonly fresh: boolean
}

/**
 * Milliseconds within which a request that met a closed connection learns of it: a round trip, and one packet lost. Who
 * takes longer to close may have begun to answer.
 */
const SOON = 1000

/** How the HTTP client calls a connection that the other side closed, which depends on what came first. */
const CLOSED: ReadonlySet<unknown> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE', 'ECONNABORTED'])

/**
 * One more chance for a request that met a kept-alive connection just as its upstream closed it: nobody read it, so it
 * is sent again, once. What was for a new connection, or lay with the upstream for a while, or was answered by as much
 * as a byte, has no second chance.
 */
export class StaleRetry {
  private readonly connection: Connection
  /** Undefined where the chance is gone: what it holds of the request is let go. */
  private send: (() => void) | undefined
  /** When it was written, where it was. */
  private written: number | undefined

  constructor(connection: Connection, send: () => void) {
    this.connection = connection
    this.send = send
  }

  begins(): void {
    if (this.connection.fresh) this.send = undefined
    else this.written = performance.now()
  }

  /** The first byte of an answer came. */
  answered(): void {
    this.send = undefined
  }

  /** Sends the request again if that is what the failure means; says whether it did. */
  takes(error: Error): boolean {
    const { send, written, connection } = this
    this.send = undefined
    if (send === undefined || connection.fresh || !CLOSED.has((error as { code?: unknown }).code)) return false
    if (written !== undefined && performance.now() - written > SOON) return false
    send()
    return true
  }
}
