import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chunk, events, HEAD, json, TAIL, words } from '../builders/chat.ts'
import { channelAt } from '../builders/config.ts'
import { TestServer } from '../builders/gateway.ts'
import { FakeUpstream } from '../builders/upstream.ts'

/* A caller of contents requests one text of an enum from an upstream of chat. */

const REQUEST = {
  contents: [{ role: 'user', parts: [{ text: 'Which instrument has strings?' }] }],
  generationConfig: {
    responseMimeType: 'text/x.enum',
    responseSchema: { type: 'STRING', enum: ['Piano', 'Lute'] },
  },
}

let upstream: FakeUpstream
let gateway: TestServer
beforeAll(async () => {
  upstream = await FakeUpstream.open(() => {})
  gateway = await TestServer.open([channelAt(upstream.address, { format: 'chat' })])
})
afterAll(async () => {
  await gateway.server.close(0)
  await upstream.close()
})

const asked = (method: string) => gateway.ask(`/v1beta/models/m:${method}`, REQUEST)
const textIn = (body: string): string =>
  [...body.matchAll(/"text":\s*("(?:[^"\\]|\\.)*")/g)].map(([, text]) => JSON.parse(text!)).join('')

describe('trap 112: the answer', () => {
  test('is the bare text, and its question is shown as no loss', async () => {
    const message = { role: 'assistant', content: '{"value":"Lute"}', refusal: null }
    upstream.script = response =>
      json(response, {
        ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm' },
        choices: [{ index: 0, message, finish_reason: 'stop' }],
      })
    const { text, headers, status } = await asked('generateContent')
    expect(status).toBe(200)
    expect(textIn(text)).toBe('Lute')
    expect(headers).not.toHaveProperty('interlingua-loss')
    expect(JSON.parse(upstream.seen.at(-1)!.text).response_format.json_schema.schema.properties.value.enum).toEqual([
      'Piano',
      'Lute',
    ])
  })

  test.each([
    ['in an object', ['{"va', 'lue": "', 'Lu', 'te', '"}']],
    ['bare', ['Lu', 'te']],
  ])('is the bare text where it is streamed %s', async (_, said) => {
    upstream.script = response => events(response).end(`${HEAD}${words(...said)}${TAIL}`)
    expect(textIn((await asked('streamGenerateContent?alt=sse')).text)).toBe('Lute')
  })

  test('is whatever the model says where it is cut short', async () => {
    upstream.script = response => events(response).end(`${HEAD}${words('{"va')}${chunk({}, 'length')}data: [DONE]\n\n`)
    expect(textIn((await asked('streamGenerateContent?alt=sse')).text)).toBe('{"va')
  })
})
