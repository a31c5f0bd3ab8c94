import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { requestId } from '../../../../src/store/usage/request-id.ts'
import type { UsageRow } from '../../../../src/store/usage/row.ts'
import { AdminServer } from '../../../builders/admin.ts'
import { ANSWER, ASK, failure, json } from '../../../builders/chat.ts'
import { channelAt } from '../../../builders/config.ts'
import { CHAT_PATH } from '../../../builders/paths.ts'
import { SOON } from '../../../builders/time.ts'
import { deadAddress, FakeUpstream } from '../../../builders/upstream.ts'

const NANO = 1e9
const DAY = 86_400_000

let admin: AdminServer
let upstream: FakeUpstream
let key: { id: string; secret: string }

const models = (id: string) => ({ named: new Map([[id, id]]), patterns: [] })

/** Losses of three requests. A row of an earlier version has no kinds. */
const LOST: readonly Partial<UsageRow>[] = [
  { losses: 2, lossKinds: { dropped: 2, changed: 0, moved: 0 } },
  { losses: 2, lossKinds: { dropped: 0, changed: 1, moved: 1 } },
  { losses: 2 },
]

const row = (at: number, more: Partial<UsageRow>): UsageRow => ({
  ...{ id: requestId(at, Math.random().toString(16).slice(2).padStart(32, '0')), at, door: CHAT_PATH, format: 'chat' },
  ...{ stream: false, attempts: 1, status: 200, losses: 0, duration: 100, channel: 'good', upstreamFormat: 'chat' },
  ...{ key: key.id, keyName: 'near', group: 'default', model: 'priced', upstreamModel: 'priced', ...more },
})

beforeAll(async () => {
  upstream = await FakeUpstream.open(response => json(response, ANSWER))
  const refused = await FakeUpstream.open(response => json(response, failure('You are out of credit.'), 402))
  admin = await AdminServer.open(
    [
      channelAt(upstream.address, { name: 'good', models: models('priced') }),
      channelAt(upstream.address, { name: 'free', models: models('unpriced') }),
      channelAt(await deadAddress(), { name: 'dead', models: models('gone') }),
      channelAt(refused.address, { name: 'broke', models: models('broke') }),
    ],
    {
      usage: { retention: DAY },
      models: new Map([
        ['priced', { id: 'priced', input: [], output: [], price: { input: 1, output: 2, cacheRead: 0.1 } }],
      ]),
    },
  )
  key = (await admin.post('/keys', { name: 'near', budget: { month: 10.5 }, rpm: 1 })).json
  const now = Date.now()
  await admin.store.usage.add([
    ...[0, 1, 2].map(minute =>
      row(now - minute, { cost: 3 * NANO, input: 1000, cacheRead: 500, output: 10, ...LOST[minute] }),
    ),
    row(now - DAY, { cost: NANO }),
  ])
  const ask = (model: string, secret = '') =>
    admin.testServer.ask(
      CHAT_PATH,
      { ...ASK, model },
      secret === '' ? {} : { headers: { authorization: `Bearer ${secret}` } },
    )
  for (const model of ['gone', 'broke', 'unpriced']) await ask(model)
  for (let count = 0; count < 3; count++) await ask('priced', key.secret)
  await vi.waitFor(async () => expect((await overview()).today.requests).toBe(9), SOON)
  await refused.close()
}, 60_000)
afterAll(async () => {
  await admin.close()
  await upstream.close()
})

const overview = async () => (await admin.get('/overview')).json
const concern = async (kind: string) => (await overview()).concerns.filter((one: { kind: string }) => one.kind === kind)

it('a channel that cannot be reached is a concern with its reason and since when', async () => {
  expect(await concern('channel-failing')).toMatchObject([
    { channel: 'dead', severity: 'bad', failure: { reason: 'refused' }, since: expect.any(String) },
    { channel: 'broke', severity: 'bad', failure: { reason: 'status', status: 402 }, error: 'out-of-credit' },
  ])
  expect((await overview()).channels).toEqual({ all: 4, ok: 2 })
})

