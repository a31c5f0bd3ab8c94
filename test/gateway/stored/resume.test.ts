import { expect, test, vi } from 'vitest'
import type { Abortable, Reply } from '../../../src/gateway/index.ts'
import { RESPONSES } from '../../../src/gateway/stored/responses-format.ts'
import { type EventSource, resumeStream } from '../../../src/gateway/stored/resume.ts'

/** A caller that reads nothing. */
class StuckReply implements Reply {
  gone = false
  started = false
  abortable: Abortable | undefined
  whole(): void {}
  begin(): void {
    this.started = true
  }
  write(): boolean {
    return false
  }
  end(): void {}
  once(): void {}
  destroy(): void {
    this.gone = true
    this.abortable?.abort()
  }
}

test('a caller that reads nothing of a replayed stream counts as gone after eight heartbeats', async () => {
  vi.useFakeTimers()
  try {
    const texts = ['{"type":"response.created","sequence_number":0}']
    const source: EventSource = {
      from: async number => ({ texts: texts.slice(number), isLast: false }),
      until: () => new Promise(() => {}),
    }
    const reply = new StuckReply()
    const played = resumeStream(RESPONSES, source, reply, -1, 100)
    await vi.advanceTimersByTimeAsync(700)
    expect(reply.gone).toBe(false)
    await vi.advanceTimersByTimeAsync(200)
    expect(reply.gone).toBe(true)
    await played
  } finally {
    vi.useRealTimers()
  }
})
