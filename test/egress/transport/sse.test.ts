import { EventEmitter } from 'node:events'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { drain } from '../../../src/canonical/transducer.ts'
import type { WireEvent } from '../../../src/canonical/wire.ts'
import { EVENT_STREAM, EventStream, type Framing, JSON_ARRAY, type Outlet } from '../../../src/egress/transport/sse.ts'
import { eventParser } from '../../../src/ingress/transport/event-parser.ts'
import { tick } from '../../builders/time.ts'

class FakeOutlet extends EventEmitter implements Outlet {
  readonly writes: string[] = []
  ended = false
  destroyed = false
  full = false
  write(text: string): boolean {
    this.writes.push(text)
    return !this.full
  }
  end(text: string): void {
    if (text !== '') this.writes.push(text)
    this.ended = true
  }
  destroy(): void {
    this.destroyed = true
  }
  get text(): string {
    return this.writes.join('')
  }
}

const open = (framing: Framing = EVENT_STREAM, heartbeat?: WireEvent) => {
  const outlet = new FakeOutlet()
  const source = { pause: vi.fn(), resume: vi.fn() }
  const stream = new EventStream(outlet, { framing, heartbeat, interval: 1000, source })
  return { outlet, source, stream }
}
beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

describe('the text of events', () => {
  test('is read back as the same events, but for those without data', () => {
    const event = fc.record(
      { event: fc.constantFrom('ping', 'a.b'), data: fc.string().map(text => text.replaceAll('\r', '\n')) },
      { requiredKeys: ['data'] },
    )
    fc.assert(
      fc.property(fc.array(event), events => {
        const text = events.map(event => EVENT_STREAM.frame(event, false)).join('')
        expect(drain(eventParser(), [new TextEncoder().encode(text.toWellFormed())])).toEqual(
          events
            .filter(({ data }) => data.trim() !== '' || data.length > 12)
            .map(event => ({ ...event, data: event.data.toWellFormed() })),
        )
      }),
    )
  })

  test('as one array is JSON, whatever comes between', async () => {
    for (const count of [0, 1, 3]) {
      const { outlet, stream } = open(JSON_ARRAY)
      vi.advanceTimersByTime(1500)
      for (let index = 0; index < count; index++) {
        stream.push([{ data: JSON.stringify({ index }) }])
        await tick()
        vi.advanceTimersByTime(1500)
      }
      stream.end()
      expect(JSON.parse(outlet.text)).toHaveLength(count)
      expect(outlet.ended).toBe(true)
    }
  })
})

describe('writing', () => {
  test('is once a tick', async () => {
    const { outlet, stream } = open()
    stream.push([{ data: '1' }, { data: '2' }])
    stream.push([{ event: 'x', data: '3' }])
    expect(outlet.writes).toEqual([])
    await tick()
    expect(outlet.writes).toEqual(['data: 1\n\ndata: 2\n\nevent: x\ndata: 3\n\n'])
    stream.end()
  })

  test('at the end happens at once, and only once', async () => {
    const { outlet, stream } = open()
    stream.push([{ data: '1' }])
    stream.end()
    stream.end()
    expect(outlet.ended).toBe(true)
    await tick()
    expect(outlet.writes).toEqual(['data: 1\n\n'])
  })

  test('holds up the source while the reader is behind', async () => {
    const { outlet, source, stream } = open()
    outlet.full = true
    stream.push([{ data: '1' }])
    await tick()
    stream.push([{ data: '2' }])
    await tick()
    expect(source.pause).toHaveBeenCalledTimes(1)
    expect(source.resume).not.toHaveBeenCalled()
    outlet.emit('drain')
    expect(source.resume).toHaveBeenCalledTimes(1)
    stream.end()
  })

  test('gathers what follows closely, and writes at once what comes after a pause', async () => {
    const { outlet, stream } = open()
    for (const data of ['1', '2', '3']) {
      stream.push([{ data }])
      await tick()
    }
    expect(outlet.writes).toEqual(['data: 1\n\n'])
    vi.advanceTimersByTime(10)
    expect(outlet.writes).toEqual(['data: 1\n\n', 'data: 2\n\ndata: 3\n\n'])
    vi.advanceTimersByTime(10)
    stream.push([{ data: '4' }])
    await tick()
    expect(outlet.writes.at(-1)).toBe('data: 4\n\n')
    stream.end()
  })

  test('stops when it is told to', async () => {
    const { outlet, stream } = open()
    stream.push([{ data: '1' }])
    stream.stop()
    await tick()
    vi.advanceTimersByTime(5000)
    stream.end()
    expect(outlet.writes).toEqual([])
  })
})

describe('heartbeats', () => {
  test('trap 85: break the silence, in the way of the format', async () => {
    const plain = open()
    const named = open(EVENT_STREAM, { event: 'ping', data: '{"type":"ping"}' })
    for (const { stream } of [plain, named]) stream.push([{ data: '1' }])
    await tick()
    vi.advanceTimersByTime(2100)
    for (const { stream } of [plain, named]) stream.end()
    expect(plain.outlet.text).toBe('data: 1\n\n: ping\n\n: ping\n\n')
    expect(named.outlet.text).toBe(`data: 1\n\n${'event: ping\ndata: {"type":"ping"}\n\n'.repeat(2)}`)
  })

  test('are not sent while events flow', async () => {
    const { outlet, stream } = open()
    for (let index = 0; index < 5; index++) {
      stream.push([{ data: '1' }])
      await tick()
      vi.advanceTimersByTime(900)
    }
    stream.end()
    expect(outlet.text).not.toContain('ping')
  })

  test('give up a reader that takes nothing', async () => {
    const { outlet, stream } = open()
    outlet.full = true
    stream.push([{ data: '1' }])
    await tick()
    vi.advanceTimersByTime(6000)
    expect(outlet.destroyed).toBe(false)
    vi.advanceTimersByTime(4000)
    expect(outlet.destroyed).toBe(true)
    expect(outlet.text).toBe('data: 1\n\n')
    stream.stop()
  })
})
