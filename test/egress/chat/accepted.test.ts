import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/canonical/node.ts'
import { WRITERS } from '../../../src/egress/index.ts'
import { azureDeployments } from '../../../src/formats/vendors/clouds.ts'
import { deepseek, mistral, moonshot } from '../../../src/formats/vendors/compatible.ts'
import { cerebras, fireworks, groq } from '../../../src/formats/vendors/hosts.ts'
import { azure, openai } from '../../../src/formats/vendors/makers.ts'
import { READERS } from '../../../src/ingress/index.ts'
import { wireRequest } from '../../builders/requests.ts'
import type { Loose } from '../../clients/scene.ts'

/* Requests of clients that are set up for OpenAI, whose model is DeepSeek's. */

const DEEPSEEK = deepseek.formats.find(({ format }) => format === 'chat')!.dialect!

function sent(body: JsonObject, dialect: JsonObject = DEEPSEEK) {
  const wire = { path: '/chat/completions', query: {}, headers: {}, body: { model: 'm', ...body } }
  const written = WRITERS['chat']!.request!(READERS['chat']!.request!(wire), { dialect, native: true })
  return { ...written, body: written.wire.body as Loose }
}

const call = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } })
const text = (words: string, more: JsonObject = {}) => ({ type: 'text', text: words, ...more })

describe('a chat request reaches an upstream of chat that is no OpenAI', () => {
  it('without the fields of OpenAI that Groq and Cerebras refuse (Codex, Cherry Studio)', () => {
    const fields = { prompt_cache_key: 'k', metadata: { a: 'b' }, seed: 1 }
    const newer = { verbosity: 'medium', safety_identifier: 's', prompt_cache_retention: '24h' }
    const messages = [{ role: 'user', content: 'Hi.' }]
    const taken = { groq: ['metadata', 'seed'], cerebras: ['prompt_cache_key', 'seed'] }
    for (const vendor of [groq, cerebras]) {
      const dialect = vendor.formats.find(({ format }) => format === 'chat')!.dialect!
      const { body, losses } = sent({ messages, ...fields, ...newer }, dialect)
      const known = taken[vendor.name as 'groq' | 'cerebras']
      expect(Object.keys(body).filter(field => field in { ...fields, ...newer })).toEqual(known)
      expect(losses.map(({ path }) => path.join('.'))).toContain('output.verbosity')
      const codex = wireRequest('/responses', {
        ...{ model: 'm', input: 'Hi.', text: { verbosity: 'medium' }, prompt_cache_key: 'k', store: false },
      })
      const written = WRITERS['chat']!.request!(READERS['responses']!.request!(codex), { dialect, native: false })
      expect(written.wire.body).not.toHaveProperty('verbosity')
      expect('prompt_cache_key' in written.wire.body).toBe(vendor === cerebras)
    }
  })

  it('without the sampling parameters that Kimi refuses (Cline, Open WebUI)', () => {
    const dialect = moonshot.formats.find(({ format }) => format === 'chat')!.dialect!
    const messages = [{ role: 'user', content: 'Hi.' }]
    const { body, losses } = sent(
      { messages, temperature: 0, top_p: 0.9, presence_penalty: 0.1, stop: ['END'], seed: 1 },
      dialect,
    )
    expect(body).toEqual({ model: 'm', messages, stop: ['END'], seed: 1 })
    expect(losses.map(({ path }) => path.join('/'))).toEqual([
      'sampling/temperature',
      'sampling/topP',
      'sampling/presencePenalty',
    ])
  })

  it('with its lists of texts as strings, in every role (smolagents, Qwen Code)', () => {
    const { body } = sent({
      messages: [
        { role: 'system', content: [text('Be brief.', { cache_control: { type: 'ephemeral' } })] },
        { role: 'user', content: [text('One.'), text('Two.')] },
        { role: 'assistant', content: [text('Hm.')], tool_calls: [call('a'), call('b')] },
        { role: 'tool', tool_call_id: 'a', content: [text('rain')] },
        { role: 'tool', tool_call_id: 'b', content: 'sun' },
      ],
    })
    expect(body['messages']).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'One.\n\nTwo.' },
      { role: 'assistant', content: 'Hm.', reasoning_content: ' ', tool_calls: [call('a'), call('b')] },
      { role: 'tool', tool_call_id: 'a', content: 'rain' },
      { role: 'tool', tool_call_id: 'b', content: 'sun' },
    ])
  })

  it('with `system` for `developer` (the AI SDK for names such as gpt-5)', () => {
    const { body, losses } = sent({ messages: [{ role: 'developer', content: 'Be brief.' }] })
    expect(body['messages']).toEqual([{ role: 'system', content: 'Be brief.' }])
    expect(losses).toEqual([
      { kind: 'changed', path: ['messages', 0, 'role'], became: 'system', reason: 'no-developer-role' },
    ])
  })

  it('with its schema in words (the AI SDK, OpenAI Agents and Instructor)', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } }
    const response_format = { type: 'json_schema', json_schema: { name: 'x', schema, strict: true } }
    const { body } = sent({ messages: [{ role: 'user', content: 'Hi' }], response_format })
    expect(body['response_format']).toEqual({ type: 'json_object' })
    expect(body['messages'][0].content).toContain(JSON.stringify(schema))
    expect(body['messages'][1]).toEqual({ role: 'user', content: 'Hi' })
  })

  it('with custom tools as functions, whose calls are custom for the caller (Copilot)', () => {
    const tools = [{ type: 'custom', custom: { name: 'apply_patch', description: 'Edits files.' } }]
    const { body, renamed } = sent({ messages: [{ role: 'user', content: 'Hi' }], tools })
    expect(body['tools'][0]).toMatchObject({ type: 'function', function: { name: 'apply_patch' } })
    expect(renamed?.get('apply_patch')).toMatchObject({ freeform: true })
  })

  it('with calls of custom tools as calls of functions, also without the tools', () => {
    const custom = { id: 'a', type: 'custom', custom: { name: 'apply_patch', input: '*** Begin' } }
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', tool_calls: [custom] },
      { role: 'tool', tool_call_id: 'a', content: 'ok' },
    ]
    expect(sent({ messages }).body['messages'][1].tool_calls).toEqual([
      { id: 'a', type: 'function', function: { name: 'apply_patch', arguments: '{"input":"*** Begin"}' } },
    ])
  })

  it('with its limit in the upstream’s field, and without `store`', () => {
    const messages = [{ role: 'user', content: 'Hi' }]
    const { body, losses } = sent({ messages, max_completion_tokens: 9, store: false })
    expect(body).toEqual({ model: 'm', messages, max_tokens: 9 })
    expect(losses).toEqual([])
    expect(sent({ messages, store: true }).losses).toEqual([
      { kind: 'dropped', path: ['state', 'store'], reason: 'no-storage' },
    ])
  })

  it('with fields that the gateway does not know', () => {
    const messages = [{ role: 'developer', content: 'Be brief.', name: 'ops' }]
    const { body } = sent({ messages, top_k: 4, own: { a: 1 } })
    expect(body).toMatchObject({ messages: [{ role: 'system', name: 'ops' }], top_k: 4, own: { a: 1 } })
  })
})

