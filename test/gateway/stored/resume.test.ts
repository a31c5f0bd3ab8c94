import { expect, test, vi } from 'vitest'
import type { Abortable, Reply } from '../../../src/gateway/index.ts'
import { RESPONSES } from '../../../src/gateway/stored/responses-format.ts'
import { type EventSource, resumeStream, storedEvents } from '../../../src/gateway/stored/resume.ts'
import type { Events } from '../../../src/store/events.ts'
import type { Turn } from '../../../src/store/turns.ts'

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

test('a reader whose stream is deleted before its end is told so', async () => {
  let texts = ['{"type":"response.created","sequence_number":0}', '{"type":"response.queued","sequence_number":1}']
  const events = {
    from: async (_: string, __: string, number: number) => texts.slice(number),
    count: async () => texts.length,
  } as unknown as Events
  let lease: number | undefined = 1
  const turn = async () => ({ lease, response: { status: 'completed', output: [] } }) as unknown as Turn
  const source = storedEvents('me', 'resp_1', events, turn)
  expect(await source.from(0)).toEqual({ texts, isLast: false })
  texts = []
  lease = undefined
  await expect(source.from(2)).rejects.toThrow('more events than can be replayed')
  // Whoever asks for what comes behind the end has read nothing that is gone.
  expect(await storedEvents('me', 'resp_1', events, turn).from(2)).toEqual({ texts: [], isLast: true })
})
