import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/canonical/node.ts'
import { events, json } from '../builders/chat.ts'
import { channelAt } from '../builders/config.ts'
import { TestServer } from '../builders/gateway.ts'
import { FakeUpstream } from '../builders/upstream.ts'

/* Between a caller and an upstream of messages, everything is passed on unchanged. */

const HEADERS = { 'anthropic-version': '2023-06-01' }
const REQUEST: JsonObject = {
  x_first: [1, null, { b: 'a' }],
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'hi', x_block: null }], x_turn: true },
    { content: 'yes', role: 'assistant' },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 't', is_error: false },
        { text: 'and', type: 'text' },
      ],
    },
  ],
  max_tokens: 9,
  tools: [],
  model: 'm',
  top_k: null,
}

const frame = (event: string, fields: object): string =>
  `event: ${event}\ndata: ${JSON.stringify({ x_first: null, type: event, ...fields }, null, 1).replaceAll('\n', ' ')}\n\n`
const USAGE = { input_tokens: 3, output_tokens: 1, x_tokens: 2 }
const MESSAGE = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], usage: USAGE, x_head: 1 }
const START = frame('message_start', { message: MESSAGE })
const BLOCK = frame('content_block_start', { index: 0, content_block: { type: 'text', text: '', x: {} } })
const word = (text: string): string =>
  frame('content_block_delta', { index: 0, delta: { type: 'text_delta', text, x_delta: null } })
const STOP = frame('content_block_stop', { index: 0, x_stop: 1 })
const DELTA = frame('message_delta', { delta: { stop_reason: 'x_bored', stop_sequence: null }, usage: USAGE })
const END = frame('message_stop', { x_end: 'bye' })
const PING = frame('ping', {})
const VENDOR = frame('vendor_info', { left: 1 })
const WHOLE = [START, PING, BLOCK, word('Hel'), word(''), word('lo'), STOP, DELTA, END]

const MODELS = { named: new Map([['m', 'upstream-m']]), patterns: [] }

let upstream: FakeUpstream
let own: TestServer
let renaming: TestServer
beforeAll(async () => {
  upstream = await FakeUpstream.open(() => {})
  own = await TestServer.open([channelAt(upstream.address, { format: 'messages' })])
  const renamed = channelAt(upstream.address, { format: 'messages', models: MODELS })
  renaming = await TestServer.open([renamed])
})
afterAll(async () => {
  await own.server.close(0)
  await renaming.server.close(0)
  await upstream.close()
})

const streamed = async (frames: readonly string[], server = own): Promise<string> => {
  upstream.script = response => events(response).end(frames.join(''))
  const { text } = await server.ask('/v1/messages', { ...REQUEST, stream: true }, { headers: HEADERS })
  return text
}

describe('a request', () => {
  test('is sent unchanged, under the model that the upstream knows', async () => {
    upstream.script = response => json(response, { ...MESSAGE, stop_reason: 'end_turn' })
    await own.ask('/v1/messages', REQUEST, { headers: HEADERS })
    expect(upstream.seen.at(-1)!.text).toBe(JSON.stringify(REQUEST))
    await renaming.ask('/v1/messages', REQUEST, { headers: HEADERS })
    expect(upstream.seen.at(-1)!.text).toBe(JSON.stringify({ ...REQUEST, model: 'upstream-m' }))
  })
})

describe('signs of life without data', () => {
  const silent = ['data:\n\n', 'event: keepalive\ndata:\n\n', ': keepalive\n\n', 'event: keepalive\n\n']
  test.each(WHOLE.map((_, at) => at))('trap 115: change nothing else of a stream, before its event %i', async at => {
    expect(await streamed(WHOLE.toSpliced(at, 0, ...silent))).toBe(await streamed(WHOLE))
  })
})

describe('a whole answer', () => {
  const answer = { x: null, ...MESSAGE, content: [{ text: 'hi', type: 'text', x: 1 }], stop_reason: 'x_bored' }

  test('is sent unchanged, under the model that the caller asked for', async () => {
    upstream.script = response => json(response, { ...answer, model: 'upstream-m' })
    const { text } = await renaming.ask('/v1/messages', REQUEST, { headers: HEADERS })
    expect(text).toBe(JSON.stringify(answer))
  })

  test('shows nothing of the upstream in what went wrong', async () => {
    const error = { message: `No route to ${upstream.address}.` }
    upstream.script = response => json(response, { ...answer, error })
    const { json: body } = await own.ask('/v1/messages', REQUEST, { headers: HEADERS })
    expect(body).toMatchObject(answer)
    expect(JSON.stringify(body)).not.toContain(upstream.address)
  })
})

