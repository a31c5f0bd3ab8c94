import { describe, expect, test } from 'vitest'
import { Catalogue } from '../../../src/upstreams/catalogue/index.ts'
import { listedModel, listedNames, tableSource } from '../../../src/upstreams/catalogue/table.ts'

/** Models available in November 2026, as their vendors and hosts name them. */
const CURRENT = [
  ...['claude-opus-4-5', 'claude-opus-4-5-20251101', 'claude-opus-4-8', 'claude-sonnet-5', 'claude-fable-5-1'],
  ...['gpt-5.1', 'gpt-5.1-2025-11-13', 'gpt-5.6', 'gpt-6-sol', 'gpt-6.1-sol'],
  ...['gemini-3-pro', 'gemini-3-pro-preview', 'gemini-3.1-pro-preview', 'gemini-3.8-flash'],
  ...['anthropic/claude-opus-4.5', 'us.anthropic.claude-opus-4-8', 'openai/gpt-5.6:free', 'deepseek-v4-flash'],
]

describe('trap 122: models newer than a table that is no longer renewed', () => {
  test.each(CURRENT)('%s has its longest answer, tools, reasoning, context and modalities', model => {
    const known = new Catalogue(new Map()).about(model, { provider: 'custom' })
    expect(known.tools).toBe(true)
    expect(known.reasoning).toBe(true)
    expect(known.context).toBeGreaterThanOrEqual(128_000)
    expect(known.maxOutput).toBeGreaterThanOrEqual(16_000)
    expect(known.maxOutput).toBeLessThan(known.context!)
    expect(known.input).toContain('text')
    expect(known.output).toEqual(['text'])
  })

  test('the table states its package, version, licence and day', () => {
    const { package: name, version, licence, date } = tableSource()
    expect([name, licence]).toEqual(['pypi:litellm', 'MIT'])
    expect(version).toMatch(/^\d+\.\d+\.\d+$/)
    expect(Date.parse(date)).toBeGreaterThanOrEqual(Date.parse('2026-11-23'))
  })

  test('the operator overrides all of it', () => {
    const about = { context: 5, maxOutput: 4, reasoning: false, tools: false, input: ['audio'], output: ['audio'] }
    const facts = { id: 'gpt-5.6', ...about }
    expect(new Catalogue(new Map([['gpt-5.6', facts]])).about('gpt-5.6', { provider: 'openai' })).toMatchObject(about)
  })
})

test('a model is found under the names its hosts give it', () => {
  expect(listedNames('us.anthropic.claude-opus-4-6-v1:0')).toContain('claude-opus-4-6')
  expect(listedNames('openrouter/anthropic/claude-opus-4.5:free')).toContain('claude-opus-4-5')
  expect(listedNames('mistral-large-latest')).toEqual([
    'mistral-large-latest',
    'mistral-large',
    'mistral-large-latest-preview',
  ])
  expect(listedModel('no-such-model')).toBeUndefined()
})
