import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/canonical/node.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { PRESETS } from '../../src/formats/index.ts'

const PARAMETERS = { type: 'object', properties: { city: { type: 'string' } } }

/** A turn with a tool call, its reasoning, and other fields in which vendors differ. */
const REQUEST: CanonicalRequest = {
  model: 'm',
  messages: [
    { role: 'developer', content: [{ type: 'text', text: 'Be brief.' }] },
    { role: 'user', content: [{ type: 'text', text: 'Weather?' }] },
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'I look it up.' },
        { type: 'tool-call', id: 'call_1', name: 'weather', arguments: '{"city":"Rome"}' },
      ],
    },
    { role: 'tool', content: [{ type: 'tool-result', id: 'call_1', content: [{ type: 'text', text: '21' }] }] },
  ],
  tools: [{ type: 'function', name: 'weather', parameters: PARAMETERS }],
  output: {},
  sampling: { maxTokens: 100 },
  reasoning: { effort: 'low' },
  stream: true,
}

const dialectOf = (name: string): JsonObject =>
  PRESETS.get(name)!.formats.find(({ format }) => format === 'chat')!.dialect ?? {}

/** The body that the vendor's chat endpoint gets. */
const sent = (name: string): JsonObject =>
  WRITERS['chat']!.request!(REQUEST, { dialect: dialectOf(name), native: false }).wire.body

const assistant = (name: string): JsonObject =>
  (sent(name)['messages'] as JsonObject[]).find(({ role }) => role === 'assistant')!

describe('what chat vendors are sent', () => {
  it.each(['deepseek', 'zai', 'xai'])('trap 35: %s gets its thoughts back as reasoning_content', name => {
    expect(assistant(name)['reasoning_content']).toBe('I look it up.')
  })

  it.each(['groq', 'openrouter', 'together', 'cerebras', 'ollama', 'vllm'])('%s gets them as reasoning', name => {
    expect(assistant(name)['reasoning']).toBe('I look it up.')
    expect(assistant(name)).not.toHaveProperty('reasoning_content')
  })

  it.each(['openai', 'azure-openai', 'mistral', 'huggingface'])('trap 36: %s gets none', name => {
    expect(assistant(name)).not.toHaveProperty('reasoning')
    expect(assistant(name)).not.toHaveProperty('reasoning_content')
  })

  it('developer turns go to those who know them', () => {
    const roleOf = (name: string): unknown => (sent(name)['messages'] as JsonObject[])[0]!['role']
    expect(roleOf('openai')).toBe('developer')
    expect(roleOf('deepseek')).toBe('system')
  })

  it('trap 59: the limit has the name the vendor knows', () => {
    expect(sent('openai')).toMatchObject({ max_completion_tokens: 100 })
    expect(sent('mistral')).toMatchObject({ max_tokens: 100 })
    expect(sent('mistral')).not.toHaveProperty('max_completion_tokens')
  })

  it('reasoning is asked for in the words of the vendor', () => {
    expect(sent('openai')).toMatchObject({ reasoning_effort: 'low' })
    expect(sent('openrouter')).toMatchObject({ reasoning: { effort: 'low' } })
    expect(sent('zai')).toMatchObject({ thinking: { type: 'enabled' } })
  })

  it('trap 22: usage is asked for in every stream, where the vendor has to be asked', () => {
    expect(sent('openai')).toMatchObject({ stream_options: { include_usage: true } })
    expect(sent('mistral')).not.toHaveProperty('stream_options')
  })
})
