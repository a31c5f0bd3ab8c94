import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/canonical/node.ts'
import { PRESETS } from '../../src/formats/index.ts'
import { channelAt } from '../builders/config.ts'
import { type Asked, TestServer } from '../builders/gateway.ts'
import { CHAT_PATH, MESSAGES_PATH, RESPONSES_PATH } from '../builders/paths.ts'
import { FakeUpstream } from '../builders/upstream.ts'
import type { Loose } from './scene.ts'
import { bodyOf } from './stage.ts'
import { UPSTREAMS } from './upstreams/index.ts'

/* Requests of agents, and what an upstream for which they were not written would refuse or misread. */
const CONTENTS = '/v1beta/models/m:generateContent'

interface Upstream {
  readonly dialect?: JsonObject
  /** Name of the model at the upstream. */
  readonly model?: string
}

/** Returns the request that an upstream of the format receives, and the answer that the caller gets. */
async function sent(format: string, path: string, body: JsonObject, { dialect = {}, model = 'm' }: Upstream = {}) {
  const spoken = UPSTREAMS[format]!
  const upstream = await FakeUpstream.open((response, seen) =>
    spoken.streams(seen.url, bodyOf(seen))
      ? response.writeHead(200, { 'content-type': 'text/event-stream' }).end(spoken.frames({ text: 'Done.' }).join(''))
      : response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify(spoken.whole({ text: 'Done.' }))),
  )
  const channel = channelAt(upstream.address, { format })
  const testServer = await TestServer.open([
    {
      ...channel,
      formats: [{ ...channel.formats[0]!, dialect }],
      models: { named: new Map([['m', model]]), patterns: [] },
    },
  ])
  const answer: Asked = await testServer.ask(path, body, { headers: { 'anthropic-version': '2023-06-01' } })
  await testServer.server.close(0)
  await upstream.close()
  expect(answer.status, answer.text).toBe(200)
  return {
    body: bodyOf(upstream.seen[0]!) as Loose,
    loss: answer.headers['interlingua-loss'] ?? '',
    added: answer.headers['interlingua-added'],
    answer,
  }
}

const asked = (more: JsonObject = {}): JsonObject => ({
  model: 'm',
  max_tokens: 100,
  messages: [{ role: 'user', content: 'Hi!' }],
  ...more,
})

describe('Claude Code’s name for its user, a text of JSON', () => {
  const user_id = JSON.stringify({ device_id: 'a'.repeat(64), account_uuid: '', session_id: '0f7e5a9a-1111-2222' })

  test.each(['chat', 'responses'])(
    '%s takes 64 characters: a hash of it goes there, the same every time',
    async format => {
      const first = await sent(format, MESSAGES_PATH, asked({ metadata: { user_id } }))
      const second = await sent(format, MESSAGES_PATH, asked({ metadata: { user_id } }))
      expect(first.body.user).toMatch(/^[0-9a-f]{64}$/)
      expect(second.body.user).toBe(first.body.user)
      expect(first.loss).toContain('metadata/user_id hashed')
    },
  )

  test.each(['chat', 'responses'])('%s is told a short one as it is', async format => {
    const { body, loss } = await sent(format, MESSAGES_PATH, asked({ metadata: { user_id: 'ann' } }))
    expect(body.user).toBe('ann')
    expect(loss).toBe('')
  })
})

describe('a tool of an MCP server that takes nothing', () => {
  const tools = [{ name: 'ping', input_schema: { type: 'object' } }]

  test('OpenAI’s formats want to be told that it has no properties', async () => {
    const chat = await sent('chat', MESSAGES_PATH, asked({ tools }))
    const responses = await sent('responses', MESSAGES_PATH, asked({ tools }))
    expect(chat.body.tools[0].function.parameters).toEqual({ type: 'object', properties: {} })
    expect(responses.body.tools[0].parameters).toEqual({ type: 'object', properties: {} })
    expect(chat.loss + responses.loss).toBe('')
  })

  test('a list says what is in it, however deep it is', async () => {
    const input_schema = {
      type: 'object',
      properties: { all: { type: 'object', properties: { of: { type: 'array' } } } },
    }
    const { body } = await sent('chat', MESSAGES_PATH, asked({ tools: [{ name: 'f', input_schema }] }))
    expect(body.tools[0].function.parameters.properties.all.properties.of).toEqual({ type: 'array', items: {} })
  })
})