describe('a chat request is passed on as it came', () => {
  const messages = [
    { role: 'developer', content: [text('Be brief.')] },
    { role: 'user', content: [text('Hi'), { type: 'image_url', image_url: { url: 'https://a.example/a.png' } }] },
  ]
  const rest = { max_completion_tokens: 9, store: false, tools: [{ type: 'custom', custom: { name: 'p' } }] }

  it('to an upstream that takes all of it', () => {
    const { body, losses } = sent({ messages, ...rest }, {})
    expect(body).toEqual({ model: 'm', messages, ...rest })
    expect(losses).toEqual([])
  })

  it('if it has nothing that the upstream does not take, in its own order and with empty fields', () => {
    const plain = { tools: null, messages: [{ content: '', role: 'system' }, messages[1]!], max_tokens: 9, store: null }
    expect(JSON.stringify(sent(plain as JsonObject).body)).toBe(JSON.stringify({ model: 'm', ...plain }))
  })
})

const MISTRAL = mistral.formats.find(({ format }) => format === 'chat')!.dialect!

/* Mistral answers 422 `extra_forbidden` to any field that it does not know, also to one that is null. */
describe('a chat request of a client set up for OpenAI reaches Mistral', () => {
  const messages = [{ role: 'user', content: 'Hi' }]

  it('without the fields that only others take (LibreChat, Spring AI, the AI SDK, Codex)', () => {
    const { body, losses } = sent(
      {
        ...{ messages, user: 'u', safety_identifier: null, store: false, service_tier: 'auto', verbosity: 'low' },
        ...{ prompt_cache_key: 'k', logit_bias: null, modalities: ['text'], seed: 7, temperature: 0.3 },
        ...{ stream: true, stream_options: { include_usage: true, include_obfuscation: false } },
      },
      MISTRAL,
    )
    expect(body).toEqual({ model: 'm', messages, stream: true, random_seed: 7, temperature: 0.3 })
    expect(losses.filter(({ restored }) => restored !== true).map(({ path }) => path.join('/'))).toEqual([
      ...['endUser', 'serviceTier', 'extras/chat/stream_options'],
      ...['output/verbosity', 'cacheKey', 'state/store'],
    ])
  })

  it('with the reasoning of its history in Mistral’s parts (Crush, opencode, Cline)', () => {
    const history = [
      { role: 'user', content: 'Hi', name: 'ann' },
      { role: 'assistant', content: 'Hm.', reasoning_content: 'A greeting.', refusal: null, annotations: [] },
      { role: 'user', content: [text('And?', { cache_control: { type: 'ephemeral' } })] },
    ]
    expect(sent({ messages: history }, MISTRAL).body['messages']).toEqual([
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'A greeting.' }] }, text('Hm.')],
      },
      { role: 'user', content: 'And?' },
    ])
  })

  it('with parameters of each function, and nothing else beside them', () => {
    const tools = [{ type: 'function', function: { name: 'f', x: 1 }, cache_control: { type: 'ephemeral' } }]
    const [tool] = sent({ messages, tools }, MISTRAL).body['tools']
    expect(Object.keys(tool)).toEqual(['type', 'function'])
    expect(tool.function).toEqual({ name: 'f', parameters: { type: 'object', properties: {} } })
  })

  it('as it came, if Mistral knows every field', () => {
    const prefix = { role: 'assistant', content: 'H', prefix: true }
    const body = { messages: [...messages, prefix], safe_prompt: true, n: 1, stop: null, prompt_mode: 'reasoning' }
    expect(sent(body, MISTRAL).body).toEqual({ model: 'm', ...body })
  })

  it('with Mistral’s own fields beside others', () => {
    const { body } = sent({ messages, user: 'u', safe_prompt: true, guardrails: [{ a: 1 }] }, MISTRAL)
    expect(body).toEqual({ model: 'm', messages, safe_prompt: true, guardrails: [{ a: 1 }] })
  })
})

