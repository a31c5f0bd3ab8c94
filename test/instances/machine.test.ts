import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@redis/client'
import { expect, test } from 'vitest'
import { ANSWER, ASK, events, HEAD, json, STREAM, words } from '../builders/chat.ts'
import { closingAfterEach } from '../builders/closing.ts'
import { describeWithRedis, RedisServer } from '../builders/redis.ts'
import { pause, until } from '../builders/time.ts'
import { FakeUpstream } from '../builders/upstream.ts'
import { Fleet } from './fleet.ts'

/* One machine of two workers: its limits without Redis, and the slots of a killed worker. */

const CHAT = '/v1/chat/completions'
const KEY = 'sk-of-the-machine'

const closing = closingAfterEach()

/** Starts a machine of two workers with an upstream whose streams never end. */
async function machineOf(limits: object, redis?: string) {
  const upstream = await FakeUpstream.open((response, seen) => {
    if (JSON.parse(seen.text).stream === true) return events(response).write(HEAD + words('Once'))
    return json(response, ANSWER)
  })
  closing.push(() => upstream.close())
  const folder = mkdtempSync(join(tmpdir(), 'machine-'))
  closing.push(() => rmSync(folder, { recursive: true, force: true }))
  const channel = { provider: 'custom', key: 'none', name: 'up', formats: ['chat'], models: ['m'] }
  const config = {
    groups: { default: limits },
    keys: [{ name: 'fixed', key: KEY, group: 'default' }],
    channels: [{ ...channel, base_url: `${upstream.address}/v1` }],
  }
  const shared = { store: `sqlite:${join(folder, 'store.sqlite')}`, config, ...(redis === undefined ? {} : { redis }) }
  const fleet = await Fleet.start(shared, 2, 1)
  closing.push(() => fleet.close())
  return fleet
}

/** Returns how many of these requests, one after another, are admitted. */
async function admitted(fleet: Fleet, count: number): Promise<number> {
  let admitted = 0
  for (let at = 0; at < count; at++) if ((await fleet.ask(CHAT, KEY, ASK)).status === 200) admitted++
  return admitted
}

/** Kills each worker that has one of the streams, and waits until all of them have broken off. */
async function killStreaming(fleet: Fleet, ends: readonly Promise<unknown>[]): Promise<void> {
  for (const pid of fleet.pids) process.kill(pid, 'SIGKILL')
  await Promise.allSettled(ends)
}

/** Opens as many streams as are admitted. */
async function openAll(fleet: Fleet, most: number): Promise<Promise<unknown>[]> {
  const streams = await Promise.all(Array.from({ length: most }, () => fleet.ask(CHAT, KEY, STREAM)))
  return streams.filter(({ status }) => status === 200).map(one => one.text())
}

async function expectFree(fleet: Fleet): Promise<void> {
  // A machine without a worker refuses connections until a successor listens.
  await until(() => fleet.pids.length === 2)
  const again = async () => openAll(fleet, 6).catch(() => [])
  const began = performance.now()
  let open = await again()
  while (open.length === 0 && performance.now() - began < 20_000) {
    await pause(50)
    open = await again()
  }
  // All slots are free once one is.
  expect(open).toHaveLength(4)
  for (const one of open) one.catch(() => {})
}

test('places of killed workers are free at once, counted by the primary', async () => {
  const fleet = await machineOf({ concurrent: 4 })
  const open = await openAll(fleet, 10)
  expect(open).toHaveLength(4)
  await killStreaming(fleet, open)
  await expectFree(fleet)
})

describeWithRedis('a machine with a Redis', () => {
  async function redisServer() {
    const redis = await RedisServer.open()
    closing.push(() => redis.close())
    return redis
  }

  test('trap 119: without it, 20 requests a minute are 20 for both workers', async () => {
    const redis = await redisServer()
    const fleet = await machineOf({ rpm: 20 }, redis.url)
    await redis.stop()
    const began = performance.now()
    const count = await admitted(fleet, 70)
    const refilled = Math.ceil((20 * (performance.now() - began)) / 60_000)
    expect(count).toBeGreaterThanOrEqual(20)
    expect(count).toBeLessThanOrEqual(20 + refilled)
    await redis.start()
    await until(() => fleet.instances[0]!.written.split('Redis can be reached again').length === 4, 20_000)
    await pause(1500)
    const all = Math.ceil((20 * (performance.now() - began)) / 60_000)
    expect(count + (await admitted(fleet, 30))).toBeLessThanOrEqual(20 + all + 1)
    // Each process reports once that Redis is unavailable, and once that it is available again.
    const { written } = fleet.instances[0]!
    expect(written.match(/Redis cannot be reached/g)).toHaveLength(3)
    expect(written).not.toContain('"stack"')
  })

  test('trap 119: places of killed workers are free at once', async () => {
    const redis = await redisServer()
    const fleet = await machineOf({ concurrent: 4 }, redis.url)
    const open = await openAll(fleet, 10)
    expect(open).toHaveLength(4)
    await killStreaming(fleet, open)
    await expectFree(fleet)
  })

  test('that another one replaces: its workers count there, also after an outage, and slots are free at once', async () => {
    const [former, next] = [await redisServer(), await redisServer()]
    const fleet = await machineOf({ concurrent: 4 }, former.url)
    const [machine] = fleet.instances
    machine!.configure({ ...fleet.shared, redis: next.url })
    const count = (text: string) => machine!.written.split(text).length - 1
    await until(() => count('config reloaded') === 1)
    await former.stop()
    const open = await openAll(fleet, 10)
    expect(open).toHaveLength(4)
    await killStreaming(fleet, open)
    await expectFree(fleet)
    await until(() => fleet.pids.length === 2)
    await next.stop()
    await admitted(fleet, 20)
    await next.start()
    const client = createClient({ url: next.url })
    await client.connect()
    closing.push(() => client.destroy())
    const counts = async () => {
      await admitted(fleet, 2)
      return client.keys('interlingua:limits:*')
    }
    await expect.poll(counts, { timeout: 20_000 }).not.toEqual([])
  })
})