test('Continue’s many stop words: chat takes four, the others are told to be lost', async () => {
  const { body, loss } = await sent('chat', MESSAGES_PATH, asked({ stop_sequences: ['a', 'b', 'c', 'd', 'e', 'f'] }))
  expect(body.stop).toEqual(['a', 'b', 'c', 'd'])
  expect(loss).toBe('stop_sequences/4 4-stops-only; stop_sequences/5 4-stops-only')
})

describe('tokens of a stream', () => {
  test('agents compact by them: a chat upstream is asked for what the caller’s format always has', async () => {
    const { body, answer } = await sent('chat', MESSAGES_PATH, asked({ stream: true }))
    expect(body.stream_options).toEqual({ include_usage: true })
    expect(answer.text).toContain('"output_tokens":13')
  })

  test('not where the upstream is said to refuse the question', async () => {
    const { body } = await sent('chat', MESSAGES_PATH, asked({ stream: true }), { dialect: { include_usage: false } })
    expect(body.stream_options).toBeUndefined()
  })

  test('a caller of chat gets what it asks for', async () => {
    const { body } = await sent('chat', CHAT_PATH, asked({ stream: true }))
    expect(body.stream_options).toBeUndefined()
  })
})

test('a screenshot beside the words of a tool leaves no empty part behind where it is moved away', async () => {
  const source = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' }
  const content = [
    { type: 'text', text: 'Done, see:' },
    { type: 'image', source },
  ]
  const { body } = await sent(
    'chat',
    MESSAGES_PATH,
    asked({
      messages: [
        { role: 'user', content: 'Hi!' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content }] },
      ],
    }),
  )
  expect(body.messages[2]).toEqual({ role: 'tool', tool_call_id: 'a', content: 'Done, see:' })
})

describe('Codex’s web search beside its functions', () => {
  const tools = [
    { type: 'function', name: 'exec', parameters: { type: 'object', properties: {} }, strict: false },
    { type: 'web_search' },
  ]
  const turn = { model: 'm', input: 'Hi!', tools, tool_choice: 'auto' }

  test('Gemini is told that its own tools stand beside others', async () => {
    const { body, loss } = await sent('contents', RESPONSES_PATH, turn)
    expect(body.toolConfig).toEqual({
      functionCallingConfig: { mode: 'VALIDATED' },
      includeServerSideToolInvocations: true,
    })
    expect(loss).toBe('')
  })

  test('without functions, and without tools of its own, there is nothing to say', async () => {
    for (const request of [
      { ...turn, tools: [tools[1]!] },
      { model: 'm', input: 'Hi!', tools: [tools[0]!] },
    ])
      expect((await sent('contents', RESPONSES_PATH, request)).body.toolConfig).toBe(undefined)
  })

  test('Google’s cloud does not know the word', async () => {
    const { body } = await sent('contents', RESPONSES_PATH, turn, { dialect: { vertex: true } })
    expect(body.toolConfig).toEqual({ functionCallingConfig: { mode: 'AUTO' } })
  })

  test('models that take one or the other get the functions', async () => {
    const { body, loss } = await sent('contents', RESPONSES_PATH, turn, { model: 'gemini-2.5-pro' })
    expect(body.tools).toHaveLength(1)
    expect(body.tools[0].functionDeclarations).toHaveLength(1)
    expect(body.toolConfig).toEqual({ functionCallingConfig: { mode: 'AUTO' } })
    expect(loss).toContain('tools/1 not-beside-functions')
  })
})

describe('Gemini CLI’s dice at Anthropic', () => {
  const turn = {
    contents: [{ role: 'user', parts: [{ text: 'Hi!' }] }],
    generationConfig: { maxOutputTokens: 100, temperature: 1, topP: 0.95, topK: 64 },
  }

  test('temperature and top_p are one too many', async () => {
    const { body, loss } = await sent('messages', CONTENTS, turn, { model: 'claude-sonnet-4-5' })
    expect(body).toMatchObject({ temperature: 1, top_k: 64 })
    expect(body).not.toHaveProperty('top_p')
    expect(loss).toBe('generationConfig/topP one-of-both')
  })

  test.each(['claude-opus-4-7', 'claude-opus-4-8', 'claude-sonnet-5', 'claude-fable-5'])(
    '%s takes none that say anything',
    async model => {
      const { body, loss } = await sent('messages', CONTENTS, turn, { model })
      expect(body).not.toHaveProperty('temperature')
      expect(body).not.toHaveProperty('top_p')
      expect(body).not.toHaveProperty('top_k')
      expect(loss).toContain('generationConfig/topK no-sampling')
    },
  )

  test.each(['claude-3-5-haiku-latest', 'claude-opus-4-20250514', 'claude-opus-4-6', 'claude-sonnet-4-6', 'glm-5'])(
    '%s takes a temperature',
    async model => {
      expect((await sent('messages', CONTENTS, turn, { model })).body.temperature).toBe(1)
    },
  )
})

