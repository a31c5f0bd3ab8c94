import { afterAll, beforeAll, expect, it } from 'vitest'
import type { UsageRow } from '../../../../src/store/usage/row.ts'
import { AdminServer } from '../../../builders/admin.ts'
import { channelAt } from '../../../builders/config.ts'
import { deadAddress } from '../../../builders/upstream.ts'
import { traffic } from '../../../builders/usage.ts'

const HOUR = 3_600_000
const until = Math.floor(Date.now() / HOUR) * HOUR
const since = until - 20 * HOUR

let admin: AdminServer
let rows: UsageRow[]
beforeAll(async () => {
  admin = await AdminServer.open([channelAt(await deadAddress())], { usage: { retention: 90 * 24 * HOUR } })
  rows = [...traffic(500, { since, until, keys: 4, models: 5, channels: 3 })]
  await admin.store.usage.add(rows)
})
afterAll(() => admin.close())

const iso = (at: number): string => new Date(at).toISOString()
const sum = (values: readonly (number | undefined)[]): number =>
  values.reduce<number>((all, one) => all + (one ?? 0), 0)

it('is summed up in all, by fields and over time', async () => {
  const range = `since=${iso(since)}&until=${iso(until)}`
  const [all] = (await admin.get(`/usage?${range}&percentiles`)).json.data
  expect(all).toMatchObject({
    ...{ requests: 500, errors: rows.filter(({ status }) => status >= 400).length },
    ...{ input_tokens: sum(rows.map(({ input }) => input)), output_tokens: sum(rows.map(({ output }) => output)) },
    unpriced: rows.filter(({ cost }) => cost === undefined).length,
  })
  expect(all.cost).toBeCloseTo(sum(rows.map(({ cost }) => cost)) / 1e9, 9)
  expect(all.duration_ms.p50).toBeLessThanOrEqual(all.duration_ms.p99)
  const byKey = (await admin.get(`/usage?${range}&by=key,status`)).json.data
  expect(sum(byKey.map((one: { requests: number }) => one.requests))).toBe(500)
  expect(byKey[0]).toMatchObject({ key: expect.any(String), status: expect.any(String) })
  const hourly = (await admin.get(`/usage?${range}&every=hour&model=${rows[0]!.model}`)).json.data
  expect(sum(hourly.map((one: { requests: number }) => one.requests))).toBe(
    rows.filter(({ model }) => model === rows[0]!.model).length,
  )
  expect(hourly.map((one: { at: string }) => one.at)).toEqual(hourly.map((one: { at: string }) => one.at).toSorted())
})

it('counts by the minute, the top groups, and requests without a value', async () => {
  const range = `since=${iso(rows[100]!.at)}&until=${iso(rows[200]!.at)}`
  const minutes = (await admin.get(`/usage?${range}&every=minute`)).json.data
  expect(sum(minutes.map((one: { requests: number }) => one.requests))).toBe(100)
  expect((await admin.get(`/usage?${range}&exact`)).json.data[0].requests).toBe(100)
  const top = (await admin.get(`/usage?${range}&by=model&top=2&rank=cost`)).json.data
  expect(top).toHaveLength(3)
  expect(top.filter((one: { others?: true; model?: string }) => one.others)).toMatchObject([
    { others: true, requests: expect.any(Number) },
  ])
  expect((await admin.get('/usage?key=&since=2d')).json.data).toEqual([])
  expect((await admin.get('/requests?channel=&since=2d')).json.data).toEqual([])
})

it('is a table for those who prefer one', async () => {
  const { headers, text } = await admin.ask('GET', '/usage?by=model&since=2d', undefined, {
    accept: 'text/csv, application/json',
  })
  expect(headers['content-type']).toBe('text/csv; charset=utf-8; header=present')
  const [names, ...lines] = text.trimEnd().split('\r\n')
  expect(names).toMatch(/^at,key,key_name,model,.*,requests,errors,cancelled,input_tokens/)
  expect(lines).toHaveLength(5)
  for (const line of lines) expect(line.split(',')).toHaveLength(names!.split(',').length)
  expect(
    (await admin.ask('GET', '/usage', undefined, { accept: 'application/json, text/csv' })).json.data,
  ).toBeDefined()
})

it('marks the sum of all other groups in a table, too', async () => {
  const { text } = await admin.ask('GET', '/usage?by=model&since=2d&top=1', undefined, { accept: 'text/csv' })
  const [names, ...lines] = text.trimEnd().split('\r\n')
  const at = names!.split(',').indexOf('others')
  expect(lines.map(line => line.split(',')[at]).sort()).toEqual(['', 'true'])
})

