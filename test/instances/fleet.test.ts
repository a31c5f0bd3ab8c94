import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ANSWER, ASK, chunk, events, HEAD, json, STREAM, TAIL, words } from '../builders/chat.ts'
import { freshDatabase, noPostgres, type TestDatabase } from '../builders/postgres.ts'
import { HAS_REDIS, RedisServer } from '../builders/redis.ts'
import { pause, TIMED, until } from '../builders/time.ts'
import { FakeUpstream, type Script } from '../builders/upstream.ts'
import { Client } from '../sockets/client.ts'
import { OPENAI_KEY, OpenAIVideos } from '../video/upstreams/index.ts'
import { playing } from '../voice/sessions.ts'
import { ScriptedUpstream } from '../voice/upstream.ts'
import { Fleet } from './fleet.ts'
import { command } from './instance.ts'

/*
 * Two instances of two workers each over one PostgreSQL and one Redis behave as one gateway, whichever process gets a
 * request.
 */

const CHAT = '/v1/chat/completions'
const missing = noPostgres ?? (HAS_REDIS ? undefined : 'there is no redis-server')
if (missing !== undefined) console.warn(`Tests of instances with workers are SKIPPED: ${missing}`)

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

let redis: RedisServer
let database: TestDatabase
let upstream: FakeUpstream
let second: FakeUpstream
let videos: OpenAIVideos
let voices: ScriptedUpstream
let fleet: Fleet

/** Answers whole or as a stream. Images are bytes. */
const answering: Script = (response, seen) => {
  if (seen.url.endsWith('/images/generations')) return json(response, { created: 1, data: [{ b64_json: PIXEL }] })
  if (JSON.parse(seen.text).stream === true) return events(response).end(HEAD + words('Hello.') + TAIL)
  json(response, ANSWER)
}

const custom = { provider: 'custom', key: 'none' }

beforeAll(async () => {
  if (missing !== undefined) return
  redis = await RedisServer.open()
  database = await freshDatabase()
  ;[upstream, second] = await Promise.all([FakeUpstream.open(answering), FakeUpstream.open(answering)])
  videos = await new OpenAIVideos().listen()
  voices = await ScriptedUpstream.open(playing([]))
  fleet = await Fleet.start({
    store: database.url,
    redis: redis.url,
    config: {
      server: { drain: '0s', grace: '5s' },
      groups: { default: {}, limited: { rpm: 100 } },
      responses: { background: 3 },
      realtime: { sessions: { key: 3 } },
      models: { m: { price: { input: 2000, output: 2500 } } },
      channels: [
        {
          ...{ ...custom, name: 'up', formats: ['chat', 'images'], models: ['m', 'picture'] },
          base_url: `${upstream.address}/v1`,
        },
        {
          ...{ ...custom, name: 'second', formats: ['chat'], models: ['m', 'other'], priority: 1 },
          base_url: `${second.address}/v1`,
        },
        {
          ...{ ...custom, name: 'films', formats: ['videos'], key: OPENAI_KEY, models: { film: 'sora-2' } },
          base_url: `${videos.address}/v1`,
        },
        {
          ...{ ...custom, name: 'voices', formats: ['realtime'], models: { voice: 'upstream-voice' } },
          base_url: `${voices.url}/v1`,
        },
      ],
    },
  })
})
afterAll(async () => {
  await fleet?.close()
  await Promise.all([upstream?.close(), second?.close(), videos?.close(), voices?.close()])
  await database?.drop()
  await redis?.close()
})
beforeEach(() => {
  if (missing !== undefined) return
  for (const one of [upstream, second]) {
    one.script = answering
    one.seen.length = 0
  }
})

const statuses = async (answers: readonly Promise<Response>[]): Promise<number[]> =>
  (await Promise.all(answers)).map(({ status }) => status)

