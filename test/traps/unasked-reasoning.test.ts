import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/canonical/node.ts'
import { closingAfterEach } from '../builders/closing.ts'
import { channelAt } from '../builders/config.ts'
import { TestServer } from '../builders/gateway.ts'
import { VERSION_HEADERS } from '../builders/http.ts'
import { FakeUpstream, type Script } from '../builders/upstream.ts'
import { frame, type Loose, PROOF, type Scene } from '../clients/scene.ts'
import { Stage } from '../clients/stage.ts'

/* Trap 110: reasoning in the answers to callers who did not request it. */

const closing = closingAfterEach()

const ANSWERED: Scene = { thought: 'Hm, hm.', text: 'Blue.' }
const CALLING: Scene = {
  ...{ thought: 'Which city?', text: 'One moment.' },
  calls: [{ id: 'call_9Xy8Wv7Ut6', name: 'get_weather', arguments: { city: 'Oslo' } }],
}
const QUESTION = 'What colour is the sky?'

const WAYS = [false, true].map(stream => ({ stream }))

describe.each(['contents', 'chat', 'responses'])('a messages caller before %s', format => {
  let stage: Stage
  let client: Anthropic
  beforeAll(async () => {
    stage = await Stage.open(format)
    client = new Anthropic({ baseURL: stage.address.address, apiKey: stage.address.key, maxRetries: 0 })
  })
  afterAll(() => stage.close())

  const say = (stream: boolean, more: Loose, messages: Loose = [{ role: 'user', content: QUESTION }]) => {
    const body = { model: 'm', max_tokens: 4000, messages, ...more }
    return stream ? client.messages.stream(body).finalMessage() : client.messages.create(body)
  }

  describe.each(WAYS)('streamed: $stream', ({ stream }) => {
    test.each([{}, { thinking: { type: 'disabled' } }, { output_config: { effort: 'high' } }])(
      'trap 110: content[0] is the text with %j',
      async more => {
        stage.plays(ANSWERED)
        const message = (await say(stream, more)) as Loose
        expect(message.content[0].text).toBe('Blue.')
        expect(message.content.at(-1).text).toBe('Blue.')
        expect(message.usage.output_tokens).toBe(13)
        expect(message.usage.output_tokens_details.thinking_tokens).toBe(5)
      },
    )

    test.each([
      { thinking: { type: 'enabled', budget_tokens: 2000 } },
      { thinking: { type: 'adaptive' } },
      { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } },
    ])('trap 110: the reasoning comes with %j', async more => {
      stage.plays(ANSWERED)
      const { content } = (await say(stream, more)) as Loose
      expect(content[0]).toMatchObject({ type: 'thinking', thinking: 'Hm, hm.' })
      expect(content[1].text).toBe('Blue.')
    })

    test('trap 110: `display: omitted` gets signatures without text', async () => {
      stage.plays(CALLING)
      const { content } = (await say(stream, { thinking: { type: 'adaptive', display: 'omitted' } })) as Loose
      const thinking = content.filter(({ type }: Loose) => type === 'thinking')
      expect(thinking).toHaveLength(format === 'chat' ? 0 : 1)
      for (const block of thinking) expect(block).toMatchObject({ thinking: '', signature: expect.stringMatching(/./) })
    })

    test('trap 110: the next turn contains its signature', async () => {
      stage.plays(CALLING, { text: 'Rain.' })
      const tools = [{ name: 'get_weather', input_schema: { type: 'object' } }]
      const first = (await say(stream, { tools })) as Loose
      expect(first.content.map(({ type }: Loose) => type)).toEqual(['text', 'tool_use'])
      const results = [{ type: 'tool_result', tool_use_id: first.content[1].id, content: 'rain' }]
      const history = [
        ...[
          { role: 'user', content: QUESTION },
          { role: 'assistant', content: first.content },
        ],
        { role: 'user', content: results },
      ]
      const second = (await say(stream, { tools }, history)) as Loose
      expect(second.content[0].text).toBe('Rain.')
      expect(stage.heard(1).turns.flatMap(({ proofs = [] }) => proofs)).toEqual(format === 'chat' ? [] : [PROOF])
    })

    test('trap 110: an answer that consists only of reasoning is empty and has its finish reason', async () => {
      stage.does(cutShort(format))
      const message = (await say(stream, {})) as Loose
      expect(message).toMatchObject({ content: [], stop_reason: 'max_tokens' })
    })
  })
})

