import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AdminServer } from '../../../builders/admin.ts'
import { ANSWER, ASK } from '../../../builders/chat.ts'
import { channelAt, KEY, keyOf } from '../../../builders/config.ts'
import { CHAT_PATH } from '../../../builders/paths.ts'
import { FakeUpstream } from '../../../builders/upstream.ts'

let admin: AdminServer
let upstream: FakeUpstream
beforeAll(async () => {
  upstream = await FakeUpstream.open(response =>
    response.setHeader('content-type', 'application/json').end(JSON.stringify(ANSWER)),
  )
  admin = await AdminServer.open([channelAt(upstream.address)], { keys: [keyOf(KEY, 'fixed'), keyOf('second', 'two')] })
})
afterAll(async () => {
  await admin.close()
  await upstream.close()
})

const kind = (answer: { json: { type: string } }): string => answer.json.type.split(':').at(-1)!
const call = async (key: string): Promise<number> =>
  (await admin.testServer.ask(CHAT_PATH, ASK, { headers: { authorization: `Bearer ${key}` } })).status

describe('a key', () => {
  it('works from the answer that shows it until it is revoked', async () => {
    const made = await admin.post('/keys', { name: 'app' })
    expect(made.headers['location']).toBe(`/admin/v1/keys/${made.json.id}`)
    const { secret, ...shown } = made.json
    expect(await call(secret)).toBe(200)
    const { last_used_at: _, ...read } = (await admin.get(`/keys/${shown.id}`)).json
    expect(read).toEqual(shown)
    expect((await admin.delete(`/keys/${shown.id}`)).status).toBe(204)
    expect(await call(secret)).toBe(401)
    expect(kind(await admin.delete(`/keys/${shown.id}`))).toBe('not-found')
    expect((await admin.get(`/keys/${shown.id}`)).json.revoked_at).toBeDefined()
  })

  it('works with both secrets until the grace time of a rotation is over', async () => {
    const { id, secret } = (await admin.post('/keys', { name: 'rotating' })).json
    const { secret: second } = (await admin.post(`/keys/${id}/rotate`, { grace: '1h' })).json
    expect([await call(secret), await call(second)]).toEqual([200, 200])
    const { secret: third } = (await admin.post(`/keys/${id}/rotate`)).json
    expect([await call(secret), await call(second), await call(third)]).toEqual([401, 401, 200])
    expect(kind(await admin.post(`/keys/${id}/rotate`, { grace: '91d' }))).toBe('invalid-input')
  })

  it('may do what it was made or changed to do', async () => {
    const { id, secret } = (await admin.post('/keys', { name: 'narrow', models: ['other'] })).json
    expect(await call(secret)).toBe(403)
    await admin.patch(`/keys/${id}`, { models: null })
    expect(await call(secret)).toBe(200)
    await admin.patch(`/keys/${id}`, { enabled: false })
    expect(await call(secret)).toBeGreaterThanOrEqual(401)
  })

  it('has a unique name, an existing group and existing formats', async () => {
    const { id } = (await admin.post('/keys', { name: 'first' })).json
    expect(kind(await admin.post('/keys', { name: 'first' }))).toBe('name-taken')
    expect(kind(await admin.post('/keys', { name: 'fixed' }))).toBe('name-taken')
    await admin.post('/keys', { name: 'other' })
    expect(kind(await admin.patch(`/keys/${id}`, { name: 'other' }))).toBe('name-taken')
    expect((await admin.post('/keys', { name: 'x', group: 'defualt' })).json.errors).toEqual([
      { pointer: '/group', detail: 'unknown group; did you mean "default"?' },
    ])
    expect((await admin.post('/keys', { name: 'x', doors: ['chat', 'mesages'] })).json.errors).toEqual([
      { pointer: '/doors/1', detail: 'unknown format; did you mean "messages"?' },
    ])
    expect(kind(await admin.patch('/keys/nothing', { note: 'x' }))).toBe('not-found')
  })

  it('of the config is listed and never changed', async () => {
    const { data } = (await admin.get('/keys?name=fixed')).json
    expect(data).toMatchObject([{ name: 'fixed', source: 'config', secrets: [] }])
    const { id } = data[0]
    expect((await admin.get(`/keys/${id}`)).json).toEqual(data[0])
    expect(kind(await admin.patch(`/keys/${id}`, { note: 'x' }))).toBe('read-only')
    expect(kind(await admin.delete(`/keys/${id}`))).toBe('read-only')
    expect(kind(await admin.post(`/keys/${id}/rotate`))).toBe('read-only')
  })
})

/** Fields of a key that may be written, with times as in answers. */
const change = fc.record(
  {
    note: fc.option(fc.string({ minLength: 1, maxLength: 20, unit: 'grapheme-ascii' })),
    models: fc.option(fc.array(fc.constantFrom('m', 'gpt-*', '*'), { maxLength: 3 })),
    doors: fc.option(fc.subarray(['chat', 'messages', 'responses'])),
    rpm: fc.option(fc.nat(1000)),
    tpm: fc.option(fc.nat(1e9)),
    concurrent: fc.option(fc.nat(100)),
    budget: fc.option(fc.record({ day: fc.nat(100), month: fc.nat(1000) })),
    on_loss: fc.option(fc.constantFrom('show', 'refuse')),
    enabled: fc.boolean(),
    expires_at: fc.option(
      fc
        .date({ min: new Date('2026-01-01'), max: new Date('2099-01-01'), noInvalidDate: true })
        .map(at => at.toISOString()),
    ),
  },
  { requiredKeys: [] },
)

it('reads back what was written, whatever was there before', async () => {
  const { id } = (await admin.post('/keys', { name: 'changing' })).json
  let expected: { [field: string]: unknown } = (await admin.get(`/keys/${id}`)).json
  await fc.assert(
    fc.asyncProperty(change, async written => {
      const answer = await admin.patch(`/keys/${id}`, written)
      const all = Object.entries({ ...expected, ...written })
      expected = Object.fromEntries(all.filter(([, value]) => value !== null))
      expect(answer.json).toEqual(expected)
      expect((await admin.get(`/keys/${id}`)).json).toEqual(expected)
    }),
    { numRuns: 40 },
  )
})

it('lists each key once, page by page, while others are made', async () => {
  const names = Array.from({ length: 25 }, (_, index) => `page-${String(index).padStart(2, '0')}`)
  await Promise.all(names.map(name => admin.post('/keys', { name })))
  for (const limit of [1, 2, 3, 7, 200]) {
    const seen: string[] = []
    let cursor = ''
    for (let page = 0; cursor !== '' || page === 0; page++) {
      if (limit > 1) await admin.post('/keys', { name: `${page % 2 === 0 ? 'a' : 'z'}-${limit}-${page}` })
      const { json } = await admin.get(`/keys?limit=${limit}${cursor === '' ? '' : `&cursor=${cursor}`}`)
      expect(json.data.length).toBeLessThanOrEqual(limit)
      seen.push(...json.data.map((key: { name: string }) => key.name))
      cursor = json.next_cursor ?? ''
    }
    expect(new Set(seen).size).toBe(seen.length)
    expect(seen).toEqual(expect.arrayContaining([...names, 'fixed', 'two']))
  }
})
