import { expect, test, vi } from 'vitest'
import { channelAt } from '../../builders/config.ts'
import { TestServer } from '../../builders/gateway.ts'
import { createKey, rotateKey, withKeys } from '../../builders/keys.ts'
import { SOON } from '../../builders/time.ts'
import { FakeUpstream } from '../../builders/upstream.ts'
import { scratch } from './test-server.ts'

test('a key whose secret is replaced goes on from its responses and conversations; nobody else does', async () => {
  const dir = scratch()
  const answer = { id: 'r', object: 'response', status: 'completed', output: [], usage: null }
  const upstream = await FakeUpstream.open(response =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer)),
  )
  const first = await withKeys(dir.path, records => createKey(records, 'a'))
  const testServer = await TestServer.open([channelAt(upstream.address, { format: 'responses' })], { keep: dir.path })
  const as = (key: string) => ({ headers: { authorization: `Bearer ${key}` } })
  try {
    const made = await testServer.ask('/v1/responses', { model: 'm', input: 'Hi.', store: true }, as(first))
    expect(made.status).toBe(200)
    const talk = await testServer.ask('/v1/conversations', {}, as(first))
    const second = await withKeys(dir.path, records => rotateKey(records, 'a'))
    await vi.waitFor(
      async () => expect((await testServer.ask('/v1/conversations', {}, as(second))).status).toBe(200),
      SOON,
    )
    for (const url of [`/v1/responses/${made.json.id}`, `/v1/conversations/${talk.json.id}`]) {
      expect((await testServer.ask(url, undefined, { method: 'GET', ...as(second) })).status).toBe(200)
      expect((await testServer.ask(url, undefined, { method: 'GET', ...as(first) })).status).toBe(401)
    }
    const next = { model: 'm', input: 'Go on.', previous_response_id: made.json.id }
    expect((await testServer.ask('/v1/responses', next, as(second))).status).toBe(200)
    const other = await withKeys(dir.path, records => createKey(records, 'b'))
    await vi.waitFor(
      async () => expect((await testServer.ask('/v1/conversations', {}, as(other))).status).toBe(200),
      SOON,
    )
    const url = `/v1/responses/${made.json.id}`
    expect((await testServer.ask(url, undefined, { method: 'GET', ...as(other) })).status).toBe(404)
  } finally {
    await testServer.server.close(0)
    await upstream.close()
    dir.drop()
  }
})
