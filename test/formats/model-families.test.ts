import { describe, expect, it } from 'vitest'
import type { ChannelFormat, ModelFacts } from '../../src/config/index.ts'
import { expectedOf, FLAGS_OF } from '../../src/formats/dialects/index.ts'
import { familyDialect, formatFor } from '../../src/formats/index.ts'
import { PRESETS } from '../../src/formats/presets.ts'

const messages: ChannelFormat = {
  ...{ format: 'messages', baseUrl: 'http://127.0.0.1', auth: 'none', headers: {}, query: {} },
  dialect: {},
}
const facts = (more: Partial<ModelFacts>): ModelFacts => ({ id: 'm', input: ['text'], output: ['text'], ...more })
const foreign = (format: ChannelFormat, model: string, facts?: ModelFacts) =>
  formatFor(format, { model, facts, native: false })

describe('families of models', () => {
  it('are told by line and version, however a vendor writes them', () => {
    const same = (...names: string[]) => {
      for (const name of names)
        expect(familyDialect('messages', name), name).toEqual(familyDialect('messages', names[0]!))
    }
    same('claude-opus-4-5', 'claude-opus-4-5-20251101', 'anthropic/claude-opus-4.5', 'claude-opus-4-5@20251101')
    same('claude-sonnet-4', 'claude-sonnet-4-20250514', 'claude-sonnet-4-0', 'anthropic.claude-sonnet-4-20250514-v1:0')
    same('claude-3-7-sonnet-20250219', 'claude-3.7-sonnet', 'us.anthropic.claude-3-7-sonnet-20250219-v1:0')
    same('claude-opus-4-6', 'us.anthropic.claude-opus-4-6-v1:0', 'Claude-Opus-4.6', 'databricks-claude-opus-4-6')
    same('claude-opus-4-10', 'claude-opus-4-8')
    expect(familyDialect('messages', 'claude-opus-4-10')).not.toEqual(familyDialect('messages', 'claude-opus-4-1'))
  })

  it('are of the messages format and of Anthropic alone', () => {
    expect(familyDialect('chat', 'claude-opus-5')).toBeUndefined()
    expect(familyDialect('messages', 'deepseek-chat')).toBeUndefined()
  })

  it('of contents are the image models of Gemini 3 and later, which demand signatures in every turn', () => {
    for (const model of ['gemini-3-pro-image-preview', 'google/gemini-3.1-flash-image', 'models/gemini-10-image'])
      expect(familyDialect('contents', model), model).toMatchObject({ signed_turns: true })
    for (const model of ['gemini-2.5-computer-use-preview-10-2025', 'gemini-3-pro-preview', 'gemini-flash-latest'])
      expect(familyDialect('contents', model), model).not.toHaveProperty('signed_turns')
  })

  it('of contents are the models before Gemini 3, which refuse media in results', () => {
    for (const model of [
      'gemini-2.5-flash-image',
      'models/gemini-2.0-flash-001',
      'google/gemini-1.5-pro-latest',
      'gemini-2.5-pro',
    ])
      expect(familyDialect('contents', model), model).toMatchObject({ result_media: false })
    expect(familyDialect('contents', 'gemini-embedding-001')).toBeUndefined()
  })

  it('of contents take more settings at Google Cloud than at the Gemini API', () => {
    const cloud = { vertex: true }
    expect(familyDialect('contents', 'gemini-2.5-pro')).toMatchObject({ penalties: false, logprobs: false })
    expect(familyDialect('contents', 'gemini-2.5-pro', cloud)).not.toHaveProperty('penalties')
    const channel = { ...messages, format: 'contents', dialect: cloud }
    expect(foreign(channel, 'gemini-3-flash-preview').dialect).not.toHaveProperty('candidates')
    expect(foreign({ ...channel, dialect: {} }, 'gemini-3-flash-preview').dialect).toMatchObject({ candidates: false })
  })

  it('are flags of the dialect, with values they may have', () => {
    for (const model of [
      'claude-2',
      'claude-3-7-sonnet',
      'claude-opus-4-5',
      'claude-sonnet-5-5',
      'claude-fable-5-1',
      'claude',
    ])
      for (const [flag, value] of Object.entries(familyDialect('messages', model)!))
        expect(expectedOf(flag, value), `${model}: ${flag}`).toBeUndefined()
  })
})

/** Every row of a preset about a family of models, with its format. */
const ROWS = [...PRESETS.values()].flatMap(({ name, formats }) =>
  formats.flatMap(({ format, families = [] }) =>
    families.map(one => ({ name, format, family: one.name, dialect: one.dialect })),
  ),
)

