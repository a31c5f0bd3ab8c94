import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Caller } from '../../src/accounts/index.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import type { Call } from '../../src/gateway/index.ts'
import { Live, type LiveEvent } from '../../src/gateway/live.ts'
import type { Bus, Listener, Topic } from '../../src/store/cluster/bus.ts'
import type { UsageRow } from '../../src/store/usage/row.ts'

/** Connected buses of several processes. A process never receives its own messages. */
function buses(count: number): readonly (Bus & { readonly published: Topic[] })[] {
  const all = Array.from({ length: count }, () => new Map<Topic, Listener>())
  return all.map(own => {
    const published: Topic[] = []
    return {
      published,
      publish(topic, message) {
        published.push(topic)
        for (const other of all) if (other !== own) other.get(topic)?.(structuredClone(message))
      },
      subscribe(topic, listener) {
        own.set(topic, listener)
        return () => own.delete(topic)
      },
      close: async () => {},
    }
  })
}

const call = { id: 'req_1', path: '/v1/messages', format: 'messages' } as Call
const caller = { id: 'k', key: 'dev', group: 'default' } as Caller
const request = { model: 'm', stream: true } as CanonicalRequest
const row = { id: 'req_1', at: 1, status: 200 } as UsageRow

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('where nobody watches, nothing happens', () => {
  const [bus] = buses(1)
  const live = new Live(bus!)
  expect(live.isWatched).toBe(false)
  live.requestEnded(row)
  vi.advanceTimersByTime(60_000)
  expect(bus!.published).toEqual([])
  live.close()
})

test('a watcher sees requests of all processes, and they are told of it only as long as it is there', () => {
  const [here, there] = buses(2)
  const [one, two] = [new Live(here!), new Live(there!)]
  const seen: LiveEvent[] = []
  let ended = 0
  const stop = one.listen({ owner: 'tests', take: event => void seen.push(event), end: () => ended++ })
  expect(two.isWatched).toBe(true)
  one.requestBegan(call, caller, request, true)
  two.requestEnded(row)
  vi.advanceTimersByTime(1000)
  expect(seen).toMatchObject([
    { type: 'begun', request: { id: 'req_1', keyName: 'dev', model: 'm', isCaptured: true, stream: true } },
    { type: 'over', request: { id: 'req_1', status: 200 } },
  ])
  vi.advanceTimersByTime(60_000)
  expect(two.isWatched).toBe(true)
  for (let count = 0; count < 10_000; count++) two.requestEnded(row)
  vi.advanceTimersByTime(1000)
  expect(seen.length).toBeLessThanOrEqual(202)
  one.end()
  expect(ended).toBe(1)
  stop()
  expect(one.isWatched).toBe(false)
  vi.advanceTimersByTime(60_000)
  expect(two.isWatched).toBe(false)
  one.close()
  two.close()
})
