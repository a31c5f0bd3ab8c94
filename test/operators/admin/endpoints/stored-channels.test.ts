// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in a config look like that
import { describe, expect, it } from 'vitest'
import { readConfig } from '../../../../src/config/read.ts'
import { AdminServer } from '../../../builders/admin.ts'
import { ANSWER, ASK } from '../../../builders/chat.ts'
import { closingAfterEach } from '../../../builders/closing.ts'
import { channelAt } from '../../../builders/config.ts'
import { CHAT_PATH } from '../../../builders/paths.ts'
import { deadAddress, FakeUpstream, type Script } from '../../../builders/upstream.ts'

const closing = closingAfterEach()
const SECRET = 'sk-stored-secret-of-the-tests-9Qz7'
/** A text that the config file would replace by a variable. */
const LITERAL = ['literal $', '{HOME}'].join('')
const OTHER = 'sk-another-secret-of-the-tests-4Kp2'

/** Answers the list of models and requests for a chat. */
const answering: Script = (response, { url }) =>
  response
    .setHeader('content-type', 'application/json')
    .end(JSON.stringify(url.endsWith('/models') ? { data: [{ id: 'm' }, { id: 'big' }] } : ANSWER))

async function open(channels = [] as ReturnType<typeof channelAt>[], script = answering) {
  const upstream = await FakeUpstream.open(script)
  closing.push(() => upstream.close())
  const admin = await AdminServer.open(channels, { usage: { retention: 86_400_000 } })
  closing.push(() => admin.close())
  admin.secrets.push(SECRET, OTHER)
  const config = {
    ...{ name: 'mine', provider: 'custom', base_url: `${upstream.address}/v1`, formats: ['chat'] },
    ...{ key: SECRET, models: { m: 'upstream-m' } },
  }
  return { admin, upstream, config }
}

const ask = (admin: AdminServer) => admin.testServer.ask(CHAT_PATH, ASK)

it('are in use at once, shown without their secrets, changed and deleted', async () => {
  const { admin, upstream, config } = await open()
  expect((await ask(admin)).status).toBe(404)
  const created = await admin.post('/channels', {
    ...config,
    timeout: { first_byte: '30s' },
    headers: { 'x-team': OTHER },
  })
  expect(created.status).toBe(201)
  expect(created.headers['location']).toBe('/admin/v1/channels/mine')
  expect(created.json).toMatchObject({
    ...{ name: 'mine', source: 'store', state: 'ok', models: { m: 'upstream-m' } },
    stored: { created_at: expect.any(String), updated_at: expect.any(String) },
    config: {
      key: { secret: expect.any(String), last_four: '9Qz7' },
      headers: { 'x-team': { secret: expect.any(String), last_four: '4Kp2' } },
      timeout: { first_byte: '30s' },
    },
  })
  expect((await ask(admin)).status).toBe(200)
  expect(upstream.seen.at(-1)!.headers).toMatchObject({ authorization: `Bearer ${SECRET}`, 'x-team': OTHER })

  const { config: shown } = (await admin.get('/channels/mine')).json
  const changed = await admin.patch('/channels/mine', { ...shown, models: ['m'], headers: null })
  expect(changed.json).toMatchObject({ models: { m: 'm' }, config: { key: shown.key } })
  expect(changed.json.config).not.toHaveProperty('headers')
  expect((await ask(admin)).status).toBe(200)
  expect(upstream.seen.at(-1)!.headers['authorization']).toBe(`Bearer ${SECRET}`)
  expect(JSON.parse(upstream.seen.at(-1)!.text)).toMatchObject({ model: 'm' })

  await admin.patch('/channels/mine', { key: OTHER })
  await ask(admin)
  expect(upstream.seen.at(-1)!.headers['authorization']).toBe(`Bearer ${OTHER}`)
  expect((await admin.delete('/channels/mine')).status).toBe(204)
  expect((await ask(admin)).status).toBe(404)
  expect((await admin.delete('/channels/mine')).status).toBe(404)
  expect((await admin.get('/channels/mine')).status).toBe(404)

  const { data } = (await admin.get('/audit?kind=channel&target=mine')).json
  expect(data.map(({ action }: { action: string }) => action)).toEqual([
    ...['deleteChannel', 'changeChannel', 'changeChannel', 'createChannel'],
  ])
  expect(data[1].changes).toEqual([
    { field: 'key', from: `secret ${shown.key.secret}`, to: expect.stringMatching(/^secret [0-9a-f]{8}$/) },
  ])
})

it('have the faults of the config file, with their paths', async () => {
  const { admin, config } = await open()
  const faultsOf = async (body: object) =>
    (await admin.post('/channels', body)).json.errors.map((one: object) => Object.values(one))
  expect(await faultsOf({ ...config, priorty: 1 })).toEqual([['/priorty', 'unknown key; did you mean "priority"?']])
  expect(await faultsOf({ ...config, formats: ['chat', 'chatt'] })).toEqual([
    ['/formats/1', 'unknown format "chatt"; did you mean "chat"?'],
  ])
  expect(await faultsOf({ ...config, provider: 'opnai', key: SECRET })).toEqual([
    ['/provider', 'unknown provider "opnai"; did you mean "openai"?'],
  ])
  expect(await faultsOf({ ...config, name: undefined })).toEqual([['/name', 'is missing']])
  expect(await faultsOf({ ...config, name: '..' })).toEqual([['/name', 'cannot be used in a URL path']])
  expect(await faultsOf({ ...config, key: { secret: '12345678', last_four: '' } })).toEqual([
    ['/key', 'refers to a secret that is not stored'],
  ])
  expect(await faultsOf({ ...config, folder: '/etc' })).toEqual([
    ['/folder', expect.stringContaining('file on the server')],
  ])
  expect((await admin.post('/channels', config)).status).toBe(201)
  expect((await admin.post('/channels', config)).json.type).toBe('urn:interlingua:problem:name-taken')
  const renamed = await admin.patch('/channels/mine', { name: 'other' })
  expect(renamed.json.errors).toMatchObject([{ pointer: '/name' }])
})