describe('a switch of reasoning of OpenRouter’s or Qwen’s clients', () => {
  const messages = [{ role: 'user', content: 'Hi' }]
  const dialectOf = ({ formats }: typeof groq) => formats.find(({ format }) => format === 'chat')!.dialect!

  it.each([openai, groq, cerebras])('is an effort for $name, which refuses other switches', preset => {
    const asked = (switches: JsonObject) => sent({ messages, ...switches }, dialectOf(preset)).body
    expect(asked({ reasoning: { effort: 'low' } })).toEqual({ model: 'm', messages, reasoning_effort: 'low' })
    expect(asked({ reasoning_effort: 'low' })).toEqual({ model: 'm', messages, reasoning_effort: 'low' })
    expect(asked({ enable_thinking: true })).toEqual({ model: 'm', messages })
  })
})

describe('reasoning of a history, in whatever field a client returns it', () => {
  const turn = (fields: JsonObject) => ({ role: 'assistant', content: 'Hm.', tool_calls: [call('a')], ...fields })
  const history = (fields: JsonObject) => [
    { role: 'user', content: 'Hi' },
    turn(fields),
    { role: 'tool', tool_call_id: 'a', content: 'rain' },
  ]
  const dialectOf = ({ formats }: typeof groq) => formats.find(({ format }) => format === 'chat')!.dialect!
  const said = (fields: JsonObject, dialect: JsonObject) => sent({ messages: history(fields) }, dialect)

  it.each([groq, cerebras])('reaches an upstream that refuses `reasoning_content` ($name)', preset => {
    const { body, losses } = said({ reasoning_content: 'Think.' }, dialectOf(preset))
    expect(body['messages'][1]).toEqual(turn({ reasoning: 'Think.' }))
    expect(losses).toEqual([])
    const both = { reasoning: 'Think.', reasoning_content: 'Think.' }
    expect(said(both, dialectOf(preset)).body['messages'][1]).toEqual(turn({ reasoning: 'Think.' }))
    expect(said({ reasoning_content: '' }, dialectOf(preset)).body['messages'][1]).toEqual(turn({}))
  })

  it('reaches an upstream that demands `reasoning_content`', () => {
    expect(said({ reasoning: 'Think.' }, DEEPSEEK).body['messages'][1]).toEqual(turn({ reasoning_content: 'Think.' }))
  })

  it('is passed on as it came to an upstream that declares no field', () => {
    expect(said({ reasoning_content: 'Think.' }, {}).body['messages']).toEqual(history({ reasoning_content: 'Think.' }))
  })
})

