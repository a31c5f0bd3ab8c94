import { MAX_MISSED_BEATS } from './limits.ts'

/** Outcome of a heartbeat: ping the peer, wait for it, or give up because it is slow or gone. */
export type Beat = 'ping' | 'wait' | 'stalled' | 'gone'

/**
 * Decides at each heartbeat whether a peer is alive. A live peer answers pings and reads the output that is waiting for
 * it.
 */
export class Heartbeat {
  /** Number of pings since the last message or pong. */
  private unanswered = 0
  /** Number of consecutive heartbeats at which output was waiting and the peer had read none. */
  private stalled = 0
  private hasTaken = false

  /** Called after the peer has sent a message or a pong. */
  answered(): void {
    this.unanswered = 0
  }

  /** Called after the peer has read some output. */
  onDrain(): void {
    this.hasTaken = true
  }

  /**
   * @param waits true if output is waiting for the peer. A ping behind it would not be answered in time.
   * @param isPaused true if reading from the peer is paused, so that its pongs do not arrive.
   */
  next({ waits, isPaused }: { readonly waits: boolean; readonly isPaused: boolean }): Beat {
    this.stalled = waits && !this.hasTaken ? this.stalled + 1 : 0
    this.hasTaken = false
    if (this.stalled > MAX_MISSED_BEATS) return 'stalled'
    if (waits || isPaused) return 'wait'
    if (this.unanswered >= MAX_MISSED_BEATS) return 'gone'
    this.unanswered++
    return 'ping'
  }
}
