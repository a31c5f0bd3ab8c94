import { expect, test } from 'vitest'
import { readConfig } from '../../src/config/read.ts'
import { VERSION } from '../builders/http.ts'
import { opener } from '../builders/opener.ts'
import { CHAT_PATH } from '../builders/paths.ts'
import type { Script } from '../builders/upstream.ts'

const { openUpstream, openGateway } = opener()

const TOOLS = [{ type: 'function', function: { name: 'add', parameters: { type: 'object', properties: {} } } }]
const CALL = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'add', arguments: '{}', status: 'completed' }
const REFUSED = 'Function tools with reasoning_effort are not supported for gpt-5.6-terra in /v1/chat/completions.'

/** Azure with GPT-5.6, which takes functions in Chat Completions only with the effort `none`. */
const azure: Script = (response, { method, url, text }) => {
  response.setHeader('content-type', 'application/json')
  if (method === 'GET') return response.end('{"data":[]}')
  const { model, tools, reasoning_effort } = JSON.parse(text)
  if (url.endsWith('/responses'))
    return response.end(
      JSON.stringify({ id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model, output: [CALL] }),
    )
  if (tools !== undefined && reasoning_effort !== 'none') {
    response.statusCode = 400
    return response.end(JSON.stringify({ error: { message: REFUSED, type: 'invalid_request_error' } }))
  }
  const message = { role: 'assistant', content: 'Hello.' }
  const choices = [{ index: 0, message, finish_reason: 'stop' }]
  return response.end(JSON.stringify({ id: 'a', object: 'chat.completion', created: 1, model, choices }))
}

// BerriAI/litellm#34569, danny-avila/LibreChat#14231, charmbracelet/crush#2913.
test.each([
  [{ tools: TOOLS }, '/v1/responses', 'tool_calls'],
  [{ tools: TOOLS, reasoning_effort: 'high' }, '/v1/responses', 'tool_calls'],
  [{ tools: TOOLS, reasoning_effort: 'none' }, '/v1/chat/completions', 'stop'],
  [{ reasoning_effort: 'high' }, '/v1/chat/completions', 'stop'],
])('a caller of Chat Completions reaches GPT-5.6 with %j at %s', async (fields, path, finish) => {
  const upstream = await openUpstream(azure)
  const text = `channels: [{ name: a, provider: azure-openai, base_url: "${upstream.address}/v1", key: k, models: ["*"] }]`
  const server = await openGateway(readConfig(text, {}).channels)
  const messages = [{ role: 'user', content: 'Add.' }]
  const { status, json } = await server.ask(CHAT_PATH, { model: 'gpt-5.6-terra', messages, ...fields })
  expect(status).toBe(200)
  expect(json.choices[0].finish_reason).toBe(finish)
  expect(upstream.seen.findLast(({ method }) => method === 'POST')!.url).toBe(path)
})

// can1357/oh-my-pi#11052: Azure’s older API has no Responses.
test.each([
  ['/v1/messages', { max_tokens: 9, tools: [{ name: 'add', input_schema: { type: 'object', properties: {} } }] }],
  [CHAT_PATH, { tools: TOOLS }],
])('a caller at %s with functions reaches GPT-5.6 at Azure’s older API without thinking', async (path, fields) => {
  const upstream = await openUpstream(azure)
  const text = `channels: [{ name: a, provider: azure-deployments, base_url: "${upstream.address}", key: k, models: ["*"] }]`
  const server = await openGateway(readConfig(text, {}).channels)
  const messages = [{ role: 'user', content: 'Add.' }]
  const { status } = await server.ask(path, { model: 'gpt-5.6-terra', messages, ...fields }, { headers: VERSION })
  expect(status).toBe(200)
  const { url, text: sent } = upstream.seen.findLast(({ method }) => method === 'POST')!
  expect([url.split('?')[0], JSON.parse(sent).reasoning_effort]).toEqual([
    '/openai/deployments/gpt-5.6-terra/chat/completions',
    'none',
  ])
})
