import { describe, expect, test } from 'vitest'
import { readConfig } from '../../src/config/read.ts'
import { bestFormat } from '../../src/upstreams/best-format.ts'

const channelOf = (fields: string) =>
  readConfig(`channels: [{ name: a, key: k, models: ['*'], ${fields} }]`, {}).channels[0]!

const CHAT = { format: 'chat', work: 'conversation' } as const
const AZURE = 'provider: azure-openai, base_url: https://a.openai.azure.com/openai/v1'

describe('a caller of Chat Completions', () => {
  test.each([
    ...['o1-pro', 'o3-pro-2025-06-10', 'o4-mini-deep-research', 'gpt-5-pro', 'gpt-5.5-pro-2026-04-23'],
    ...['gpt-5-codex', 'gpt-5.1-codex-mini', 'gpt-5.3-codex', 'codex-mini-latest', 'computer-use-preview'],
  ])('reaches %s, which only Responses serves, at OpenAI and Azure', model => {
    expect(bestFormat(channelOf('provider: openai'), CHAT, model)?.format).toBe('responses')
    expect(bestFormat(channelOf(AZURE), CHAT, model)?.format).toBe('responses')
  })

  test.each(['gpt-5.6', 'gpt-5-mini', 'o1', 'o3-mini', 'gpt-4o', 'gpt-5-production', 'my-codex'])(
    'reaches %s in its own format',
    model => expect(bestFormat(channelOf('provider: openai'), CHAT, model)?.format).toBe('chat'),
  )

  test('reaches the multi-agent models of xAI in Responses', () => {
    const channel = channelOf('provider: xai')
    expect(bestFormat(channel, CHAT, 'grok-4.20-multi-agent-0309')?.format).toBe('responses')
    expect(bestFormat(channel, CHAT, 'grok-4.6')?.format).toBe('chat')
  })

  // openai/openai-openapi#541, BerriAI/litellm#34569: 400 for every request of an agent.
  test.each(['gpt-5.4', 'gpt-5.5-2026-04-23', 'gpt-5.6-terra', 'gpt-6-astra', 'gpt-6.1-sol'])(
    'whose request has functions reaches %s in Responses while it reasons',
    model => {
      const mantle = channelOf('provider: bedrock-mantle, region: us-east-1')
      for (const channel of [channelOf('provider: openai'), channelOf(AZURE), mantle])
        expect(bestFormat(channel, { ...CHAT, functions: 'thinking' }, model)?.format).toBe('responses')
      const unstated = bestFormat(channelOf('provider: openai'), { ...CHAT, functions: 'unstated' }, model)
      expect(unstated?.format).toBe(model === 'gpt-5.4' ? 'chat' : 'responses')
    },
  )

  test('whose request has functions reaches a server that imitates OpenAI in its own format', () => {
    const reached = (url: string) =>
      bestFormat(channelOf(`provider: openai, base_url: "${url}"`), { ...CHAT, functions: 'thinking' }, 'gpt-5.6')
    expect(reached('http://127.0.0.1:4000/v1')?.format).toBe('chat')
    expect(reached('https://eu.api.openai.com/v1')?.format).toBe('responses')
  })

  test.each(['gpt-5.2', 'gpt-5', 'gpt-4o', 'o3-mini'])('whose request has functions reaches %s in its own', model => {
    const channel = channelOf('provider: openai')
    expect(bestFormat(channel, { ...CHAT, functions: 'thinking' }, model)?.format).toBe('chat')
  })

  test('reaches such a model in its own format if the channel has no other', () => {
    expect(bestFormat(channelOf('provider: openai, formats: [chat]'), CHAT, 'o1-pro')?.format).toBe('chat')
  })
})

test('callers of other formats reach such a model in Responses', () => {
  const channel = channelOf('provider: openai, formats: [chat, responses]')
  for (const format of ['messages', 'contents', 'responses'])
    expect(bestFormat(channel, { format, work: 'conversation' }, 'gpt-5-pro')?.format).toBe('responses')
})

describe('the `interface` of a model', () => {
  const channel = channelOf('provider: custom, formats: [chat, responses, embeddings], base_url: "http://localhost/v1"')
  const reached = (format: string, facts: { interface: string }) =>
    bestFormat(channel, { format, work: 'conversation', facts }, 'm')?.format

  test('is the first format of callers whose own the upstream lacks', () => {
    expect(reached('messages', { interface: 'responses' })).toBe('responses')
    expect(reached('messages', { interface: 'chat' })).toBe('chat')
    expect(reached('chat', { interface: 'responses' })).toBe('chat')
  })

  test('decides nothing if it is unknown, or cannot do the work', () => {
    for (const other of ['embeddings', 'contents', 'nonsense'])
      expect(reached('messages', { interface: other })).toBe('chat')
  })
})