it('a key near its budget and one at its limit are concerns', async () => {
  const [budget] = await concern('budget')
  expect(budget).toMatchObject({ key_name: 'near', period: 'month', severity: 'warn', budget: { limit: 10.5 } })
  expect(budget.budget.spent).toBeGreaterThanOrEqual(9)
  expect(await concern('limited')).toMatchObject([{ key: key.id, key_name: 'near', requests: 2 }])
  expect((await admin.get('/budgets')).json.data).toMatchObject([{ key: key.id, month: { limit: 10.5 } }])
})

it('budgets of keys that are no longer accepted are none', async () => {
  const fields = { budget: { month: 10.5 } }
  const { json: expired } = await admin.post('/keys', {
    name: 'expired',
    expires_at: '2020-01-01T00:00:00Z',
    ...fields,
  })
  const { json: disabled } = await admin.post('/keys', { name: 'disabled', enabled: false, ...fields })
  const listed = (await admin.get('/budgets')).json.data.map(({ key }: { key: string }) => key)
  expect(listed).toEqual([key.id])
  for (const { id } of [expired, disabled]) await admin.delete(`/keys/${id}`)
})

it('a model without a price is a concern', async () => {
  expect(await concern('unpriced')).toMatchObject([{ model: 'unpriced', requests: 1 }])
})

it('the worst concerns come first', async () => {
  const severities = (await overview()).concerns.map((one: { severity: string }) => one.severity)
  expect(severities).toEqual([...severities].sort())
})

it('sums today, the month and its forecast, the cache and its savings, losses and formats', async () => {
  const { today, month, cache, losses, loss_kinds: kinds, formats, failures } = await overview()
  expect(today).toMatchObject({ errors: 4, unpriced: 1 })
  expect(today.cost).toBeCloseTo(9.00001, 4)
  // The first day of a month says too little about the rest of it.
  const isEarly = new Date().getUTCDate() === 1
  expect(month.forecast ?? (isEarly ? today.cost : undefined)).toBeGreaterThanOrEqual(today.cost)
  expect(month.budget).toMatchObject({ limit: 10.5 })
  expect(cache.share).toBeCloseTo(1500 / (3000 + 10), 2)
  // 1,500 tokens for 0.1 instead of 1 dollar per million.
  expect(cache.saved).toBeCloseTo((1500 * 0.9) / 1e6, 6)
  expect(losses).toMatchObject([{ format: 'chat', upstream_format: 'chat', losses: 6 }])
  expect(kinds).toEqual({ dropped: 2, changed: 1, moved: 1, other: 2 })
  expect(formats[0]).toMatchObject({ format: 'chat', package: 'openai' })
  expect(failures.map((one: { channel: string }) => one.channel).sort()).toEqual(['broke', 'dead'])
})

it('a spent budget is a concern, however many others are nearly spent', async () => {
  const names = Array.from({ length: 22 }, (_, at) => `a-${String(at).padStart(2, '0')}`)
  const ids: string[] = []
  for (const name of names) ids.push((await admin.post('/keys', { name, budget: { day: 10 } })).json.id)
  const spent = (await admin.post('/keys', { name: 'z-spent', budget: { day: 10 } })).json.id
  const now = Date.now()
  await admin.store.usage.add([
    ...ids.map((id, at) => row(now, { key: id, keyName: names[at]!, cost: 9 * NANO })),
    row(now, { key: spent, keyName: 'z-spent', cost: 11 * NANO }),
  ])
  const budgets = await concern('budget')
  for (const id of [...ids, spent]) await admin.delete(`/keys/${id}`)
  expect(budgets[0]).toMatchObject({ key: spent, severity: 'bad' })
  expect(budgets).toHaveLength(20)
})
