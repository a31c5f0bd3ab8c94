import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/canonical/node.ts'
import { channelAt } from '../../builders/config.ts'
import { TestServer } from '../../builders/gateway.ts'
import { FakeUpstream } from '../../builders/upstream.ts'

/* Streams as servers of text completions write them, and what their callers get. */

const HEAD = { id: 'cmpl-1', object: 'text_completion', created: 1, model: 'm' }
const chunk = (choice: JsonObject): JsonObject => ({ ...HEAD, choices: [{ index: 0, logprobs: null, ...choice }] })
const USAGE = { prompt_tokens: 2, completion_tokens: 2, total_tokens: 4 }

const STREAMS: { readonly [what: string]: readonly JsonObject[] } = {
  'vLLM: ids of tokens, the first token of an echo without a log probability, counts in each chunk': [
    {
      ...chunk({
        text: 'He',
        logprobs: { text_offset: [0], token_logprobs: [null], tokens: ['He'], top_logprobs: [null] },
        ...{ finish_reason: null, stop_reason: null, prompt_token_ids: [9, 8], token_ids: [1] },
      }),
      usage: { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 },
    },
    {
      ...chunk({
        text: 'llo',
        logprobs: {
          ...{ text_offset: [2], token_logprobs: [-0.5], tokens: ['llo'] },
          top_logprobs: [{ llo: -0.5, y: -1.5 }],
        },
        ...{ finish_reason: 'length', stop_reason: null, token_ids: [2] },
      }),
      usage: USAGE,
    },
    { ...HEAD, choices: [], usage: USAGE },
  ],
  'llama.cpp: log probabilities as in chat, head behind the choices, times': [
    {
      choices: [
        {
          ...{ text: 'He', index: 0 },
          logprobs: { content: [{ id: 5, token: 'He', bytes: [72, 101], logprob: -0.1, top_logprobs: [] }] },
          finish_reason: null,
        },
      ],
      ...{ created: 1, model: 'm', system_fingerprint: 'b1', object: 'text_completion', id: 'cmpl-1' },
    },
    {
      choices: [{ text: '', index: 0, logprobs: null, finish_reason: 'stop' }],
      ...{ created: 1, model: 'm', system_fingerprint: 'b1', object: 'text_completion', id: 'cmpl-1' },
      ...{ usage: USAGE, timings: { prompt_n: 1, predicted_ms: 3 } },
    },
  ],
  'OpenRouter: reasoning beside the text': [
    chunk({ text: '', reasoning: 'First ', finish_reason: null, native_finish_reason: null }),
    chunk({ text: '', reasoning: 'thoughts.', finish_reason: null, native_finish_reason: null }),
    chunk({ text: 'Hello', reasoning: null, finish_reason: 'stop', native_finish_reason: 'stop' }),
  ],
  'several choices, each with its end where it ends': [
    chunk({ text: 'a', finish_reason: null }),
    chunk({ index: 1, text: 'b', finish_reason: 'length' }),
    chunk({ text: 'c', finish_reason: 'stop' }),
  ],
}

let upstream: FakeUpstream
let gateway: TestServer
beforeAll(async () => {
  upstream = await FakeUpstream.open(() => {})
  gateway = await TestServer.open([channelAt(upstream.address, { format: 'completions' })])
})
afterAll(async () => {
  await gateway.server.close(0)
  await upstream.close()
})

const ask = async (chunks: readonly JsonObject[], last: string, body: JsonObject = {}): Promise<readonly string[]> => {
  const text = chunks.map(one => `data: ${JSON.stringify(one)}\n\n`).join('') + last
  upstream.script = response => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text)
  const answer = await gateway.ask('/v1/completions', { model: 'm', prompt: 'x', stream: true, ...body })
  return answer.text.split('\n\n').flatMap(event => (event === '' ? [] : [event.slice('data: '.length)]))
}

describe.each(Object.entries(STREAMS))('%s', (_, chunks) => {
  const body = { stream_options: { include_usage: true } }
  it('arrives as it was sent', async () => {
    const got = await ask(chunks, 'data: [DONE]\n\n', body)
    expect(got.slice(0, -1).map(data => JSON.parse(data))).toEqual(chunks)
    expect(got.at(-1)).toBe('[DONE]')
  })

  it('ends once, also where the upstream sends no end mark', async () => {
    const got = await ask(chunks, '', body)
    const finishes = got.filter(data => /"finish_reason":"/.test(data))
    expect(finishes.length).toBe(chunks.filter(one => /"finish_reason":"/.test(JSON.stringify(one))).length)
    expect(got.at(-1)).toBe('[DONE]')
  })
})

it('a chunk of counts arrives only if the caller requested it', async () => {
  const got = await ask(
    [chunk({ text: 'a', finish_reason: 'stop' }), { ...HEAD, choices: [], usage: USAGE }],
    'data: [DONE]\n\n',
  )
  expect(got.length).toBe(2)
})

it('an error behind relayed chunks is the last event', async () => {
  const got = await ask(
    [chunk({ text: 'a', finish_reason: null })],
    'data: {"error":{"message":"Overloaded","code":503}}\n\n',
  )
  expect(got.map(data => Object.keys(JSON.parse(data)).at(-1))).toEqual(['choices', 'error'])
})

it('a chunk that SDKs cannot read is written anew, with the chunks behind it', async () => {
  const { index: _, ...choice } = (chunk({ text: 'b', finish_reason: 'stop' })['choices'] as JsonObject[])[0]!
  const got = await ask([chunk({ text: 'a', finish_reason: null }), { ...HEAD, choices: [choice] }], 'data: [DONE]\n\n')
  const choices = got.slice(0, -1).flatMap(data => JSON.parse(data).choices)
  expect(choices.map(({ index, text }: JsonObject) => [index, text])).toEqual([
    [0, 'a'],
    [0, 'b'],
    [0, ''],
  ])
  expect(choices.at(-1).finish_reason).toBe('stop')
})
