import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { ModelFacts } from '../../src/config/index.ts'
import { ANSWER, ASK, events, HEAD, hello, json, STREAM, TAIL, words } from '../builders/chat.ts'
import type { Asked, TestServer } from '../builders/gateway.ts'
import { GET, VERSION_HEADERS } from '../builders/http.ts'
import { opener } from '../builders/opener.ts'
import { CHAT_PATH } from '../builders/paths.ts'
import { until } from '../builders/time.ts'
import type { Script } from '../builders/upstream.ts'
import { Client } from '../sockets/client.ts'
import { channelTo, created, ScriptedUpstream } from '../voice/upstream.ts'

const { closing, open, openGateway } = opener()

/** An upstream that answers whole when it is released, and starts streams at once. */
function waiting() {
  const release: (() => void)[] = []
  const script: Script = (response, { text }) => {
    if (JSON.parse(text).stream === true) events(response).write(HEAD + words('Hello.'))
    release.push(() => (response.headersSent ? response.end(TAIL) : json(response, ANSWER)))
  }
  return { script, release }
}

/** Sends requests until a slot is free. The slot is released when the gateway notices that a request is over. */
async function untilFree(testServer: TestServer): Promise<Asked> {
  for (let tries = 0; ; tries++) {
    const answer = await testServer.ask(CHAT_PATH, { ...ASK, messages: 7 })
    if (answer.status !== 429 || tries > 500) return answer
  }
}

describe('concurrent requests', () => {
  test('are as many as the key may have, in the shape of the caller', async () => {
    const { script, release } = waiting()
    const { testServer } = await open(script, { group: { concurrent: 2 } })
    const asked = [testServer.ask(CHAT_PATH, ASK), testServer.ask(CHAT_PATH, ASK)]
    await until(() => release.length === 2)
    const refused = await testServer.ask(CHAT_PATH, ASK)
    expect(refused.status).toBe(429)
    expect(refused.json.error).toMatchObject({ code: 'rate_limit_exceeded' })
    expect(refused.headers['retry-after']).toBe('1')
    expect(Object.keys(refused.headers).filter(name => name.includes('ratelimit'))).toEqual([])
    const other = await testServer.ask('/v1/messages', { ...ASK, max_tokens: 9 })
    expect(other.json).toMatchObject({ type: 'error', error: { type: 'rate_limit_error' } })
    release[0]!()
    await asked[0]
    expect((await untilFree(testServer)).status).toBe(400)
    release[1]!()
    expect((await asked[1])!.status).toBe(200)
  })

  test('give their places back when callers leave, before and in the middle of an answer', async () => {
    const { script, release } = waiting()
    const { testServer } = await open(script, { group: { concurrent: 3 } })
    for (let round = 0; round < 10; round++) {
      const sent = [ASK, STREAM, STREAM].map(body => testServer.send(CHAT_PATH, body))
      await until(() => release.length === 3 * (round + 1))
      expect((await testServer.ask(CHAT_PATH, ASK)).status).toBe(429)
      for (const { out } of sent) out.destroy()
      expect((await untilFree(testServer)).status).toBe(400)
      const lines = () => testServer.lines.filter(({ fields }) => fields['status'] === 499 || fields['stream']).length
      await until(() => lines() >= 3 * (round + 1))
    }
  })

  test('give them back where their upstream fails or breaks off, and where they are wrong', async () => {
    let answer: Script = response => json(response, { error: { message: 'no' } }, 500)
    const { testServer } = await open((response, seen) => answer(response, seen), { group: { concurrent: 1 } })
    for (let round = 0; round < 3; round++) {
      answer = response => json(response, { error: { message: 'no' } }, 500)
      expect((await testServer.ask(CHAT_PATH, ASK)).status).toBeGreaterThanOrEqual(500)
      answer = response => {
        events(response).write(HEAD + words('Hel'))
        setTimeout(() => response.destroy(), 10)
      }
      expect((await testServer.ask(CHAT_PATH, STREAM)).text).toContain('error')
      expect((await testServer.ask(CHAT_PATH, '{"model":')).status).toBe(400)
      expect((await testServer.ask(CHAT_PATH, { ...ASK, model: 'none' })).status).toBe(404)
    }
    answer = hello
    expect((await testServer.ask(CHAT_PATH, ASK)).status).toBe(200)
  })

  test('a response in the background has its place until it is done', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'places-'))
    closing.push(() => rmSync(folder, { recursive: true }))
    const { script, release } = waiting()
    const { testServer } = await open(script, { keep: folder, group: { concurrent: 1, tpm: 100_000 } })
    const begun = await testServer.ask('/v1/responses', { model: 'm', input: 'Hi.', background: true })
    expect(begun.status).toBe(200)
    await until(() => release.length === 1)
    expect((await testServer.ask(CHAT_PATH, ASK)).status).toBe(429)
    // Stored data can be read nevertheless.
    expect((await testServer.ask(`/v1/responses/${begun.json.id}`, undefined, { method: 'GET' })).status).toBe(200)
    release[0]!()
    expect((await untilFree(testServer)).status).toBe(400)
    const { headers } = await testServer.ask('/v1/models', undefined, { method: 'GET' })
    expect(Number(headers['x-ratelimit-remaining-tokens'])).toBeGreaterThan(99_900)
  })

  test('a voice session has one as long as it is open', async () => {
    const upstream = await ScriptedUpstream.open(async connection => void connection.send(created()))
    closing.push(() => upstream.close())
    const testServer = await openGateway([channelTo(upstream)], { group: { concurrent: 1 } })
    const path = '/v1/realtime?model=voice'
    for (let round = 0; round < 3; round++) {
      const caller = await Client.open(testServer.server.address, {}, path)
      await until(() => caller.events.length === 1)
      expect((await testServer.ask(CHAT_PATH, ASK)).status).toBe(429)
      await caller.close()
      expect((await untilFree(testServer)).status).toBe(400)
    }
  })
})