describe('families of models at one vendor', () => {
  it.each(ROWS)('of $name are flags of $format: $family', ({ format, dialect }) => {
    for (const [flag, value] of Object.entries(dialect)) {
      expect(Object.keys(FLAGS_OF[format]!)).toContain(flag)
      expect(expectedOf(flag, value), flag).toBeUndefined()
    }
  })

  it('override what a family takes elsewhere, and give way to the operator', () => {
    const families = [{ name: /llama|qwen/, dialect: { efforts: [] } }]
    const chat = { ...messages, format: 'chat', families }
    expect(foreign(chat, 'Qwen/QwQ-32B').dialect).toEqual({ thinks_by_default: true, efforts: [] })
    expect(foreign(chat, 'llama-4', facts({ dialect: { efforts: ['low'] } })).dialect).toEqual({ efforts: ['low'] })
    expect(foreign({ ...chat, dialect: { efforts: ['high'] } }, 'llama-4').dialect).toEqual({ efforts: ['high'] })
    expect(foreign(chat, 'o3-mini').dialect).toMatchObject({ efforts: ['low', 'medium', 'high'] })
  })

  it('are for native callers whose model is of another family, or if the row says so', () => {
    const chat = { ...messages, format: 'chat', families: [{ name: /llama/, dialect: { efforts: [] } }] }
    const native = (model: string, callerModel: string) => formatFor(chat, { model, callerModel, native: true })
    expect(native('llama-4', 'llama-4')).toBe(chat)
    expect(native('llama-4', 'gpt-5')).toMatchObject({ dialect: { efforts: [] }, otherModel: true })
    const families = [{ name: /llama/, dialect: { request_fields: 'azure' }, native: true }] as const
    const forAll = formatFor({ ...chat, families }, { model: 'Llama-4', native: true })
    expect(forAll.dialect).toEqual({ request_fields: 'azure' })
    expect(forAll).not.toHaveProperty('otherModel')
  })
})

describe('the format of a channel for one model', () => {
  it('has the family, the facts of the model and the dialect of the channel, the last before the first', () => {
    const own = foreign(messages, 'claude-opus-4-8', facts({ maxOutput: 500, dialect: { prefill: true } }))
    expect(own.dialect).toMatchObject({ thinking: 'adaptive', max_output: 500, prefill: true })
    const declared = { ...messages, dialect: { thinking: 'budget', max_output: 9 } }
    expect(foreign(declared, 'claude-opus-4-8', facts({ maxOutput: 500 })).dialect).toMatchObject(declared.dialect)
  })

  it('is made once, and again when the facts change', () => {
    const before = facts({})
    const made = foreign(messages, 'claude-opus-5', before)
    expect(foreign(messages, 'claude-opus-5', before)).toBe(made)
    expect(foreign(messages, 'claude-opus-5', facts({}))).not.toBe(made)
  })

  it('is the channel’s own where nothing is known of the model', () => {
    expect(foreign(messages, 'glm-5v-turbo')).toBe(messages)
    const chat = { ...messages, format: 'chat' }
    expect(foreign(chat, 'claude-opus-5', facts({ maxOutput: 5 }))).toBe(chat)
    expect(foreign(chat, 'm', facts({ dialect: { store: false } })).dialect).toEqual({ store: false })
  })

  it('has the longest answer of the catalogue beside what is declared, unless that is the model’s own', () => {
    const catalogue = { maxOutput: () => 8192 }
    const listed = (format: ChannelFormat, model = 'glm-5v-turbo') =>
      formatFor({ ...format }, { model, native: false, provider: 'zai', catalogue }).dialect
    expect(listed(messages)).toEqual({ listed_output: 8192 })
    expect(listed({ ...messages, dialect: { max_tokens: 9 } })).toEqual({ max_tokens: 9, listed_output: 8192 })
    expect(listed(messages, 'claude-opus-4-8')).not.toHaveProperty('listed_output')
    expect(listed({ ...messages, format: 'chat' })).toEqual({})
  })

  it('has the family for callers of the format whose model is of another one, by an alias or a fallback', () => {
    const native = (model: string, callerModel: string) => formatFor(messages, { model, callerModel, native: true })
    expect(native('claude-sonnet-4-5', 'claude-opus-5').dialect).toMatchObject({ thinking: 'budget' })
    expect(native('claude-opus-5', 'smart').dialect).toMatchObject({ thinking: 'adaptive' })
    expect(native('us.anthropic.claude-opus-5-v1:0', 'claude-opus-5')).toBe(messages)
    expect(native('glm-5v-turbo', 'claude-opus-5').dialect).toEqual({})
    const chat = { ...messages, format: 'chat' }
    const fallback = { model: 'gpt-5', callerModel: 'gpt-4.1', native: true }
    expect(formatFor(chat, fallback).dialect).toMatchObject({ sampling: 'none', efforts: expect.anything() })
    const gemini = { model: 'gemini-2.5-flash', callerModel: 'gemini-3-pro-preview', native: true }
    expect(formatFor({ ...messages, format: 'contents' }, gemini)).toMatchObject({
      dialect: { thinking: 'budget' },
      otherModel: true,
    })
  })

  it('leaves callers of the format alone, who know the model they ask', () => {
    const native = { model: 'claude-opus-5', native: true }
    expect(formatFor(messages, { ...native, facts: facts({ maxOutput: 5 }) })).toBe(messages)
    expect(formatFor(messages, { ...native, facts: facts({ dialect: { threads: true } }) }).dialect).toMatchObject({
      threads: true,
    })
  })
})

it('deployments of OpenAI’s models at Azure keep their cache keys, whatever their names contain', () => {
  const row = PRESETS.get('azure-openai')!.formats.find(({ format }) => format === 'chat')!
  const at = (model: string) =>
    formatFor({ ...messages, ...row, dialect: row.dialect! } as ChannelFormat, { model, native: true })
  for (const model of ['delphi-4', 'memphi-1', 'commander-gpt-5', 'coherent-gpt', 'gpt-5'])
    expect(at(model).dialect['request_fields'], model).toBeUndefined()
  for (const model of [
    'Phi-4',
    'Cohere-command-r-plus',
    'cohere-command-a',
    'grok-4',
    'Kimi-K2.5',
    'DeepSeek-V3.2',
    'team-llama',
  ])
    expect(at(model).dialect['request_fields'], model).toBe('azure')
})
