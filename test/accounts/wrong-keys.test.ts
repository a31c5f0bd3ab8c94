import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { networkOf } from '../../src/accounts/network.ts'
import { WrongKeys } from '../../src/accounts/wrong-keys.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

const now = () => Date.now()

/** Returns the delay of the next answer to an address, in milliseconds. */
async function delayOf(keys: WrongKeys, address: string, mark?: string): Promise<number> {
  const from = Date.now()
  let answered = false
  const slowed = keys.slow(address, mark).then(() => (answered = true))
  await vi.advanceTimersByTimeAsync(0)
  while (!answered) await vi.advanceTimersByTimeAsync(50)
  await slowed
  return Date.now() - from
}

describe('wrong keys', () => {
  test('of one address are answered ever later, up to a limit; those of others at once', async () => {
    const keys = new WrongKeys({ now })
    const delays: number[] = []
    for (let count = 0; count < 14; count++) delays.push(await delayOf(keys, '10.0.0.1'))
    expect(delays).toEqual([0, 0, 0, 0, 0, 100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000])
    expect(await delayOf(keys, '10.0.0.2')).toBe(0)
    await vi.advanceTimersByTimeAsync(60_001)
    expect(await delayOf(keys, '10.0.0.1')).toBe(0)
  })

  test('that are the same again are no guesses: they slow nobody down, nor are they slowed down', async () => {
    const keys = new WrongKeys({ now })
    for (let count = 0; count < 50; count++) {
      for (const mark of ['revoked', 'mistyped']) expect(await delayOf(keys, '10.0.0.1', mark)).toBe(0)
    }
    for (const mark of ['a', 'b', 'c']) expect(await delayOf(keys, '10.0.0.1', mark)).toBe(0)
    expect(await delayOf(keys, '10.0.0.1', 'd')).toBe(100)
    expect(await delayOf(keys, '10.0.0.1', 'revoked')).toBe(0)
    expect(await delayOf(keys, '10.0.0.2', 'revoked')).toBe(0)
    expect(keys.count).toBe(106)
  })

  test('are remembered for each address, the latest eight', async () => {
    const keys = new WrongKeys({ now })
    for (let count = 0; count < 9; count++) await delayOf(keys, '10.0.0.1', `${count}`)
    expect(await delayOf(keys, '10.0.0.1', '1')).toBe(0)
    expect(await delayOf(keys, '10.0.0.1', '0')).toBe(1600)
  })

  test('wait in bounded numbers, of one address and of all; more are refused at once', async () => {
    const keys = new WrongKeys({ now, delays: { address: 2, all: 3 } })
    for (const address of ['a', 'b']) for (let count = 0; count < 5; count++) await keys.slow(address)
    const slowed = ['a', 'a', 'b'].map(address => keys.slow(address))
    const refused = { error: { kind: 'rate-limited', retryAfterSeconds: 5 } }
    await expect(keys.slow('a')).rejects.toMatchObject(refused)
    await expect(keys.slow('b')).rejects.toMatchObject(refused)
    await vi.advanceTimersByTimeAsync(5000)
    await Promise.all(slowed)
    const again = keys.slow('b')
    await vi.advanceTimersByTimeAsync(5000)
    await again
  })

  test('of millions of addresses are remembered in bounded memory, the latest of them', async () => {
    const keys = new WrongKeys({ now, maxNetworks: 1000 })
    for (let count = 0; count < 5; count++) await keys.slow('10.9.9.9')
    for (let address = 0; address < 200_000; address++) {
      void keys.slow(`10.${address >> 16}.${(address >> 8) & 255}.${address & 255}`)
      if (address === 500) expect(await delayOf(keys, '10.9.9.9')).toBe(100)
    }
    expect(keys.size).toBe(1000)
    expect(await delayOf(keys, '10.9.9.9')).toBe(0)
  })
})

test.each([
  ['10.1.2.3', '10.1.2.3'],
  ['::ffff:10.1.2.3', '10.1.2.3'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:0DB8:1:2::9', '2001:db8:1:2'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['', ''],
])('the network of %s is %s', (address, network) => {
  expect(networkOf(address)).toBe(network)
})
