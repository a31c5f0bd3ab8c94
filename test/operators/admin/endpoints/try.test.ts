import { expect, it } from 'vitest'
import { AdminServer } from '../../../builders/admin.ts'
import { ASK, events, HEAD, hello, STREAM, words } from '../../../builders/chat.ts'
import { closingAfterEach } from '../../../builders/closing.ts'
import { channelAt } from '../../../builders/config.ts'
import { addUser, SignedIn } from '../../../builders/console.ts'
import { textOf } from '../../../builders/http.ts'
import { FakeUpstream, type Script } from '../../../builders/upstream.ts'

const closing = closingAfterEach()

async function open(script: Script = hello) {
  const upstream = await FakeUpstream.open(script)
  const admin = await AdminServer.open([channelAt(upstream.address, { name: 'one' })], {
    usage: { retention: 86_400_000 },
  })
  closing.push(() => upstream.close())
  closing.push(() => admin.close())
  let keys = 0
  const keyOf = async (fields: object = {}) => (await admin.post('/keys', { name: `app${keys++}`, ...fields })).json
  return { admin, upstream, keyOf }
}

/** Sends a trial request without reading its answer. */
const send = ({ testServer, token }: AdminServer, body: object) =>
  testServer.send('/admin/v1/try', body, {
    headers: { authorization: `Bearer ${token}`, 'x-forwarded-for': '1.2.3.4' },
  })

it('is answered as the endpoint answers the key, and counts as the key’s usage', async () => {
  const { admin, upstream, keyOf } = await open()
  const { id } = await keyOf()
  const answer = await admin.post('/try', { key: id, format: 'messages', body: { ...ASK, max_tokens: 5 } })
  expect(answer.headers['x-interlingua-status']).toBe('200')
  expect(answer.json).toMatchObject({ type: 'message', content: [{ type: 'text', text: 'Hello.' }] })
  expect(upstream.seen[0]!.headers.authorization).toBe('Bearer upstream-key-1234')
  expect(JSON.stringify(upstream.seen[0]!.headers)).not.toContain(admin.token)
  await expect
    .poll(async () => (await admin.get(`/requests/${answer.headers['x-request-id']}`)).json)
    .toMatchObject({ key: id, key_name: 'app0', door: '/v1/messages', status: 200, input_tokens: 5, output_tokens: 2 })
})

it('has the permissions and the limits of the key', async () => {
  const { admin, upstream, keyOf } = await open()
  const status = async (key: string, format = 'chat') =>
    (await admin.post('/try', { key, format, body: { ...ASK, max_tokens: 5 } })).headers['x-interlingua-status']
  expect(await status((await keyOf({ models: ['other'] })).id)).toBe('403')
  expect(await status((await keyOf({ doors: ['messages'] })).id)).toBe('403')
  const { id } = await keyOf({ rpm: 1 })
  expect([await status(id), await status(id)]).toEqual(['200', '429'])
  await admin.delete(`/keys/${id}`)
  expect((await admin.post('/try', { key: id, format: 'chat', body: ASK })).status).toBe(400)
  expect(upstream.seen).toHaveLength(1)
})

it('streams the bytes as they come, and ends at the upstream when its caller leaves', async () => {
  const { admin, upstream, keyOf } = await open(response => void events(response).write(`${HEAD}${words('Hel')}`))
  const { id } = await keyOf()
  const { out, answer } = send(admin, { key: id, format: 'chat', body: STREAM })
  expect((await answer).headers['content-type']).toBe('text/event-stream; charset=utf-8')
  const message = await answer
  const first = await new Promise<Buffer>(resolve => message.once('data', resolve))
  expect(first.toString()).toContain('"content":"')
  out.destroy()
  await expect.poll(() => upstream.seen[0]!.brokenAt).toBeDefined()
})

it('passes a whole stream on unchanged', async () => {
  const { admin, keyOf } = await open()
  const { id, secret } = await keyOf()
  const tried = await textOf(await send(admin, { key: id, format: 'chat', body: STREAM }).answer)
  const headers = { authorization: `Bearer ${secret}` }
  const asked = await admin.testServer.ask('/v1/chat/completions', STREAM, { headers })
  expect(tried).toBe(asked.text)
  expect(tried).toContain('data: [DONE]')
})

it('takes the paths of its format, and no other', async () => {
  const { admin, keyOf } = await open()
  const key = (await keyOf()).id
  const contents = { contents: [{ parts: [{ text: 'Hi' }] }] }
  const path = '/v1beta/models/m:streamGenerateContent?alt=sse'
  const answer = await admin.testServer.ask(
    '/admin/v1/try',
    { key, format: 'contents', path, body: contents },
    { headers: { authorization: `Bearer ${admin.token}` } },
  )
  expect(answer.headers['content-type']).toContain('text/event-stream')
  expect(answer.text).toContain('"text":"Hel')
  const wrong = async (body: object) => (await admin.post('/try', { key, body: ASK, ...body })).json.detail
  expect(await wrong({ format: 'chat', path: '/v1/messages' })).toBe('/path: is not a path of chat')
  expect(await wrong({ format: 'chat', path: '//evil.test/v1/chat/completions/x' })).toBe(
    '/path: is not a path of chat',
  )
  for (const path of ['//', '///', '//evil.test/v1/chat/completions', '//[/v1/chat/completions', '/\\\\evil.test'])
    expect(await wrong({ format: 'chat', path }), path).toBe('/path: is not a path of chat')
  expect(await wrong({ format: 'contents' })).toContain('/path: is missing')
  expect(await wrong({ format: 'transcriptions' })).toContain('/path: requires a form')
  expect(await wrong({ format: 'chat', key: 'nobody' })).toBe('/key: there is no valid key with this id')
  expect(await wrong({ format: 'chat', path: 'http://x' })).toContain('/path')
})

it('is not for viewers', async () => {
  const { admin, upstream, keyOf } = await open()
  await addUser(admin.store, 'vic', { role: 'viewer' })
  const vic = await SignedIn.at(admin.testServer, 'vic')
  const body = { key: (await keyOf()).id, format: 'chat', body: ASK }
  expect((await vic.ask('POST', '/try', body)).status).toBe(403)
  expect(upstream.seen).toHaveLength(0)
})