describe.each(['messages', 'chat', 'responses'])('a contents caller before %s', format => {
  let stage: Stage
  let client: GoogleGenAI
  beforeAll(async () => {
    stage = await Stage.open(format)
    client = new GoogleGenAI({ apiKey: stage.address.key, httpOptions: { baseUrl: stage.address.address } })
  })
  afterAll(() => stage.close())

  async function say(stream: boolean, config: Loose, contents: Loose = QUESTION) {
    const request = { model: 'm', contents, config }
    if (!stream) return [await client.models.generateContent(request)]
    return Array.fromAsync(await client.models.generateContentStream(request))
  }
  const partsOf = (answers: Awaited<ReturnType<typeof say>>): Loose[] =>
    answers.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? [])

  describe.each(WAYS)('streamed: $stream', ({ stream }) => {
    test.each([{}, { thinkingConfig: { includeThoughts: false } }, { thinkingConfig: { thinkingBudget: 0 } }])(
      'trap 110: `.text` is the text, and no part is a thought, with %j',
      async config => {
        stage.plays(ANSWERED)
        const answers = await say(stream, config)
        expect(answers.map(({ text }) => text ?? '').join('')).toBe('Blue.')
        for (const part of partsOf(answers)) expect(Object.keys(part)).toEqual(['text'])
        expect(answers.at(-1)!.usageMetadata).toMatchObject(
          format === 'messages' ? { candidatesTokenCount: 13 } : { thoughtsTokenCount: 5, candidatesTokenCount: 8 },
        )
      },
    )

    test('trap 110: `includeThoughts` requests reasoning', async () => {
      stage.plays(ANSWERED)
      const parts = partsOf(await say(stream, { thinkingConfig: { includeThoughts: true } }))
      expect(parts.map(({ thought, text }) => (thought === true ? text : '')).join('')).toBe('Hm, hm.')
    })

    test('trap 110: the next turn contains its signature', async () => {
      stage.plays(CALLING, { text: 'Rain.' })
      const tools = [{ functionDeclarations: [{ name: 'get_weather', parametersJsonSchema: { type: 'object' } }] }]
      const parts = partsOf(await say(stream, { tools }))
      expect(JSON.stringify(parts)).not.toContain('thought')
      const { id, name } = parts.find(({ functionCall }) => functionCall !== undefined).functionCall
      const result = { functionResponse: { ...(id && { id }), name, response: { result: 'rain' } } }
      await say(stream, { tools }, [
        ...[
          { role: 'user', parts: [{ text: QUESTION }] },
          { role: 'model', parts },
        ],
        { role: 'user', parts: [result] },
      ])
      expect(stage.heard(1).turns.flatMap(({ proofs = [] }) => proofs)).toEqual(format === 'chat' ? [] : [PROOF])
    })

    test('trap 110: an answer that consists only of reasoning is empty and has its finish reason', async () => {
      stage.does(cutShort(format))
      const answers = await say(stream, {})
      expect(answers.map(({ text }) => text ?? '').join('')).toBe('')
      expect(answers.at(-1)!.candidates![0]!.finishReason).toBe('MAX_TOKENS')
    })
  })
})

test('trap 102: a signed text of Gemini remains text if no reasoning is requested', async () => {
  const stage = await Stage.open('contents')
  closing.push(() => stage.close())
  const parts = [{ text: 'Blue.', thoughtSignature: PROOF }]
  stage.does(response => response.end(JSON.stringify(google(parts, 'STOP'))))
  const { json } = await stage.testServer.ask('/v1/messages', ASK, VERSION_HEADERS)
  expect(json.content).toEqual([{ type: 'text', text: 'Blue.' }])
})

test('trap 110: reasoning that is left out is no loss', async () => {
  const stage = await Stage.open('contents')
  closing.push(() => stage.close())
  stage.plays(ANSWERED)
  const { headers } = await stage.testServer.ask('/v1/messages', ASK, VERSION_HEADERS)
  expect(headers['interlingua-loss']).toBeUndefined()
})

test('trap 110: every candidate is without reasoning', async () => {
  const stage = await Stage.open('chat')
  closing.push(() => stage.close())
  const choice = (index: number) => ({
    ...{ index, finish_reason: 'stop' },
    message: { role: 'assistant', content: `${index}`, reasoning_content: 'Hm.' },
  })
  stage.does(response => response.end(JSON.stringify({ id: 'x', choices: [choice(0), choice(1)] })))
  const body = { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }], generationConfig: { candidateCount: 2 } }
  const { json } = await stage.testServer.ask('/v1beta/models/m:generateContent', body)
  expect(json.candidates.map(({ content }: Loose) => content.parts)).toEqual([[{ text: '0' }], [{ text: '1' }]])
})

