import dns from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { ChannelConfig } from '../../src/config/index.ts'
import { ANSWER, ASK, failure, helloWhole, json, STREAM } from '../builders/chat.ts'
import { channelAt } from '../builders/config.ts'
import type { TestServer } from '../builders/gateway.ts'
import { dataOf, VERSION } from '../builders/http.ts'
import { opener } from '../builders/opener.ts'
import { CHAT_PATH } from '../builders/paths.ts'
import { deadAddress, type Script } from '../builders/upstream.ts'

/* Errors of an upstream and their effects: whose fault it is, what rests, and which target is next. */

afterEach(() => void vi.useRealTimers())
const { openGateway, openRows } = opener()
const models = {
  named: new Map([
    ['m', 'up-m'],
    ['n', 'up-n'],
  ]),
  patterns: [],
}

async function open(scripts: readonly Script[], fields: Partial<ChannelConfig> = {}) {
  const rows = scripts.map((script, priority) => ({ script, priority, models, ...fields }))
  const { testServer, upstreams } = await openRows(rows)
  const asked = () => upstreams.map(({ seen }) => seen.length)
  return { testServer, upstreams, asked }
}

const says =
  (status: number, message: string, headers: Record<string, string> = {}, more: object = {}): Script =>
  response =>
    json(response, { error: { ...failure(message).error, ...more } }, status, headers)
/** Restricts a script to one model. */
const of =
  (model: string, script: Script, otherwise: Script = helloWhole): Script =>
  (response, seen) =>
    (JSON.parse(seen.text).model === model ? script : otherwise)(response, seen)

const failed = (testServer: TestServer) =>
  testServer.lines.filter(({ message }) => message === 'a channel failed').map(line => line.fields)
const resting = async (testServer: TestServer) => (await testServer.ask('/readyz', undefined, { method: 'GET' })).json