describe.skipIf(missing !== undefined)('limits of four processes', () => {
  test('100 requests a minute are 100, asked 1,000 times at once', TIMED, async () => {
    const key = await fleet.key(`limited-${Date.now()}`, '--group', 'limited')
    await pause(8000)
    const began = performance.now()
    const all = await statuses(Array.from({ length: 1000 }, () => fleet.ask(CHAT, key, ASK)))
    const refilled = Math.ceil((100 * (performance.now() - began)) / 60_000)
    const admitted = all.filter(status => status === 200).length
    expect(new Set(all)).toEqual(new Set([200, 429]))
    expect(admitted).toBeGreaterThanOrEqual(100)
    expect(admitted).toBeLessThanOrEqual(100 + refilled)
  })

  test('10 concurrent requests are 10, and come back', async () => {
    const key = await fleet.key('ten', '--concurrent', '10')
    const open: (() => void)[] = []
    upstream.script = (response, seen) => void open.push(() => answering(response, seen))
    for (let round = 0; round < 2; round++) {
      let refused = 0
      const all = Array.from({ length: 60 }, async () => {
        const answer = await fleet.ask(CHAT, key, ASK)
        if (answer.status === 429) refused++
        return answer
      })
      // A refused request asks again for a moment, and would get a slot that is released meanwhile.
      await until(() => open.length === 10 && refused === 50)
      expect(open).toHaveLength(10)
      for (const finish of open.splice(0)) finish()
      expect((await statuses(all)).filter(status => status === 200)).toHaveLength(10)
    }
  })

  test('background responses and voice sessions of a key', async () => {
    const key = await fleet.key('places')
    upstream.script = () => {}
    const begin = () => fleet.ask('/v1/responses', key, { model: 'm', input: 'Slowly.', background: true })
    const begun = await Promise.all(Array.from({ length: 12 }, begin))
    const admitted = begun.filter(({ status }) => status === 200)
    expect(begun.map(({ status }) => status).filter(status => status === 429)).toHaveLength(9)
    for (const one of admitted)
      await fleet.ask(`/v1/responses/${((await one.json()) as { id: string }).id}/cancel`, key, {})
    await expect.poll(async () => (await begin()).status).toBe(200)

    const session = (index: number) =>
      Client.open(
        fleet.instances[index % 2]!.address,
        { authorization: `Bearer ${key}` },
        '/v1/realtime?model=voice',
      ).catch(() => undefined)
    const sessions = await Promise.all(Array.from({ length: 12 }, (_, index) => session(index)))
    const open = sessions.filter(one => one !== undefined)
    expect(open).toHaveLength(3)
    await open[0]!.close()
    await expect.poll(async () => (await session(1)) !== undefined).toBe(true)
    for (const one of open) one.socket.terminate()
  })

  test('a budget outlives all processes and what Redis held', async () => {
    const key = await fleet.key('spender', '--budget-day', '0.08')
    // One answer costs 5 × $2000 + 2 × $2500 a million: $0.015, and is expected to be as large.
    const ask = { ...ASK, max_tokens: 2 }
    const all: number[] = []
    while (all.at(-1) !== 429 && all.length < 20) all.push((await fleet.ask(CHAT, key, ask)).status)
    const spent = all.filter(status => status === 200).length
    expect(spent).toBeGreaterThanOrEqual(2)
    expect(spent).toBeLessThanOrEqual(5)
    expect(await (await fleet.ask(CHAT, key, ask)).text()).toContain('insufficient_quota')
    await redis.stop()
    await fleet.stop('SIGTERM')
    await redis.start()
    fleet = await Fleet.start(fleet.shared)
    expect(await statuses(Array.from({ length: 8 }, () => fleet.ask(CHAT, key, ask)))).toEqual(Array(8).fill(429))
  })
})

