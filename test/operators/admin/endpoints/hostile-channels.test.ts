import { expect, it } from 'vitest'
import { checkedChannel } from '../../../../src/config/stored-channel.ts'
import { AdminServer } from '../../../builders/admin.ts'
import { ANSWER, ASK } from '../../../builders/chat.ts'
import { closingAfterEach } from '../../../builders/closing.ts'
import { channelAt } from '../../../builders/config.ts'
import { CHAT_PATH } from '../../../builders/paths.ts'
import { FakeUpstream } from '../../../builders/upstream.ts'

/* Stored channels of an administrator who attacks the gateway, its machine or another administrator. */

const closing = closingAfterEach()
const SECRET = 'sk-stored-secret-of-the-tests-9Qz7'

async function open() {
  const upstream = await FakeUpstream.open((response, { url }) =>
    response
      .setHeader('content-type', 'application/json')
      .end(JSON.stringify(url.endsWith('/models') ? { data: [{ id: 'm' }] } : ANSWER)),
  )
  closing.push(() => upstream.close())
  const admin = await AdminServer.open(
    [channelAt(upstream.address, { name: 'fixed', models: { named: new Map([['other', 'other']]), patterns: [] } })],
    {
      usage: { retention: 86_400_000 },
    },
  )
  closing.push(() => admin.close())
  admin.secrets.push(SECRET)
  const config = {
    ...{ name: 'mine', provider: 'custom', base_url: `${upstream.address}/v1`, formats: ['chat'] },
    ...{ key: SECRET, models: ['m'] },
  }
  return { admin, upstream, config }
}

const ask = async (admin: AdminServer) => (await admin.testServer.ask(CHAT_PATH, ASK)).status
const errorsOf = ({ testServer: { lines } }: AdminServer) => lines.filter(({ level }) => level === 'error')
const INVALID = 'urn:interlingua:problem:invalid-input'

it('a header names no other server at the address of the provider', async () => {
  const { admin, upstream, config } = await open()
  const refused = await admin.post('/channels', { ...config, headers: { Host: 'elsewhere.example' } })
  expect(refused.json.errors).toMatchObject([{ pointer: '/headers/Host' }])
  await admin.post('/channels', config)
  const { key } = (await admin.get('/channels/mine')).json.config
  const moved = await admin.patch('/channels/mine', { key, headers: { 'x-a': 'b', HOST: 'elsewhere.example' } })
  expect(moved.json.errors).toMatchObject([{ pointer: '/headers/HOST' }])
  expect(await ask(admin)).toBe(200)
  expect(upstream.seen.at(-1)!.headers['host']).toBe(new URL(upstream.address).host)
})

it('a channel of deep nesting is refused, and stops no later change', async () => {
  const { admin, config } = await open()
  await admin.post('/channels', config)
  const textOf = (body: object, depth: number) =>
    JSON.stringify(body).replace('"DEEP"', `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`)
  for (const depth of [30, 3000, 100_000])
    for (const field of ['dialect', 'base_url', 'models', 'auth', 'headers', 'unheard']) {
      const channel = { ...config, [field]: 'DEEP' }
      for (const [method, path, body] of [
        ['POST', '/channels', { ...channel, name: 'deep' }],
        ['POST', '/channels/test', { config: channel }],
        ['PATCH', '/channels/mine', { [field]: 'DEEP' }],
        ['PUT', '/model-settings/m', { [field]: 'DEEP' }],
      ] as const)
        expect((await admin.ask(method, path, textOf(body, depth))).json.type).toBe(INVALID)
    }
  expect((await admin.patch('/channels/mine', { weight: 2 })).status).toBe(200)
  expect(await ask(admin)).toBe(200)
  expect(errorsOf(admin)).toEqual([])
})

it('a channel of very many models leaves the audit log readable', async () => {
  const { admin, config } = await open()
  const models = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`model-${at}`, 'm']))
  expect((await admin.post('/channels', { ...config, models })).status).toBe(201)
  const { status, json } = await admin.get('/audit')
  expect(status).toBe(200)
  expect(json.data).toMatchObject([{ action: 'createChannel', target: 'mine' }])
  expect(json.data[0].changes.length).toBeGreaterThan(0)
})

it('the deletion of a channel that the file hides leaves the drain of the channel of the file', async () => {
  const { admin } = await open()
  await admin.store.config.changeEntry('channel', 'fixed', () => ({
    ...{ kind: 'channel', name: 'fixed', settings: { name: 'fixed' }, createdAt: 1, updatedAt: 1 },
  }))
  expect((await admin.post('/channels/fixed/drain')).json.state).toBe('drained')
  expect((await admin.delete('/channels/fixed')).status).toBe(204)
  expect((await admin.get('/channels/fixed')).json.state).toBe('drained')
})