describe('trap 100: what rests', () => {
  const DAY = { 'retry-after': '86400' }

  test.each([429, 503, 529])('a %i rests one model of the channel', async status => {
    const { testServer, asked } = await open([of('up-m', says(status, 'Later.', DAY)), helloWhole])
    for (const model of ['m', 'm', 'n', 'n'])
      expect((await testServer.ask(CHAT_PATH, { ...ASK, model })).status).toBe(200)
    expect(asked()).toEqual([3, 2])
    expect(failed(testServer)).toMatchObject([
      { channel: 'channel-0', model: 'up-m', rests: 'model', seconds: 60, status },
    ])
    expect(await resting(testServer)).toEqual({ status: 'ready', resting: { channels: 0, models: 1 } })
  })

  test('for a minute at most, whatever the upstream asks for', async () => {
    const { testServer, upstreams, asked } = await open([says(429, 'Later.', DAY), helloWhole])
    await testServer.ask(CHAT_PATH, ASK)
    upstreams[0]!.script = helloWhole
    const later = Date.now() + 61_000
    vi.spyOn(Date, 'now').mockImplementation(() => later)
    await testServer.ask(CHAT_PATH, ASK)
    vi.restoreAllMocks()
    expect(asked()).toEqual([2, 1])
  })

  test('the only way left is always tried, and the caller told what the upstream says', async () => {
    const { testServer, upstreams, asked } = await open([says(429, 'Request too large.', DAY)])
    for (let index = 0; index < 2; index++)
      expect(await testServer.ask(CHAT_PATH, ASK)).toMatchObject({ status: 429, headers: { 'retry-after': '86400' } })
    upstreams[0]!.script = helloWhole
    expect((await testServer.ask(CHAT_PATH, ASK)).status).toBe(200)
    expect(asked()).toEqual([3])
    expect(await resting(testServer)).toMatchObject({ resting: { channels: 0, models: 0 } })
  })

  test('also where the one that was well fails', async () => {
    const { testServer, upstreams, asked } = await open([says(429, 'Later.', DAY), helloWhole])
    await testServer.ask(CHAT_PATH, ASK)
    upstreams[0]!.script = helloWhole
    upstreams[1]!.script = says(500, 'Oops.')
    expect((await testServer.ask(CHAT_PATH, ASK)).status).toBe(200)
    expect(asked()).toEqual([2, 2])
  })

  test('a broken answer rests the model shortly', async () => {
    const { testServer, asked } = await open([of('up-m', says(500, 'Oops.')), helloWhole])
    for (const model of ['m', 'm', 'n']) await testServer.ask(CHAT_PATH, { ...ASK, model })
    expect(asked()).toEqual([2, 2])
  })

  test.each<[string, Script]>([
    ['resets', response => response.destroy()],
    ['is silent', () => {}],
    ['does not know our key', says(401, 'Who?')],
    ['wants money', says(402, 'Pay.')],
  ])('all of a channel rests that %s', async (_, script) => {
    const timeout = { connect: 10_000, firstByte: 1000, idle: 1000 }
    const { testServer, asked } = await open([of('up-m', script), helloWhole], { timeout })
    for (const model of ['m', 'n']) expect((await testServer.ask(CHAT_PATH, { ...ASK, model })).status).toBe(200)
    expect(asked()).toEqual([1, 2])
    expect(await resting(testServer)).toMatchObject({ resting: { channels: 1, models: 0 } })
  })

  test('and one that is not there', async () => {
    const testServer = await openGateway([channelAt(await deadAddress(), { name: 'gone' })])
    await testServer.ask(CHAT_PATH, ASK)
    expect(await resting(testServer)).toMatchObject({ resting: { channels: 1 } })
    expect(failed(testServer)).toMatchObject([{ channel: 'gone', kind: 'unreachable', rests: 'channel', seconds: 5 }])
  })

  test('nothing rests where this machine has no descriptor left for a connection', async () => {
    const testServer = await openGateway([channelAt('http://upstream.example', { name: 'well' })])
    const fault = Object.assign(new Error('too many open files'), { code: 'EMFILE' })
    const failing = (_: string, __: object, done: (fault: Error) => void): void => done(fault)
    const lookup = vi.spyOn(dns, 'lookup').mockImplementation(failing as never)
    syncBuiltinESMExports()
    try {
      expect((await testServer.ask(CHAT_PATH, ASK)).status).toBe(502)
    } finally {
      lookup.mockRestore()
      syncBuiltinESMExports()
    }
    expect(await resting(testServer)).toMatchObject({ resting: { channels: 0, models: 0 } })
    expect(failed(testServer)).toMatchObject([{ channel: 'well', kind: 'unreachable', reason: 'gateway' }])
  })

  test('a 403 may be about a model or a feature, and rests the model', async () => {
    const { testServer } = await open([says(403, 'No.'), helloWhole])
    expect((await testServer.ask(CHAT_PATH, ASK)).status).toBe(200)
    expect(await resting(testServer)).toMatchObject({ resting: { channels: 0, models: 1 } })
  })

  test.each([400, 404, 413])('a %i is about the request, and rests nothing', async status => {
    const { testServer } = await open([says(status, 'No.'), helloWhole])
    await testServer.ask(CHAT_PATH, ASK)
    expect(await resting(testServer)).toMatchObject({ resting: { channels: 0, models: 0 } })
  })

  test('names that callers make up fill no memory', async () => {
    const { testServer } = await open([says(429, 'Later.')], { models: { named: new Map(), patterns: ['*'] } })
    for (let index = 0; index < 300; index++) await testServer.ask(CHAT_PATH, { ...ASK, model: `x-${index}` })
    const { models } = (await resting(testServer)).resting
    expect(models).toBeGreaterThan(100)
    expect(models).toBeLessThanOrEqual(256)
  })

  test('who asks whether it is ready learns no names', async () => {
    const { testServer } = await open([says(429, 'Later.')])
    await testServer.ask(CHAT_PATH, ASK)
    const { text } = await testServer.ask('/readyz', undefined, { method: 'GET', headers: { authorization: '' } })
    expect(text).not.toMatch(/channel-0|up-m|127/)
  })
})

