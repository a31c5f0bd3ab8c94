import { EventEmitter } from 'node:events'
import { expect, test, vi } from 'vitest'
import { RedisConnection } from '../../../src/store/cluster/redis-connection.ts'
import { closingAfterEach } from '../../builders/closing.ts'

/* Pings of a Redis whose answers wait in the socket, because the event loop was busy for longer than a ping may last. */

const pings: PromiseWithResolvers<string>[] = []
vi.mock('@redis/client', () => ({
  createClient: () =>
    Object.assign(new EventEmitter(), {
      connect: async () => {},
      destroy() {},
      ping() {
        pings.push(Promise.withResolvers<string>())
        return pings.at(-1)!.promise
      },
    }),
}))

const closing = closingAfterEach()

test('a busy event loop is no outage of Redis; silence is one', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] })
  const lost: string[] = []
  const opened = Promise.withResolvers<void>()
  const connection = new RedisConnection('redis://127.0.0.1:1', {
    prepare: () => undefined,
    onOpened: () => opened.resolve(),
    onLost: fault => lost.push(fault),
    onAnswered() {},
  })
  closing.push(async () => {
    vi.useRealTimers()
    await connection.close()
  })
  await opened.promise
  for (let busy = 0; busy < 3; busy++) {
    // The timer is due twice before the event loop reads from the socket.
    vi.advanceTimersByTime(2000)
    pings.at(-1)!.resolve('PONG')
    await new Promise(setImmediate)
    expect(lost).toEqual([])
  }
  vi.advanceTimersByTime(2000)
  await new Promise(setImmediate)
  await new Promise(setImmediate)
  expect(lost).toEqual(['Redis does not answer'])
})
