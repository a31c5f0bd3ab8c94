import { describe, expect, test, vi } from 'vitest'
import { ANSWER, ASK, events, json } from '../builders/chat.ts'
import type { TestServerOptions } from '../builders/config.ts'
import { dataOf, VERSION } from '../builders/http.ts'
import { opener, type Row } from '../builders/opener.ts'
import { CHAT_PATH, MESSAGES_PATH } from '../builders/paths.ts'
import { plainWriter, speakPlain } from '../builders/plain-format.ts'
import { SOON } from '../builders/time.ts'
import type { Script } from '../builders/upstream.ts'

speakPlain('messages', 'contents')

const { openRows } = opener()

/** Starts a gateway with one channel per row. Rows of one format are tried in order. */
async function open(rows: readonly Row[], options: TestServerOptions = {}) {
  const { testServer, upstreams } = await openRows(rows, options)
  return { testServer, upstreams, asked: (index: number) => JSON.parse(upstreams[index]!.seen.at(-1)!.text) }
}

const PLAIN = { model: 'm', messages: [], say: 'hello' }
const answering =
  (body: object): Script =>
  (response, seen) =>
    JSON.parse(seen.text || '{}').stream === true
      ? events(response).end(`data: ${JSON.stringify(body)}\n\ndata: {"end":true}\n\n`)
      : json(response, body)
const plain = (script: Script = answering({ text: 'Hello.' }), fields: Partial<Row> = {}): Row => ({
  script,
  format: 'messages',
  ...fields,
})
const chat = (fields: Partial<Row> = {}): Row => ({ script: response => json(response, ANSWER), ...fields })
describe('losses', () => {
  test('are shown in headers, in the log, and not at all where there are none', async () => {
    const { testServer } = await open([plain()])
    const lossy = await testServer.ask(MESSAGES_PATH, { ...PLAIN, topK: 5 }, { headers: VERSION })
    expect(lossy.headers).toMatchObject({
      'interlingua-loss': 'sampling/topK no-top-k',
      'interlingua-loss-count': '1',
    })
    expect(testServer.lines.at(-1)).toMatchObject({ fields: { losses: 1 } })
    const lossless = await testServer.ask(MESSAGES_PATH, PLAIN, { headers: VERSION })
    expect(lossless.headers['interlingua-loss']).toBeUndefined()
    const streamed = await testServer.ask(MESSAGES_PATH, { ...PLAIN, topK: 5, stream: true }, { headers: VERSION })
    expect(streamed.headers['interlingua-loss-count']).toBe('1')
  })

  test('refuse the request where the caller or its group wants that, before anything is sent', async () => {
    const { testServer, upstreams } = await open([plain()])
    const headers = { ...VERSION, 'interlingua-on-loss': 'refuse' }
    const refused = await testServer.ask(MESSAGES_PATH, { ...PLAIN, topK: 5 }, { headers })
    expect(refused.status).toBe(422)
    expect(refused.json.oops).toContain('sampling/topK (no-top-k)')
    expect(upstreams[0]!.seen).toHaveLength(0)
    expect((await testServer.ask(MESSAGES_PATH, PLAIN, { headers })).status).toBe(200)

    const strict = await open([plain()], { group: { onLoss: 'refuse' } })
    expect((await strict.testServer.ask(MESSAGES_PATH, { ...PLAIN, topK: 5 }, { headers: VERSION })).status).toBe(422)
  })

  test('of a picture in the last turn, or of state, always refuse it', async () => {
    const { testServer } = await open([plain()])
    const picture = { ...PLAIN, picture: 'https://example.org/a.png' }
    expect((await testServer.ask(MESSAGES_PATH, picture, { headers: VERSION })).status).toBe(422)
    expect((await testServer.ask(MESSAGES_PATH, { ...PLAIN, store: true }, { headers: VERSION })).status).toBe(422)
    expect((await testServer.ask(MESSAGES_PATH, { ...PLAIN, store: false }, { headers: VERSION })).status).toBe(200)
  })

  test('send a refused request to the next channel that can carry it', async () => {
    const { testServer, upstreams } = await open([plain(), chat({ priority: 1 })])
    const picture = { ...PLAIN, picture: 'https://example.org/a.png' }
    expect((await testServer.ask(MESSAGES_PATH, picture, { headers: VERSION })).status).toBe(200)
    expect(upstreams.map(({ seen }) => seen.length)).toEqual([0, 1])
  })
})

