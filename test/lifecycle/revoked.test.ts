import { describe, expect, test, vi } from 'vitest'
import type { AccessRecords } from '../../src/store/access-records.ts'
import { hello } from '../builders/chat.ts'
import { channelAt } from '../builders/config.ts'
import { GET } from '../builders/http.ts'
import { createKey, rotateKey, withKeys } from '../builders/keys.ts'
import { opener } from '../builders/opener.ts'
import { CHAT_PATH } from '../builders/paths.ts'
import { SOON as SOON_ENOUGH, TIMED, until } from '../builders/time.ts'
import type { Script } from '../builders/upstream.ts'
import { scratch } from '../gateway/stored/test-server.ts'
import { Client } from '../sockets/client.ts'
import { playing, SPOKEN_TURN } from '../voice/sessions.ts'
import { channelTo, ScriptedUpstream } from '../voice/upstream.ts'
import { STREAMED } from './streams.ts'

const { closing, open, openGateway, openUpstream } = opener()
const silent: Script = () => {}

/** Creates a folder of stored keys with one key. */
async function stored() {
  const place = scratch()
  closing.push(place.drop)
  const key = await withKeys(place.path, records => createKey(records, 'it'))
  const change = (work: (records: AccessRecords, id: string) => Promise<unknown>) =>
    withKeys(place.path, async records => work(records, (await records.keyNamed('it'))!.id))
  return { keep: place.path, key, headers: { authorization: `Bearer ${key}` }, change }
}

const ENDED = 'The API key is no longer valid.'
const revoke = (records: AccessRecords, id: string) => records.revokeKey(id, Date.now())

/** Time within which the work of a revoked key has ended, in milliseconds. A change takes effect within a second. */
const SOON = 1500

