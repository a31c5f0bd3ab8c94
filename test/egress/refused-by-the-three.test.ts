import { describe, expect, it } from 'vitest'
import type { Format, JsonObject } from '../../src/canonical/node.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { familyDialect } from '../../src/formats/index.ts'
import { READERS } from '../../src/ingress/index.ts'

/* What OpenAI, Anthropic and Google refuse, from clients that do not know it. The rules stand in test/laws/vendors. */

// biome-ignore lint/suspicious/noExplicitAny: the wire is looked into by hand here.
type Loose = any

const PATHS: { readonly [format: Format]: string } = { chat: '/v1/chat/completions', messages: '/v1/messages' }

/** Writes a client's request for another format, and returns its body with the reasons of losses. */
function sent(from: 'chat' | 'messages', to: Format, model: string, body: JsonObject, flags: JsonObject = {}) {
  const asked = { model, messages: [{ role: 'user', content: 'hi' }], max_tokens: 32_000, ...body }
  const request = READERS[from]!.request!({ path: PATHS[from]!, query: {}, headers: {}, body: asked })
  const options = { dialect: { ...familyDialect(to, model), ...flags }, native: false }
  const { wire, losses } = WRITERS[to]!.request!(request, options)
  return { body: wire.body as Loose, reasons: losses.map(({ reason }) => reason) }
}

const tools = (parameters: JsonObject, fields: JsonObject = {}): JsonObject => ({
  tools: [{ type: 'function', function: { name: 'list', parameters, ...fields } }],
})

describe('the output limit of Claude Code', () => {
  it.each([
    ['gpt-4o', 16_384],
    ['gpt-4.1-mini', 32_000],
    ['gpt-4-turbo', 4096],
    ['o4-mini', 32_000],
    ['gpt-5.6-sol', 32_000],
  ])('is at most that of %s', (model, limit) => {
    expect(sent('messages', 'chat', model, {}).body.max_completion_tokens).toBe(limit)
    expect(sent('messages', 'responses', model, {}).body.max_output_tokens).toBe(limit)
  })
})

describe("Claude Code's search at OpenAI", () => {
  const search: JsonObject = {
    tools: [{ type: 'web_search_20250305', name: 'web_search' }],
    tool_choice: { type: 'tool', name: 'web_search' },
    thinking: { type: 'disabled' },
  }

  it('forces the tool that is sent, with an effort that searches', () => {
    const { body } = sent('messages', 'responses', 'gpt-5-mini', search)
    expect(body).toMatchObject({ tool_choice: { type: 'web_search' }, tools: [{ type: 'web_search' }] })
    expect(body.reasoning).toEqual({ effort: 'low' })
    expect(sent('messages', 'responses', 'gpt-5.1', search).body.reasoning).toEqual({ effort: 'none' })
  })
})

describe('arguments at Claude', () => {
  const parameters: JsonObject = {
    type: 'object',
    properties: { $filter: { type: 'string' }, top: { type: 'integer', minimum: 0, exclusiveMinimum: true } },
    required: ['$filter', 'top'],
    additionalProperties: false,
  }

  it.each(['messages', 'converse'])('have plain names and the current draft: %s', format => {
    const { body, reasons } = sent('chat', format, 'claude-sonnet-4-5', tools(parameters, { strict: true }))
    const [first] = format === 'messages' ? body.tools : body.toolConfig.tools
    const schema = first.input_schema ?? first.toolSpec.inputSchema.json
    expect(schema).toEqual({
      type: 'object',
      description:
        'Further arguments, by their exact names, as JSON Schema: {"$filter":{"type":"string"}}\nOf these, required: ["$filter"]',
      properties: { top: { type: 'integer', exclusiveMinimum: 0 } },
      required: ['top'],
    })
    expect((first.toolSpec ?? first).strict).toBeUndefined()
    expect(reasons).toContain('schema-made-legal')
  })

  it('stay as they are where all names are plain', () => {
    const plain: JsonObject = { type: 'object', properties: { 'a.b-c_d': { type: 'string' } } }
    const { body, reasons } = sent('chat', 'messages', 'claude-sonnet-4-5', tools(plain))
    expect(body.tools[0].input_schema).toEqual(plain)
    expect(reasons).not.toContain('schema-made-legal')
  })

  it('have the first members of a list as prefixItems', () => {
    const pair = { type: 'array', items: [{ type: 'string' }, { type: 'number' }], additionalItems: false }
    const { body } = sent('chat', 'messages', 'claude-sonnet-4-5', tools({ type: 'object', properties: { pair } }))
    expect(body.tools[0].input_schema.properties.pair).toEqual({
      type: 'array',
      prefixItems: [{ type: 'string' }, { type: 'number' }],
      items: false,
    })
  })
})