describe('a request of Mistral’s clients that requires a call', () => {
  const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }]
  const required = {
    messages: [{ role: 'user', content: 'Hi' }],
    tools,
    tool_choice: 'any',
    random_seed: 1,
    safe_prompt: true,
  }

  it('does so in OpenAI’s word, with everything else as it came', () => {
    expect(sent(required, {}).body).toEqual({ model: 'm', ...required, tool_choice: 'required' })
  })

  it('reaches Mistral as it came', () => {
    expect(sent(required, MISTRAL).body).toMatchObject(required)
  })
})

describe('a result of a tool with an image (Kimi’s clients, llxprt-code)', () => {
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw==' } }
  const messages = [
    { role: 'user', content: 'Look at both.' },
    { role: 'assistant', content: null, tool_calls: [call('a'), call('b')] },
    { role: 'tool', tool_call_id: 'a', content: [text('A picture:'), image] },
    { role: 'tool', tool_call_id: 'b', content: 'sun' },
  ]

  it('reaches OpenAI and Azure OpenAI as a text, and the image as a turn of the user behind all results', () => {
    for (const preset of [openai, azure, azureDeployments]) {
      const { dialect = {} } = preset.formats.find(({ format }) => format === 'chat')!
      const { body, losses } = sent({ messages, user: 'u' }, dialect)
      expect(body, preset.name).toEqual({
        ...{ model: 'm', user: 'u' },
        messages: [
          ...messages.slice(0, 2),
          { role: 'tool', tool_call_id: 'a', content: 'A picture:' },
          messages[3],
          { role: 'user', content: [text('Result of tool call a:'), image] },
        ],
      })
      expect(losses.map(({ reason }) => reason)).toContain('moved-to-user-turn')
    }
  })

  it('reaches vendors that take it as it came', () => {
    expect(sent({ messages }, {}).body['messages']).toEqual(messages)
  })

  it('is no reason to write a request anew that has images elsewhere only', () => {
    const shown = [{ role: 'user', content: [text('What is this?'), image] }, ...messages.slice(1, 2)]
    const results = [{ role: 'tool', tool_call_id: 'a', content: [text('rain')] }, messages[3]!]
    const body = { messages: [...shown, ...results] }
    expect(sent(body, { result_media: false }).body).toEqual({ model: 'm', ...body })
  })
})

it('an empty `tool_calls` of another vendor’s answer is left out where OpenAI refuses it (vLLM, then OpenAI)', () => {
  const turn = { role: 'assistant', content: 'Hi.' }
  const messages = (fields: JsonObject) => [
    { role: 'user', content: 'Hi.' },
    { ...turn, ...fields },
    { role: 'user', content: 'Go on.' },
  ]
  for (const preset of [openai, azure, azureDeployments]) {
    const { dialect = {} } = preset.formats.find(({ format }) => format === 'chat')!
    expect(sent({ messages: messages({ tool_calls: [] }) }, dialect).body['messages']).toEqual(messages({}))
  }
  expect(sent({ messages: messages({ tool_calls: [] }) }, {}).body['messages']).toEqual(messages({ tool_calls: [] }))
})

describe('deprecated calls of a native history', () => {
  const turn = { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{"a":1}' } }
  const messages = [{ role: 'user', content: 'Hi.' }, turn, { role: 'function', name: 'f', content: 'rain' }]
  const dialectOf = (vendor: typeof groq) => vendor.formats.find(({ format }) => format === 'chat')!.dialect!

  it('reach Fireworks as calls of tools, because its messages have no other fields', () => {
    const { body } = sent({ messages }, dialectOf(fireworks))
    const [, asked, result] = body['messages'] as readonly Loose[]
    expect(asked).toMatchObject({ tool_calls: [{ function: { name: 'f', arguments: '{"a":1}' } }] })
    expect(result).toMatchObject({ role: 'tool', content: 'rain' })
  })

  it('keep the name of the function at Groq, which their results must have', () => {
    expect(sent({ messages }, dialectOf(groq)).body['messages']).toEqual(messages)
  })
})
