import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/canonical/node.ts'
import { readConfig } from '../../../src/config/read.ts'
import { frameBytes, frames } from '../../builders/frames.ts'
import { VERSION } from '../../builders/http.ts'
import { opener } from '../../builders/opener.ts'
import type { Script } from '../../builders/upstream.ts'

/* Channels of InvokeModel, from their config to the bytes that arrive. */

const { openUpstream, openGateway } = opener()

const MODEL = 'us.anthropic.claude-3-7-sonnet-20250219-v1:0'
const MESSAGE = {
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn', stop_sequence: null },
  content: [{ type: 'text', text: 'Hello.' }],
  usage: { input_tokens: 3, output_tokens: 2 },
}
const chunk = (event: JsonObject): Buffer =>
  frameBytes({
    event: 'chunk',
    data: JSON.stringify({ bytes: Buffer.from(JSON.stringify(event)).toString('base64'), p: 'abc' }),
  })
const HALF = Buffer.concat([
  chunk({ type: 'message_start', message: { ...MESSAGE, content: [], stop_reason: null } }),
  chunk({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
  chunk({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello.' } }),
])
const REST = Buffer.concat([
  chunk({ type: 'content_block_stop', index: 0 }),
  chunk({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } }),
  chunk({ type: 'message_stop' }),
])
const exception = (name: string, message: string): Buffer =>
  frameBytes({ event: name, data: JSON.stringify({ message }) })

async function invoking(script: Script, betas = 'none') {
  const upstream = await openUpstream(script)
  const settings = `key: k, base_url: "${upstream.address}", models: ["*"], betas: ${betas}`
  const text = `channels: [{ name: c, provider: bedrock-invoke, ${settings} }]`
  const gateway = await openGateway(readConfig(text, {}).channels)
  const body = { model: MODEL, max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }
  const headers = { ...VERSION, 'anthropic-beta': 'context-1m-2025-08-07' }
  return {
    messages: (stream: boolean, fields = {}) =>
      gateway.ask('/v1/messages', { ...body, stream, ...fields }, { headers }),
    chat: (stream: boolean, ...before: readonly object[]) =>
      gateway.ask('/v1/chat/completions', { model: MODEL, messages: [...before, ...body.messages], stream }, {}),
    /** Sends a request of the OpenAI Agents SDK, whose tools and answers are strict. */
    tooled: (model: string) => {
      const schema = { type: 'object', properties: {}, required: [], additionalProperties: false }
      const tools = [{ type: 'function', function: { name: 'f', parameters: schema, strict: true } }]
      const response_format = { type: 'json_schema', json_schema: { name: 'a', strict: true, schema } }
      return gateway.ask('/v1/chat/completions', { ...body, model, tools, response_format }, {})
    },
    count: (fields = {}) =>
      gateway.ask('/v1/messages/count_tokens', { model: MODEL, messages: body.messages, ...fields }, { headers }),
    arrived: () => upstream.seen.at(-1)!,
  }
}
const streaming =
  (...parts: readonly Buffer[]): Script =>
  response =>
    frames(response).end(Buffer.concat(parts))

const answering: Script = response =>
  response.setHeader('content-type', 'application/json').end(JSON.stringify(MESSAGE))

describe('a channel of InvokeModel', () => {
  test('sends no beta feature that its betas do not allow, because Bedrock refuses unknown ones', async () => {
    for (const [policy, sent] of [
      ['none', undefined],
      ['[other-2025-01-01]', undefined],
      ['[other-2025-01-01, context-1m-2025-08-07]', ['context-1m-2025-08-07']],
    ] as const) {
      const { messages, arrived } = await invoking(answering, policy)
      await messages(false)
      expect(JSON.parse(arrived().text).anthropic_beta).toEqual(sent)
    }
  })

  test('has the model in the path, and the version and beta features in the body', async () => {
    const { messages, arrived } = await invoking(answering, 'allow')
    const { status, json } = await messages(false)
    expect([status, json.content]).toEqual([200, MESSAGE.content])
    expect(arrived().url).toBe(`/model/${encodeURIComponent(MODEL)}/invoke`)
    expect(arrived().headers).toMatchObject({ authorization: 'Bearer k' })
    expect(Object.keys(arrived().headers).join()).not.toContain('anthropic')
    const sent = JSON.parse(arrived().text)
    expect(sent).toMatchObject({ anthropic_version: 'bedrock-2023-05-31', max_tokens: 9 })
    expect(sent.anthropic_beta).toEqual(['context-1m-2025-08-07'])
    expect(sent).not.toHaveProperty('model')
    expect(sent).not.toHaveProperty('stream')
  })

  test('streams to callers of messages and of other formats', async () => {
    const { messages, chat, arrived } = await invoking(streaming(HALF, REST))
    const { text } = await messages(true)
    expect(arrived().url).toBe(`/model/${encodeURIComponent(MODEL)}/invoke-with-response-stream`)
    expect(arrived().headers.accept).toBe('application/vnd.amazon.eventstream')
    expect(text.match(/^event: .*$/gm)).toEqual([
      ...['event: message_start', 'event: content_block_start', 'event: content_block_delta'],
      ...['event: content_block_stop', 'event: message_delta', 'event: message_stop'],
    ])
    expect((await chat(true)).text).toMatch(/"content":"Hello\."[\s\S]*"finish_reason":"stop"[\s\S]*\[DONE\]/)
  })

  test.each([
    ['an exception', exception('throttlingException', 'Slow down.'), 'Slow down.'],
    ['a damaged frame', Buffer.concat([HALF.subarray(0, 40), Buffer.alloc(400)]), 'damaged frame'],
    ['a chunk without an event', frameBytes({ event: 'chunk', data: '{"bytes":"?"}' }), 'damaged frame'],
    ['an end within a frame', HALF.subarray(0, 50), 'within a frame'],
    ['an early end', Buffer.alloc(0), 'early'],
  ])('that breaks off by %s ends with an error and without an end of the message', async (_, bytes, message) => {
    const { messages, chat } = await invoking(streaming(HALF, bytes))
    for (const { text } of [await messages(true), await chat(true)]) {
      expect(text).toContain(message)
      expect(text).not.toMatch(/message_stop|"finish_reason":"/)
    }
  })

  test('passes errors on, before and in the first frame', async () => {
    const refusing = await invoking(response => {
      response.writeHead(429, { 'x-amzn-errortype': 'ThrottlingException', 'content-type': 'application/json' })
      response.end('{"message":"Slow down."}')
    })
    const excepting = await invoking(streaming(exception('throttlingException', 'Slow down.')))
    for (const { status, text } of [await refusing.messages(false), await excepting.messages(true)]) {
      expect(status).toBe(429)
      expect(text).toContain('Slow down.')
    }
  })

  test('counts tokens with a complete request of the model behind the inference profile', async () => {
    const { count, arrived } = await invoking(
      response => response.setHeader('content-type', 'application/json').end('{"inputTokens":7}'),
      '[context-1m-2025-08-07]',
    )
    const { json, headers } = await count({ thinking: { type: 'enabled', budget_tokens: 2000 } })
    expect([json, headers['interlingua-estimate']]).toEqual([{ input_tokens: 7 }, undefined])
    expect(arrived().url).toBe(`/model/${encodeURIComponent(MODEL.replace('us.', ''))}/count-tokens`)
    const { body } = JSON.parse(arrived().text).input.invokeModel
    expect(JSON.parse(Buffer.from(body, 'base64').toString())).toEqual({
      ...{ anthropic_version: 'bedrock-2023-05-31', anthropic_beta: ['context-1m-2025-08-07'] },
      ...{ max_tokens: 2001, messages: [{ role: 'user', content: 'Hi' }] },
      thinking: { type: 'enabled', budget_tokens: 2000 },
    })
  })

  test.each([
    ['us.anthropic.claude-sonnet-5', false],
    ['us.anthropic.claude-opus-4-8', false],
    ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', true],
  ])('of %s gets strict tools and schemas of answers only if Bedrock takes them', async (model, takes) => {
    const { tooled, arrived } = await invoking(answering)
    await tooled(model)
    const { tools, output_config, system } = JSON.parse(arrived().text)
    expect('strict' in tools[0]).toBe(takes)
    expect(output_config?.format !== undefined).toBe(takes)
    if (!takes) expect(JSON.stringify(system)).toContain('JSON Schema')
  })

  test('estimates token counts of models that do not count', async () => {
    const { count } = await invoking(response =>
      response
        .writeHead(400, { 'content-type': 'application/json', 'x-amzn-errortype': 'ValidationException' })
        .end('{"message":"The provided model doesn\'t support counting tokens."}'),
    )
    const { status, json, headers } = await count()
    expect([status, json.input_tokens > 0, headers['interlingua-estimate']]).toEqual([200, true, 'true'])
  })

  test('marks the end of a cached prompt at its last block, because only the vendor has automatic caching', async () => {
    const { chat, messages, arrived } = await invoking(response =>
      response.setHeader('content-type', 'application/json').end(JSON.stringify(MESSAGE)),
    )
    const marker = { type: 'ephemeral', ttl: '1h' }
    await messages(false, { cache_control: marker })
    expect(JSON.parse(arrived().text)).toMatchObject({
      messages: [{ content: [{ type: 'text', text: 'Hi', cache_control: marker }] }],
    })
    await chat(false, { role: 'system', content: 'Be brief.' }, { role: 'assistant', content: 'Yes?' })
    const sent = JSON.parse(arrived().text)
    expect(sent.system.at(-1)).toHaveProperty('cache_control')
    expect(sent.messages.at(-1).content.at(-1)).toHaveProperty('cache_control')
    expect(sent).not.toHaveProperty('cache_control')
  })
})
