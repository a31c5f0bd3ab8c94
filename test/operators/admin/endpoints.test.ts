import { expect, it, vi } from 'vitest'
import { ENDPOINTS } from '../../../src/operators/admin/index.ts'
import { AdminServer } from '../../builders/admin.ts'
import { ANSWER, ASK } from '../../builders/chat.ts'
import { closingAfterEach } from '../../builders/closing.ts'
import { channelAt } from '../../builders/config.ts'
import { SOON } from '../../builders/time.ts'
import { FakeUpstream } from '../../builders/upstream.ts'
import { traffic } from '../../builders/usage.ts'

const closing = closingAfterEach()

it('answers every operation of the table in its declared shape, without secrets and hashes', async () => {
  const upstream = await FakeUpstream.open(response =>
    response.setHeader('content-type', 'application/json').end(JSON.stringify(ANSWER)),
  )
  closing.push(() => upstream.close())
  const admin = await AdminServer.open([channelAt(upstream.address, { name: 'one' })], {
    usage: { retention: 86_400_000 },
  })
  closing.push(() => admin.close())
  const now = Date.now()
  const rows = [...traffic(50, { since: now - 3_600_000, until: now, keys: 3, models: 3, channels: 2 })]
  await admin.store.usage.add(rows)

  await admin.get('/status')
  await admin.get('/config')
  const key = (await admin.post('/keys', { name: 'app', models: ['m'], rpm: 5, budget: { day: 2 } })).json
  const stored = await admin.store.access.key(key.id)
  admin.secrets.push(key.secret, stored!.secrets[0]!.hash)
  await admin.get('/keys?revoked')
  await admin.get(`/keys/${key.id}`)
  await admin.patch(`/keys/${key.id}`, { note: 'for tests', rpm: null })
  await admin.post('/try', { key: key.id, format: 'chat', body: ASK })
  const rotated = await admin.post(`/keys/${key.id}/rotate`, { grace: '1h' })
  expect(rotated.json.secrets).toHaveLength(2)
  await admin.get(`/models?key=${key.id}`)
  await admin.delete(`/keys/${key.id}`)
  await admin.post('/groups', { name: 'team', channels: ['one'] })
  await admin.get('/groups')
  await admin.get('/groups/team')
  await admin.patch('/groups/team', { tpm: 100 })
  await admin.put('/groups/team', { models: ['m'] })
  await admin.delete('/groups/team')
  const token = (await admin.post('/tokens', { name: 'console' })).json
  admin.secrets.push(token.secret)
  await admin.get('/tokens')
  await admin.delete(`/tokens/${token.id}`)
  admin.secrets.push('long enough for all')
  await admin.post('/users', { name: 'Ada', role: 'admin', password: 'long enough for all' })
  const made = (await admin.post('/users', { name: 'vic' })).json
  expect(made).toMatchObject({
    name: 'vic',
    role: 'viewer',
    password: expect.stringMatching(/^([a-z]{5}-){3}[a-z]{5}$/),
  })
  admin.secrets.push(made.password, (await admin.store.console.user('vic'))!.password!)
  await admin.get('/users')
  await admin.get('/users/ada')
  await admin.patch('/users/vic', { role: 'admin', enabled: false })
  await admin.post('/users/ada/password')
  await admin.delete('/users/ada/sessions')
  await admin.delete('/users/vic')
  await admin.get('/channels')
  await admin.get('/channels/one')
  await admin.post('/channels/one/drain')
  await admin.post('/channels/one/resume')
  await admin.post('/channels/one/test')
  await admin.get('/providers')
  const channel = { provider: 'custom', base_url: `${upstream.address}/v1`, formats: ['chat'], models: ['m'] }
  admin.secrets.push('a-key-of-a-stored-channel')
  await admin.post('/channels', { name: 'stored', ...channel, key: 'a-key-of-a-stored-channel' })
  await admin.patch('/channels/stored', { priority: 9 })
  await admin.post('/channels/test', { config: channel })
  await admin.get('/channels/stored/yaml')
  await admin.delete('/channels/stored')
  await admin.put('/model-settings/m', { price: { input: 1 }, fallbacks: ['other'] })
  await admin.patch('/model-settings/m', { price: { output: 2 } })
  await admin.get('/model-settings')
  await admin.get('/model-settings/m')
  await admin.delete('/model-settings/m')
  await admin.get('/models')
  await admin.get('/usage?by=model&every=hour&percentiles')
  await admin.get('/requests?only=errors')
  await admin.get('/failures')
  await admin.get('/overview')
  await admin.get('/audit')
  await admin.get('/budgets')
  await admin.get(`/requests/${rows[0]!.id}`)
  await admin.post('/translate', { text: JSON.stringify(ASK) })
  await admin.get('/translate/examples')
  await admin.post('/translate/redacted', { text: 'sk-proj-1234567890abcdef' })
  const watched = (await admin.post('/keys', { name: 'watched', capture: '1h' })).json
  admin.secrets.push(watched.secret)
  const live = await admin.testServer.send('/admin/v1/requests/live', undefined, {
    ...{ method: 'GET', headers: { authorization: `Bearer ${admin.token}` } },
  }).answer
  live.resume().on('error', () => {})
  expect(live.statusCode).toBe(200)
  admin.answered.add('watchRequests')
  const headers = { authorization: `Bearer ${watched.secret}` }
  const asked = (await admin.testServer.ask('/v1/chat/completions', ASK, { headers })).headers['x-request-id']
  await vi.waitFor(async () => expect((await admin.get(`/requests/${asked}/capture`)).status).toBe(200), SOON)
  await admin.get(`/requests/${asked}/fixture`)
  await admin.get(`/requests/${asked}/recordings`)
  await admin.post(`/requests/${asked}/replay`, { channel: 'one' })
  await admin.delete(`/requests/${asked}/capture`)
  live.destroy()
  expect([...admin.answered].sort()).toEqual(ENDPOINTS.map(({ operation }) => operation).sort())
  const recorded = (await admin.get('/audit?limit=1000')).json.data as readonly { readonly action: string }[]
  const audited = ENDPOINTS.filter(({ audit }) => audit !== undefined).map(({ operation }) => operation)
  expect([...new Set(recorded.map(({ action }) => action))].sort()).toEqual(audited.sort())
})
