import { describe, expect, test } from 'vitest'
import type { ChannelConfig } from '../../src/config/index.ts'
import { ANSWER, ASK, chunk, events, failure, HEAD, hello, json, STREAM, TAIL, words } from '../builders/chat.ts'
import { channelAt, type TestServerOptions } from '../builders/config.ts'
import { dataOf } from '../builders/http.ts'
import { opener } from '../builders/opener.ts'
import { CHAT_PATH } from '../builders/paths.ts'
import { TIMED } from '../builders/time.ts'
import { deadAddress, type Script } from '../builders/upstream.ts'

const { openGateway, openRows } = opener()
/** Opens a gateway with a channel for each script, tried in that order. */
const open = (scripts: readonly Script[], fields: Partial<ChannelConfig> = {}, options: TestServerOptions = {}) =>
  openRows(
    scripts.map((script, priority) => ({ script, name: `secret-channel-${priority}`, priority, ...fields })),
    options,
  )
const said = (text: string): string =>
  dataOf(text)
    .filter(data => data.startsWith('{'))
    .map(data => JSON.parse(data).choices?.[0]?.delta?.content ?? '')
    .join('')

describe('all well', () => {
  test('a whole answer', async () => {
    const { testServer, upstreams } = await open([hello])
    const answer = await testServer.ask(CHAT_PATH, ASK)
    expect(answer.status).toBe(200)
    expect(answer.json).toEqual(ANSWER)
    expect(answer.headers['x-request-id']).toMatch(/^req_/)
    expect(answer.headers['content-length']).toBe(String(answer.text.length))
    expect(upstreams[0]!.seen[0]!.headers.authorization).toBe('Bearer upstream-key-1234')
    expect(testServer.lines.at(-1)).toMatchObject({
      level: 'info',
      fields: { key: 'dev', model: 'm', channel: 'secret-channel-0', status: 200, input_tokens: 5, output_tokens: 2 },
    })
  })

  test('a stream', async () => {
    const { testServer } = await open([hello])
    const answer = await testServer.ask(CHAT_PATH, STREAM)
    expect(answer.status).toBe(200)
    expect(answer.headers['content-type']).toContain('text/event-stream')
    expect(said(answer.text)).toBe('Hello.')
    expect(answer.text.endsWith('data: [DONE]\n\n')).toBe(true)
  })

  test('a stream asked for and answered whole, and the other way round', async () => {
    const stubborn = await open([response => json(response, ANSWER)])
    expect(said((await stubborn.testServer.ask(CHAT_PATH, STREAM)).text)).toBe('Hello.')
    const eager = await open([response => events(response).end(`${HEAD}${words('Hel', 'lo.')}${TAIL}`)])
    expect((await eager.testServer.ask(CHAT_PATH, ASK)).json.choices[0].message.content).toBe('Hello.')
  })

  test('a stream that does not say what it is', async () => {
    const { testServer } = await open([response => response.end(`${HEAD}${words('Hel', 'lo.')}${TAIL}`)])
    expect(said((await testServer.ask(CHAT_PATH, STREAM)).text)).toBe('Hello.')
  })

  test('an upstream that forgets to end its stream after the last event', async () => {
    const { testServer } = await open([response => events(response).write(`${HEAD}${words('Hello.')}${TAIL}`)])
    expect((await testServer.ask(CHAT_PATH, STREAM)).text.endsWith('data: [DONE]\n\n')).toBe(true)
  })

  test('the public name of a mapped model', async () => {
    const models = { named: new Map([['m', 'upstream-m']]), patterns: [] }
    const { testServer, upstreams } = await open([(response, seen) => hello(response, seen)], { models })
    expect((await testServer.ask(CHAT_PATH, ASK)).json.model).toBe('m')
    expect(JSON.parse(upstreams[0]!.seen[0]!.text).model).toBe('upstream-m')
  })
})

