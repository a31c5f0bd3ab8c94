import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isObject, type Json } from '../../src/canonical/node.ts'
import { events, json } from '../builders/chat.ts'
import { channelAt } from '../builders/config.ts'
import { TestServer } from '../builders/gateway.ts'
import { dataOf, VERSION } from '../builders/http.ts'
import { FakeUpstream } from '../builders/upstream.ts'

/* Sources beside the choices of a chat answer reach callers of every format. */

const FIRST = 'https://example.org/first'
const SECOND = 'https://example.org/second'
const SOURCES = {
  citations: [FIRST, SECOND],
  search_results: [
    { title: 'Second', url: SECOND, date: '2026-11-01', snippet: 'Water is wet.', source: 'web' },
    { title: 'First', url: FIRST, date: '2026-10-01', last_updated: '2026-11-02' },
  ],
}
const HEAD = { id: 'c1', model: 'm', created: 5 }
const USAGE = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }
const MESSAGE = { role: 'assistant', content: 'Wet [1][2].' }
const WHOLE = {
  ...{ ...HEAD, usage: USAGE, ...SOURCES, object: 'chat.completion' },
  choices: [{ index: 0, finish_reason: 'stop', message: MESSAGE }],
}

const chunk = (delta: object, more: object = {}, finish: string | null = null): string =>
  `data: ${JSON.stringify({ ...HEAD, object: 'chat.completion.chunk', ...more, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
/** The sources in every chunk, and only in the last one. */
const STREAMS = {
  every: [
    chunk({ role: 'assistant', content: 'Wet ' }, SOURCES),
    chunk({ content: '[1][2].' }, SOURCES),
    chunk({}, { ...SOURCES, usage: USAGE }, 'stop'),
  ],
  last: [
    chunk({ role: 'assistant', content: 'Wet ' }),
    chunk({ content: '[1][2].' }),
    chunk({}, { ...SOURCES, usage: USAGE }, 'stop'),
  ],
}

const HI = [{ role: 'user', content: 'Is water wet?' }]
const CALLS = {
  chat: (stream: boolean) => ['/v1/chat/completions', { model: 'm', messages: HI, stream }] as const,
  messages: (stream: boolean) => ['/v1/messages', { model: 'm', max_tokens: 9, messages: HI, stream }] as const,
  responses: (stream: boolean) => ['/v1/responses', { model: 'm', input: 'Is water wet?', stream }] as const,
  contents: (stream: boolean) =>
    [
      `/v1beta/models/m:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
      { contents: [{ role: 'user', parts: [{ text: 'Is water wet?' }] }] },
    ] as const,
}

let upstream: FakeUpstream
let gateway: TestServer
let stream: readonly string[] = STREAMS.every
beforeAll(async () => {
  upstream = await FakeUpstream.open((response, { text }) =>
    JSON.parse(text).stream ? events(response).end(`${stream.join('')}data: [DONE]\n\n`) : json(response, WHOLE),
  )
  gateway = await TestServer.open([channelAt(upstream.address, {})])
})
afterAll(async () => {
  await gateway.server.close(0)
  await upstream.close()
})

const ask = async (format: keyof typeof CALLS, streamed: boolean) => {
  const [path, body] = CALLS[format](streamed)
  const answer = await gateway.ask(path, body, { headers: VERSION })
  expect(answer.status).toBe(200)
  return answer.text
}

/** Everything that stands under `url` or `uri` anywhere in a JSON value, each once. */
function urlsIn(value: Json): string[] {
  if (Array.isArray(value)) return value.flatMap(urlsIn)
  if (!isObject(value)) return []
  const own = [value['url'], value['uri']].filter(one => typeof one === 'string')
  return [...own, ...Object.values(value).flatMap(urlsIn)]
}

test('a chat caller gets them where they were, whole', async () => {
  expect(JSON.parse(await ask('chat', false))).toEqual(WHOLE)
})

describe.each(['every', 'last'] as const)('in %s chunk', where => {
  beforeAll(() => {
    stream = STREAMS[where]
  })

  test('a chat caller gets them where they were', async () => {
    const chunks = dataOf(await ask('chat', true)).filter(data => data !== '[DONE]')
    expect(JSON.parse(chunks.at(-1)!)).toMatchObject(SOURCES)
    expect(chunks.some(data => data.includes('annotations'))).toBe(false)
  })

  test.each(['messages', 'responses', 'contents'] as const)('a caller of %s gets citations', async format => {
    const sent = dataOf(await ask(format, true)).filter(data => data !== '[DONE]')
    const found = new Set(sent.flatMap(data => urlsIn(JSON.parse(data))))
    expect([...found]).toEqual([FIRST, SECOND])
  })
})

test.each(['messages', 'responses', 'contents'] as const)('a caller of %s gets citations, whole', async format => {
  const text = await ask(format, false)
  expect([...new Set(urlsIn(JSON.parse(text)))]).toEqual([FIRST, SECOND])
  expect(text).toContain('"First"')
  expect(text).toContain('"Second"')
})

test('a source that an annotation names is not repeated', async () => {
  const annotation = {
    type: 'url_citation',
    url_citation: { url: FIRST, title: 'First', start_index: 0, end_index: 3 },
  }
  const choices = [{ index: 0, finish_reason: 'stop', message: { ...MESSAGE, annotations: [annotation] } }]
  const other = await FakeUpstream.open(response => json(response, { ...WHOLE, choices }))
  const second = await TestServer.open([channelAt(other.address, {})])
  const { json: answer } = await second.ask(...CALLS.responses(false))
  expect(urlsIn(answer)).toEqual([FIRST, SECOND])
  await second.server.close(0)
  await other.close()
})