describe('a prompt that is a system text and nothing else', () => {
  const prompt = { model: 'm', messages: [{ role: 'system', content: 'Translate “hi”.' }] }

  test('Gemini wants something to be said', async () => {
    const { body, added } = await sent('contents', CHAT_PATH, prompt)
    expect(body.contents).toEqual([{ role: 'user', parts: [{ text: 'Continue.' }] }])
    expect(added).toBe('messages/1 the-user-speaks-first')
  })

  test('responses want an input, which may be the system’s', async () => {
    const { body } = await sent('responses', CHAT_PATH, prompt)
    expect(body.instructions).toBeUndefined()
    expect(body.input).toEqual([{ type: 'message', role: 'system', content: 'Translate “hi”.' }])
  })
})

describe('Google’s older clients write numbers as texts', () => {
  const contents = [{ role: 'user', parts: [{ text: 'Hi!' }] }]

  test('and are understood', async () => {
    const generationConfig = {
      ...{ maxOutputTokens: '100', temperature: '0.5', top_k: '4', candidateCount: '1' },
      thinkingConfig: { thinkingBudget: '-1' },
    }
    const { body } = await sent('messages', CONTENTS, { contents, generationConfig })
    expect(body).toMatchObject({ max_tokens: 100 })
    expect((await sent('contents', CONTENTS, { contents, generationConfig })).body.generationConfig).toEqual(
      generationConfig,
    )
  })

  test.each(['', 'many', '1e', '0x10', ' 1'])('but %j is none', async maxOutputTokens => {
    const testServer = await TestServer.open([channelAt('http://127.0.0.1:9', { format: 'contents' })])
    const { status, text } = await testServer.ask(CONTENTS, { contents, generationConfig: { maxOutputTokens } })
    await testServer.server.close(0)
    expect(status).toBe(400)
    expect(text).toContain('generationConfig.maxOutputTokens')
  })
})

