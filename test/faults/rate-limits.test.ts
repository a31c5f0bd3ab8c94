import { describe, expect, test } from 'vitest'
import { ANSWER, ASK, events, failure, HEAD, helloWhole, json, STREAM, TAIL, words } from '../builders/chat.ts'
import { opener } from '../builders/opener.ts'
import { CHAT_PATH } from '../builders/paths.ts'
import { until } from '../builders/time.ts'

const { open } = opener()
const TOO_LONG = failure('Too long.', { type: 'invalid_request_error', code: 'context_length_exceeded' })
const costs = (tokens: number) => ({ ...ANSWER, usage: { prompt_tokens: 0, completion_tokens: tokens } })

describe('requests that come at once', () => {
  test('are let in as far as the tokens of the minute go', async () => {
    const { testServer, upstream } = await open(response => void setTimeout(() => json(response, costs(900)), 100), {
      group: { tpm: 5000 },
    })
    const answers = await Promise.all(Array.from({ length: 40 }, () => testServer.ask(CHAT_PATH, ASK)))
    const good = answers.filter(({ status }) => status === 200)
    expect(good.length).toBeGreaterThan(0)
    expect(good.length * 900).toBeLessThanOrEqual(5000)
    expect(upstream.seen).toHaveLength(good.length)
    const refused = answers.find(({ status }) => status === 429)!
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    expect(refused.json.error.code).toBe('rate_limit_exceeded')
  })

  test('get back what they did not spend, also where they failed', async () => {
    let status = 200
    const { testServer } = await open(response => json(response, status === 200 ? costs(10) : { error: {} }, status), {
      group: { tpm: 3000 },
    })
    for (let asked = 0; asked < 10; asked++) expect((await testServer.ask(CHAT_PATH, ASK)).status).toBe(200)
    status = 400
    for (let asked = 0; asked < 10; asked++) expect((await testServer.ask(CHAT_PATH, ASK)).status).toBe(400)
    status = 200
    const { headers } = await testServer.ask(CHAT_PATH, ASK)
    expect(Number(headers['x-ratelimit-limit-tokens'])).toBe(3000)
    expect(Number(headers['x-ratelimit-remaining-tokens'])).toBeGreaterThan(1500)
  })

  test.each([
    ['begun before its upstream answered', 503, CHAT_PATH, STREAM],
    ['in which clients look for it', 400, '/v1/responses', { model: 'm', input: 'Hi.', stream: true, store: false }],
  ])('get it back where they failed in a stream %s', async (_, status, path, body) => {
    const late = status === 503
    const { testServer } = await open(
      response => void setTimeout(() => json(response, TOO_LONG, status), late ? 100 : 0),
      {
        group: { tpm: 3000 },
        earlyHead: late,
        heartbeat: late ? 20 : 15_000,
      },
    )
    for (let asked = 0; asked < 5; asked++) {
      const answer = await testServer.ask(path, body)
      expect(answer.status).toBe(200)
      expect(answer.text).toContain('"error"')
    }
  })

  test('are settled to the length of their answers where nobody counted', async () => {
    const [choice] = ANSWER.choices
    const long = { ...choice, message: { role: 'assistant', content: 'word '.repeat(800) } }
    const uncounted = { ...ANSWER, usage: undefined, choices: [long] }
    const { testServer } = await open(response => json(response, uncounted), { group: { tpm: 3000 } })
    const statuses = []
    for (let asked = 0; asked < 4; asked++) statuses.push((await testServer.ask(CHAT_PATH, ASK)).status)
    expect(statuses).toEqual([200, 200, 429, 429])
  })

  test('do not wait for pictures, which are no text', async () => {
    const { testServer } = await open(response => json(response, costs(10)), { group: { tpm: 5000 } })
    const url = `data:image/png;base64,${'A'.repeat(1_000_000)}`
    const messages = [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }]
    const asked = await Promise.all([
      testServer.ask(CHAT_PATH, { ...ASK, messages }),
      testServer.ask(CHAT_PATH, { ...ASK, messages }),
    ])
    expect(asked.map(({ status }) => status)).toEqual([200, 200])
  })
})

