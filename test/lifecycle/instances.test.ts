import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import type { ChannelConfig, StoreConfig } from '../../src/config/index.ts'
import { ALONE, channelAt, configOf } from '../builders/config.ts'
import { inStore } from '../builders/engines.ts'
import { TestServer } from '../builders/gateway.ts'
import { freshDatabase, noPostgres } from '../builders/postgres.ts'
import { FakeUpstream } from '../builders/upstream.ts'
import { scratch } from '../gateway/stored/test-server.ts'
import { ASKED, CALL, history, THINKS, Thinker, TOOLS } from '../thoughts/test-server.ts'

/* Two instances with one store and separate folders share everything that they create. */

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

function folder(): string {
  const { path, drop } = scratch()
  closing.push(drop)
  return path
}

const ENGINES = [
  {
    name: 'SQLite',
    missing: undefined,
    store: async (): Promise<StoreConfig> => ({ engine: 'sqlite', path: join(folder(), 'interlingua.sqlite') }),
  },
  {
    name: 'PostgreSQL',
    missing: noPostgres,
    async store(): Promise<StoreConfig> {
      const { url, drop } = await freshDatabase()
      closing.push(drop)
      return { engine: 'postgres', url }
    },
  },
]

async function instance(store: StoreConfig, channels: readonly ChannelConfig[]): Promise<TestServer> {
  const { server } = configOf(channels)
  const config = { store, server: { ...server, ...ALONE, workers: 2 } }
  const testServer = await TestServer.open(channels, { keep: folder(), config })
  closing.push(() => testServer.server.close(0))
  return testServer
}

async function upstreamOf(answer: object): Promise<FakeUpstream> {
  const upstream = await FakeUpstream.open(response =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer)),
  )
  closing.push(() => upstream.close())
  return upstream
}

for (const { name, missing, store } of ENGINES)
  describe.skipIf(missing !== undefined)(`two instances over ${name}`, () => {
    test('send the same picture, whoever kept it, also once that one has ended', async () => {
      const picture = Buffer.alloc(700_000, 'a picture')
      const upstream = await upstreamOf({ created: 1, data: [{ b64_json: picture.toString('base64') }] })
      const at = await store()
      const channels = [channelAt(upstream.address, { format: 'images' })]
      const [one, two, three] = [
        await instance(at, channels),
        await instance(at, channels),
        await instance(at, channels),
      ]
      const made = await one.ask('/v1/images/generations', { model: 'm', prompt: 'a', response_format: 'url' })
      expect(made.headers['interlingua-loss']).toBeUndefined()
      const { pathname } = new URL(made.json.data[0].url)
      const load = (from: TestServer, method: string) => fetch(`${from.server.address}${pathname}`, { method })
      const head = await load(two, 'HEAD')
      expect([head.status, head.headers.get('content-length')]).toEqual([200, '700000'])
      await one.server.close(0)
      for (const from of [two, three]) {
        const answer = await load(from, 'GET')
        expect([answer.status, Buffer.from(await answer.arrayBuffer()).equals(picture)]).toEqual([200, true])
      }
      const unknown = await fetch(`${two.server.address}/v1/images/files/${'x'.repeat(43)}`)
      expect(unknown.status).toBe(404)
    })

    test('have one client secret open one session, at whichever it comes to first', async () => {
      const at = await store()
      const channels = [channelAt('http://127.0.0.1:1', { format: 'realtime' })]
      const [one, two] = [await instance(at, channels), await instance(at, channels)]
      const made = await one.ask('/v1/realtime/client_secrets', { session: { type: 'realtime', model: 'm' } })
      expect(made.status, made.text).toBe(200)
      const open = (from: TestServer, value: string) =>
        new Promise<number>(resolve => {
          const socket = new WebSocket(`${from.server.address.replace('http', 'ws')}/v1/realtime`, {
            headers: { authorization: `Bearer ${value}` },
          })
          socket.on('error', () => {}).on('unexpected-response', (_, { statusCode }) => resolve(statusCode!))
        })
      // The upstream cannot be reached. The test only checks who was admitted.
      const statuses = await Promise.all([one, two, one, two].map(from => open(from, made.json.value)))
      expect(statuses.sort()).toEqual([401, 401, 401, 502])
      expect(await open(two, 'ek_unknown')).toBe(401)
    })

    test('open what the other sealed', async () => {
      const upstream = await upstreamOf({
        ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm' },
        choices: [{ index: 0, message: { role: 'assistant', content: 'The secret is 42.' }, finish_reason: 'stop' }],
      })
      const at = await store()
      const [one, two] = [
        await instance(at, [channelAt(upstream.address)]),
        await instance(at, [channelAt(upstream.address)]),
      ]
      const { output } = (await one.ask('/v1/responses/compact', { model: 'm', input: 'We move.' })).json
      expect(output.at(-1).encrypted_content).toMatch(/^il1\./)
      upstream.seen.length = 0
      expect((await two.ask('/v1/responses', { model: 'm', input: output })).status).toBe(200)
      expect(upstream.seen[0]!.text).toContain('The secret is 42.')
      // A stored turn with encrypted state is continued by an instance that has decrypted none yet.
      const three = await instance(at, [channelAt(upstream.address)])
      const { id } = (await two.ask('/v1/responses', { model: 'm', input: output })).json
      upstream.seen.length = 0
      const next = await three.ask('/v1/responses', { model: 'm', input: 'And?', previous_response_id: id })
      expect(next.status, next.text).toBe(200)
      expect(upstream.seen[0]!.text).toContain('The secret is 42.')
    })

    test('put back what the other remembers', async () => {
      const thinker = await Thinker.open('messages')
      closing.push(() => thinker.upstream.close())
      const at = await store()
      const [one, two] = [await instance(at, [thinker.channel()]), await instance(at, [thinker.channel()])]
      const chat = (from: TestServer, messages: readonly object[]) =>
        from.ask('/v1/chat/completions', { model: 'm', messages, tools: TOOLS })
      thinker.scenes = [THINKS]
      await chat(one, [ASKED])
      await expect.poll(() => inStore(at, 'select * from thought_names')).not.toEqual([])
      expect((await chat(two, history(CALL))).status).toBe(200)
      expect(thinker.proofs).toHaveLength(1)
      expect([one, two].flatMap(({ lines }) => lines.filter(({ level }) => level === 'error'))).toEqual([])
    })
  })