describe('a key that is revoked', () => {
  test.each(Object.entries(STREAMED))('ends a stream of %s with its error', TIMED, async (_, door) => {
    const { keep, headers, change } = await stored()
    const { testServer, upstream } = await open(door.begins, { keep }, { format: door.format })
    const answer = await testServer.send(door.path, door.body, { headers: { ...door.headers, ...headers } }).answer
    let text = ''
    answer.setEncoding('utf8').on('data', piece => (text += piece))
    await until(() => text.includes(door.begun))
    await change(revoke)
    const began = Date.now()
    await until(() => answer.complete)
    expect(Date.now() - began).toBeLessThan(SOON)
    expect(door.error(text)).toBe(ENDED)
    await until(() => upstream.seen[0]!.brokenAt !== undefined)
    await until(() => testServer.lines.some(({ message }) => message === 'request'))
    expect(testServer.lines.at(-1)!.fields).toMatchObject({ status: 200, error: 'unauthenticated', key: 'it' })
  })

  test.each(Object.entries(STREAMED))(
    'is refused at once at the door of %s, and clients are not to ask again',
    TIMED,
    async (name, door) => {
      const { keep, headers, change } = await stored()
      const { testServer } = await open(door.begins, { keep }, { format: door.format })
      const again = () => testServer.send(door.path, door.body, { headers: { ...door.headers, ...headers } }).answer
      const running = await again()
      let text = ''
      running.setEncoding('utf8').on('data', piece => (text += piece))
      await until(() => text.includes(door.begun))
      await change(revoke)
      await until(() => running.complete)
      const { statusCode, headers: told } = await again()
      expect(statusCode).toBe(401)
      // Claude Code retries a 401 for minutes unless it is told not to (its gateway protocol, 2026). Clients of
      // contents have no such header.
      if (!name.startsWith('contents')) expect(told).toHaveProperty('x-should-retry', 'false')
      expect(told).not.toHaveProperty('retry-after')
    },
  )

  test('ends a request that was not answered, and no other channel is asked', TIMED, async () => {
    const { keep, headers, change } = await stored()
    const [upstream, other] = [await openUpstream(silent), await openUpstream(hello)]
    const channels = [channelAt(upstream.address), channelAt(other.address, { name: 'other', priority: 1 })]
    const testServer = await openGateway(channels, { keep })
    const asked = testServer.ask(CHAT_PATH, STREAMED['chat']!.body, { headers })
    await until(() => upstream.seen.length > 0)
    await change(revoke)
    expect(await asked).toMatchObject({ status: 401, json: { error: { message: ENDED, code: 'invalid_api_key' } } })
    expect(other.seen).toHaveLength(0)
    // The upstream works on, and bills the answer.
    await until(() => testServer.lines.some(({ message }) => message === 'request'))
    const { fields } = testServer.lines.at(-1)!
    expect(fields).toMatchObject({ status: 401, error: 'unauthenticated', estimated: true })
    expect(fields['input_tokens']).toBeGreaterThan(0)
  })

  test('leaves the requests of others alone', TIMED, async () => {
    const { keep, change } = await stored()
    const slow: Script = (response, seen) => void setTimeout(() => hello(response, seen), 1200)
    const { testServer } = await open(slow, { keep })
    const asked = testServer.ask(CHAT_PATH, STREAMED['chat']!.body)
    await change(revoke)
    expect((await asked).status).toBe(200)
  })

  test('ends the turn of a socket and then the socket; one that is silent, too', TIMED, async () => {
    const { keep, headers, change } = await stored()
    const { testServer } = await open(STREAMED['chat']!.begins, { keep })
    const { address } = testServer.server
    const [begun, quiet, other] = [
      await Client.open(address, headers),
      await Client.open(address, headers),
      await Client.open(address),
    ]
    begun.send({ type: 'response.create', model: 'm', input: 'x' })
    await until(() => begun.events.some(({ type }) => type === 'response.output_text.delta'))
    await change(revoke)
    await until(() => begun.closed !== undefined && quiet.closed !== undefined)
    expect([begun.closed, quiet.closed, other.closed]).toEqual([1008, 1008, undefined])
    expect([begun.reason, quiet.reason]).toEqual([ENDED, ENDED])
    const failed = begun.events.find(({ type }) => type === 'response.failed')
    expect(failed).toMatchObject({ response: { error: { message: ENDED } } })
    for (const { events } of [begun, quiet])
      expect(events.at(-1)).toMatchObject({ type: 'error', error: { code: 'invalid_api_key', message: ENDED } })
    await expect(Client.open(address, headers)).rejects.toMatchObject({ status: 401 })
    other.socket.terminate()
  })

  test.each(['ga', 'beta'])('ends a session of realtime (%s)', TIMED, async naming => {
    const { keep, headers, change } = await stored()
    const upstream = await ScriptedUpstream.open(async connection => {
      await playing(SPOKEN_TURN.slice(0, 3))(connection)
    })
    closing.push(() => upstream.close())
    const testServer = await openGateway([channelTo(upstream)], { keep })
    const version: { [name: string]: string } = naming === 'beta' ? { 'openai-beta': 'realtime=v1' } : {}
    const caller = await Client.open(testServer.server.address, { ...headers, ...version }, '/v1/realtime?model=voice')
    await change(revoke)
    await until(() => caller.closed !== undefined)
    expect([caller.closed, caller.reason]).toEqual([1008, ENDED])
    expect(caller.events.at(-1)).toMatchObject({ type: 'error', error: { code: 'invalid_api_key', message: ENDED } })
    await until(() => upstream.open === 0)
  })

  test('ends its work in the background, which has failed', TIMED, async () => {
    const { keep, headers, change } = await stored()
    const { testServer, upstream } = await open(STREAMED['chat']!.begins, { keep })
    const begin = { model: 'm', input: 'Hi', background: true, stream: true }
    const answer = await testServer.send('/v1/responses', begin, { headers }).answer
    let text = ''
    answer.setEncoding('utf8').on('data', piece => (text += piece))
    await until(() => text.includes('response.queued') && upstream.seen.length > 0)
    await change(revoke)
    await until(() => answer.complete)
    const { response } = JSON.parse(/data: (\{"type":"response.failed".*)/.exec(text)![1]!)
    expect(response).toMatchObject({ status: 'failed', error: { code: 'invalid_api_key', message: ENDED } })
    await until(() => upstream.seen[0]!.brokenAt !== undefined)
  })
})

test.each<[string, (records: AccessRecords, id: string) => Promise<unknown>, string]>([
  ['disabled', (records, id) => records.changeKey(id, { enabled: false }), 'The API key is disabled.'],
  ['expires', (records, id) => records.changeKey(id, { expiresAt: Date.now() + 700 }), 'The API key has expired.'],
  ['replaced', records => rotateKey(records, 'it', Date.now() + 700), 'The API key has expired.'],
  [
    'without a group',
    (records, id) => records.changeKey(id, { group: 'gone' }),
    'The group of this API key no longer exists.',
  ],
])('a key that is %s ends its streams', TIMED, async (_, work, message) => {
  const { keep, headers, change } = await stored()
  const door = STREAMED['chat']!
  const { testServer } = await open(door.begins, { keep })
  const answer = await testServer.send(door.path, door.body, { headers }).answer
  let text = ''
  answer.setEncoding('utf8').on('data', piece => (text += piece))
  await until(() => text.includes(door.begun))
  await change(work)
  await until(() => answer.complete)
  expect(door.error(text)).toBe(message)
})

describe('a format that a key may not use', () => {
  const DOORS = { group: { doors: ['chat'] } }

  test.each(Object.entries(STREAMED).filter(([name]) => name !== 'chat'))(
    'refuses requests of %s in its shape',
    async (name, door) => {
      const { testServer, upstream } = await open(hello, DOORS, { format: door.format })
      const { status, json } = await testServer.ask(
        door.path,
        door.body,
        door.headers === undefined ? {} : { headers: door.headers },
      )
      expect(status).toBe(403)
      expect((name.includes('array') ? json[0] : json).error.message).toMatch(/^This key may not use the \w+ format\.$/)
      expect(upstream.seen).toHaveLength(0)
    },
  )

  test('refuses what is stored, tasks, sockets and sessions; the open one answers', async () => {
    const { testServer } = await open(hello, DOORS)
    for (const path of ['/v1/responses/resp_1', '/v1/conversations/conv_1', '/v1/videos/v', '/v1/video/generations/v'])
      expect((await testServer.ask(path, undefined, GET)).status, path).toBe(403)
    for (const path of ['/v1/responses', '/v1/realtime?model=m'])
      await expect(Client.open(testServer.server.address, {}, path), path).rejects.toMatchObject({ status: 403 })
    expect((await testServer.ask('/v1/realtime/client_secrets', { session: { model: 'm' } })).status).toBe(403)
    expect((await testServer.ask(CHAT_PATH, { ...(STREAMED['chat']!.body as object), stream: false })).status).toBe(200)
  })
})

test('wrong keys are answered ever later, a right one from the same address at once', TIMED, async () => {
  const { testServer } = await open(hello)
  let tried = 0
  const guess = () => ({ headers: { authorization: `Bearer wrong-${tried++}` } })
  const timed = async (options: object) => {
    const from = performance.now()
    const { status } = await testServer.ask(CHAT_PATH, STREAMED['chat']!.body, options)
    return { status, ms: performance.now() - from }
  }
  for (let count = 0; count < 7; count++) expect((await timed(guess())).status).toBe(401)
  const slowed = [timed(guess()), testServer.ask('/v1/models', undefined, { ...GET, ...guess() })]
  const right = await timed({})
  expect(right).toMatchObject({ status: 200 })
  expect(right.ms).toBeLessThan(200)
  expect((await timed(guess())).ms).toBeGreaterThan(500)
  for (const one of await Promise.all(slowed)) expect(one.status).toBe(401)
  await expect(Client.open(testServer.server.address, guess().headers)).rejects.toMatchObject({ status: 401 })
})

test(
  'a revoked key, tried again and again, slows down nobody at its address and is like any other',
  TIMED,
  async () => {
    const { keep, headers, change } = await stored()
    const { testServer } = await open(hello, { keep })
    const ask = (more: { readonly authorization: string }) =>
      testServer.ask(CHAT_PATH, STREAMED['chat']!.body, { headers: more })
    expect((await ask(headers)).status).toBe(200)
    await change(revoke)
    await vi.waitFor(async () => expect((await ask(headers)).status).toBe(401), SOON_ENOUGH)
    const never = { authorization: 'Bearer il-never' }
    const from = performance.now()
    for (let count = 0; count < 20; count++)
      for (const one of [headers, never]) {
        expect((await ask(one)).status).toBe(401)
        expect(performance.now() - from).toBeLessThan(2000)
      }
    const [revoked, unknown] = [await ask(headers), await ask(never)]
    expect(revoked.json).toEqual(unknown.json)
    expect(Object.keys(revoked.headers)).toEqual(Object.keys(unknown.headers))
  },
)
