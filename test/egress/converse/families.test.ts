import { describe, expect, test } from 'vitest'
import type { Part } from '../../../src/canonical/content.ts'
import type { JsonObject } from '../../../src/canonical/node.ts'
import type { CanonicalRequest, Message } from '../../../src/canonical/request.ts'
import { converse } from '../../../src/egress/converse/index.ts'
import { familyDialect } from '../../../src/formats/model-families.ts'
import { converse as reader } from '../../../src/ingress/converse/index.ts'
import { REQUEST } from '../../builders/requests.ts'
import { FOREIGN } from '../../builders/write-options.ts'

/* What models of other vendors than Anthropic refuse at Bedrock (docs/wire/converse.md#models). */

const LLAMA = 'us.meta.llama3-3-70b-instruct-v1:0'
const MISTRAL = 'mistral.mistral-large-2407-v1:0'
const NOVA = 'us.amazon.nova-pro-v1:0'
const NOVA_2 = 'global.amazon.nova-2-lite-v1:0'
const OSS = 'openai.gpt-oss-120b-1:0'
const GPT = 'openai.gpt-5.6-sol'
const GROK = 'xai.grok-4.6'
const CLAUDE = 'us.anthropic.claude-opus-4-8'

const SAYS = { type: 'text', text: 'Hi.' } as const
const of = (role: Message['role'], ...content: Part[]): Message => ({ role, content })
const tool = (name: string) => ({ type: 'function', name, parameters: { type: 'object' } }) as const
const TOOLS = [tool('f'), tool('g')]

function written(model: string, request: Partial<CanonicalRequest>) {
  const dialect = familyDialect('converse', model) ?? {}
  const original = { ...REQUEST, model, messages: [of('user', SAYS)], ...request }
  const { wire, losses } = converse.request!(original, { ...FOREIGN, dialect })
  // biome-ignore lint/suspicious/noExplicitAny: tests look into the body
  return { path: wire.path, accept: wire.accept, body: wire.body as any, losses, read: reader.request!(wire) }
}
const fieldsOf = (model: string, request: Partial<CanonicalRequest>) =>
  written(model, request).body.additionalModelRequestFields

describe('a stream with tools', () => {
  test.each([LLAMA, 'us.meta.llama4-scout-17b-instruct-v1:0', MISTRAL])('is answered whole by %s', model => {
    const { path, accept, losses } = written(model, { stream: true, tools: TOOLS })
    expect([path.split('/').at(-1), accept]).toEqual(['converse', undefined])
    expect(losses).toContainEqual(expect.objectContaining({ path: ['stream'], reason: 'no-streams-with-tools' }))
    expect(written(model, { stream: true }).path).toMatch(/converse-stream$/)
  })

  test.each([NOVA, OSS, CLAUDE])('stays a stream at %s', model => {
    expect(written(model, { stream: true, tools: TOOLS }).path).toMatch(/converse-stream$/)
  })
})

describe('the schema of a tool', () => {
  const city = { type: 'object', properties: { name: { type: 'string', minLength: 1 } }, additionalProperties: false }
  const schema = {
    ...{ $schema: 'http://json-schema.org/draft-07/schema#', title: 'Args', type: 'object' },
    ...{
      properties: { days: { type: 'integer', exclusiveMinimum: 0 } },
      required: ['days'],
      additionalProperties: false,
    },
  } as const
  const schemaAt = (model: string, parameters: JsonObject, strict?: boolean) => {
    const tools = [{ ...tool('f'), parameters, ...(strict === undefined ? {} : { strict }) }]
    const { body, losses, read } = written(model, { tools })
    const { json } = body.toolConfig.tools[0].toolSpec.inputSchema
    expect(read).toMatchObject({ tools: [{ parameters: json }] })
    return { json, losses }
  }

  test.each([NOVA, NOVA_2])('has three keywords at its top at %s, and all further down', model => {
    const { properties, required } = schema
    for (const strict of [undefined, false]) {
      const { json, losses } = schemaAt(model, schema, strict)
      expect(json).toEqual({ type: 'object', properties, required })
      expect(losses).toContainEqual(expect.objectContaining({ reason: 'schema-made-legal' }))
    }
    expect(Object.keys(schemaAt(model, schema, true).json)).toEqual(['type', 'properties', 'required'])
    expect(schemaAt(model, { type: 'object', properties }).losses).toEqual([])
  })

  test('has no references at Nova, because their targets are keywords at its top', () => {
    for (const name of ['$defs', 'definitions']) {
      const reference = { $ref: `#/${name}/City` }
      const { json } = schemaAt(NOVA, { ...schema, properties: { to: reference }, [name]: { City: city } })
      expect(json).toMatchObject({ type: 'object', properties: { to: { properties: { name: { type: 'string' } } } } })
      expect(JSON.stringify(json)).not.toContain('$ref')
    }
  })

  test('stays as it is at Claude', () => {
    expect(schemaAt(CLAUDE, schema).json).toEqual(schema)
  })
})

