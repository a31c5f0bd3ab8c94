import { expect, it } from 'vitest'
import { AdminServer } from '../../../builders/admin.ts'
import { ANSWER, ASK } from '../../../builders/chat.ts'
import { closingAfterEach } from '../../../builders/closing.ts'
import { type ChannelFields, channelAt } from '../../../builders/config.ts'
import { TestServer } from '../../../builders/gateway.ts'
import { CHAT_PATH } from '../../../builders/paths.ts'
import { TIMED } from '../../../builders/time.ts'
import { deadAddress, FakeUpstream, type Script } from '../../../builders/upstream.ts'

const closing = closingAfterEach()
const ANSWERING: Script = response => response.setHeader('content-type', 'application/json').end(JSON.stringify(ANSWER))

async function open(rows: readonly (ChannelFields & { script: Script })[]) {
  const upstreams = await Promise.all(rows.map(({ script }) => FakeUpstream.open(script)))
  for (const upstream of upstreams) closing.push(() => upstream.close())
  const channels = rows.map(({ script: _, ...fields }, at) => channelAt(upstreams[at]!.address, fields))
  const admin = await AdminServer.open(channels)
  closing.push(() => admin.close())
  return { admin, upstreams }
}

it('count requests and errors, and show the last errors without credentials', async () => {
  const failing: Script = response =>
    response
      .writeHead(429, { 'content-type': 'application/json' })
      .end(JSON.stringify({ error: { message: 'Slow down, upstream-key-1234', type: 'rate_limit', code: null } }))
  const { admin } = await open([
    { name: 'bad', priority: 0, script: failing },
    { name: 'good', priority: 1, script: ANSWERING },
  ])
  for (let index = 0; index < 3; index++) await admin.testServer.ask(CHAT_PATH, ASK)
  const { data } = (await admin.get('/channels')).json
  expect(data).toMatchObject([
    { name: 'bad', state: 'failing', last_5_minutes: { requests: 1, errors: 1, error_rate: 1 } },
    { name: 'good', state: 'ok', last_60_minutes: { requests: 3, errors: 0, error_rate: 0 } },
  ])
  expect(data[0].resting_models).toEqual([{ model: 'm', until: expect.any(String) }])
  expect(data[0].last_errors).toMatchObject([{ kind: 'rate-limited', status: 429, model: 'm' }])
  expect(data[0].last_errors[0].message).toContain('Slow down')
  const models = (await admin.get('/models')).json.data
  expect(models).toMatchObject([
    {
      id: 'm',
      native: ['chat'],
      channels: [
        { name: 'bad', state: 'failing' },
        { name: 'good', state: 'ok' },
      ],
    },
  ])
  expect(models[0].translated).toEqual(expect.arrayContaining(['messages', 'responses', 'contents']))
  expect(models[0].translated).not.toContain('videos')
})

it('get no request while they are drained, and say so', async () => {
  const { admin, upstreams } = await open([
    { name: 'first', priority: 0, script: ANSWERING },
    { name: 'second', priority: 1, script: ANSWERING },
  ])
  expect((await admin.post('/channels/first/drain')).json.state).toBe('drained')
  expect((await admin.testServer.ask(CHAT_PATH, ASK)).status).toBe(200)
  expect(upstreams.map(({ seen }) => seen.length)).toEqual([0, 1])
  await admin.post('/channels/second/drain')
  const refused = await admin.testServer.ask(CHAT_PATH, ASK)
  expect([refused.status, refused.headers['retry-after']]).toEqual([503, '60'])
  expect((await admin.post('/channels/first/resume')).json.state).toBe('ok')
  expect((await admin.testServer.ask(CHAT_PATH, ASK)).status).toBe(200)
  expect(upstreams.map(({ seen }) => seen.length)).toEqual([1, 1])
})