it('a channel that is stored anew under the name of a deleted one is not drained', async () => {
  const { admin, config } = await open()
  await admin.post('/channels', config)
  expect((await admin.post('/channels/mine/drain')).json.state).toBe('drained')
  await admin.delete('/channels/mine')
  expect((await admin.post('/channels', config)).json.state).toBe('ok')
})

it('credentials of the machine go to no provider of another cloud', () => {
  const env = { AZURE_CLIENT_SECRET: 's', AZURE_TENANT_ID: 't', AZURE_CLIENT_ID: 'c' }
  const faultsOf = (written: object) =>
    checkedChannel({ name: 'x', models: ['m'], ...written }, { env, proxy: undefined }).faults?.map(({ path }) =>
      path.join('.'),
    )
  for (const type of ['google-default', 'google-metadata', 'azure-managed', 'azure-default'])
    expect(faultsOf({ provider: 'groq', auth: { type, ...(type.startsWith('azure') ? { scope: 's' } : {}) } })).toEqual(
      ['auth.type'],
    )
  expect(faultsOf({ provider: 'groq', auth: { type: 'azure-client', scope: 's' } })).toEqual([
    ...['auth.tenant', 'auth.client_id', 'auth.client_secret'],
  ])
  expect(
    faultsOf({ provider: 'vertex', project: 'p', region: 'global', auth: { type: 'google-default' } }),
  ).toBeUndefined()
})

it('a part of an address makes no other host, and a proxy without a readable password is refused', () => {
  const faultsOf = (written: object) =>
    checkedChannel({ name: 'x', models: ['m'], ...written }, { env: {}, proxy: undefined }).faults?.map(({ path }) =>
      path.join('.'),
    )
  for (const region of ['s3.example', 'us-east-1:1', 'a.b:1'])
    expect(faultsOf({ provider: 'bedrock', key: 'k', region })).toEqual(['region'])
  expect(faultsOf({ provider: 'vertex', project: 'p', region: 'a:1', auth: { type: 'google-default' } })).toEqual([
    'region',
  ])
  expect(faultsOf({ provider: 'bedrock', key: 'k', region: 'eu-west-1' })).toBeUndefined()
  expect(faultsOf({ provider: 'groq', key: 'k', proxy: 'http://u:%zz@127.0.0.1:1' })).toEqual(['proxy'])
})

it('a change requests the list of the changed channel only', async () => {
  const { admin, upstream, config } = await open()
  const lists = () => upstream.seen.filter(({ url }) => url.endsWith('/models')).map(({ url }) => url.split('/')[1])
  const listed = async (count: number) => {
    for (let tries = 0; lists().length < count && tries < 100; tries++) await new Promise(done => setTimeout(done, 10))
    await new Promise(done => setTimeout(done, 50))
    return lists()
  }
  await admin.post('/channels', { ...config, name: 'a', base_url: `${upstream.address}/a`, models: ['*'] })
  expect(await listed(1)).toEqual(['a'])
  await admin.post('/channels', { ...config, name: 'b', base_url: `${upstream.address}/b`, models: ['*'] })
  expect(await listed(2)).toEqual(['a', 'b'])
  await admin.patch('/channels/a', { weight: 2 })
  expect(await listed(3)).toEqual(['a', 'b', 'a'])
  await admin.put('/model-settings/m', { price: { input: 1 } })
  expect(await listed(3)).toEqual(['a', 'b', 'a'])
})

it('names of a megabyte are refused without delay', async () => {
  const { admin, config } = await open()
  const long = 'x'.repeat(900_000)
  const before = performance.now()
  for (const body of [
    { ...config, provider: long },
    { ...config, [long]: 1 },
    { ...config, formats: [long] },
    { ...config, name: long },
  ])
    expect((await admin.post('/channels', body)).json.type).toBe(INVALID)
  expect((await admin.put(`/model-settings/m`, { [long]: 1 })).json.type).toBe(INVALID)
  expect(performance.now() - before).toBeLessThan(10_000)
})

it('a fault shows no password of an address, also to viewers', async () => {
  const { admin, config } = await open()
  const settings = { ...config, key: 'none', base_url: `https://user:${SECRET}@host.example/v1?a=b` }
  expect((await admin.post('/channels', settings)).json.errors).toMatchObject([{ pointer: '/base_url' }])
  await admin.store.config.changeEntry('channel', 'mine', () => ({
    ...{ kind: 'channel', name: 'mine', settings, createdAt: 1, updatedAt: 1 },
  }))
  await admin.post('/channels/fixed/drain')
  const { data } = (await admin.get('/channels')).json
  expect(data[1]).toMatchObject({ state: 'unusable', stored: { faults: [{ path: 'base_url' }] } })
  expect(JSON.stringify(admin.testServer.lines)).not.toContain(SECRET)
})