describe('before the first byte', () => {
  test.each([
    ['resets', (response => response.destroy()) satisfies Script, 502],
    ['never answers', (() => {}) satisfies Script, 504],
    ['answers garbage', (response => response.end('<html>')) satisfies Script, 502],
    ['answers a list', (response => json(response, [])) satisfies Script, 502],
    [
      'redirects',
      (response => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()) satisfies Script,
      502,
    ],
    ['is broken', (response => json(response, failure('Oops.'), 500)) satisfies Script, 502],
    ['refuses our key', (response => json(response, failure('Bad key.'), 401)) satisfies Script, 503],
    ['has no credit', (response => json(response, failure('Pay.'), 402)) satisfies Script, 503],
    ['is overloaded', (response => json(response, failure('Later.'), 503)) satisfies Script, 503],
  ])('trap 76: an upstream that %s', async (_, script, status) => {
    const timeout = { connect: 10_000, firstByte: 1000, idle: 1000 }
    for (const body of [ASK, STREAM]) {
      const { testServer } = await open([script], { timeout })
      const answer = await testServer.ask(CHAT_PATH, body)
      expect(answer.status).toBe(status)
      expect(answer.headers['content-type']).toContain('application/json')
      expect(answer.json.error.message).toEqual(expect.any(String))
      expect(testServer.lines.at(-1)).toMatchObject({ level: 'warn', fields: { status } })
    }
  })

  test('an upstream that is not there', async () => {
    const testServer = await openGateway([channelAt(await deadAddress())])
    const answer = await testServer.ask(CHAT_PATH, ASK)
    expect(answer.status).toBe(502)
    expect(answer.text).not.toContain('127.0.0.1')
  })

  test("an upstream's 400 is passed on, and tried nowhere else", async () => {
    const { testServer, upstreams } = await open([response => json(response, failure('You are wrong.'), 400), hello])
    const answer = await testServer.ask(CHAT_PATH, ASK)
    expect(answer.status).toBe(400)
    expect(answer.json.error.message).toBe('You are wrong.')
    expect(upstreams[1]!.seen).toHaveLength(0)
  })

  test.each([404, 413])("an upstream's %s is another channel's chance, and told where all say so", async status => {
    const refuse: Script = response => json(response, failure('Not here.'), status)
    expect((await (await open([refuse, hello])).testServer.ask(CHAT_PATH, ASK)).json).toEqual(ANSWER)
    const { testServer, upstreams } = await open([refuse, refuse])
    expect(await testServer.ask(CHAT_PATH, ASK)).toMatchObject({ status, json: { error: { message: 'Not here.' } } })
    expect(upstreams[1]!.seen).toHaveLength(1)
    const worded: Script = response => json(response, failure('Model Not Exist'), 400)
    expect((await (await open([worded, hello])).testServer.ask(CHAT_PATH, ASK)).json).toEqual(ANSWER)
    expect((await (await open([worded, worded])).testServer.ask(CHAT_PATH, ASK)).status).toBe(400)
    const later = await open([refuse, response => json(response, failure('Slow down.'), 429)])
    expect((await later.testServer.ask(CHAT_PATH, ASK)).status).toBe(429)
  })

  test('what an upstream says tells no names, addresses and keys', async () => {
    const { testServer } = await open(
      [
        (response, seen) =>
          json(
            response,
            failure(`Model upstream-m is not at ${seen.headers.host}, upstream-key-1234, 'secret-channel-0'.`),
            404,
          ),
      ],
      { models: { named: new Map([['m', 'upstream-m']]), patterns: [] } },
    )
    const { json: body } = await testServer.ask(CHAT_PATH, ASK)
    expect(body.error.message).toBe("Model m is not at [upstream], [upstream], '[upstream]'.")
  })

  test('trap 77: a 200 with an error body is an error', async () => {
    const { testServer } = await open([response => json(response, failure('Not really.'))])
    expect((await testServer.ask(CHAT_PATH, ASK)).status).toBeGreaterThanOrEqual(400)
    const second = await open([response => json(response, failure('Not really.')), hello])
    expect((await second.testServer.ask(CHAT_PATH, ASK)).json).toEqual(ANSWER)
    const streaming = await open([
      response => events(response).end(`data: ${JSON.stringify(failure('No.'))}\n\n`),
      hello,
    ])
    expect(said((await streaming.testServer.ask(CHAT_PATH, STREAM)).text)).toBe('Hello.')
  })
})