it('get no request while they are drained at another instance, within a second', TIMED, async () => {
  const { admin, upstreams } = await open([{ name: 'one', script: ANSWERING }])
  const other = await TestServer.open([channelAt(upstreams[0]!.address, { name: 'one' })], { keep: admin.path })
  closing.push(() => other.server.close(0))
  const status = async (): Promise<number> => (await other.ask(CHAT_PATH, ASK)).status
  expect(await status()).toBe(200)
  await admin.post('/channels/one/drain')
  await expect.poll(status, { timeout: 1000, interval: 20 }).toBe(503)
  await admin.post('/channels/one/resume')
  await expect.poll(status, { timeout: 1000, interval: 20 }).toBe(200)
})

it('are full where as many requests run as they may have', async () => {
  const { admin } = await open([{ name: 'one', maxConcurrent: 1, script: () => {} }])
  const { out } = admin.testServer.send(CHAT_PATH, ASK)
  out.on('error', () => {})
  await expect.poll(async () => (await admin.get('/channels/one')).json.state).toBe('full')
  expect((await admin.get('/channels/one')).json).toMatchObject({ in_flight: 1, max_concurrent: 1 })
  out.destroy()
  await expect.poll(async () => (await admin.get('/channels/one')).json.in_flight).toBe(0)
})

it('are tested by one token, also where they are drained', async () => {
  const { admin, upstreams } = await open([{ name: 'one', script: ANSWERING }])
  await admin.post('/channels/one/drain')
  expect((await admin.post('/channels/one/test')).json).toMatchObject({
    ...{ ok: true, work: 'conversation', model: 'm', format: 'chat', text: 'Hello.' },
  })
  const { headers, text } = upstreams[0]!.seen[1]!
  expect(headers.authorization).toBe('Bearer upstream-key-1234')
  expect(JSON.parse(text)).toMatchObject({ model: 'm', max_completion_tokens: 1 })
  expect((await admin.post('/channels/one/test', { model: 'other' })).json.status).toBe(404)
})

it('tell what went wrong in a test', async () => {
  const refusing: Script = response =>
    response
      .writeHead(401, { 'content-type': 'application/json' })
      .end(JSON.stringify({ error: { message: 'Invalid key upstream-key-1234' } }))
  const { admin } = await open([{ name: 'one', script: refusing }])
  expect((await admin.post('/channels/one/test')).json).toMatchObject({
    ...{ ok: false, status: 401, error: { kind: 'unauthenticated', message: expect.stringContaining('Invalid key') } },
  })
  const dead = await AdminServer.open([channelAt(await deadAddress(), { name: 'dead' })])
  closing.push(() => dead.close())
  expect((await dead.post('/channels/dead/test')).json).toMatchObject({ ok: false, error: { kind: 'unreachable' } })
})

it('that do other work are asked for their models', async () => {
  const listing: Script = (response, { url }) =>
    response
      .writeHead(url.endsWith('/models') ? 200 : 500, { 'content-type': 'application/json' })
      .end(JSON.stringify({ data: [{ id: 'm' }] }))
  const { admin } = await open([{ name: 'one', format: 'speech', script: listing }])
  expect((await admin.post('/channels/one/test')).json).toMatchObject({ ok: true, work: 'listing' })
})

it('are unknown by other names', async () => {
  const { admin } = await open([{ name: 'one', script: ANSWERING }])
  const answers = [await admin.get('/channels/two'), await admin.post('/channels/two/drain')]
  answers.push(await admin.post('/channels/two/resume'), await admin.post('/channels/two/test'))
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404])
})

it('tell what the dialect of each of their formats says', async () => {
  const { admin } = await open([{ name: 'one', dialect: { video: true, count: false, own: 1 }, script: ANSWERING }])
  const { dialects } = (await admin.get('/channels/one')).json
  expect(dialects).toMatchObject([{ format: 'chat', native: true, does: expect.arrayContaining(['conversation']) }])
  expect(dialects[0].flags).toEqual([
    { name: 'video', value: true, meaning: 'takes `video_url` parts' },
    // Flags of another format, and unknown ones.
    { name: 'count', value: false },
    { name: 'own', value: 1 },
  ])
})
