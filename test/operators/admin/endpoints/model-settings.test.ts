import { expect, it } from 'vitest'
import { MODEL_SCHEMA } from '../../../../src/config/index.ts'
import { checkedModel } from '../../../../src/config/stored-channel.ts'
import { AdminServer } from '../../../builders/admin.ts'
import { ANSWER, ASK } from '../../../builders/chat.ts'
import { closingAfterEach } from '../../../builders/closing.ts'
import { channelAt } from '../../../builders/config.ts'
import { CHAT_PATH } from '../../../builders/paths.ts'
import { deadAddress, FakeUpstream } from '../../../builders/upstream.ts'

const closing = closingAfterEach()
const ALL = ['failure', 'rate-limit', 'context', 'refusal', 'budget']

/** Opens a gateway with the models `good` and `broken`, of which only the first answers. */
async function open() {
  const upstream = await FakeUpstream.open(response =>
    response.setHeader('content-type', 'application/json').end(JSON.stringify(ANSWER)),
  )
  closing.push(() => upstream.close())
  const model = (id: string) => ({ models: { named: new Map([[id, id]]), patterns: [] } })
  const channels = [
    channelAt(upstream.address, { name: 'good', ...model('good') }),
    channelAt(await deadAddress(), { name: 'broken', ...model('broken') }),
  ]
  const fixed = {
    id: 'fixed',
    input: ['text'],
    output: ['text'],
    price: { input: 3, cacheRead: 1 },
    maxOutput: 9,
  } as const
  const admin = await AdminServer.open(channels, {
    ...{ models: new Map([['fixed', fixed]]), usage: { retention: 86_400_000 } },
    groups: new Map(),
  })
  closing.push(() => admin.close())
  return admin
}

it('prices and fallbacks of models are stored, in effect, listed, replaced and deleted', async () => {
  const admin = await open()
  await admin.post('/groups', { name: 'team' })
  const key = (await admin.post('/keys', { name: 'k', group: 'team' })).json
  const ask = () =>
    admin.testServer.ask(CHAT_PATH, { ...ASK, model: 'broken' }, { headers: { authorization: `Bearer ${key.secret}` } })
  expect((await ask()).status).toBe(502)
  const settings = { price: { input: 1.5, output: '2' }, fallbacks: ['good'], order: 'cost' }
  expect((await admin.put('/model-settings/broken', settings)).json).toMatchObject({
    id: 'broken',
    source: 'store',
    settings,
  })
  const answered = await ask()
  expect(answered.status).toBe(200)
  expect(answered.headers['interlingua-fallback']).toBe('failure')
  const models = (await admin.get('/models')).json.data
  expect(models.find(({ id }: { id: string }) => id === 'broken')).toMatchObject({
    ...{ price: { input: 1.5, output: 2 }, order: 'cost', fallbacks: [{ model: 'good', on: ALL }] },
  })
  await admin.put('/model-settings/a%2Fb', { name: 'A or B' })
  expect((await admin.get('/model-settings/a%2Fb')).json).toMatchObject({ id: 'a/b', settings: { name: 'A or B' } })
  expect((await admin.get('/model-settings')).json.data).toMatchObject([
    { id: 'a/b', source: 'store' },
    { id: 'broken', source: 'store' },
    { id: 'fixed', source: 'config', settings: { price: { input: 3, cache_read: 1 }, max_output: 9 } },
  ])
  expect((await admin.put('/model-settings/broken', { order: 'weight' })).json.settings).toEqual({ order: 'weight' })
  expect((await ask()).status).toBe(502)
  expect((await admin.delete('/model-settings/broken')).status).toBe(204)
  expect((await admin.delete('/model-settings/broken')).status).toBe(404)
  expect((await admin.get('/model-settings/broken')).status).toBe(404)
  const { data } = (await admin.get('/audit?kind=model&target=broken')).json
  expect(data[1].changes).toContainEqual({ field: 'price.input', from: 1.5 })
})

it('settings have the faults of the config file, and those of the file are read-only', async () => {
  const admin = await open()
  const refused = await admin.put('/model-settings/m', { fallbacks: ['x', 'm'], ordr: 'cost' })
  expect(refused.json.errors).toEqual([{ pointer: '/ordr', detail: 'unknown key; did you mean "order"?' }])
  expect((await admin.put('/model-settings/m', { fallbacks: ['x', 'm'] })).json.errors).toEqual([
    { pointer: '/fallbacks/1', detail: 'is the model itself' },
  ])
  for (const answer of [await admin.put('/model-settings/fixed', {}), await admin.delete('/model-settings/fixed')])
    expect(answer.json.type).toBe('urn:interlingua:problem:read-only')
})

it('fallbacks of a stored group answer for its keys', async () => {
  const admin = await open()
  const fallbacks = ['good', { model: 'other', on: ['budget'] }]
  const made = (await admin.post('/groups', { name: 'team', fallbacks })).json
  expect(made.fallbacks).toEqual([
    { model: 'good', on: ALL },
    { model: 'other', on: ['budget'] },
  ])
  const key = (await admin.post('/keys', { name: 'k', group: 'team' })).json
  const headers = { authorization: `Bearer ${key.secret}` }
  const ask = async () => (await admin.testServer.ask(CHAT_PATH, { ...ASK, model: 'broken' }, { headers })).status
  expect(await ask()).toBe(200)
  const { data } = (await admin.get(`/models?key=${key.id}`)).json
  expect(data[0].fallbacks).toEqual(made.fallbacks)
  const twice = await admin.patch('/groups/team', { fallbacks: ['a', 'a'] })
  expect(twice.json.errors).toEqual([{ pointer: '/fallbacks/1', detail: 'is listed twice' }])
  expect((await admin.patch('/groups/team', { rpm: 1000 })).json.fallbacks).toEqual(made.fallbacks)
  expect((await admin.patch('/groups/team', { fallbacks: null })).json).not.toHaveProperty('fallbacks')
  expect(await ask()).toBe(502)
})

/** Each field of a model, as the config file has it. */
const EVERY_FIELD = {
  ...{ name: 'Shown', description: 'What it is for', interface: 'chat', context: 1000, max_output: 100 },
  ...{ dialect: { strict: true }, compaction: 'disabled', input: ['text', 'image'], output: ['text'] },
  ...{ reasoning: true, tools: false, fallbacks: [{ model: 'good', on: ['budget'] }], order: 'cost' },
  price: {
    ...{ input: 1, output: 2, cache_read: 0.5, cache_write: 1.5, search: 4, minute: 0.006, image: 0.04 },
    ...{ characters: 15, video_second: 0.1, session_minute: 0.3, tiers: { flex: 0.5 } },
  },
}

it('every field is read back as it was written, in the config file or here', async () => {
  expect(Object.keys(EVERY_FIELD).sort()).toEqual(Object.keys(MODEL_SCHEMA.entries).sort())
  const { wrapped: prices } = MODEL_SCHEMA.entries.price
  expect(Object.keys(EVERY_FIELD.price).sort()).toEqual(Object.keys(prices.entries).sort())
  const { value: fixed } = checkedModel('fixed', EVERY_FIELD)
  const admin = await AdminServer.open([], { models: new Map([['fixed', fixed!]]) })
  closing.push(() => admin.close())
  await admin.put('/model-settings/stored', EVERY_FIELD)
  for (const id of ['fixed', 'stored'])
    expect((await admin.get(`/model-settings/${id}`)).json.settings, id).toEqual(EVERY_FIELD)
})