const NOWHERE: StoreConfig = { engine: 'sqlite', path: '/dev/null/interlingua.sqlite' }

test('what cannot be stored where others may be asked for it comes as bytes, and nothing is answered by half', async () => {
  const b64_json = Buffer.from('a picture').toString('base64')
  const upstream = await upstreamOf({ created: 1, data: [{ b64_json }] })
  const channels = [channelAt(upstream.address, { format: 'images' })]
  const one = await instance(NOWHERE, channels)
  const made = await one.ask('/v1/images/generations', { model: 'm', prompt: 'a', response_format: 'url' })
  expect([made.status, made.json.data]).toEqual([200, [{ b64_json }]])
  expect(made.headers['interlingua-loss']).toContain('image-not-kept')
  const two = await instance(NOWHERE, [channelAt('http://127.0.0.1:1', { format: 'realtime' })])
  const refused = await two.ask('/v1/realtime/client_secrets', { session: { type: 'realtime', model: 'm' } })
  expect([refused.status, refused.json.error.code]).toEqual([503, 'store_unavailable'])
})

test('looking for what is not there makes no store', async () => {
  const path = join(folder(), 'interlingua.sqlite')
  const one = await instance({ engine: 'sqlite', path }, [])
  const headers = { authorization: 'Bearer ek_unknown' }
  expect((await one.ask(`/v1/images/files/${'x'.repeat(43)}`, undefined, { method: 'GET' })).status).toBe(404)
  const upgrade = { ...headers, connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' }
  const key = { 'sec-websocket-key': Buffer.alloc(16).toString('base64') }
  const refused = await one.ask('/v1/realtime', undefined, { method: 'GET', headers: { ...upgrade, ...key } })
  expect([refused.status, refused.json.error.code]).toEqual([401, 'invalid_client_secret'])
  expect(existsSync(path)).toBe(false)
})