describe('an image in the result of a call', () => {
  const PNG = {
    type: 'media',
    kind: 'image',
    source: { type: 'base64', mediaType: 'image/png', data: 'AAAA' },
  } as const
  const image = { image: { format: 'png', source: { bytes: 'AAAA' } } }
  const call = of('assistant', { type: 'tool-call', id: 'c', name: 'f', arguments: '{}' })
  const messages = (...content: Part[]) => [
    of('user', SAYS),
    call,
    of('tool', { type: 'tool-result', id: 'c', content }),
  ]
  const turnsAt = (model: string, ...content: Part[]) =>
    written(model, { tools: TOOLS, messages: messages(...content) }).body.messages

  test.each([GPT, GROK, 'moonshotai.kimi-k2.5', 'qwen.qwen3-vl-235b-a22b', 'google.gemma-3-27b-it'])(
    'stands beside the result at %s',
    model => {
      const result = { toolResult: { toolUseId: 'c', content: [{ text: 'Hi.' }] } }
      expect(turnsAt(model, SAYS, PNG)[2].content).toEqual([result, { text: 'Result of tool call c:' }, image])
      expect(turnsAt(model, PNG)[2].content[0].toolResult.content).toHaveLength(1)
    },
  )

  test.each(['zai.glm-5', 'minimax.minimax-m2', 'qwen.qwen3-32b-v1:0', 'us.amazon.nova-micro-v1:0', LLAMA, MISTRAL])(
    'becomes words at %s, which sees none',
    model => expect(JSON.stringify(turnsAt(model, PNG))).not.toContain('"image"'),
  )

  test('has a turn of its own at Pixtral, which takes nothing beside results', () => {
    const turns = turnsAt('us.mistral.pixtral-large-2502-v1:0', PNG)
    expect(turns.map(({ role }: Message) => role)).toEqual(['user', 'assistant', 'user', 'assistant', 'user'])
    expect(turns.at(-1).content.at(-1)).toEqual(image)
  })

  test.each([CLAUDE, NOVA, NOVA_2, 'us.meta.llama4-maverick-17b-instruct-v1:0'])('stays in the result at %s', model => {
    expect(turnsAt(model, PNG)[2].content[0].toolResult.content).toEqual([image])
  })
})

describe('a schema of the answer', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false }
  const output = { text: { shape: 'schema', schema } } as const
  const REFUSERS = ['anthropic.claude-sonnet-5', 'claude-opus-4-7', 'anthropic.claude-sonnet-4-20250514-v1:0']

  test.each([NOVA, LLAMA, OSS, GPT, GROK, MISTRAL, CLAUDE, ...REFUSERS])('is asked for in words at %s', model => {
    const { body, losses } = written(model, { output })
    expect(body).not.toHaveProperty('outputConfig.textFormat')
    expect(body.system[0].text).toContain(JSON.stringify(schema))
    expect(losses).toContainEqual({ kind: 'dropped', path: ['output', 'text'], reason: 'no-json-schema' })
  })

  test.each(['claude-sonnet-4-5', 'anthropic.claude-opus-4-6-v1', 'qwen.qwen3-32b-v1:0', 'zai.glm-5', 'any'])(
    'is a field at %s',
    model => expect(written(model, { output }).body.outputConfig.textFormat.type).toBe('json_schema'),
  )
})

describe('reasoning that Claude signed', () => {
  const signature = { format: 'converse', value: 'c2ln' } as const
  const turns = (redacted: boolean) => [
    of('user', SAYS),
    of(
      'assistant',
      { type: 'reasoning', text: redacted ? '' : 'Hm.', signature, ...(redacted ? { redacted } : {}) },
      SAYS,
    ),
    of('user', SAYS),
  ]
  const kindsAt = (model: string, redacted = false) =>
    written(model, { messages: turns(redacted) }).body.messages[1].content.flatMap(Object.keys)

  test.each([NOVA, NOVA_2, LLAMA, MISTRAL, OSS, GPT, GROK, 'moonshotai.kimi-k2.5', 'zai.glm-5'])(
    'does not go to %s, which refuses signatures',
    model => expect(kindsAt(model)).toEqual(['text']),
  )

  test('goes to Claude, and hidden reasoning to GPT, which hides its own', () => {
    expect(kindsAt(CLAUDE)).toEqual(['reasoningContent', 'text'])
    expect(kindsAt(GPT, true)).toEqual(['reasoningContent', 'text'])
    expect(kindsAt(NOVA, true)).toEqual(['text'])
  })
})

