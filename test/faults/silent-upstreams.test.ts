import { afterEach, describe, expect, test, vi } from 'vitest'
import { ASK, failure, helloWhole, json } from '../builders/chat.ts'
import type { TestServer } from '../builders/gateway.ts'
import { opener } from '../builders/opener.ts'
import { CHAT_PATH } from '../builders/paths.ts'
import { until } from '../builders/time.ts'
import type { Script } from '../builders/upstream.ts'

/* Upstreams that accept requests and do not answer: each request to one waits for the whole timeout. */

afterEach(() => void vi.restoreAllMocks())
const { openRows } = opener()

const TIMEOUT = { connect: 5000, firstByte: 700, idle: 5000 }
const silent: Script = () => {}

/** Opens a gateway whose first upstream fails as scripted, with another one behind it. */
async function open(script: Script) {
  const rows = [script, helloWhole].map((script, priority) => ({ script, priority, timeout: TIMEOUT }))
  const { testServer, upstreams } = await openRows(rows)
  const [first, second] = upstreams as [(typeof upstreams)[0], (typeof upstreams)[0]]
  return { testServer, first, second }
}

/** Moves the clock of rests. Timeouts use another clock. */
function moveClock(seconds: number): void {
  const now = Date.now()
  vi.spyOn(Date, 'now').mockImplementation(() => now + seconds * 1000)
}

const ask = async (testServer: TestServer): Promise<number> => (await testServer.ask(CHAT_PATH, ASK)).status
const askAll = (testServer: TestServer, count: number): Promise<number[]> =>
  Promise.all(Array.from({ length: count }, () => ask(testServer)))

describe('an upstream that fell silent', () => {
  test('holds up one request at a time when its rest is over, until it answers', async () => {
    const { testServer, first, second } = await open(silent)
    expect(await ask(testServer)).toBe(200)
    moveClock(6)
    expect(await askAll(testServer, 20)).toEqual(Array(20).fill(200))
    expect([first.seen.length, second.seen.length]).toEqual([2, 21])

    moveClock(6)
    first.script = helloWhole
    await ask(testServer)
    await askAll(testServer, 10)
    expect([first.seen.length, second.seen.length]).toEqual([13, 21])
  })

  test('is tried by the next request if the caller of the one that tries it leaves', async () => {
    const { testServer, first, second } = await open(silent)
    await ask(testServer)
    moveClock(6)
    const { out } = testServer.send(CHAT_PATH, ASK)
    await until(() => first.seen.length === 2)
    out.destroy()
    await until(() => first.seen[1]!.brokenAt !== undefined)
    first.script = helloWhole
    await ask(testServer)
    expect([first.seen.length, second.seen.length]).toEqual([3, 1])
  })

  test('is tried by the next request if it refuses the one that tries it', async () => {
    const { testServer, first, second } = await open(silent)
    await ask(testServer)
    moveClock(6)
    first.script = response => json(response, failure('No such field.'), 400)
    expect(await ask(testServer)).toBe(400)
    first.script = helloWhole
    await ask(testServer)
    expect([first.seen.length, second.seen.length]).toEqual([3, 1])
  })

  test('is no longer silent once it answers, whatever it answers', async () => {
    const { testServer, first, second } = await open(silent)
    await ask(testServer)
    moveClock(6)
    first.script = response => response.setHeader('content-type', 'text/html').end('<html></html>')
    await ask(testServer)
    moveClock(6)
    first.script = helloWhole
    await askAll(testServer, 5)
    expect([first.seen.length, second.seen.length]).toEqual([7, 2])
  })

  test('is tried again after a while although the request that tries it still waits', async () => {
    const { testServer, first } = await open(silent)
    await ask(testServer)
    moveClock(6)
    const waiting = ask(testServer)
    await until(() => first.seen.length === 2)
    moveClock(16)
    await ask(testServer)
    expect(first.seen.length).toBe(3)
    expect(await waiting).toBe(200)
  })
})

test('an upstream that refuses at once gets all requests when its rest is over', async () => {
  const { testServer, first } = await open(response => json(response, failure('Slow down.'), 429))
  await ask(testServer)
  moveClock(6)
  first.script = (response, seen) => setTimeout(() => helloWhole(response, seen), 200)
  await askAll(testServer, 10)
  expect(first.seen.length).toBe(11)
})