const DOORS: readonly (readonly [format: string, path: string, body: object, code: (body: never) => unknown])[] = [
  ['chat', CHAT_PATH, ASK, ({ error }: { error: { code: string } }) => error.code],
  ['responses', '/v1/responses', { model: 'm', input: 'Hi.' }, ({ error }: { error: { code: string } }) => error.code],
  [
    'messages',
    '/v1/messages',
    { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hi.' }] },
    ({ error }: { error: { details: { error_code: string } } }) => error.details.error_code,
  ],
  [
    'contents',
    '/v1beta/models/m:generateContent',
    { contents: [{ role: 'user', parts: [{ text: 'Hi.' }] }] },
    ({ error }: { error: { details: { metadata: { code: string } }[] } }) => error.details[0]!.metadata.code,
  ],
  [
    'completions',
    '/v1/completions',
    { model: 'm', prompt: 'Hi.' },
    ({ error }: { error: { code: string } }) => error.code,
  ],
]
describe("trap 99: an upstream's account is not the caller's fault", () => {
  const SAID = 'Your credit balance is too low: upstream-key-1234. Go to https://billing.example.'
  const FAULTS: readonly [string, Script][] = [
    ['a wrong key', says(401, SAID)],
    ['no rights', says(403, SAID)],
    ['no quota', says(429, SAID, {}, { type: 'insufficient_quota', code: 'insufficient_quota' })],
    ['no credit', says(400, SAID)],
  ]

  test.each(FAULTS)('%s is another channel’s chance', async (_, script) => {
    const { testServer } = await open([script, helloWhole])
    expect((await testServer.ask(CHAT_PATH, ASK)).json).toMatchObject({ choices: ANSWER.choices })
    const [said] = failed(testServer)
    expect(said).toMatchObject({ channel: 'channel-0', said: expect.stringContaining('credit balance') })
    expect(JSON.stringify(said)).not.toContain('upstream-key-1234')
  })

  describe.each(DOORS)('%s', (_, path, body, code) => {
    test.each(FAULTS)('is told of %s', async (_, script) => {
      const { testServer } = await open([script])
      const answer = await testServer.ask(path, body, { headers: VERSION })
      expect(answer.status).toBe(503)
      expect(code(answer.json as never)).toBe('upstream_account')
      expect(answer.text).not.toMatch(/credit|billing|key-1234/)
    })
  })

  test.each([
    ['3', '30'],
    ['30', '3'],
  ])('of limits that pass after %s and %s seconds, the caller is told the first to pass', async (...delays) => {
    const { testServer } = await open(delays.map(delay => says(429, 'Later.', { 'retry-after': delay })))
    expect((await testServer.ask(CHAT_PATH, ASK)).headers['retry-after']).toBe('3')
  })

  test('a limit that passes is told rather', async () => {
    const { testServer } = await open([says(429, 'Slow down.'), says(401, SAID)])
    expect((await testServer.ask(CHAT_PATH, ASK)).status).toBe(429)
  })
})

describe('trap 98: a request too long', () => {
  const SAID = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."
  const short = says(400, SAID, {}, { code: 'context_length_exceeded' })

  test('is another channel’s chance, and rests nothing', async () => {
    const { testServer, asked } = await open([short, helloWhole])
    for (let index = 0; index < 2; index++) expect((await testServer.ask(CHAT_PATH, ASK)).status).toBe(200)
    expect(asked()).toEqual([2, 2])
  })

  test('is told where nobody takes it, whatever else is wrong with the others', async () => {
    for (const other of [short, says(404, 'No such model.'), says(401, 'Who?'), says(500, 'Oops.')])
      for (const scripts of [
        [short, other],
        [other, short],
      ]) {
        const { testServer } = await open(scripts)
        expect((await testServer.ask(CHAT_PATH, ASK)).json.error.code).toBe('context_length_exceeded')
      }
  })

  const WORDS: { readonly [format: string]: string } = {
    messages: 'prompt is too long: 9000 tokens > 8192 maximum',
    contents: 'The input token count (9000) exceeds the maximum number of tokens allowed (8192).',
  }
  test.each(DOORS)('%s: in the caller’s own way', async (format, path, body) => {
    const { testServer } = await open([short])
    const answer = await testServer.ask(path, body, { headers: VERSION })
    expect(answer.status).toBe(400)
    expect(answer.json.error.message).toBe(WORDS[format] ?? SAID)
    if (WORDS[format] === undefined) expect(answer.json.error.code).toBe('context_length_exceeded')
  })

  test('chat: with its status where a stream was asked for', async () => {
    const { testServer } = await open([short])
    const { status, json: body } = await testServer.ask(CHAT_PATH, STREAM)
    expect([status, body.error.code]).toEqual([400, 'context_length_exceeded'])
  })

  test('responses: within the stream, where Codex looks for it', async () => {
    const { testServer } = await open([short])
    const answer = await testServer.ask('/v1/responses', { model: 'm', input: 'Hi.', stream: true })
    expect(answer.status).toBe(200)
    expect(answer.headers['content-type']).toContain('text/event-stream')
    const events = dataOf(answer.text)
      .filter(data => data !== '[DONE]')
      .map(data => JSON.parse(data))
    expect(events.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'error',
      'response.failed',
    ])
    expect(events.map(event => event.sequence_number)).toEqual([0, 1, 2, 3])
    const said = { code: 'context_length_exceeded', message: SAID, param: null }
    expect(events[2]).toMatchObject({ ...said, error: { ...said, type: 'invalid_request_error' } })
    expect(events[3].response).toMatchObject({
      status: 'failed',
      model: 'm',
      error: { code: 'context_length_exceeded', message: SAID },
    })
    expect(testServer.lines.at(-1)).toMatchObject({ fields: { status: 200, error: 'context-too-long' } })
  })
})