describe('another channel', () => {
  const broken: readonly [string, Script][] = [
    ['resets', response => response.destroy()],
    ['answers garbage', response => response.end('<html>')],
    ['refuses our key', response => json(response, failure('Bad key.'), 403)],
    ['is broken', response => json(response, failure('Oops.'), 500)],
    ['is overloaded', response => json(response, failure('Later.'), 529)],
    ['streams nothing', response => events(response).end()],
    ['streams garbage', response => events(response).end('data: {"never')],
    ['streams a head and resets', response => void events(response).write(HEAD, () => response.destroy())],
    ['streams an error', response => events(response).end(`${HEAD}data: ${JSON.stringify(failure('No.'))}\n\n`)],
  ]
  test.each(broken)('answers where the first %s', async (_, script) => {
    const { testServer, upstreams } = await open([script, hello])
    const answer = await testServer.ask(CHAT_PATH, STREAM)
    expect(said(answer.text)).toBe('Hello.')
    expect(upstreams[0]!.seen).toHaveLength(1)
    expect(testServer.lines.at(-1)).toMatchObject({
      level: 'info',
      fields: { attempts: 2, channel: 'secret-channel-1', error: undefined },
    })
  })

  test('is asked first for a while, where it could and the first could not', async () => {
    const { testServer, upstreams } = await open([response => response.destroy(), hello])
    for (let index = 0; index < 3; index++) expect((await testServer.ask(CHAT_PATH, ASK)).status).toBe(200)
    expect(upstreams.map(({ seen }) => seen.length)).toEqual([1, 3])
    const alone = await open([response => response.destroy()])
    for (let index = 0; index < 3; index++) expect((await alone.testServer.ask(CHAT_PATH, ASK)).status).toBe(502)
    expect(alone.upstreams[0]!.seen).toHaveLength(3)
  })

  test('is not asked once content was sent', async () => {
    const { testServer, upstreams } = await open([
      response => void events(response).write(`${HEAD}${words('Hel')}`, () => response.destroy()),
      hello,
    ])
    const answer = await testServer.ask(CHAT_PATH, STREAM)
    expect(answer.status).toBe(200)
    expect(said(answer.text)).toBe('Hel')
    expect(upstreams[1]!.seen).toHaveLength(0)
  })

  test('trap 78: a channel that asks to be left alone is left alone', async () => {
    const { testServer, upstreams } = await open([
      response => json(response, failure('Slow down.'), 429, { 'retry-after': '30' }),
      hello,
    ])
    for (let index = 0; index < 3; index++) expect((await testServer.ask(CHAT_PATH, ASK)).status).toBe(200)
    expect(upstreams[0]!.seen).toHaveLength(1)
    expect(upstreams[1]!.seen).toHaveLength(3)
  })

  test('trap 78: where there is none, the caller is told when to come back', async () => {
    const { testServer, upstreams } = await open([
      response => json(response, failure('Slow down.'), 429, { 'retry-after': '30' }),
    ])
    const first = await testServer.ask(CHAT_PATH, ASK)
    expect(first.status).toBe(429)
    expect(first.headers['retry-after']).toBe('30')
    const second = await testServer.ask(CHAT_PATH, ASK)
    expect(second.status).toBe(429)
    expect(second.headers['retry-after']).toBe('30')
    expect(upstreams[0]!.seen).toHaveLength(2)
  })

  test('trap 78: what is left of the limits is told with the refusal', async () => {
    const limits = { 'anthropic-ratelimit-unified-status': 'rejected', 'x-should-retry': 'false' }
    const { testServer } = await open([response => json(response, failure('Slow down.'), 429, limits)])
    expect(await testServer.ask(CHAT_PATH, ASK)).toMatchObject({ status: 429, headers: limits })
  })

  test('trap 86: a refusal is read once and told as what it is, complete or streamed', async () => {
    const refuse: Script = response => json(response, failure('Slow down.'), 429)
    for (const body of [ASK, STREAM]) {
      const { testServer } = await open([refuse, refuse])
      expect(await testServer.ask(CHAT_PATH, body)).toMatchObject({
        status: 429,
        json: { error: { message: 'Slow down.' } },
      })
    }
  })

  test('what is left of the limits is told to a caller of the same format', async () => {
    const { testServer } = await open([
      response => json(response, ANSWER, 200, { 'x-ratelimit-remaining-tokens': '99' }),
    ])
    expect((await testServer.ask(CHAT_PATH, ASK)).headers['x-ratelimit-remaining-tokens']).toBe('99')
  })
})

