import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { events, json } from '../builders/chat.ts'
import { channelAt } from '../builders/config.ts'
import { TestServer } from '../builders/gateway.ts'
import { textOf } from '../builders/http.ts'
import { FakeUpstream } from '../builders/upstream.ts'

/* A stream reports in trailers what its answer lost, for callers that accept trailers. */

const frame = (type: string, fields: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
const USAGE = { input_tokens: 3, output_tokens: 1, cache_creation_input_tokens: 2000, cache_read_input_tokens: 0 }
const HEAD = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm' }
const REASONING = { type: 'thinking', thinking: 'So.', signature: 'EqQBCkYI' }
const TEXT = { type: 'text', text: 'Hello.' }
const STOP = { stop_reason: 'stop_sequence', stop_sequence: 'END' }

const STREAM = [
  frame('message_start', { message: { ...HEAD, content: [], usage: USAGE } }),
  frame('content_block_start', { index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } }),
  frame('content_block_delta', { index: 0, delta: { type: 'thinking_delta', thinking: 'So.' } }),
  frame('content_block_delta', { index: 0, delta: { type: 'signature_delta', signature: 'EqQBCkYI' } }),
  frame('content_block_stop', { index: 0 }),
  frame('content_block_start', { index: 1, content_block: { type: 'text', text: '' } }),
  frame('content_block_delta', { index: 1, delta: { type: 'text_delta', text: 'Hello.' } }),
  frame('content_block_stop', { index: 1 }),
  frame('message_delta', { delta: STOP, usage: USAGE }),
  frame('message_stop', {}),
].join('')

const HI = [{ role: 'user', content: 'Hi.' }]
const CHAT = ['/v1/chat/completions', { model: 'm', messages: HI, reasoning_effort: 'low' }, 'stream'] as const
const CONTENTS = ['/v1beta/models/m', { contents: [{ role: 'user', parts: [{ text: 'Hi.' }] }] }, 'path'] as const

const LOST_IN_CHAT = 'candidates/0/content/0/signature no-signatures; candidates/0/finish/stopSequence no-stop-sequence'
const LOST_IN_CONTENTS = 'candidates/0/finish/stopSequence no-stop-sequence; usage/cacheWrite no-count-of-cache-writes'

let upstream: FakeUpstream
let gateway: TestServer
beforeAll(async () => {
  upstream = await FakeUpstream.open((response, { text }) =>
    JSON.parse(text).stream
      ? events(response).end(STREAM)
      : json(response, { ...HEAD, content: [REASONING, TEXT], ...STOP, usage: USAGE }),
  )
  gateway = await TestServer.open([channelAt(upstream.address, { format: 'messages' })])
})
afterAll(async () => {
  await gateway.server.close(0)
  await upstream.close()
})

/** Sends the request, streamed or whole, and returns the answer after its end. */
async function ask([path, body, how]: typeof CHAT | typeof CONTENTS, stream: boolean, headers: object) {
  const method = stream ? ':streamGenerateContent?alt=sse' : ':generateContent'
  const asked = how === 'stream' ? { ...body, stream } : body
  const sent = gateway.send(how === 'stream' ? path : path + method, asked, { headers: { ...headers } })
  const answer = await sent.answer
  return { answer, text: await textOf(answer) }
}

describe.each([
  ['chat', CHAT, LOST_IN_CHAT],
  ['contents', CONTENTS, LOST_IN_CONTENTS],
])('an answer to %s', (_, request, lost) => {
  const late = lost.split('; ').sort()
  const entries = (value: unknown): string[] => String(value).split('; ')

  test('reports its losses in the header if it is whole', async () => {
    const { answer } = await ask(request, false, {})
    expect(entries(answer.headers['interlingua-loss'])).toEqual(expect.arrayContaining(late))
  })

  test('reports the same losses in trailers if it is streamed', async () => {
    const { answer } = await ask(request, true, { te: 'trailers' })
    expect(entries(answer.trailers['interlingua-loss']).sort()).toEqual(late)
    expect(answer.trailers['interlingua-loss-count']).toBe(String(late.length))
  })

  test('has no trailers for a caller that does not accept them', async () => {
    const { answer, text } = await ask(request, true, {})
    expect(answer.trailers).toEqual({})
    expect(text).toContain('Hello.')
  })

  test('counts them in the log', async () => {
    await ask(request, true, {})
    expect(gateway.lines.at(-1)!.fields['losses']).toBeGreaterThanOrEqual(late.length)
  })
})
