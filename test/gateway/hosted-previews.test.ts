import { describe, expect, test } from 'vitest'
import { readConfig } from '../../src/config/read.ts'
import { json } from '../builders/chat.ts'
import { VERSION } from '../builders/http.ts'
import { opener } from '../builders/opener.ts'

/* Fields of previews before Claude on Bedrock, which refuses fields and beta features that it does not know. */

const { openUpstream, openGateway } = opener()

const MESSAGE = {
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn', stop_sequence: null },
  content: [{ type: 'text', text: 'Hello.' }],
  usage: { input_tokens: 3, output_tokens: 2 },
}
const TOOL = { name: 'look', input_schema: { type: 'object' } }
const PLAIN = { max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }
const EDITS = { edits: [{ type: 'clear_tool_uses_20250919' }] }
const PREVIEWS = {
  context_management: EDITS,
  ...{ speed: 'fast', inference_geo: 'us', diagnostics: { previous_message_id: null }, container: null },
  mcp_servers: [{ type: 'url', url: 'https://mcp.example', name: 'x' }],
}
const BETAS = 'claude-code-20250219,context-management-2025-06-27,advanced-tool-use-2025-11-20,mcp-client-2025-11-20'

async function at(provider: string, betas = '') {
  const upstream = await openUpstream(response => json(response, MESSAGE as never))
  const settings = `key: k, base_url: "${upstream.address}", models: ["*"], region: eu-west-1${betas}`
  const gateway = await openGateway(
    readConfig(`channels: [{ name: c, provider: ${provider}, ${settings} }]`, {}).channels,
  )
  return async (fields: object, path = '/v1/messages', headers = { ...VERSION, 'anthropic-beta': BETAS }) => {
    const body = { model: 'claude-sonnet-4-6', ...PLAIN, ...fields }
    const { status, text, headers: answered } = await gateway.ask(path, body, { headers })
    expect(status, text).toBe(200)
    const { anthropic_version: _, model: __, ...sent } = JSON.parse(upstream.seen.at(-1)!.text)
    return { sent, beta: upstream.seen.at(-1)!.headers['anthropic-beta'], losses: answered['interlingua-loss'] ?? '' }
  }
}

describe.each(['bedrock-invoke', 'bedrock'])('%s', provider => {
  test('gets no field whose beta the channel does not pass on, and the caller learns of it', async () => {
    const send = await at(provider)
    const { sent, losses, beta } = await send(PREVIEWS)
    expect(sent).toEqual(PLAIN)
    expect(beta).toBeUndefined()
    expect(losses).toContain('context_management')
  })

  test('gets tools without such fields, and no tools of such previews', async () => {
    const send = await at(provider)
    const deferred = { ...TOOL, defer_loading: true, eager_input_streaming: true, input_examples: [{}] }
    const search = { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' }
    const bash = { type: 'bash_20250124', name: 'bash' }
    const { sent } = await send({ tools: [search, deferred, { ...bash, defer_loading: true }] })
    expect(sent.tools).toEqual([TOOL, bash])
  })

  test('gets the fields whose beta the channel passes on', async () => {
    const send = await at(provider, ', betas: [context-management-2025-06-27]')
    expect((await send(PREVIEWS)).sent).toMatchObject({ ...PLAIN, context_management: EDITS })
    const sendAll = await at(provider, ', betas: allow')
    expect((await sendAll({ ...PREVIEWS, tools: [{ ...TOOL, defer_loading: true }] })).sent).toMatchObject({
      ...{ context_management: EDITS, mcp_servers: PREVIEWS.mcp_servers },
      tools: [{ ...TOOL, defer_loading: true }],
    })
  })

  test('gets a request without such fields as it came', async () => {
    const send = await at(provider)
    const body = { tools: [TOOL], metadata: { user_id: 'u' }, thinking: { type: 'adaptive' }, future: 1 }
    expect((await send(body)).sent).toEqual({ ...PLAIN, ...body })
  })
})

test('InvokeModel gets no service tier, from callers of any format', async () => {
  const send = await at('bedrock-invoke')
  expect((await send({ service_tier: 'auto' })).sent).toEqual(PLAIN)
  expect((await send({ service_tier: 'auto' }, '/v1/chat/completions', {} as never)).sent).not.toHaveProperty(
    'service_tier',
  )
  expect((await (await at('bedrock'))({ service_tier: 'auto' })).sent).toEqual({ ...PLAIN, service_tier: 'auto' })
})