describe('an image that Gemini refuses', () => {
  const image = { type: 'image_url', image_url: { url: 'data:image/gif;base64,R0lGODlh' } }

  it('becomes words', () => {
    const messages = [{ role: 'user', content: [{ type: 'text', text: 'see' }, image] }]
    const { body, reasons } = sent('chat', 'contents', 'gemini-3.7-flash', { messages })
    expect(body.contents[0].parts[1]).toEqual({ text: '[The image is left out: this model takes no image/gif.]' })
    expect(reasons).toContain('no-such-image-type')
  })

  it.each(['gemini-2.5-flash', 'gemini-3.7-flash'])('becomes words in the result of a tool: %s', model => {
    const source = { type: 'base64', media_type: 'image/gif', data: 'R0lGODlh' }
    const content = [{ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'image', source }] }]
    const messages = [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'shot', input: {} }] },
      { role: 'user', content },
    ]
    const { body } = sent('messages', 'contents', model, { messages })
    expect(JSON.stringify(body)).not.toContain('inlineData')
    expect(JSON.stringify(body)).toContain('this model takes no image/gif')
  })
})

describe('a failed result with an image', () => {
  it('says so in words at Claude', () => {
    const status = 'error'
    const image = { format: 'png', source: { bytes: 'iVBORw0KGgo=' } }
    const content = [{ toolResult: { toolUseId: 'a', status, content: [{ image }] } }]
    const body = {
      messages: [
        { role: 'user', content: [{ text: 'hi' }] },
        { role: 'assistant', content: [{ toolUse: { toolUseId: 'a', name: 'shot', input: {} } }] },
        { role: 'user', content },
      ],
    }
    const request = READERS['converse']!.request!({ path: '/model/m/converse', query: {}, headers: {}, body })
    const { wire } = WRITERS['messages']!.request!(request, { dialect: {}, native: false })
    const [result] = (wire.body as Loose).messages[2].content
    expect(result.is_error).toBeUndefined()
    expect(result.content.map(({ type }: Loose) => type)).toEqual(['image', 'text'])
    expect(result.content[1].text).toBe('The call failed.')
  })
})

it('an organization that is not verified is asked for no summaries', () => {
  const thinking = { thinking: { type: 'enabled', budget_tokens: 8192 } }
  expect(sent('messages', 'responses', 'o3', thinking).body.reasoning).toEqual({ effort: 'medium', summary: 'auto' })
  const { body, reasons } = sent('messages', 'responses', 'o3', thinking, { summaries: false })
  expect(body.reasoning).toEqual({ effort: 'medium' })
  expect(reasons).toContain('no-summaries-of-reasoning')
})

it('a long cache key is hashed, the same each time', () => {
  const key = 'k'.repeat(72)
  const [first, second] = ['gpt-5', 'gpt-5'].map(
    model => sent('chat', 'responses', model, { prompt_cache_key: key }).body.prompt_cache_key,
  )
  expect(first).toMatch(/^[0-9a-f]{64}$/)
  expect(second).toBe(first)
})
