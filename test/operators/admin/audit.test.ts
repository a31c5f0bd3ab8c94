import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { changesBetween } from '../../../src/operators/admin/audit.ts'
import { ENDPOINTS } from '../../../src/operators/admin/index.ts'
import { AdminServer } from '../../builders/admin.ts'
import { channelAt } from '../../builders/config.ts'
import { deadAddress } from '../../builders/upstream.ts'

let admin: AdminServer
beforeAll(async () => {
  admin = await AdminServer.open([channelAt(await deadAddress(), { name: 'one' })], {
    usage: { retention: 86_400_000 },
  })
})
afterAll(() => admin.close())

const entries = async (query = '') => (await admin.get(`/audit${query}`)).json.data

/** Operations that change nothing that administrators set. */
const UNAUDITED = new Set([
  'testChannel',
  'testChannelDraft',
  'translateText',
  'redactText',
  'tryRequest',
  'replayRequest',
  'dropCapture',
])

it('every operation that changes something is audited', () => {
  const changing = ENDPOINTS.filter(({ method }) => method !== 'get')
  expect(
    changing
      .filter(({ audit, operation }) => (audit === undefined) !== UNAUDITED.has(operation))
      .map(one => one.operation),
  ).toEqual([])
})

it('the log has who changed what, from what to what, without secrets', async () => {
  const { json: key } = await admin.post('/keys', { name: 'app', rpm: 10, budget: { day: 5 } })
  await admin.patch(`/keys/${key.id}`, { name: 'app-2', rpm: null, budget: { day: 7 } })
  const { json: rotated } = await admin.post(`/keys/${key.id}/rotate`)
  await admin.delete(`/keys/${key.id}`)
  const found = await entries(`?target=${key.id}`)
  expect(found.map((one: { action: string }) => one.action)).toEqual([
    'revokeKey',
    'rotateKey',
    'changeKey',
    'createKey',
  ])
  const [revoked, , changed, created] = found
  expect(changed).toMatchObject({ actor: 'tests', actor_kind: 'token', kind: 'key', name: 'app-2' })
  expect(changed.changes).toEqual([
    { field: 'name', from: 'app', to: 'app-2' },
    { field: 'rpm', from: 10 },
    { field: 'budget.day', from: 5, to: 7 },
  ])
  expect(revoked.changes).toEqual([{ field: 'revoked_at', to: expect.any(String) }])
  expect(created.changes).toContainEqual({ field: 'rpm', to: 10 })
  const text = JSON.stringify(found)
  for (const secret of [key.secret, rotated.secret, key.secrets[0].last_four]) expect(text).not.toContain(secret)
})

it('groups, channels, users and tokens are in the log, a refused change is not', async () => {
  await admin.put('/groups/team', { rpm: 5 })
  await admin.patch('/groups/team', { models: ['gpt-*'] })
  await admin.delete('/groups/team')
  await admin.post('/channels/one/drain')
  await admin.post('/users', { name: 'ada', role: 'admin', password: 'a long password' })
  await admin.patch('/users/ada', { role: 'viewer' }).catch(() => {})
  const { json: token } = await admin.post('/tokens', { name: 'ci' })
  await admin.delete(`/tokens/${token.id}`)
  expect((await admin.patch('/groups/none', { rpm: 1 })).status).toBe(404)
  expect(await entries('?kind=group')).toMatchObject([
    { action: 'deleteGroup', target: 'team' },
    { action: 'changeGroup', changes: [{ field: 'models', from: ['*'], to: ['gpt-*'] }] },
    { action: 'putGroup' },
  ])
  expect(await entries('?kind=channel')).toMatchObject([
    { action: 'drainChannel', target: 'one', changes: [{ field: 'drained', from: false, to: true }] },
  ])
  expect(await entries('?kind=user')).toMatchObject([{ action: 'createUser', name: 'ada' }])
  expect(await entries('?kind=token')).toMatchObject([{ action: 'revokeToken', name: 'ci' }, { action: 'createToken' }])
  const all = JSON.stringify(await entries())
  for (const secret of [token.secret, 'a long password']) expect(all).not.toContain(secret)
})