test('to have tokens counted takes none of the tokens a minute', async () => {
  const { testServer } = await open(hello, { group: { tpm: 100_000 } })
  const left: unknown[] = []
  for (let asked = 0; asked < 3; asked++) {
    const { status, headers } = await testServer.ask('/v1/messages/count_tokens', ASK, VERSION_HEADERS)
    expect(status).toBe(200)
    left.push(headers['anthropic-ratelimit-tokens-remaining'])
    await until(() => testServer.lines.filter(({ message }) => message === 'request').length === asked + 1)
  }
  const { headers } = await testServer.ask('/v1/models', undefined, { ...GET, ...VERSION_HEADERS })
  expect(
    Number(Object.entries(headers).find(([name]) => /ratelimit.*tokens/.test(name) && /remaining/.test(name))![1]),
  ).toBe(100_000)
})

test.each([{ prompt_tokens: 9e15, completion_tokens: 1 }, { prompt_tokens: 'many' }, {}])(
  'a count that is wrong is replaced by an estimate: %j',
  async usage => {
    const { testServer } = await open(response => json(response, { ...ANSWER, usage }), { group: { tpm: 3000 } })
    const statuses: number[] = []
    for (let asked = 0; asked < 4; asked++)
      statuses.push((await testServer.ask(CHAT_PATH, { ...ASK, max_tokens: 1500 })).status)
    expect(statuses).toEqual([200, 200, 200, 200])
    const rows = testServer.lines.filter(({ message }) => message === 'request')
    expect(rows.map(({ fields }) => fields)).toMatchObject(rows.map(() => ({ estimated: true, output_tokens: 2 })))
  },
)

test('no bound of an answer gives tokens back', async () => {
  const { script, release } = waiting()
  let answer: Script = response => json(response, { ...ANSWER, usage: { prompt_tokens: 880, completion_tokens: 20 } })
  const { testServer } = await open((response, seen) => answer(response, seen), { group: { tpm: 1000 } })
  const over = (count: number) =>
    until(() => testServer.lines.filter(({ message }) => message === 'request').length === count)
  const short = { ...ASK, max_tokens: 10 }
  expect((await testServer.ask(CHAT_PATH, short)).status).toBe(200)
  await over(1)
  answer = script
  const { out } = testServer.send(CHAT_PATH, { ...STREAM, max_tokens: -1e15 })
  await until(() => release.length === 1)
  out.destroy()
  await over(2)
  expect((await testServer.ask(CHAT_PATH, { ...ASK, max_tokens: 500 })).status).toBe(429)
})

