import { expect } from 'vitest'
import { GatewayError } from '../../src/canonical/error.ts'
import type { Usage } from '../../src/canonical/result.ts'
import type { SocketListener } from '../../src/voice/session-socket.ts'

/** One side of a session, without a network. */
export class FakeSide {
  readonly sent: string[] = []
  readonly closes: (readonly [code: number, reason: string])[] = []
  buffered = 0
  isPaused = false
  listener: SocketListener | undefined
  onFrame: ((frame: string) => void) | undefined
  readonly closed: Promise<void>
  private readonly end = Promise.withResolvers<void>()

  constructor() {
    this.closed = this.end.promise
  }

  listen(listener: SocketListener): void {
    this.listener = listener
  }
  send(frame: string | Buffer): void {
    expect(this.closes, 'a frame after the close').toEqual([])
    this.sent.push(String(frame))
    this.onFrame?.(String(frame))
  }
  pause(): void {
    this.isPaused = true
  }
  resume(): void {
    this.isPaused = false
  }
  close(code: number, reason: string): void {
    this.closes.push([code, reason])
    this.end.resolve()
  }
  terminate(): void {
    this.end.resolve()
  }
}

/** Counts what a session charges. While it is limited, it admits no responses. */
export class FakeRecord {
  admitted = 0
  refused = 0
  charged = 0
  reports = 0
  estimates = 0
  ends = 0
  isLimited = false

  admit(): void {
    if (this.isLimited) {
      this.refused++
      throw new GatewayError({ kind: 'rate-limited', message: 'Too many.' })
    }
    this.admitted++
  }
  recordUsage(usage: Usage | undefined): void {
    this.reports++
    this.charged += usage?.input ?? 0
  }
  recordEstimate(): void {
    this.estimates++
  }
  recordTranscription(): void {}
  checkBudget(): void {}
  recordLosses(): void {}
  recordError(): void {}
  ended(): void {
    this.ends++
  }
}