describe('a stream', () => {
  test('is sent unchanged', async () => {
    expect(await streamed(WHOLE)).toBe(WHOLE.join(''))
  })

  test('has the model that the caller asked for', async () => {
    const renamed = frame('message_start', { message: { ...MESSAGE, model: 'upstream-m' } })
    const text = await streamed([renamed, ...WHOLE.slice(1)], renaming)
    const data = JSON.stringify({ x_first: null, type: 'message_start', message: MESSAGE })
    expect(text).toBe([`event: message_start\ndata: ${data}\n\n`, ...WHOLE.slice(1)].join(''))
  })

  test('shows nothing of the upstream in what went wrong, at any place', async () => {
    const error = { message: `No route to ${upstream.address}.` }
    const late = frame('message_delta', { delta: { stop_reason: 'end_turn' }, usage: USAGE, error })
    const ends = [[late, END], [frame('error', { error })], [word('x').replace('text_delta', 'x'), late, END]]
    for (const end of ends) {
      const text = await streamed([START, BLOCK, word('Hel'), STOP, ...end])
      expect(text).not.toContain(upstream.address)
      expect(text.startsWith([START, BLOCK, word('Hel'), STOP].join(''))).toBe(true)
      expect(text.match(/^event: (message_stop|error)$/gm)).toHaveLength(1)
      expect(text.match(/^event: message_delta$/gm)?.length ?? 0).toBeLessThan(2)
    }
  })

  test('ends once and whole where its last event is missing, and with an error where more is', async () => {
    const ended = await streamed(WHOLE.slice(0, -1))
    expect(ended.startsWith(WHOLE.slice(0, -2).join(''))).toBe(true)
    expect(ended.match(/^event: message_delta$/gm)).toHaveLength(1)
    expect(ended.match(/^event: message_stop$/gm)).toHaveLength(1)
    const broken = await streamed(WHOLE.slice(0, 5))
    expect(broken.startsWith(WHOLE.slice(0, 5).join(''))).toBe(true)
    expect(broken.match(/^event: error$/gm)).toHaveLength(1)
  })

  test.each([
    ['no start', [BLOCK, word('a'), STOP, DELTA, END]],
    ['no block', [START, word('a'), DELTA, END]],
    ['no names of events', WHOLE.map(text => text.replace(/^event: .*\n/, ''))],
    [
      'a delta of another kind',
      [
        START,
        BLOCK,
        word('a').replace('text_delta', 'thinking_delta').replace('"text"', '"thinking"'),
        STOP,
        DELTA,
        END,
      ],
    ],
    [
      'an unknown event before a start without content',
      [VENDOR, frame('message_start', { message: { ...MESSAGE, content: undefined } }), ...WHOLE.slice(1)],
    ],
    ['no usage', [frame('message_start', { message: { ...MESSAGE, usage: undefined } }), ...WHOLE.slice(1)]],
  ])('is made good where it has %s', async (_, frames) => {
    const text = await streamed(frames)
    const types = [...text.matchAll(/^event: (.*)$/gm)].map(([, type]) => type).filter(type => type !== 'ping')
    expect(types[0]).toBe('message_start')
    expect(types.filter(type => type === 'vendor_info')).toHaveLength(frames.includes(VENDOR) ? 1 : 0)
    expect(types.slice(-2)).toEqual(['message_delta', 'message_stop'])
    const indexes = [...text.matchAll(/"type":\s*"content_block_start",\s*"index":\s*(\d+)/g)].map(([, index]) =>
      Number(index),
    )
    expect(indexes).toEqual([...indexes.keys()])
    expect(types.filter(type => type === 'content_block_start')).toHaveLength(indexes.length)
    expect(types.filter(type => type === 'content_block_stop')).toHaveLength(indexes.length)
  })
})