describe('trap 75: in the middle of a stream', () => {
  const timeout = { connect: 10_000, firstByte: 10_000, idle: 300 }
  test.each<[string, Script]>([
    ['an end without an end', response => events(response).end(`${HEAD}${words('Hel')}`)],
    ['a reset', response => void events(response).write(`${HEAD}${words('Hel')}`, () => response.destroy())],
    ['a silence', response => void events(response).write(`${HEAD}${words('Hel')}`)],
    ['an error', response => events(response).end(`${HEAD}${words('Hel')}data: ${JSON.stringify(failure('No.'))}\n\n`)],
    ['garbage', response => events(response).end(`${HEAD}${words('Hel')}data: {"never\n\n`)],
  ])('%s is an event of the format', async (_, script) => {
    const { testServer } = await open([script], { timeout })
    const answer = await testServer.ask(CHAT_PATH, STREAM)
    expect(answer.status).toBe(200)
    expect(said(answer.text)).toBe('Hel')
    const last = dataOf(answer.text)
      .filter(data => data !== '[DONE]')
      .at(-1)!
    expect(JSON.parse(last).error.message).toEqual(expect.any(String))
    expect(answer.text).not.toContain('"finish_reason":"stop"')
    expect(testServer.lines.at(-1)).toMatchObject({ level: 'warn', fields: { error: expect.any(String) } })
  })

  test(
    'trap 85: a long silence is broken by signs of life, only after the first byte where none is to be sent early',
    TIMED,
    async () => {
      const { testServer } = await open(
        [
          response => {
            setTimeout(() => events(response).write(`${HEAD}${chunk({ content: 'Hel' })}`), 150)
            setTimeout(() => response.end(`${words('lo.')}${TAIL}`), 450)
          },
        ],
        {},
        { heartbeat: 50, earlyHead: false },
      )
      const at = Date.now()
      const sent = testServer.send(CHAT_PATH, STREAM)
      const answer = await sent.answer
      expect(Date.now() - at).toBeGreaterThan(120)
      let text = ''
      for await (const piece of answer) text += piece
      expect(text.indexOf(': ping')).toBeGreaterThan(text.indexOf('Hel'))
      expect(text.split(': ping').length).toBeGreaterThan(3)
      expect(said(text)).toBe('Hello.')
    },
  )

  test.each([
    ['at once', 0],
    ['after a heartbeat had passed', 120],
  ])(
    'trap 85: an upstream that began %s but thinks for long is let through, so that its caller sees it live',
    async (_, late) => {
      const { testServer } = await open(
        [
          response => {
            events(response).flushHeaders()
            setTimeout(() => response.write(HEAD), late)
            setTimeout(() => response.end(`${words('Hello.')}${TAIL}`), late + 300)
          },
        ],
        {},
        { heartbeat: 50 },
      )
      const { text } = await testServer.ask(CHAT_PATH, STREAM)
      expect(text.indexOf(': ping')).toBeGreaterThanOrEqual(0)
      expect(text.indexOf(': ping')).toBeLessThan(text.indexOf('Hello.'))
    },
  )
})

test('a channel takes no more than it may at once', TIMED, async () => {
  const { testServer, upstreams } = await open([response => setTimeout(() => json(response, ANSWER), 100)], {
    maxConcurrent: 2,
  })
  const answers = await Promise.all([1, 2, 3].map(() => testServer.ask(CHAT_PATH, ASK)))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 503])
  expect(answers.find(({ status }) => status === 503)!.headers['retry-after']).toBe('1')
  expect(upstreams[0]!.seen).toHaveLength(2)
  expect((await testServer.ask(CHAT_PATH, ASK)).status).toBe(200)
})
