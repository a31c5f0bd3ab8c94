import { MAX_MISSED_BEATS } from './limits.ts'

/** What a heartbeat decides: ping the peer, wait for it, or give it up as slow or as gone. */
export type Beat = 'ping' | 'wait' | 'stalled' | 'gone'

/** Decides at each heartbeat whether a peer is alive: it answers pings, and it takes the output that waits for it. */
export class Heartbeat {
  /** Pings since the last message or pong. */
  private unanswered = 0
  /** Heartbeats in a row in which output waited and none was taken. */
  private stalled = 0
  private hasTaken = false

  /** Notes a message or a pong of the peer. */
  answered(): void {
    this.unanswered = 0
  }

  /** Notes that the peer took some output. */
  taken(): void {
    this.hasTaken = true
  }

  /**
   * @param waits whether output waits for the peer; a ping behind it would not be answered in time.
   * @param isPaused whether the peer is not read, so that its pongs do not arrive.
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