describe('another format', () => {
  test('has the names of its tools restored', async () => {
    const body = { ...ASK, tools: [{ type: 'function', function: { name: 'mcp.look' } }] }
    const { testServer, asked } = await open([plain(answering({ call: 'mcp_look', arguments: '{"a":1}' }))])
    const whole = await testServer.ask(CHAT_PATH, body)
    expect(asked(0).tools).toEqual(['mcp_look'])
    expect(whole.json.choices[0].message.tool_calls[0].function).toEqual({ name: 'mcp.look', arguments: '{"a":1}' })
    const streamed = await testServer.ask(CHAT_PATH, { ...body, stream: true })
    expect(streamed.text).toContain('"mcp.look"')
    expect(streamed.text).not.toContain('mcp_look')
  })

  test('trap 65: has calls of freeform tools unwrapped', async () => {
    const { testServer } = await open([plain(answering({ call: 'patch', arguments: '{"input":"*** Begin"}' }))])
    const body = { ...PLAIN, tools: ['[patch]'] }
    const whole = await testServer.ask(MESSAGES_PATH, body, { headers: VERSION })
    expect(whole.json).toMatchObject({ call: 'patch', arguments: '*** Begin', freeform: true })
    const streamed = await testServer.ask(MESSAGES_PATH, { ...body, stream: true }, { headers: VERSION })
    expect(JSON.parse(dataOf(streamed.text)[0]!)).toMatchObject({ append: '*** Begin', name: 'patch' })
  })

  test('trap 44: gets a repaired history, and the same format the history as it is', async () => {
    const { testServer, asked } = await open([chat()])
    await testServer.ask(MESSAGES_PATH, { ...PLAIN, orphan: true }, { headers: VERSION })
    expect(asked(0).messages).toEqual([{ role: 'user', content: expect.anything() }])
    const orphan = { role: 'tool', tool_call_id: 'x', content: 'seen' }
    await testServer.ask(CHAT_PATH, { ...ASK, messages: [orphan, ...ASK.messages] })
    expect(asked(0).messages[0]).toEqual(orphan)
  })

  test("fills in what the upstream's has no word for", async () => {
    const { testServer } = await open([plain()])
    const { json: answer, headers } = await testServer.ask(CHAT_PATH, ASK)
    expect(answer).toMatchObject({ id: headers['x-request-id'], model: 'm', created: expect.any(Number) })
    expect(Math.abs(answer.created - Date.now() / 1000)).toBeLessThan(10)
    const streamed = await testServer.ask(MESSAGES_PATH, { ...PLAIN, stream: true }, { headers: VERSION })
    expect(JSON.parse(dataOf(streamed.text)[0]!).id).toBe(`${streamed.headers['request-id']} m`)
  })

  test("keeps the upstream's limits to itself", async () => {
    const { testServer } = await open([
      plain(response => json(response, { text: 'x' }, 200, { 'x-ratelimit-remaining-tokens': '9' })),
    ])
    expect((await testServer.ask(CHAT_PATH, ASK)).headers['x-ratelimit-remaining-tokens']).toBeUndefined()
  })
})

test('a format with a ping of its own uses it', async () => {
  const script: Script = response => {
    events(response).write('data: {"text":"Hel"}\n\n')
    setTimeout(() => response.end('data: {"text":"lo."}\n\ndata: {"end":true}\n\n'), 1000)
  }
  const { testServer } = await open([plain(script)], { heartbeat: 50 })
  const { text } = await testServer.ask(MESSAGES_PATH, { ...PLAIN, stream: true }, { headers: VERSION })
  expect(text).toContain('event: ping\ndata: {"type":"ping"}\n\n')
  expect(text).not.toContain(': ping\n\nevent')
})

test('a fault of a reader or writer ends one answer, not the process', async () => {
  const broken = vi.spyOn(plainWriter, 'result').mockImplementation(() => {
    throw new TypeError('a bug')
  })
  const { testServer } = await open([plain()])
  const answer = await testServer.ask(MESSAGES_PATH, PLAIN, { headers: VERSION })
  expect(answer.status).toBe(500)
  expect(answer.text).not.toContain('a bug')
  expect(testServer.lines.some(({ level }) => level === 'error')).toBe(true)
  broken.mockRestore()
  expect((await testServer.ask(MESSAGES_PATH, PLAIN, { headers: VERSION })).status).toBe(200)
})

test('an upstream that lists its models is asked for them, and only they are called', async () => {
  const list: Script = (response, seen) =>
    json(response, seen.method === 'GET' ? { data: [{ id: 'listed' }, { id: 'other' }] } : ANSWER)
  const { testServer, upstreams } = await open([chat({ script: list, models: { named: new Map(), patterns: ['*'] } })])
  await vi.waitFor(() => expect(upstreams[0]!.seen[0]).toMatchObject({ method: 'GET', url: '/v1/models' }), SOON)
  await vi.waitFor(async () => {
    const { json: models } = await testServer.ask('/v1/models', undefined, { method: 'GET' })
    expect(models.data.map(({ id }: { id: string }) => id)).toEqual(['listed', 'other'])
  }, SOON)
  expect((await testServer.ask(CHAT_PATH, { ...ASK, model: 'listed' })).status).toBe(200)
  expect((await testServer.ask(CHAT_PATH, { ...ASK, model: 'unlisted' })).status).toBe(404)
})

test('an upstream that has no list to show is asked for any model', async () => {
  const models = { named: new Map(), patterns: ['*'] }
  const { testServer, upstreams } = await open([chat({ models })])
  await vi.waitFor(() => expect(upstreams[0]!.seen).toHaveLength(1), SOON)
  await new Promise(resolve => setTimeout(resolve, 50))
  expect((await testServer.ask(CHAT_PATH, { ...ASK, model: 'any' })).status).toBe(200)
})

test("a messages upstream is asked for its list in its format's way", async () => {
  const models = { named: new Map(), patterns: ['*'] }
  const { upstreams } = await open([plain(undefined, { models })])
  await vi.waitFor(() => expect(upstreams[0]!.seen).toHaveLength(1), SOON)
  expect(upstreams[0]!.seen[0]!.url).toBe('/v1/v1/models?limit=1000')
  expect(upstreams[0]!.seen[0]!.headers['anthropic-version']).toBe('2023-06-01')
})

test.each([
  ['2026-10-21', '2026-10-21'],
  ['caller', '2023-06-01'],
])('a messages upstream of version %s is asked for its list in version %s', async (version, sent) => {
  const { upstreams } = await open([
    plain(undefined, { models: { named: new Map(), patterns: ['*'] }, dialect: { version } }),
  ])
  await vi.waitFor(() => expect(upstreams[0]!.seen).toHaveLength(1), SOON)
  expect(upstreams[0]!.seen[0]!.headers['anthropic-version']).toBe(sent)
})