it('do not replace those of the file, which are read-only', async () => {
  const { admin, config } = await open([channelAt(await deadAddress(), { name: 'fixed' })])
  const problem = async (answer: Promise<{ json: { type: string } }>) => (await answer).json.type.split(':').at(-1)
  expect(await problem(admin.post('/channels', { ...config, name: 'fixed' }))).toBe('name-taken')
  expect(await problem(admin.patch('/channels/fixed', { weight: 2 }))).toBe('read-only')
  expect(await problem(admin.delete('/channels/fixed'))).toBe('read-only')
  expect(await problem(admin.get('/channels/fixed/yaml') as never)).toBe('read-only')
  await admin.post('/channels', config)
  const { data } = (await admin.get('/channels')).json
  expect(data).toMatchObject([
    { name: 'fixed', source: 'config' },
    { name: 'mine', source: 'store' },
  ])
  expect(data[0]).not.toHaveProperty('stored')
})

describe('a stored secret', () => {
  it('goes to no other address', async () => {
    const { admin, config } = await open()
    await admin.post('/channels', config)
    for (const moved of [
      { base_url: 'http://127.0.0.1:1/v1' },
      { proxy: 'http://127.0.0.1:1' },
      { provider: 'openai' },
    ])
      expect((await admin.patch('/channels/mine', moved)).json.errors).toMatchObject([
        { pointer: '/key', detail: expect.stringContaining('must be given again') },
      ])
    const shown = (await admin.get('/channels/mine')).json.config
    const draft = { config: { ...shown, base_url: 'http://127.0.0.1:1/v1' }, stored: 'mine' }
    expect((await admin.post('/channels/test', draft)).json.errors).toMatchObject([{ pointer: '/config/key' }])
    expect((await admin.patch('/channels/mine', { base_url: 'http://127.0.0.1:1/v1', key: OTHER })).status).toBe(200)
  })

  it('of the machine goes only to the own address of the provider', async () => {
    const { admin } = await open()
    process.env['GROQ_API_KEY'] = OTHER
    closing.push(() => delete process.env['GROQ_API_KEY'])
    const channel = { name: 'groq', provider: 'groq', models: ['m'] }
    const refused = await admin.post('/channels', { ...channel, base_url: 'http://127.0.0.1:1' })
    expect(refused.json.errors).toMatchObject([{ pointer: '/key', detail: expect.stringContaining('environment') }])
    const auth = { type: 'google-metadata', host: '127.0.0.1:1' }
    const other = { name: 'vertex', provider: 'vertex', project: 'p', region: 'global', models: ['m'], auth }
    expect((await admin.post('/channels', other)).json.errors).toMatchObject([{ pointer: '/auth/type' }])
    expect((await admin.post('/channels', channel)).status).toBe(201)
  })
})

it('are tested before they are stored, with what they can do', async () => {
  const { admin, upstream, config } = await open()
  const tested = (await admin.post('/channels/test', { config: { ...config, models: ['m', 'absent'] } })).json
  expect(tested).toMatchObject({
    ...{ ok: true, work: 'conversation', model: 'm', models: ['big', 'm'], model_count: 2 },
    does: expect.arrayContaining(['conversation']),
    variables: ['MINE_KEY'],
    yaml: expect.stringContaining('key: ${MINE_KEY}'),
  })
  expect(tested.findings).toMatchObject([
    { level: 'ok', subject: 'answer' },
    { level: 'warning', subject: 'models', text: 'the upstream does not list absent' },
  ])
  expect((await admin.get('/channels')).json.data).toEqual([])
  upstream.script = response => response.writeHead(401).end(`{"error":{"message":"bad key ${SECRET}"}}`)
  const refused = (await admin.post('/channels/test', { config })).json
  expect(refused).toMatchObject({ ok: false, status: 401 })
  expect(refused.findings[0]).toMatchObject({ level: 'fault', remedy: expect.stringContaining('key') })
})

it('are text for the config file, which makes the same channel', async () => {
  const { admin, config } = await open()
  await admin.post('/channels', {
    ...config,
    headers: { 'x-a': LITERAL },
    keys: [OTHER, { key: SECRET, weight: 2 }],
    key: undefined,
  })
  const { yaml, variables } = (await admin.get('/channels/mine/yaml')).json
  expect(variables).toEqual(['MINE_HEADER_X_A', 'MINE_KEY_1', 'MINE_KEY_2'])
  const env = { MINE_HEADER_X_A: LITERAL, MINE_KEY_1: OTHER, MINE_KEY_2: SECRET }
  const { channels } = readConfig(yaml, env)
  expect(channels[0]).toMatchObject({ name: 'mine', key: OTHER, formats: [{ headers: { 'x-a': LITERAL } }] })
  expect(channels[0]!.keys).toMatchObject([{ key: OTHER }, { key: SECRET, weight: 2 }])
})
