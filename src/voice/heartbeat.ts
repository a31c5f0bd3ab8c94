/** The part of a WebSocket that a heartbeat needs. */
interface Pinged {
  /** Number of bytes written to the connection and not sent yet. */
  readonly bufferedAmount: number
  ping(): void
  terminate(): void
}

/** Pings an upstream and terminates its connection after two pings without an answer. */
export class Heartbeat {
  private unanswered = 0
  /** Number of bytes still unsent at the last ping. A smaller number at the next one proves that the upstream reads. */
  private lastBuffered = 0

  /** Records a message or a pong of the upstream. */
  answered(): void {
    this.unanswered = 0
  }

  ping(socket: Pinged): void {
    if (socket.bufferedAmount < this.lastBuffered) this.unanswered = 0
    this.lastBuffered = socket.bufferedAmount
    if (this.unanswered >= 2) {
      socket.terminate()
      return
    }
    this.unanswered++
    socket.ping()
  }
}
