import { mkdtempSync, rmSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { MemoryEngine } from '../../src/accounts/limits/engine.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import { hashOf } from '../../src/config/hash.ts'
import { readConfig } from '../../src/config/read.ts'
import type { Config } from '../../src/config/types.ts'
import type { Store } from '../../src/store/store.ts'
import { BILLED_ANSWERS, eventText } from '../builders/billed-answers.ts'
import { channelAt, configOf, KEY, type TestServerOptions } from '../builders/config.ts'
import { openStoreAt } from '../builders/engines.ts'
import { TestServer } from '../builders/gateway.ts'
import { textOf, VERSION } from '../builders/http.ts'
import { TIMED, until } from '../builders/time.ts'
import { DAY, HOUR } from '../builders/units.ts'
import { FakeUpstream } from '../builders/upstream.ts'

/*
 * What happens to the gateway in the middle of a request changes nothing of its bill: the day turns, the key is changed,
 * the background response is cancelled, the gateway stops. The stored rows state what the budget was charged.
 */

const { models } = readConfig('channels: []\nmodels: { m: { price: { input: 3, output: 15 } } }', {})
const KEY_ID = hashOf(KEY).slice(0, 32)
const COST = 40 * 3000 + 60 * 15_000

const asked = [{ role: 'user', content: 'Hi.' }]
const REQUESTS: readonly (readonly [path: string, body: JsonObject])[] = [
  ['/v1/chat/completions', { messages: asked }],
  ['/v1/chat/completions', { messages: asked, stream: true }],
  ['/v1/messages', { messages: asked, max_tokens: 99, stream: true }],
  ['/v1/responses', { input: 'Hi.', stream: true }],
]

let folder: string
let store: Store
let upstream: FakeUpstream
let server: TestServer
let engine: MemoryEngine | undefined
/** Answers that wait for their end. */
let held: { readonly response: ServerResponse; readonly rest: string }[]

const OPTIONS: () => TestServerOptions = () => ({
  ...{ keep: folder, group: { budget: { day: 1e6, month: 1e6 }, tpm: 1e9, concurrent: 20 } },
  config: { models, usage: { retention: 900 * DAY }, responses: { retention: HOUR, background: 20 } },
})
const channels = () => [channelAt(upstream.address)]

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'accounting-ends-'))
  store = await openStoreAt(folder)
  held = []
  upstream = await FakeUpstream.open((response, { text }) => {
    const { whole, stream } = BILLED_ANSWERS['chat']!
    const isStream = JSON.parse(text).stream === true
    const pieces = isStream ? stream!(40, 60).map(eventText) : [JSON.stringify(whole(40, 60))]
    response.setHeader('content-type', isStream ? 'text/event-stream' : 'application/json')
    if (isStream) response.write(pieces.shift())
    held.push({ response, rest: pieces.join('') })
  })
  const { step } = MemoryEngine.prototype
  vi.spyOn(MemoryEngine.prototype, 'step').mockImplementation(function (this: MemoryEngine, ...args) {
    engine = this
    return step.apply(this, args)
  })
  server = await TestServer.open(channels(), OPTIONS())
})
afterEach(async () => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  await server.server.close(0)
  await store.close()
  await upstream.close()
  rmSync(folder, { recursive: true })
})

/** Sends all requests, and waits until the upstream has them and streams have begun. */
async function begin(): Promise<readonly Promise<unknown>[]> {
  const answers = REQUESTS.map(
    ([path, body]) => server.send(path, { ...body, model: 'm' }, { headers: VERSION }).answer,
  )
  await until(() => held.length === REQUESTS.length)
  return answers.map(answer => answer.then(textOf).catch(() => {}))
}

const finish = () => {
  for (const { response, rest } of held) response.end(rest)
}

const logged = () => server.lines.filter(({ message }) => message === 'request').length
const ROWS = { since: 0, until: 4e12, limit: 100 }
const spentAt = (at: number) => engine!.spent(KEY_ID, { day: 1, month: 1 }, at)

describe('a request costs the same', () => {
  test('if the day and the month end in its middle, and it costs the period in which it began', TIMED, async () => {
    const before = Date.UTC(2031, 0, 31, 23, 59, 59)
    vi.useFakeTimers({ toFake: ['Date'], now: before })
    const answers = await begin()
    const after = before + 2000
    vi.setSystemTime(after)
    finish()
    await Promise.all(answers)
    await until(() => logged() === REQUESTS.length)
    const total = REQUESTS.length * COST
    expect(spentAt(after)).toMatchObject({ day: 0, month: 0 })
    await server.server.close(0)
    const { rows } = await store.usage.rows(ROWS)
    expect(rows.map(({ cost }) => cost)).toEqual(REQUESTS.map(() => COST))
    expect([await store.usage.spent(KEY_ID, before), await store.usage.spent(KEY_ID, after)]).toEqual([
      { day: total, month: total },
      { day: 0, month: 0 },
    ])
  })

  test.each<[string, TestServerOptions['group']]>([
    ['other limits', { budget: { day: 5, month: 50 }, tpm: 1e8, concurrent: 10 }],
    ['a budget more', { budget: { day: 5 } }],
    ['no other limit than budgets', { budget: { day: 1e6, month: 1e6 } }],
  ])('if its key gets %s in its middle', TIMED, async (_, group) => {
    const answers = await begin()
    server.server.reload(configOf(channels(), { ...OPTIONS(), group: group! }) as Config)
    const one = server.ask('/v1/chat/completions', { model: 'm', messages: asked })
    await until(() => held.length === REQUESTS.length + 1)
    finish()
    await Promise.all([...answers, one])
    await until(() => logged() === REQUESTS.length + 1)
    const total = (REQUESTS.length + 1) * COST
    const spent = engine!.spent(KEY_ID, { day: 1, month: undefined })!
    expect(spent.day).toBe(total)
    await server.server.close(0)
    expect((await store.usage.spent(KEY_ID, Date.now())).day).toBe(total)
  })

  test('as an estimate if it runs in the background and is cancelled', TIMED, async () => {
    const body = { model: 'm', input: 'Hi.', background: true, stream: false }
    const { json } = await server.ask('/v1/responses', body)
    await until(() => held.length === 1)
    await server.ask(`/v1/responses/${json.id}/cancel`, {})
    await until(() => logged() >= 2)
    const { day } = spentAt(Date.now())!
    await server.server.close(0)
    expect(day).toBeGreaterThan(0)
    expect((await store.usage.spent(KEY_ID, Date.now())).day).toBe(day)
  })

  test('as an estimate if the gateway stops', TIMED, async () => {
    const body = { model: 'm', input: 'Hi.', background: true, stream: false }
    await server.ask('/v1/responses', body)
    await until(() => held.length === 1)
    held = []
    const answers = await begin()
    let day = 0
    const { close } = MemoryEngine.prototype
    vi.spyOn(MemoryEngine.prototype, 'close').mockImplementation(function (this: MemoryEngine) {
      day = this.spent(KEY_ID, { day: 1, month: 1 })?.day ?? day
      close.call(this)
    })
    await server.server.close(0)
    await Promise.all(answers)
    const { rows } = await store.usage.rows(ROWS)
    expect(rows.length).toBe(REQUESTS.length + 2)
    const cost = rows.reduce((sum, row) => sum + row.cost!, 0)
    expect(cost).toBeGreaterThan(0)
    expect([day, (await store.usage.spent(KEY_ID, Date.now())).day]).toEqual([cost, cost])
  })
})
