import { globSync, readFileSync } from 'node:fs'
import { expect, it, vi } from 'vitest'
import type { Config } from '../../../src/config/index.ts'
import { AdminServer } from '../../builders/admin.ts'
import { ANSWER, ASK } from '../../builders/chat.ts'
import { closingAfterEach } from '../../builders/closing.ts'
import { channelAt } from '../../builders/config.ts'
import { ON_FILES } from '../../builders/engines.ts'
import { TestServer } from '../../builders/gateway.ts'
import { CHAT_PATH } from '../../builders/paths.ts'
import { FakeUpstream, type Script } from '../../builders/upstream.ts'

const closing = closingAfterEach()
const SECRET = 'sk-planted-in-the-store-7Hn3Wq9Z'
const WITHIN = { timeout: 1000, interval: 20 }
const OLD = 'an old secret of thirty-two characters'
const NEW = 'a new secret of more than thirty-two characters'

const answering: Script = (response, { url }) =>
  response
    .setHeader('content-type', 'application/json')
    .end(JSON.stringify(url.endsWith('/models') ? { data: [{ id: 'm' }] } : ANSWER))

async function open(config: Partial<Config> = {}) {
  const upstream = await FakeUpstream.open(answering)
  closing.push(() => upstream.close())
  const admin = await AdminServer.open([], config)
  closing.push(() => admin.close())
  admin.secrets.push(SECRET)
  const channel = {
    ...{ name: 'mine', provider: 'custom', base_url: `${upstream.address}/v1`, formats: ['chat'] },
    ...{ key: SECRET, models: ['m'] },
  }
  return { admin, upstream, channel }
}

/** Opens another gateway on the store, as another machine would. */
async function another(admin: AdminServer, config: Partial<Config> = {}): Promise<TestServer> {
  const other = await TestServer.open([], { keep: admin.path, config })
  closing.push(() => other.server.close(0))
  return other
}

const statusAt = async (at: TestServer): Promise<number> => (await at.ask(CHAT_PATH, ASK)).status

it('a change is in effect at another instance within a second, without a notice', async () => {
  const { admin, upstream, channel } = await open()
  const other = await another(admin)
  expect(await statusAt(other)).toBe(404)
  await admin.post('/channels', channel)
  await vi.waitFor(async () => expect(await statusAt(other)).toBe(200), WITHIN)
  expect(upstream.seen.at(-1)!.headers['authorization']).toBe(`Bearer ${SECRET}`)
  await admin.post('/channels/mine/drain')
  await vi.waitFor(async () => expect(await statusAt(other)).toBe(503), WITHIN)
  await admin.post('/channels/mine/resume')
  await vi.waitFor(async () => expect(await statusAt(other)).toBe(200), WITHIN)
  await admin.put('/model-settings/other', { fallbacks: ['m'], name: 'Other' })
  const fallback = () => other.ask(CHAT_PATH, { ...ASK, model: 'other' })
  await vi.waitFor(async () => expect((await fallback()).status).toBe(200), WITHIN)
  await admin.delete('/channels/mine')
  await vi.waitFor(async () => expect(await statusAt(other)).toBe(404), WITHIN)
})

it('a request that runs ends on the channel that it began with', async () => {
  const { admin, upstream, channel } = await open()
  const second = await FakeUpstream.open(answering)
  closing.push(() => second.close())
  await admin.post('/channels', channel)
  const held = Promise.withResolvers<void>()
  upstream.script = async response => {
    await held.promise
    response.setHeader('content-type', 'application/json').end(JSON.stringify(ANSWER))
  }
  const running = admin.testServer.ask(CHAT_PATH, ASK)
  await vi.waitFor(() => expect(upstream.seen).toHaveLength(1))
  await admin.patch('/channels/mine', { base_url: `${second.address}/v1`, key: SECRET })
  expect(await statusAt(admin.testServer)).toBe(200)
  expect(second.seen).toHaveLength(1)
  await admin.delete('/channels/mine')
  held.resolve()
  expect((await running).status).toBe(200)
  expect(upstream.seen[0]!.brokenAt).toBeUndefined()
})

