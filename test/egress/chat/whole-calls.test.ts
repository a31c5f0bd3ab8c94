import { describe, expect, test } from 'vitest'
import { chunk, events, json, STREAM, TAIL } from '../../builders/chat.ts'
import { opener } from '../../builders/opener.ts'
import type { Script } from '../../builders/upstream.ts'

/* Streams for clients that take every chunk of a call for a whole call (docs/wire/chat.md#clients-that-take-whole-calls). */

const { open } = opener()

const CLIENTS = [
  'speakeasy-sdk/python 3.7.0 2.935.1 1.0.0 mistralai',
  'speakeasy-sdk/typescript 2.7.0 2.884.13 1.0.0 @mistralai/mistralai',
  'mistral-client-python/1.2.0',
  'ai/6.0.1 ai-sdk/provider-utils/4.0.1 runtime/node.js/24 ai-sdk/xai/3.0.138',
]
const OTHERS = ['OpenAI/Python 3.57.0', 'ai-sdk/mistral/3.0.69']

const call = (index: number, fields: object) => chunk({ tool_calls: [{ index, ...fields }] })
const head = (index: number, id: string, name: string) =>
  call(index, { id, type: 'function', function: { name, arguments: '' } })
const piece = (index: number, text: string) => call(index, { function: { arguments: text } })

/** Two calls whose pieces interleave, one without arguments. */
const CALLS = [
  chunk({ role: 'assistant', content: 'I look.' }),
  ...[head(0, 'c-a', 'read'), piece(0, '{"path":'), head(1, 'c-b', 'list'), piece(0, '"a"}')],
  chunk({}, 'tool_calls').replace('"stop"', '"tool_calls"'),
]

const OF_CHAT: Script = response => void events(response).end(CALLS.join('') + TAIL)

const OF_MESSAGES: Script = response => {
  const block = (index: number, id: string, name: string, pieces: string[]) => [
    { type: 'content_block_start', index, content_block: { type: 'tool_use', id, name, input: {} } },
    ...pieces.map(partial_json => ({
      type: 'content_block_delta',
      index,
      delta: { type: 'input_json_delta', partial_json },
    })),
    { type: 'content_block_stop', index },
  ]
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null }
  const all = [
    { type: 'message_start', message: { ...message, usage: { input_tokens: 1, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'I look.' } },
    { type: 'content_block_stop', index: 0 },
    ...block(1, 'c-a', 'read', ['{"path":', '"a"}']),
    ...block(2, 'c-b', 'list', []),
    { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 2 } },
    { type: 'message_stop' },
  ]
  events(response).end(all.map(one => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`).join(''))
}

const UPSTREAMS = [
  ['chat', OF_CHAT],
  ['messages', OF_MESSAGES],
] as const

const callsIn = (text: string): { id?: string; function: { name?: string; arguments: string } }[] =>
  text
    .split('\n\n')
    .filter(frame => frame.startsWith('data: {'))
    .flatMap(frame => JSON.parse(frame.slice(6)).choices?.[0]?.delta.tool_calls ?? [])

describe.each(UPSTREAMS)('a stream of %s', (format, script) => {
  test.each(CLIENTS)('has each call in one chunk for %s', async client => {
    const { testServer } = await open(script, {}, { format })
    const { text } = await testServer.ask('/v1/chat/completions', STREAM, { headers: { 'user-agent': client } })
    expect(callsIn(text)).toMatchObject([
      { index: 0, id: 'c-a', type: 'function', function: { name: 'read', arguments: '{"path":"a"}' } },
      { index: 1, id: 'c-b', type: 'function', function: { name: 'list', arguments: '{}' } },
    ])
    expect(text).toContain('"content":"I look."')
    expect(text).toContain('"finish_reason":"tool_calls"')
    expect(text.trimEnd().endsWith('data: [DONE]')).toBe(true)
  })

  test.each(OTHERS)('has pieces of calls for %s', async client => {
    const { testServer } = await open(script, {}, { format })
    const { text } = await testServer.ask('/v1/chat/completions', STREAM, { headers: { 'user-agent': client } })
    const calls = callsIn(text)
    expect(calls.length).toBeGreaterThan(2)
    expect(calls.filter(one => one.function.name !== undefined)).toHaveLength(2)
  })
})

test('a call that breaks off is not written', async () => {
  const { testServer } = await open(response => {
    events(response).write(CALLS.slice(0, 3).join(''), () => setTimeout(() => response.destroy(), 20))
  })
  const headers = { 'user-agent': CLIENTS[0]! }
  const { text } = await testServer.ask('/v1/chat/completions', STREAM, { headers })
  expect(callsIn(text)).toEqual([])
  expect(text).toContain('"error"')
})

test('the name of the client does not go upstream', async () => {
  const { testServer, upstream } = await open(response => json(response, {}, 400))
  await testServer.ask('/v1/chat/completions', STREAM, { headers: { 'user-agent': CLIENTS[0]! } })
  expect(JSON.stringify(upstream.seen[0]!.headers)).not.toContain('mistral')
  expect(upstream.seen[0]!.text).not.toContain('wholeCalls')
})

describe.each(UPSTREAMS)('the usage of a stream of %s', (format, script) => {
  const MISTRALS = [...CLIENTS.slice(0, 3), 'ai/6.0.1 ai-sdk/provider-utils/4.0.1 ai-sdk/mistral/3.0.69']
  const chunksIn = (text: string) =>
    text
      .split('\n\n')
      .filter(frame => frame.startsWith('data: {'))
      .map(frame => JSON.parse(frame.slice(6)))
  const USAGE = '{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}'
  const finish = chunk({}, 'stop').replace(/\}\n\n$/, `,"usage":${USAGE}}\n\n`)
  const counted: Script = (response, seen) =>
    format === 'messages'
      ? void script(response, seen)
      : void events(response).end(`${chunk({ role: 'assistant', content: 'Hi.' })}${finish}data: [DONE]\n\n`)

  test.each(MISTRALS)('stands beside the finish reason, unasked, for %s', async client => {
    const { testServer } = await open(counted, {}, { format })
    const { text } = await testServer.ask('/v1/chat/completions', STREAM, { headers: { 'user-agent': client } })
    const chunks = chunksIn(text)
    expect(chunks.at(-1)).toMatchObject({
      choices: [{ finish_reason: format === 'messages' ? 'tool_calls' : 'stop' }],
      usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
    })
    for (const one of chunks.slice(0, -1)) expect(one).not.toHaveProperty('usage')
    for (const { choices } of chunks) expect(choices).toHaveLength(1)
  })
})
