import type { ServerResponse } from 'node:http'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { ASK, failure, hello, helloWhole, json, STREAM } from '../builders/chat.ts'
import type { TestServer } from '../builders/gateway.ts'
import { opener } from '../builders/opener.ts'
import { CHAT_PATH } from '../builders/paths.ts'
import { pause, until } from '../builders/time.ts'
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

describe('an upstream that answers nothing for a minute', () => {
  const PATIENT = { connect: 5000, firstByte: 600_000, idle: 5000 }
  const sent = async (testServer: TestServer) => (await testServer.send(CHAT_PATH, STREAM).answer).statusCode

  /** Opens a gateway whose first upstream answers nothing, with another one behind it. */
  async function openPatient() {
    const unanswered: ServerResponse[] = []
    const hold: Script = response => void unanswered.push(response)
    const rows = [hold, hello].map((script, priority) => ({ script, priority, timeout: PATIENT }))
    const { testServer, upstreams } = await openRows(rows)
    return { testServer, first: upstreams[0]!, second: upstreams[1]!, unanswered }
  }

  /** Moves the clock of timeouts. */
  function moveTimeouts(seconds: number): void {
    const now = performance.now.bind(performance)
    vi.spyOn(performance, 'now').mockImplementation(() => now() + seconds * 1000)
  }

  test('gets no new requests while several wait, until it answers one', { timeout: 20_000 }, async () => {
    const { testServer, first, second, unanswered } = await openPatient()
    const waiting = [testServer.send(CHAT_PATH, STREAM), testServer.send(CHAT_PATH, STREAM)]
    await until(() => first.seen.length === 2)
    moveTimeouts(61)
    // Each request that still reaches the silent upstream is left alone.
    await until(() => {
      if (second.seen.length === 0) testServer.send(CHAT_PATH, STREAM).answer.catch(() => {})
      return second.seen.length > 0
    })
    const reached = first.seen.length
    expect(await sent(testServer)).toBe(200)
    expect(first.seen.length).toBe(reached)

    first.script = hello
    hello(unanswered[0]!, first.seen[0]!)
    expect((await waiting[0]!.answer).statusCode).toBe(200)
    await sent(testServer)
    expect(first.seen.length).toBe(reached + 1)
  })

  test('gets new requests while one alone waits, whose model may think', async () => {
    const { testServer, first } = await openPatient()
    testServer.send(CHAT_PATH, STREAM).answer.catch(() => {})
    await until(() => first.seen.length === 1)
    moveTimeouts(61)
    await pause(1500)
    first.script = hello
    expect(await sent(testServer)).toBe(200)
    expect(first.seen.length).toBe(2)
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