describe.skipIf(missing !== undefined)('four processes', () => {
  test('accept a new key at once, each of them', TIMED, async () => {
    for (let round = 0; round < 3; round++) {
      const key = await fleet.key(`new-${Date.now()}`)
      // Simultaneous requests share a read of the store.
      const all = Array.from({ length: 24 }, () => fleet.ask('/v1/models', key))
      expect(new Set(await statuses(all))).toEqual(new Set([200]))
    }
    for (let number = 0; number < 4; number++) {
      const key = await fleet.key(`new-at-${number}-${Date.now()}`)
      expect((await fleet.at(number, '/v1/models', key)).status).toBe(200)
    }
  })

  test('refuse a revoked key within a second, each of them, and end its streams', TIMED, async () => {
    const name = `gone-${Date.now()}`
    const key = await fleet.key(name)
    upstream.script = response => events(response).write(HEAD + words('Once'))
    const streams = await Promise.all(Array.from({ length: 12 }, () => fleet.ask(CHAT, key, STREAM)))
    await until(() => upstream.seen.length === 12)
    const ends = streams.map(one => one.text())
    await command(fleet.shared, 'keys', 'revoke', name)
    await pause(1000)
    // Answers to wrong keys are delayed more and more, so that only few are tried.
    const after = await statuses(Array.from({ length: 12 }, () => fleet.ask('/v1/models', key)))
    expect(after.filter(status => status !== 401 && status !== 429)).toEqual([])
    for (const end of await Promise.all(ends)) expect(end).toContain('"error"')
  })

  test('continue each other’s responses and conversations', async () => {
    const key = await fleet.key('talker')
    let previous: string | undefined
    for (let turn = 1; turn <= 6; turn++) {
      const body = { model: 'm', input: `Turn ${turn}`, ...(previous && { previous_response_id: previous }) }
      previous = (await fleet.jsonAt(turn, '/v1/responses', key, body)).id
      expect(JSON.parse(upstream.seen.at(-1)!.text).messages).toHaveLength(2 * turn - 1)
    }
    const { id } = await fleet.json('/v1/conversations', key, {})
    for (let turn = 1; turn <= 4; turn++) {
      const body = { model: 'm', input: `Turn ${turn}`, conversation: id }
      await fleet.jsonAt(turn, '/v1/responses', key, body)
      expect(JSON.parse(upstream.seen.at(-1)!.text).messages).toHaveLength(2 * turn - 1)
    }
    expect((await fleet.json(`/v1/conversations/${id}/items`, key)).data).toHaveLength(8)
  })

  test('follow and cancel work that one of them does', async () => {
    const key = await fleet.key('worker')
    upstream.script = response => events(response).write(HEAD + words('Once ', 'upon'))
    const body = { model: 'm', input: 'Slowly.', background: true }
    const { id } = await fleet.jsonAt(0, '/v1/responses', key, body)
    for (let number = 1; number < 4; number++)
      await expect.poll(async () => (await fleet.jsonAt(number, `/v1/responses/${id}`, key)).status).toBe('in_progress')
    const stream = await fleet.at(3, `/v1/responses/${id}?stream=true`, key)
    const told = stream.text()
    await pause(500)
    await fleet.at(2, `/v1/responses/${id}/cancel`, key, {})
    await until(() => upstream.seen.every(({ brokenAt }) => brokenAt !== undefined))
    expect(await told).toContain('response.cancelled')
    for (let number = 0; number < 4; number++)
      expect(await fleet.jsonAt(number, `/v1/responses/${id}`, key)).toMatchObject({ status: 'cancelled' })
  })

  test('have one video task: one submit a key, its state asked for once in five seconds, content, delete', async () => {
    const key = await fleet.key('films')
    videos.life = { queued: 1, running: 1, outcome: 'completed' }
    const submit = () =>
      fleet.fetch('/v1/videos', {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'idempotency-key': 'one' },
        body: JSON.stringify({ model: 'film', prompt: 'A boat' }),
      })
    const submits = await Promise.all(Array.from({ length: 16 }, submit))
    expect(videos.count('submit')).toBe(1)
    const bodies = await Promise.all(submits.map(one => one.json() as Promise<{ id?: string }>))
    for (const { status } of submits) expect([200, 409]).toContain(status)
    const ids = new Set(bodies.flatMap(({ id }) => id ?? []))
    expect(ids.size).toBe(1)
    const [id] = [...ids]
    const began = Date.now()
    let status = ''
    while (status !== 'completed') {
      const all = await Promise.all(Array.from({ length: 8 }, () => fleet.json(`/v1/videos/${id}`, key)))
      status = all.at(-1).status
      await pause(100)
    }
    const polls = videos.seen.filter(({ step }) => step === 'poll').map(({ at }) => at)
    for (const [index, at] of polls.slice(1).entries()) expect(at - polls[index]!).toBeGreaterThan(4000)
    expect(polls.length).toBeLessThanOrEqual(1 + (Date.now() - began) / 5000)
    for (let number = 0; number < 4; number++) {
      const content = await fleet.at(number, `/v1/videos/${id}/content`, key)
      expect((await content.arrayBuffer()).byteLength).toBe(videos.size)
    }
    expect((await fleet.ask(`/v1/videos/${id}`, key, undefined, 'DELETE')).status).toBe(200)
    expect(new Set(await statuses(Array.from({ length: 8 }, () => fleet.ask(`/v1/videos/${id}`, key))))).toEqual(
      new Set([404]),
    )
  })

  test('show each other’s pictures', async () => {
    const key = await fleet.key('painter')
    const asked = { model: 'picture', prompt: 'A boat', response_format: 'url' }
    const made = await fleet.jsonAt(0, '/v1/images/generations', key, asked)
    const { pathname } = new URL(made.data[0]!.url)
    for (let number = 1; number < 4; number++) {
      const seen = await fleet.at(number, pathname, key)
      expect(Buffer.from(await seen.arrayBuffer()).toString('base64')).toBe(PIXEL)
    }
  })

  test('take a client secret once', async () => {
    const key = await fleet.key('voice')
    const body = { session: { type: 'realtime', model: 'voice' } }
    const { value } = await fleet.json('/v1/realtime/client_secrets', key, body)
    const open = (index: number) =>
      Client.open(fleet.instances[index % 2]!.address, { authorization: `Bearer ${value}` }, '/v1/realtime').catch(
        () => undefined,
      )
    const sessions = await Promise.all(Array.from({ length: 8 }, (_, index) => open(index)))
    const opened = sessions.filter(one => one !== undefined)
    expect(opened).toHaveLength(1)
    opened[0]!.socket.terminate()
  })

  test('open what another of them compacted', async () => {
    const key = await fleet.key('compactor')
    const input = [{ role: 'user', content: 'We move to Lisbon.' }]
    const sealed = await fleet.jsonAt(0, '/v1/responses/compact', key, { model: 'm', input })
    for (let number = 1; number < 4; number++) {
      const body = { model: 'm', input: [...sealed.output, { role: 'user', content: 'Where?' }] }
      expect((await fleet.at(number, '/v1/responses', key, body)).status).toBe(200)
      expect(upstream.seen.at(-1)!.text).toContain('Hello.')
    }
  })

  test('have resting and drained what rests and is drained at one', async () => {
    const key = await fleet.key('rester')
    const token = (await command(fleet.shared, 'admin', 'token', 'me')).split('\n')[0]!
    upstream.script = response => json(response, { error: { message: 'no' } }, 503)
    expect((await fleet.ask(CHAT, key, ASK)).status).toBe(200)
    const answers = (model: string) =>
      statuses(Array.from({ length: 24 }, () => fleet.ask(CHAT, key, { ...ASK, model })))
    /** Returns how many of these requests reach the upstream. */
    const comeTo = async (one: FakeUpstream, model: string) => {
      const before = one.seen.length
      answered.push(...(await answers(model)))
      return one.seen.length - before
    }
    const answered: number[] = []
    await expect.poll(() => comeTo(upstream, 'm')).toBe(0)
    expect(new Set(answered)).toEqual(new Set([200]))

    expect((await fleet.ask('/admin/v1/channels/second/drain', token, {})).status).toBeLessThan(300)
    await expect.poll(() => comeTo(second, 'other')).toBe(0)
    expect((await fleet.ask('/admin/v1/channels/second/resume', token, {})).status).toBeLessThan(300)
    await expect.poll(async () => new Set(await answers('other'))).toEqual(new Set([200]))
  })
})