it('has a row for each request, each on one page, also while others end', async () => {
  const seen: string[] = []
  let cursor = ''
  for (let page = 0; cursor !== '' || page === 0; page++) {
    const { json } = await admin.get(`/requests?limit=33&until=${iso(until)}${cursor && `&cursor=${cursor}`}`)
    seen.push(...json.data.map((one: { id: string }) => one.id))
    cursor = json.next_cursor ?? ''
    const later = traffic(1, { since: until + HOUR, until: until + HOUR + 1, keys: 1, models: 1, channels: 1 }, page)
    await admin.store.usage.add([...later].map(row => ({ ...row, id: `req_later${page}` })))
  }
  expect(seen).toEqual(rows.toSorted((one, other) => other.at - one.at).map(({ id }) => id))
})

it('shows one request, and those that failed or lost something', async () => {
  const failed = rows.find(({ status }) => status >= 400)!
  expect((await admin.get(`/requests/${failed.id}`)).json).toMatchObject({
    ...{ id: failed.id, status: failed.status, model: failed.model, key_name: failed.keyName },
  })
  const { data } = (await admin.get('/requests?only=errors&limit=500')).json
  expect(data).toHaveLength(rows.filter(({ status }) => status >= 400).length)
  expect((await admin.get('/requests/req_nothing')).status).toBe(404)
  expect((await admin.get('/requests?cursor=AAAA')).status).toBe(400)
})

it('states whether it has all rows, in JSON and in a table', async () => {
  const cut = await admin.get('/usage?by=key,model&since=2d&limit=3')
  expect([cut.json.complete, cut.json.data.length]).toEqual([false, 3])
  const whole = await admin.get('/usage?by=key,model&since=2d')
  expect(whole.json.complete).toBe(true)
  const exact = await admin.get(`/usage?by=key,model&since=2d&limit=${whole.json.data.length}`)
  expect([exact.json.complete, exact.json.data.length]).toEqual([true, whole.json.data.length])
  const csv = (path: string) => admin.ask('GET', path, undefined, { accept: 'text/csv' })
  const header = 'x-interlingua-complete'
  expect((await csv('/usage?by=key&since=2d&limit=1')).headers[header]).toBe('false')
  expect((await csv('/usage?by=key&since=2d')).headers[header]).toBe('true')
  for (const name of ['one', 'two']) await admin.post('/groups', { name })
  expect((await csv('/audit?limit=1')).headers[header]).toBe('false')
})

it('says that sums by the hour lack what is older than the hourly sums', async () => {
  const old = Date.now() - 75 * 24 * HOUR
  const some = [...traffic(7, { since: old, until: old + HOUR, keys: 1, models: 1, channels: 1 }, 3)]
  const all = { since: iso(Date.now() - 80 * 24 * HOUR), until: iso(until) }
  const ask = async (period: { since: string; until: string }, more = '') =>
    (await admin.get(`/usage?since=${period.since}&until=${period.until}${more}`)).json
  expect((await ask(all, '&every=hour')).complete).toBe(true)
  await admin.store.usage.add(some)
  expect(await ask(all, '&every=day')).toMatchObject({ complete: true })
  expect(sum((await ask(all)).data.map((one: { requests: number }) => one.requests))).toBe(507)
  expect((await ask(all, '&every=hour')).complete).toBe(false)
  expect((await ask({ since: all.since, until: iso(old - 24 * HOUR) }, '&every=hour')).complete).toBe(true)
  expect((await ask({ since: iso(since), until: iso(until) }, '&every=hour')).complete).toBe(true)
  for (const more of ['&exact', '&every=minute', '&every=hour&exact'])
    expect((await ask(all, more)).complete).toBe(true)
})

it('says that exact sums lack requests whose rows were deleted', async () => {
  const old = Date.now() - 120 * 24 * HOUR
  const range = `since=${iso(old - HOUR)}&until=${iso(old + 2 * HOUR)}`
  await admin.store.usage.add([...traffic(5, { since: old, until: old + HOUR, keys: 1, models: 1, channels: 1 }, 4)])
  await admin.store.usage.sweep(Date.now() - 90 * 24 * HOUR)
  for (const more of ['&exact', '&every=minute'])
    expect((await admin.get(`/usage?${range}${more}`)).json.complete).toBe(false)
  expect((await admin.get(`/usage?${range}`)).json).toMatchObject({ complete: true, data: [{ requests: 5 }] })
})
