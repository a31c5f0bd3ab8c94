import { expect, test, vi } from 'vitest'
import { Tape } from '../../src/gateway/state/tape.ts'
import type { Reply, Worker } from '../../src/gateway.ts'

/** A caller that is sent what is told, and takes none of it. */
class StuckReply implements Reply {
  gone = false
  begun = false
  worker: Worker | undefined
  whole(): void {}
  begin(): void {
    this.begun = true
  }
  write(): boolean {
    return false
  }
  end(): void {}
  once(): void {}
  destroy(): void {
    this.gone = true
    this.worker?.abort()
  }
}

test('a caller who takes nothing of a stream that is told again is gone after eight heartbeats', async () => {
  vi.useFakeTimers()
  try {
    const tape = new Tape()
    tape.push({ event: 'response.created', data: '{"type":"response.created","sequence_number":0}' })
    const reply = new StuckReply()
    const played = tape.play(reply, -1, 100)
    await vi.advanceTimersByTimeAsync(700)
    expect(reply.gone).toBe(false)
    await vi.advanceTimersByTimeAsync(200)
    expect(reply.gone).toBe(true)
    await played
  } finally {
    vi.useRealTimers()
  }
})