describe('Claude Code at Mistral', () => {
  const [{ dialect = {} } = {}] = PRESETS.get('mistral')!.formats
  const turns = [
    { role: 'user', content: 'Hi!' },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'A file.', signature: '' },
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', id: 'toolu_01VpEm654HvfMoRcrE3Hgdc6', name: 'f', input: {} },
        { type: 'tool_use', id: 'aB3dE6gH9', name: 'f', input: {} },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_01VpEm654HvfMoRcrE3Hgdc6', content: 'a' },
        { type: 'tool_result', tool_use_id: 'aB3dE6gH9', content: 'b' },
      ],
    },
  ]

  test('thoughts go back as the parts they came as', async () => {
    const { body, loss } = await sent('chat', MESSAGES_PATH, asked({ messages: turns }), { dialect })
    expect(body.messages[1].content).toEqual([
      { type: 'thinking', thinking: [{ type: 'text', text: 'A file.' }] },
      { type: 'text', text: 'I look.' },
    ])
    expect(body.messages[1]).not.toHaveProperty('reasoning_content')
    expect(loss).toBe('')
  })

  test('ids of calls have nine letters and digits, the same every time', async () => {
    const { body } = await sent('chat', MESSAGES_PATH, asked({ messages: turns }), { dialect })
    const ids = body.messages[1].tool_calls.map(({ id }: Loose) => id)
    expect(ids).toEqual([expect.stringMatching(/^[a-zA-Z0-9]{9}$/), 'aB3dE6gH9'])
    expect(body.messages.slice(2).map((one: Loose) => one.tool_call_id)).toEqual(ids)
    expect((await sent('chat', MESSAGES_PATH, asked({ messages: turns }), { dialect })).body).toEqual(body)
  })

  test('so have those of chat’s own callers, who may have them from another model', async () => {
    const calls = [{ id: 'call_0fypS1hVXabc', type: 'function', function: { name: 'f', arguments: '{}' } }]
    const messages = [
      { role: 'user', content: 'Hi!' },
      { role: 'assistant', content: null, tool_calls: calls },
      { role: 'tool', tool_call_id: 'call_0fypS1hVXabc', content: 'a' },
    ]
    const { body } = await sent('chat', CHAT_PATH, { model: 'm', messages }, { dialect })
    expect(body.messages[1].tool_calls[0].id).toMatch(/^[a-zA-Z0-9]{9}$/)
    expect(body.messages[2].tool_call_id).toBe(body.messages[1].tool_calls[0].id)
  })

  test('the assistant says a word between what tools say and what the user says', async () => {
    const [first, second, results] = turns as [Loose, Loose, Loose]
    const said = [...results.content, { type: 'text', text: 'Go on.' }]
    const messages = [first, second, { role: 'user', content: said }]
    const { body, added } = await sent('chat', MESSAGES_PATH, asked({ messages }), { dialect })
    expect(body.messages.map(({ role }: Loose) => role)).toEqual([
      ...['user', 'assistant', 'tool', 'tool', 'assistant', 'user'],
    ])
    expect(body.messages[4]).toEqual({ role: 'assistant', content: 'Done.' })
    expect(added).toBe('messages/2 no-user-after-tools')
  })

  test('and before a picture that is moved out of what a tool says', async () => {
    const source = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' }
    const [first, second, { content }] = turns as [Loose, Loose, Loose]
    const results = [content[0], { ...content[1], content: [{ type: 'image', source }] }]
    const { body } = await sent(
      'chat',
      MESSAGES_PATH,
      asked({ messages: [first, second, { role: 'user', content: results }] }),
      {
        dialect,
      },
    )
    expect(body.messages.slice(3).map(({ role }: Loose) => role)).toEqual(['tool', 'assistant', 'user'])
  })

  test('nowhere else is anything said', async () => {
    const [first, second, { content }] = turns as [Loose, Loose, Loose]
    const said = [...content, { type: 'text', text: 'Go on.' }]
    const { body } = await sent(
      'chat',
      MESSAGES_PATH,
      asked({ messages: [first, second, { role: 'user', content: said }] }),
    )
    expect(body.messages.slice(3).map(({ role }: Loose) => role)).toEqual(['tool', 'user'])
  })
})

test('a word of the user’s while a tool still runs, as Codex takes it: chat gets the results first', async () => {
  const input = [
    { role: 'user', content: 'Run it.' },
    { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
    { type: 'function_call', call_id: 'b', name: 'f', arguments: '{}' },
    { role: 'user', content: 'Hurry!' },
    { type: 'function_call_output', call_id: 'a', output: 'one' },
    { type: 'function_call_output', call_id: 'b', output: 'two' },
  ]
  const { body, loss } = await sent('chat', RESPONSES_PATH, { model: 'm', input })
  expect(body.messages.map(({ role }: Loose) => role)).toEqual(['user', 'assistant', 'tool', 'tool', 'user'])
  expect(body.messages.at(-1)).toEqual({ role: 'user', content: 'Hurry!' })
  expect(loss).toBe('input results-first')
})

test('tools whose names begin with a digit: Gemini wants a letter, and the caller gets its name back', async () => {
  const tools = [{ name: '3d_render', input_schema: { type: 'object', properties: {} } }]
  const choice = { tools, tool_choice: { type: 'tool', name: '3d_render' } }
  const { body, loss } = await sent('contents', MESSAGES_PATH, asked(choice))
  const [{ name }] = body.tools[0].functionDeclarations
  expect(name).toMatch(/^_3d_render_[0-9a-f]{8}$/)
  expect(body.toolConfig.functionCallingConfig.allowedFunctionNames).toEqual([name])
  expect(loss).toBe('')
  expect((await sent('chat', MESSAGES_PATH, asked(choice))).body.tools[0].function.name).toBe('3d_render')
})

test.each(['chat', 'responses'])('thinking left to the model is what %s does anyway', async format => {
  const thinking = { type: 'adaptive' }
  expect((await sent(format, MESSAGES_PATH, asked({ thinking }))).loss).toBe('')
  expect(
    (await sent(format, MESSAGES_PATH, asked({ thinking: { type: 'enabled', budget_tokens: 2000 } }))).loss,
  ).toContain('thinking/budget_tokens no-thinking-budget')
})