const TOOL = { name: 'clock', description: 'The time', parameters: { type: 'object', properties: {} } }

/** Calls the clock tool for three turns, then answers with text. */
const calling: Script = (response, seen) => {
  const { messages, stream } = JSON.parse(seen.text)
  const turns = messages.filter(({ role }: { role: string }) => role === 'tool').length
  if (turns === 3) return answering(response, seen)
  const call = { id: `call_${turns}`, type: 'function', function: { name: 'clock', arguments: '{}' } }
  const message = { role: 'assistant', content: null, tool_calls: [call], reasoning_content: `Thought ${turns}.` }
  if (stream !== true)
    return json(response, { ...ANSWER, choices: [{ index: 0, message, finish_reason: 'tool_calls' }] })
  const delta = { reasoning_content: message.reasoning_content, tool_calls: [{ index: 0, ...call }] }
  return events(response).end(`${HEAD}${chunk(delta)}${chunk({}, 'tool_calls')}data: [DONE]\n\n`)
}

describe.skipIf(missing !== undefined)('SDKs in conversations with tools, each request at another process', () => {
  test.each([false, true])('openai: responses (stream: %s)', async stream => {
    const apiKey = await fleet.key(`openai-${stream}`)
    const client = new OpenAI({ apiKey, baseURL: 'http://any/v1', fetch: fleet.fetch, maxRetries: 0 })
    upstream.script = second.script = calling
    const tools: OpenAI.Responses.Tool[] = [{ type: 'function', ...TOOL, strict: false }]
    let input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'What time is it?' }]
    let previous: OpenAI.Responses.Response | undefined
    for (let turn = 0; turn < 5; turn++) {
      const body = { model: 'm', tools, input, previous_response_id: previous?.id ?? null }
      previous = stream ? await client.responses.stream(body).finalResponse() : await client.responses.create(body)
      const calls = previous.output.filter(({ type }) => type === 'function_call')
      if (calls.length === 0) break
      input = calls.map(call => ({
        type: 'function_call_output',
        call_id: (call as { call_id: string }).call_id,
        output: 'noon',
      }))
    }
    expect(previous!.output_text).toBe('Hello.')
  })

  test.each([false, true])('anthropic: messages (stream: %s)', async stream => {
    const apiKey = await fleet.key(`anthropic-${stream}`)
    const client = new Anthropic({ apiKey, baseURL: 'http://any', fetch: fleet.fetch, maxRetries: 0 })
    upstream.script = second.script = calling
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'What time is it?' }]
    let said = ''
    for (let turn = 0; turn < 5 && said === ''; turn++) {
      const { description, name, parameters } = TOOL
      const tools = [{ name, description, input_schema: parameters as Anthropic.Tool.InputSchema }]
      const body = { model: 'm', max_tokens: 100, tools, messages }
      const answer = stream ? await client.messages.stream(body).finalMessage() : await client.messages.create(body)
      messages.push({ role: 'assistant', content: answer.content })
      const calls = answer.content.filter(block => block.type === 'tool_use')
      if (calls.length === 0) said = answer.content.map(block => (block.type === 'text' ? block.text : '')).join('')
      else
        messages.push({
          role: 'user',
          content: calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'noon' })),
        })
    }
    expect(said).toBe('Hello.')
  })
})