test('trap 110: an answer of an upstream of the caller’s format passes unchanged', async () => {
  const stage = await Stage.open('messages')
  closing.push(() => stage.close())
  stage.plays(ANSWERED)
  const { json } = await stage.testServer.ask('/v1/messages', ASK, VERSION_HEADERS)
  expect(json.content.map(({ type }: Loose) => type)).toEqual(['thinking', 'text'])
})

const HEARTBEAT = 60

/** Opens a gateway with upstreams of chat. */
async function before(...scripts: Script[]): Promise<TestServer> {
  const upstreams = await Promise.all(scripts.map(script => FakeUpstream.open(script)))
  const channels = upstreams.map(({ address }, at) => ({ ...channelAt(address), name: `c${at}`, priority: -at }))
  const testServer = await TestServer.open(channels, { heartbeat: HEARTBEAT })
  closing.push(async () => {
    await testServer.server.close(0)
    await Promise.all(upstreams.map(one => one.close()))
  })
  return testServer
}

test('trap 110: a stream without output during reasoning has pings', async () => {
  const testServer = await before(async response => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (let at = 0; at < 8; at++) {
      response.write(delta({ reasoning_content: 'Hm. ' }))
      await new Promise(resolve => setTimeout(resolve, HEARTBEAT))
    }
    response.end(delta({ content: 'Blue.' }) + delta({}, 'stop') + frame('[DONE]'))
  })
  const { text } = await testServer.ask('/v1/messages', { ...ASK, stream: true }, VERSION_HEADERS)
  expect(text.split('ping\n').length - 1).toBeGreaterThan(2)
  expect(text.indexOf('ping\n')).toBeLessThan(text.indexOf('content_block_start'))
  expect(text).toContain('"index":0,"delta":{"type":"text_delta","text":"Blue."}')
  expect(text).not.toContain('Hm.')
})

test('trap 110: an upstream that fails during reasoning is replaced by another', async () => {
  const testServer = await before(
    response => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(delta({ reasoning_content: 'Hm.' }) + frame({ error: { message: 'Overloaded.', code: 503 } }))
    },
    response =>
      response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .end(delta({ content: 'Blue.' }) + delta({}, 'stop') + frame('[DONE]')),
  )
  const { text } = await testServer.ask('/v1/messages', { ...ASK, stream: true }, VERSION_HEADERS)
  expect(text).toContain('Blue.')
  expect(text).not.toContain('event: error')
})

const ASK = { model: 'm', max_tokens: 4000, messages: [{ role: 'user', content: QUESTION }] }

const delta = (said: JsonObject, finish_reason: string | null = null): string =>
  frame({ id: 'c', created: 1, model: 'm', choices: [{ index: 0, delta: said, finish_reason }] })

const google = (parts: readonly JsonObject[], finishReason: string): JsonObject => ({
  candidates: [{ content: { role: 'model', parts }, finishReason, index: 0 }],
  ...{ modelVersion: 'm', responseId: 'r' },
})

const THOUGHT = { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm.' }] }
const RESPONSE = { id: 'resp_1', object: 'response', model: 'm', status: 'incomplete', output: [THOUGHT] }

/** Whole answers that consist only of reasoning, cut by the token limit. */
const CUT: { readonly [format: string]: JsonObject } = {
  contents: google([{ text: 'Hm.', thought: true }], 'MAX_TOKENS'),
  chat: {
    ...{ id: 'c', object: 'chat.completion', model: 'm' },
    choices: [
      { index: 0, message: { role: 'assistant', content: null, reasoning_content: 'Hm.' }, finish_reason: 'length' },
    ],
  },
  responses: { ...RESPONSE, incomplete_details: { reason: 'max_output_tokens' } },
  messages: {
    ...{ id: 'm', type: 'message', role: 'assistant', model: 'm', stop_reason: 'max_tokens' },
    ...{
      content: [{ type: 'thinking', thinking: 'Hm.', signature: PROOF }],
      usage: { input_tokens: 1, output_tokens: 1 },
    },
  },
}

const cutShort =
  (format: string): Script =>
  response =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(CUT[format]))