describe('every answer says what is left of the limits', () => {
  const GROUP = { group: { rpm: 60, tpm: 100_000 } }
  const OPENAI = {
    'x-ratelimit-limit-requests': '60',
    'x-ratelimit-remaining-requests': '59',
    'x-ratelimit-reset-requests': expect.stringMatching(/^(1s|\d+ms|0\.\d+s)$/),
    'x-ratelimit-limit-tokens': '100000',
    'x-ratelimit-remaining-tokens': expect.stringMatching(/^9\d{4}$/),
    'x-ratelimit-reset-tokens': expect.stringMatching(/^[\d.]+m?s$/),
  }
  const ANTHROPIC = {
    'anthropic-ratelimit-requests-limit': '60',
    'anthropic-ratelimit-requests-remaining': '59',
    'anthropic-ratelimit-requests-reset': expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    'anthropic-ratelimit-tokens-limit': '100000',
    'anthropic-ratelimit-tokens-remaining': expect.stringMatching(/^9\d{4}$/),
    'anthropic-ratelimit-tokens-reset': expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
  }

  test.each([
    ['chat', CHAT_PATH, ASK, OPENAI],
    ['responses', '/v1/responses', { model: 'm', input: 'Hello.', store: false }, OPENAI],
    ['messages', '/v1/messages', { ...ASK, max_tokens: 9 }, ANTHROPIC],
    ['contents', '/v1beta/models/m:generateContent', { contents: [{ parts: [{ text: 'Hello.' }] }] }, OPENAI],
  ])('%s', async (_, path, body, headers) => {
    const { testServer } = await open(helloWhole, GROUP)
    const answer = await testServer.ask(path, body, { headers: { 'anthropic-version': '2023-06-01' } })
    expect(answer.status).toBe(200)
    expect(answer.headers).toMatchObject(headers)
  })

  test('a stream', async () => {
    const { testServer } = await open(response => events(response).end(`${HEAD}${words('Hello.')}${TAIL}`), GROUP)
    expect((await testServer.ask(CHAT_PATH, STREAM)).headers).toMatchObject(OPENAI)
  })

  test('a request that is wrong', async () => {
    const { testServer } = await open(helloWhole, GROUP)
    const answer = await testServer.ask(CHAT_PATH, { ...ASK, messages: 7 })
    expect(answer.status).toBe(400)
    expect(answer.headers).toMatchObject({ 'x-ratelimit-remaining-requests': '59' })
  })

  test('one that is too much', async () => {
    const { testServer } = await open(helloWhole, { group: { rpm: 1 } })
    await testServer.ask(CHAT_PATH, ASK)
    const answer = await testServer.ask(CHAT_PATH, ASK)
    expect(answer.status).toBe(429)
    expect(answer.headers).toMatchObject({ 'x-ratelimit-remaining-requests': '0' })
    expect(answer.headers['x-ratelimit-limit-tokens']).toBeUndefined()
  })

  test('the list of models, which costs nothing', async () => {
    const { testServer } = await open(helloWhole, GROUP)
    const { headers } = await testServer.ask('/v1/models', undefined, { method: 'GET' })
    expect(headers).toMatchObject({ 'x-ratelimit-remaining-requests': '60' })
  })

  test('a model there is not', async () => {
    const { testServer } = await open(helloWhole, GROUP)
    for (const path of ['/v1/models/none', '/v1beta/models/none']) {
      const { status, headers } = await testServer.ask(path, undefined, { method: 'GET' })
      expect(status).toBe(404)
      expect(headers).toMatchObject({ 'x-ratelimit-remaining-requests': '60' })
    }
  })

  test("the key's own limits stand above the upstream's", async () => {
    const own = { 'x-ratelimit-limit-requests': '7', 'x-ratelimit-limit-tokens': '8' }
    const { testServer } = await open(response => json(response, ANSWER, 200, own), { group: { rpm: 60 } })
    expect((await testServer.ask(CHAT_PATH, ASK)).headers).toMatchObject({ ...own, 'x-ratelimit-limit-requests': '60' })
  })

  test('a key without limits is told of none', async () => {
    const { testServer } = await open(helloWhole)
    const { headers } = await testServer.ask(CHAT_PATH, ASK)
    expect(Object.keys(headers).filter(name => name.includes('ratelimit'))).toEqual([])
  })
})

test.each([
  ['nobody counted', ''],
  ['so far little was counted', `data: ${JSON.stringify({ ...costs(1), choices: [] })}\n\n`],
])('who leaves in the middle has spent what came: %s', async (_, counted) => {
  const { testServer, upstream } = await open(
    response => void events(response).write(HEAD + counted + words('word '.repeat(1000))),
    {
      group: { tpm: 3000 },
    },
  )
  for (const asked of [1, 2]) {
    const { out, answer } = testServer.send(CHAT_PATH, STREAM)
    let text = ''
    ;(await answer).setEncoding('utf8').on('data', piece => (text += piece))
    await until(() => text.length > 5000, 5000)
    out.destroy()
    await until(() => upstream.seen[asked - 1]?.brokenAt !== undefined)
  }
  expect((await testServer.ask(CHAT_PATH, STREAM)).status).toBe(429)
})