it('pages have every entry once, and CSV has the same', async () => {
  const all = await entries('?limit=1000')
  const paged: unknown[] = []
  for (let cursor = ''; ; ) {
    const { json } = await admin.get(`/audit?limit=3${cursor}`)
    paged.push(...json.data)
    if (json.next_cursor === undefined) break
    cursor = `&cursor=${json.next_cursor}`
  }
  expect(paged).toEqual(all)
  const { text } = await admin.ask('GET', '/audit?limit=1000', undefined, { accept: 'text/csv' })
  expect(text.trim().split('\r\n')).toHaveLength(all.length + 1)
  expect(text).toContain('at,actor,actor_kind,action,kind,target,name,changes')
})

it('a program that writes the same again and again changes nothing and fills no log', async () => {
  const { json: key } = await admin.post('/keys', { name: 'same', rpm: 3, models: ['m'] })
  const group = { rpm: 5, models: ['a', 'b'], budget: { day: 1 }, fallbacks: ['c'] }
  const channel = { name: 'same-channel', provider: 'openai', key: 'sk-same-secret-0001', models: ['m'] }
  await admin.post('/channels', channel)
  const writeAll = async () => {
    await admin.ask('PUT', '/groups/same-group', group)
    await admin.patch('/groups/same-group', { rpm: 5 })
    await admin.patch(`/keys/${key.id}`, { rpm: 3, models: ['m'], note: null })
    await admin.ask('PUT', '/model-settings/same-model', { price: { input: 1, output: 2 } })
    await admin.patch('/channels/same-channel', { models: ['m'] })
    const { config } = (await admin.get('/channels/same-channel')).json
    const { status } = await admin.patch('/channels/same-channel', { key: config.key })
    expect(status).toBe(200)
  }
  await writeAll()
  const logged = await entries()
  const { updated_at: written } = (await admin.get('/model-settings/same-model')).json
  const { version } = await admin.store.access.changes(0)
  await writeAll()
  await writeAll()
  expect(await entries()).toEqual(logged)
  expect((await admin.get('/model-settings/same-model')).json.updated_at).toBe(written)
  expect((await admin.store.access.changes(0)).version).toBe(version)
  await admin.patch('/channels/same-channel', { key: 'sk-same-secret-0002' })
  expect((await entries())[0]).toMatchObject({ action: 'changeChannel', name: 'same-channel' })
})

it('no change makes the log unreadable, however its fields are named', async () => {
  const models = Object.fromEntries(
    Array.from({ length: 300 }, (_, number) => [`${number}`.padEnd(200, '\u0001'), 'model']),
  )
  await admin.post('/channels', { name: 'wide', provider: 'openai', key: 'k', models })
  const [{ name, changes }] = await entries('?target=wide')
  expect(name).toBe('wide')
  expect(changes.length).toBeGreaterThan(10)
})

it('entries are kept as long as usage', async () => {
  expect(await entries()).not.toEqual([])
  await admin.store.usage.sweep(Date.now() + 1000)
  expect(await entries()).toEqual([])
})

const things = fc.dictionary(
  fc.constantFrom('name', 'rpm', 'models', 'enabled'),
  fc.oneof(fc.integer(), fc.string(), fc.boolean(), fc.array(fc.string())),
)

it('the changes turn one state into the other', () => {
  fc.assert(
    fc.property(things, things, (before, after) => {
      const changed = new Map(Object.entries(before))
      for (const { field, from, to } of changesBetween(before, after)) {
        expect(changed.get(field)).toEqual(from)
        if (to === undefined) changed.delete(field)
        else changed.set(field, to as never)
      }
      expect(Object.fromEntries(changed)).toEqual({ ...after })
    }),
  )
})
