import { afterEach, expect, test, vi } from 'vitest'
import type { Engine } from '../../src/store/engine.ts'
import { StoreClock } from '../../src/store/store-clock.ts'
import type { Database } from '../../src/store/tables.ts'
import { HOUR } from '../builders/units.ts'

afterEach(() => vi.useRealTimers())

/** A clock beside a database server, and the number of times that the server's clock was read. */
async function clockBeside(serverTime: () => number) {
  const server = { reads: 0, isAway: false }
  const engine: Pick<Engine, 'serverTime'> = {
    serverTime: async () => {
      server.reads++
      if (server.isAway) throw new Error('connection lost')
      return serverTime()
    },
  }
  const clock = new StoreClock(engine as Engine, {} as Database)
  await clock.open()
  return { clock, server }
}

/** Moves the clock of the machine, but not `performance.now()`. */
const moveClock = (milliseconds: number): void => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + milliseconds })
}

test('a machine that was suspended reads the clock of the server again', async () => {
  const { clock, server } = await clockBeside(() => Date.now())
  moveClock(5 * HOUR)
  // Its connections were lost meanwhile.
  server.isAway = true
  clock.now()
  await new Promise(resolve => setImmediate(resolve))
  server.isAway = false
  clock.now()
  await vi.waitFor(() => expect(Date.now() - clock.now()).toBeLessThan(HOUR))
  expect(server.reads).toBe(3)
})

test('a clock that was set forward reads that of the server once, and is not believed', async () => {
  const time = Date.now()
  const { clock, server } = await clockBeside(() => time)
  moveClock(5 * HOUR)
  for (let count = 0; count < 3; count++) {
    expect(clock.now()).toBeLessThan(time + HOUR)
    await new Promise(resolve => setImmediate(resolve))
  }
  expect(server.reads).toBe(2)
})