describe('budgets', () => {
  /** Prices: one dollar for a thousand tokens of the prompt, two for a thousand tokens of the answer. */
  const PRICED: ModelFacts = { id: 'm', input: ['text'], output: ['text'], price: { input: 1000, output: 2000 } }
  const answered =
    (input: number, output: number): Script =>
    response =>
      json(response, { ...ANSWER, usage: { prompt_tokens: input, completion_tokens: output } })
  const options = (budget: { day?: number; month?: number }) => ({
    group: { budget },
    config: { models: new Map([['m', PRICED]]) },
  })
  const SHORT = { ...ASK, max_tokens: 10 }

  test('end when they are spent, with the time until the next period', async () => {
    const { testServer, upstream } = await open(answered(100, 100), options({ day: 1 }))
    const statuses: number[] = []
    for (let asked = 0; asked < 6; asked++) statuses.push((await testServer.ask(CHAT_PATH, SHORT)).status)
    // Each request costs 0.3 dollars.
    expect(statuses).toEqual([200, 200, 200, 200, 429, 429])
    expect(upstream.seen).toHaveLength(4)
    const refused = await testServer.ask(CHAT_PATH, SHORT)
    expect(refused.json.error).toMatchObject({
      code: 'insufficient_quota',
      message: "This key's budget for this day (UTC) does not cover the request.",
    })
    const left = (86_400_000 - (Date.now() % 86_400_000)) / 1000
    expect(Math.abs(Number(refused.headers['retry-after']) - left)).toBeLessThan(5)
    const messages = await testServer.ask('/v1/messages', SHORT)
    expect(messages.json).toMatchObject({ type: 'error', error: { type: 'rate_limit_error' } })
  })

  test('admit no more at once than their estimates have room for', async () => {
    const { testServer } = await open(
      response => void setTimeout(() => answered(5, 10)(response, undefined as never), 100),
      options({ month: 0.1 }),
    )
    const answers = await Promise.all(Array.from({ length: 20 }, () => testServer.ask(CHAT_PATH, SHORT)))
    const good = answers.filter(({ status }) => status === 200).length
    expect(good).toBeGreaterThan(0)
    expect(good * 0.025).toBeLessThanOrEqual(0.1 + 0.025)
    expect(answers.some(({ status }) => status === 429)).toBe(true)
  })

  test('settle what was reserved to an estimate where the caller left', async () => {
    const { script, release } = waiting()
    const { testServer } = await open(script, options({ day: 0.06 }))
    const { out, answer } = testServer.send(CHAT_PATH, { ...STREAM, max_tokens: 20 })
    await answer
    await until(() => release.length === 1)
    expect((await testServer.ask(CHAT_PATH, SHORT)).status).toBe(429)
    out.destroy()
    await until(() => testServer.lines.some(({ fields }) => (fields as { estimated?: true }).estimated === true))
    const asked = testServer.ask(CHAT_PATH, SHORT)
    await until(() => release.length === 2, 5000)
    release[1]!()
    expect((await asked).status).toBe(200)
  })

  test('count what came of an answer whose caller left before it was counted', async () => {
    const { script, release } = waiting()
    const long: Script = (response, seen) => {
      script(response, seen)
      response.write(words('word '.repeat(400)))
    }
    const { testServer } = await open(long, options({ day: 1 }))
    const { out, answer } = testServer.send(CHAT_PATH, { ...STREAM, max_tokens: 10 })
    let text = ''
    ;(await answer).setEncoding('utf8').on('data', piece => (text += piece))
    await until(() => release.length === 1 && text.length > 2000)
    out.destroy()
    await until(() => testServer.lines.some(({ message }) => message === 'request'))
    // 500 tokens cost one dollar.
    expect((await testServer.ask(CHAT_PATH, SHORT)).json.error).toMatchObject({ code: 'insufficient_quota' })
  })

  test('do not count models without a price, and say so once a model', async () => {
    const models = { named: new Map([['unpriced-model', 'unpriced-model']]), patterns: [] }
    const { testServer } = await open(hello, options({ day: 0.000001 }), { models })
    for (let asked = 0; asked < 3; asked++)
      expect((await testServer.ask(CHAT_PATH, { ...ASK, model: 'unpriced-model' })).status).toBe(200)
    expect(testServer.lines.filter(({ message }) => message.includes('price'))).toMatchObject([
      { level: 'warn', fields: { model: 'unpriced-model' } },
    ])
  })
})
