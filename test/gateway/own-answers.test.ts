import { describe, expect, test } from 'vitest'
import { channelAt } from '../builders/config.ts'
import { VERSION_HEADERS } from '../builders/http.ts'
import { opener } from '../builders/opener.ts'

const { openGateway, openUpstream } = opener()

type Body = { readonly [field: string]: unknown }

const KEY = 'sk-upstream-0123456789abcdefghij'
const HI = [{ role: 'user', content: 'Hi.' }]
const TURN = { contents: [{ role: 'user', parts: [{ text: 'Hi.' }] }] }
const SPOKEN = {
  ...{ id: 'msg_1', type: 'message', role: 'assistant', status: 'completed' },
  content: [{ type: 'output_text', text: 'Hi.', annotations: [] }],
}
const CHOICE = { index: 0, message: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop' }
const CANDIDATE = { content: { role: 'model', parts: [{ text: 'Hi.' }] }, finishReason: 'STOP' }
const RESPONSE = { id: 'resp_1', object: 'response', model: 'm' }

/** Whole answers of each format that hold an error in a field specific to the format. */
const ANSWERS: readonly (readonly [
  name: string,
  format: string,
  path: string,
  body: Body,
  answer: (error: Body) => Body,
])[] = [
  [
    'chat',
    'chat',
    '/v1/chat/completions',
    { model: 'm', messages: HI },
    error => ({ id: 'c', object: 'chat.completion', model: 'm', choices: [CHOICE], error }),
  ],
  [
    'a choice of chat',
    'chat',
    '/v1/chat/completions',
    { model: 'm', messages: HI },
    error => ({ id: 'c', object: 'chat.completion', model: 'm', choices: [{ ...CHOICE, error }] }),
  ],
  [
    'messages',
    'messages',
    '/v1/messages',
    { model: 'm', max_tokens: 9, messages: HI },
    errors => ({
      ...{ id: 'm', type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn', usage: {}, errors },
      content: [{ type: 'text', text: 'Hi.' }],
    }),
  ],
  [
    'a count of messages',
    'messages',
    '/v1/messages/count_tokens',
    { model: 'm', messages: HI },
    error => ({ input_tokens: 3, error }),
  ],
  [
    'contents',
    'contents',
    '/v1beta/models/m:generateContent',
    TURN,
    error => ({ candidates: [{ ...CANDIDATE, error }], responseId: 'r', modelVersion: 'm' }),
  ],
  ['a count of contents', 'contents', '/v1beta/models/m:countTokens', TURN, error => ({ totalTokens: 3, error })],
  [
    'vectors of contents',
    'contents',
    '/v1beta/models/m:embedContent',
    { content: TURN.contents[0] },
    errors => ({ embedding: { values: [1] }, errors }),
  ],
  [
    'responses that failed',
    'responses',
    '/v1/responses',
    { model: 'm', input: 'Hi.' },
    error => ({ ...RESPONSE, status: 'failed', output: [], error: { code: 'server_error', ...error } }),
  ],
  [
    'responses that failed midway',
    'responses',
    '/v1/responses',
    { model: 'm', input: 'Hi.' },
    error => ({ ...RESPONSE, status: 'failed', output: [SPOKEN], error: { code: 'server_error', ...error } }),
  ],
  [
    'responses with an error all the same',
    'responses',
    '/v1/responses',
    { model: 'm', input: 'Hi.' },
    error => ({ ...RESPONSE, status: 'completed', output: [SPOKEN], error }),
  ],
  [
    'responses',
    'responses',
    '/v1/responses',
    { model: 'm', input: 'Hi.' },
    errors => ({ ...RESPONSE, status: 'completed', output: [SPOKEN], errors }),
  ],
  [
    'a count of responses',
    'responses',
    '/v1/responses/input_tokens',
    { model: 'm', input: 'Hi.' },
    error => ({ object: 'response.input_tokens', input_tokens: 3, error }),
  ],
  [
    'embeddings',
    'embeddings',
    '/v1/embeddings',
    { model: 'm', input: 'Hi.' },
    error => ({ object: 'list', data: [{ object: 'embedding', index: 0, embedding: [1] }], model: 'm', error }),
  ],
  [
    'images',
    'images',
    '/v1/images/generations',
    { model: 'm', prompt: 'A cat.' },
    error => ({ created: 1, data: [{ b64_json: 'iVBORw0KGgo=' }], error }),
  ],
]

describe('an answer that is sent unchanged', () => {
  test.each(ANSWERS)('of %s shows no address and no key of its upstream', async (_, format, path, body, answer) => {
    const upstream = await openUpstream(response => {
      const at = `at ${upstream.address}/v1 with ${KEY}`
      const error = { message: `It failed ${at}.`, metadata: { raw: at } }
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer(error)))
    })
    const channel = { ...channelAt(upstream.address, { format }), key: KEY }
    const testServer = await openGateway([channel])
    const { text } = await testServer.ask(path, body, VERSION_HEADERS)
    expect(upstream.seen).not.toEqual([])
    expect(text).not.toContain(new URL(upstream.address).host)
    expect(text).not.toContain(KEY)
  })
})