describe('a strict tool', () => {
  const specOf = (model: string, strict: boolean) => {
    const { body, losses } = written(model, { tools: [{ ...tool('f'), strict }] })
    return { spec: body.toolConfig.tools[0].toolSpec, reasons: losses.map(({ reason }) => reason) }
  }
  const NEWER = [
    'claude-opus-4-7',
    'claude-opus-4-8',
    'claude-sonnet-5',
    'claude-fable-5-1',
    'claude-sonnet-4-20250514',
  ]

  test.each([NOVA, LLAMA, OSS, 'arn:aws:bedrock:us-east-1:1:application-inference-profile/x', ...NEWER])(
    'is an ordinary one at %s, which refuses the field',
    model => {
      const { spec, reasons } = specOf(model, true)
      expect(spec).not.toHaveProperty('strict')
      expect(reasons).toContain('no-strict-tools')
    },
  )

  test.each(['us.anthropic.claude-sonnet-4-5-20250929-v1:0', 'anthropic.claude-opus-4-6-v1', 'claude-haiku-4.5'])(
    'stays strict at %s',
    model => expect(specOf(model, true).spec.strict).toBe(true),
  )

  test.each([NOVA, CLAUDE, 'anthropic.claude-opus-4-6-v1'])('that is not strict says nothing at %s', model => {
    expect(specOf(model, false).spec).not.toHaveProperty('strict')
  })
})

describe('a forced call', () => {
  const forced = { tools: TOOLS, toolChoice: { mode: 'required', only: ['g'] } } as const

  test.each([LLAMA, 'cohere.command-r-v1:0', 'writer.palmyra-x5-v1:0', 'us.mistral.pixtral-large-2502-v1:0'])(
    'is left to the model at %s, which gets no choice at all',
    model => {
      const auto = { tools: TOOLS, toolChoice: { mode: 'auto' } } as const
      for (const request of [forced, auto])
        expect(written(model, request).body.toolConfig).not.toHaveProperty('toolChoice')
      const loss = { kind: 'dropped', path: ['toolChoice'], reason: 'no-forced-tools' }
      expect(written(model, forced).losses).toContainEqual(loss)
    },
  )

  test.each([MISTRAL, 'deepseek.v3-v1:0', 'zai.glm-4.7'])('of one tool is one of any offered tool at %s', model => {
    const { tools, toolChoice } = written(model, forced).body.toolConfig
    expect(toolChoice).toEqual({ any: {} })
    expect(tools).toMatchObject([{ toolSpec: { name: 'g' } }])
  })

  test.each([NOVA, CLAUDE])('names its tool at %s', model => {
    expect(written(model, forced).body.toolConfig.toolChoice).toEqual({ tool: { name: 'g' } })
  })
})

describe('words of the user after the result of a call', () => {
  const call = of('assistant', { type: 'tool-call', id: 'c', name: 'f', arguments: '{}' })
  const result = of('tool', { type: 'tool-result', id: 'c', content: [SAYS] })
  const rolesAt = (model: string) =>
    written(model, { tools: TOOLS, messages: [of('user', SAYS), call, result, of('user', SAYS)] }).body.messages.map(
      ({ role }: Message) => role,
    )

  test.each([LLAMA, MISTRAL])('have a turn of their own at %s', model => {
    expect(rolesAt(model)).toEqual(['user', 'assistant', 'user', 'assistant', 'user'])
  })

  test('have a turn of their own at Claude if they come with a document, which Claude refuses beside results', () => {
    const data = Buffer.from('Text.').toString('base64')
    const source = { type: 'base64', mediaType: 'application/pdf', data } as const
    const file = of('user', { type: 'media', kind: 'file', source }, SAYS)
    const rolesOf = (model: string) =>
      written(model, { tools: TOOLS, messages: [of('user', SAYS), call, result, file] }).body.messages.map(
        ({ role }: Message) => role,
      )
    expect(rolesOf(CLAUDE)).toEqual(['user', 'assistant', 'user', 'assistant', 'user'])
    expect(rolesOf(NOVA)).toEqual(['user', 'assistant', 'user'])
  })

  test.each([NOVA, CLAUDE])('are in its turn at %s', model => {
    expect(rolesAt(model)).toEqual(['user', 'assistant', 'user'])
  })
})