it('a secret is in no byte of the store, of the log and of any answer, also of captured requests', async () => {
  const { admin, upstream, channel } = await open({ usage: { retention: 86_400_000 } })
  await admin.post('/channels', { ...channel, headers: { 'x-team': `team ${SECRET}` } })
  const caller = (await admin.post('/keys', { name: 'watched', capture: '1h' })).json
  const headers = { authorization: `Bearer ${caller.secret}` }
  upstream.script = (response, seen) =>
    response
      .writeHead(400, { 'content-type': 'application/json' })
      .end(JSON.stringify({ error: { message: `not with ${SECRET}`, seen: seen.headers } }))
  const { headers: sent, text } = await admin.testServer.ask(CHAT_PATH, ASK, { headers })
  expect(upstream.seen.at(-1)!.headers).toMatchObject({ authorization: `Bearer ${SECRET}`, 'x-team': `team ${SECRET}` })
  expect(text).not.toContain(SECRET)
  await vi.waitFor(async () => expect((await admin.get(`/requests/${sent['x-request-id']}/capture`)).status).toBe(200))
  await admin.post('/channels/mine/test')
  await admin.get('/channels')
  await admin.get('/audit')
  expect(JSON.stringify(admin.testServer.lines)).not.toContain(SECRET)
  expect(JSON.stringify(await admin.store.config.entries())).not.toContain(SECRET)
  const files = globSync(`${admin.path}/**/*`, { withFileTypes: true }).filter(one => one.isFile())
  expect(files.some(({ name }) => name.endsWith('.sqlite'))).toBe(ON_FILES)
  for (const { parentPath, name } of files) {
    const bytes = readFileSync(`${parentPath}/${name}`)
    expect(bytes.includes(SECRET), name).toBe(false)
    expect(bytes.includes(Buffer.from(SECRET).toString('base64').slice(0, -4)), name).toBe(false)
  }
})

it('a store of another secret makes its channels unusable, says so, and the gateway starts', async () => {
  const { admin, channel } = await open({ secrets: { key: OLD, previous: [] } })
  await admin.post('/channels', channel)
  await admin.post('/channels', { ...channel, name: 'keyless', key: 'none' })
  const foreign = await another(admin, { secrets: { key: NEW, previous: [] } })
  expect(await statusAt(foreign)).toBe(200)
  const faults = foreign.lines.filter(({ message }) => message.startsWith('a stored config entry'))
  expect(faults.map(({ fields }) => fields['fault'])).toEqual([
    expect.stringMatching(
      /^channel mine: its secrets were encrypted with another secret \(key [0-9a-f]{8}\); enter them/,
    ),
  ])
  const list = await foreign.ask('/admin/v1/channels', undefined, {
    ...{ method: 'GET', headers: { authorization: `Bearer ${admin.token}` } },
  })
  expect(list.json.data).toMatchObject([
    { name: 'keyless', state: 'ok' },
    { name: 'mine', state: 'unusable', stored: { faults: [{ path: '', message: expect.any(String) }] } },
  ])
  const rotated = await another(admin, { secrets: { key: NEW, previous: [OLD] } })
  expect(rotated.lines.filter(({ message }) => message.startsWith('a stored config entry'))).toEqual([])
})

it('the credentials given again to an unusable channel are encrypted with the current secret', async () => {
  const { admin, upstream, channel } = await open({ secrets: { key: OLD, previous: [] } })
  await admin.post('/channels', channel)
  const other = await another(admin, { secrets: { key: NEW, previous: [] } })
  const headers = { authorization: `Bearer ${admin.token}` }
  const changed = await other.ask('/admin/v1/channels/mine', { key: `${SECRET}-2` }, { method: 'PATCH', headers })
  expect(changed.json).toMatchObject({ state: 'ok', config: { key: { last_four: '9Z-2' } } })
  expect(await statusAt(other)).toBe(200)
  expect(upstream.seen.at(-1)!.headers['authorization']).toBe(`Bearer ${SECRET}-2`)
  await vi.waitFor(async () => expect((await admin.get('/channels/mine')).json.state).toBe('unusable'), WITHIN)
})

it('a channel of a reloaded file hides the stored one of its name, which returns with the next file', async () => {
  const { admin, channel } = await open()
  await admin.post('/channels', channel)
  const fixed = await FakeUpstream.open(answering)
  closing.push(() => fixed.close())
  const { config } = admin.testServer.server
  const file = { ...config, channels: [channelAt(fixed.address, { name: 'mine' })] }
  admin.testServer.server.reload(file)
  expect(await statusAt(admin.testServer)).toBe(200)
  expect(fixed.seen).toHaveLength(1)
  expect((await admin.get('/channels')).json.data).toMatchObject([
    { name: 'mine', source: 'config', stored: { shadowed: true } },
  ])
  admin.testServer.server.reload({ ...config, channels: [] })
  expect((await admin.get('/channels')).json.data).toMatchObject([{ name: 'mine', source: 'store' }])
  admin.testServer.server.reload(file)
  expect((await admin.delete('/channels/mine')).status).toBe(204)
  expect((await admin.get('/channels')).json.data[0]).not.toHaveProperty('stored')
})