describe('cache points', () => {
  const marked = { cache: { ttl: '1h' } } as const

  test('of tools and their times are not sent to Nova', () => {
    const messages = [of('system', { ...SAYS, ...marked }), of('user', { ...SAYS, ...marked })]
    const { body } = written(NOVA, { messages, tools: [{ ...tool('f'), ...marked }] })
    expect(body.toolConfig.tools).toHaveLength(1)
    expect(body.system[1]).toEqual({ cachePoint: { type: 'default' } })
    expect(body.messages[0].content[1]).toEqual({ cachePoint: { type: 'default' } })
  })

  test.each(['anthropic.claude-3-haiku-20240307-v1:0', 'anthropic.claude-3-5-sonnet-20240620-v1:0'])(
    'are not sent to %s, even if the gateway would add them',
    model => {
      for (const cache of [{ cache: {} }, {}]) {
        const { body } = written(model, {
          tools: TOOLS,
          messages: [of('system', { ...SAYS, ...cache }), of('user', SAYS)],
        })
        expect(JSON.stringify(body)).not.toContain('cachePoint')
      }
    },
  )

  test.each(['anthropic.claude-sonnet-4-20250514-v1:0', 'us.anthropic.claude-opus-4-1-20250805-v1:0'])(
    'have no times at %s',
    model => {
      const { body } = written(model, { tools: [{ ...tool('f'), ...marked }] })
      expect(body.toolConfig.tools[1]).toEqual({ cachePoint: { type: 'default' } })
    },
  )

  test('of tools and their times are sent to Claude', () => {
    const { body } = written(CLAUDE, { tools: [{ ...tool('f'), ...marked }] })
    expect(body.toolConfig.tools[1]).toEqual({ cachePoint: { type: 'default', ttl: '1h' } })
  })
})

describe('sampling', () => {
  const sampling = { temperature: 0.5, topP: 0.9, stop: ['\nObservation:'] }

  test('has no temperature at Kimi', () => {
    const { inferenceConfig } = written('moonshotai.kimi-k2.5', { sampling: { ...sampling, maxTokens: 9 } }).body
    expect(inferenceConfig).toEqual({ maxTokens: 9, stopSequences: sampling.stop })
  })

  test.each([OSS, GPT, GROK])('has no stop sequences at %s', model => {
    expect(written(model, { sampling }).body.inferenceConfig ?? {}).not.toHaveProperty('stopSequences')
  })

  test('is the default of GPT and Grok', () => {
    for (const model of [GPT, GROK]) expect(written(model, { sampling }).body).not.toHaveProperty('inferenceConfig')
    expect(written(OSS, { sampling }).body.inferenceConfig).toEqual({ temperature: 0.5, topP: 0.9 })
  })
})

describe('an effort', () => {
  test.each([
    [OSS, 'high', { reasoning_effort: 'high' }],
    [OSS, 'none', { reasoning_effort: 'low' }],
    [OSS, 'xhigh', { reasoning_effort: 'high' }],
    [GPT, 'xhigh', { reasoning: { effort: 'xhigh' } }],
    [GPT, 'none', { reasoning: { effort: 'none' } }],
    ['openai.gpt-6.1-sol', 'none', { reasoning: { effort: 'low' } }],
    [GROK, 'minimal', { reasoning: { effort: 'low' } }],
    [NOVA_2, 'medium', { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'medium' } }],
    [NOVA_2, 'none', { reasoningConfig: { type: 'disabled' } }],
    ['qwen.qwen3-32b-v1:0', 'low', { reasoning_config: 'low' }],
    ['deepseek.v3.2', 'low', { reasoning_effort: 'high' }],
    ['zai.glm-5.3', 'max', { reasoning_effort: 'max' }],
    [NOVA, 'high', undefined],
    [LLAMA, 'high', undefined],
    ['us.deepseek.r1-v1:0', 'high', undefined],
  ] as const)('at %s: %s', (model, effort, fields) => {
    expect(fieldsOf(model, { reasoning: { effort } })).toEqual(fields)
    if (fields === undefined) return
    const [sent] = JSON.stringify(fields).match(/(?<=")(?:none|low|medium|high|xhigh|max|disabled)(?=")/)!
    expect(written(model, { reasoning: { effort } }).read.reasoning?.effort).toBe(sent === 'disabled' ? 'none' : sent)
  })

  test('follows from a budget', () => {
    expect(fieldsOf(NOVA_2, { reasoning: { budget: 8000, show: true } })).toEqual({
      reasoningConfig: { type: 'enabled', maxReasoningEffort: 'medium' },
    })
  })

  test('that is high leaves the other settings to Nova 2', () => {
    const sampling = { temperature: 0.5, topP: 0.9, maxTokens: 900, stop: ['x'] }
    expect(written(NOVA_2, { sampling, reasoning: { effort: 'high' } }).body.inferenceConfig).toEqual({
      stopSequences: ['x'],
    })
    expect(written(NOVA_2, { sampling, reasoning: { effort: 'low' } }).body.inferenceConfig.maxTokens).toBe(900)
  })
})
