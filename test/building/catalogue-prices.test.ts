import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { accountPricesOf } from '../../building/catalogue-prices.ts'
import type { TableRow } from '../../building/catalogue-rows.ts'
import { ACCOUNT_TABLE_FILE, type AccountTable } from '../../src/upstreams/catalogue/account-prices.ts'
import type { Rates } from '../../src/upstreams/catalogue/rates.ts'
import { listedNames } from '../../src/upstreams/catalogue/table.ts'

/** A row with prices of a million tokens. */
const row = (host: string, input: number, output: number, more: TableRow = {}): TableRow => ({
  ...{ mode: 'chat', litellm_provider: host, ...more },
  ...{ input_cost_per_token: input / 1e6, output_cost_per_token: output / 1e6 },
})
const rates = (input: number, output: number): Rates => ({
  input: { base: 1000 * input },
  output: { base: 1000 * output },
})

test('models that the price package lacks are listed, and those of which a maker states other prices', () => {
  const packaged = new Map([
    ['openai old', rates(1, 2)],
    ['openai same', rates(1, 2)],
    ['together old', rates(1, 2)],
    ['bedrock vendor.old', rates(1, 2)],
    ['bedrock eu.vendor.old', rates(1, 2)],
  ])
  const table = {
    new: row('openai', 1, 2),
    caches: row('openai', 1, 2, {
      ...{ cache_read_input_token_cost: 1e-7, cache_creation_input_token_cost_above_1hr: 2e-6 },
    }),
    old: row('openai', 3, 4),
    same: row('openai', 1, 2),
    'ft:new': row('openai', 2, 4),
    'search-api': row('openai', 1, 2),
    'vertex_ai/meta/llama-maas': row('vertex_ai-llama_models', 1, 2),
    gone: row('openai', 1, 2, { deprecation_date: '2020-01-01' }),
    unpriced: row('openai', 1, 0),
    'together_ai/old': row('together_ai', 3, 4),
    'together_ai/maker/New': row('together_ai', 3, 4),
    'vendor.old': row('bedrock', 3, 4),
    'eu.vendor.old': row('bedrock_converse', 3, 4),
    'bedrock/us-west-2/vendor.new': row('bedrock', 9, 9),
    'vendor.new': row('bedrock', 3, 4),
    'new-2026-01-02': row('openai', 1, 2),
    'other/new': row('some-host', 9, 9),
  }
  expect(accountPricesOf(table, (preset, model) => packaged.get(`${preset} ${model}`) ?? {})).toEqual({
    bedrock: { 'eu.vendor.old': { input: 3, output: 4 }, 'vendor.new': { input: 3, output: 4 } },
    openai: {
      caches: { input: 1, output: 2, cacheRead: 0.1, cacheWriteLong: 2 },
      ...{ new: { input: 1, output: 2 }, old: { input: 3, output: 4 } },
      ...{ 'ft:new': { input: 2, output: 4 }, 'search-api': { input: 1, output: 2 } },
    },
    together: { new: { input: 3, output: 4 } },
    vertex: { 'llama-maas': { input: 1, output: 2 } },
  })
})

test('prices of long prompts count, in fields or ranges, also if they are all that differs', () => {
  const ranges = [
    { range: [0, 32_000], input_cost_per_token: 1e-6, output_cost_per_token: 2e-6 },
    { range: [32_000, 128_000], input_cost_per_token: 3e-6, output_cost_per_token: 4e-6 },
  ]
  const long = { input_cost_per_token_above_200k_tokens: 5e-6 }
  const table = {
    'xai/grok': row('xai', 1, 2, long),
    'dashscope/qwen': { mode: 'chat', litellm_provider: 'dashscope', tiered_pricing: ranges },
  }
  expect(accountPricesOf(table, preset => (preset === 'xai' ? rates(1, 2) : {}))).toEqual({
    dashscope: { qwen: { input: 1, output: 2, above: { 32000: { input: 3, output: 4 } } } },
    xai: { grok: { input: 1, output: 2, above: { 200000: { input: 5 } } } },
  })
})

test('models that embed, speak or draw have prices of their own where the package takes another model for them', () => {
  const ofText = rates(0.1, 0.4)
  const speaks = { mode: 'audio_speech', output_cost_per_audio_token: 12e-6 }
  const table = {
    'amazon.titan-embed-text-v2:0': row('bedrock', 0.02, 0, { mode: 'embedding' }),
    'amazon.other': row('bedrock', 0.02, 0.02),
    'gemini/gemini-flash-tts': row('gemini', 0.5, 9, { mode: 'audio_speech' }),
    'gpt-tts': row('openai', 0.6, 10, speaks),
    'vertex_ai/gemini-image': row('vertex_ai', 0.1, 0.4, {
      mode: 'image_generation',
      cache_read_input_token_cost: 1e-8,
    }),
    'gpt-transcribe': row('openai', 2.5, 10, { mode: 'audio_transcription' }),
  }
  expect(accountPricesOf(table, () => ofText)).toEqual({
    bedrock: { 'amazon.titan-embed-text-v2:0': { input: 0.02 } },
    google: { 'gemini-flash-tts': { input: 0.5, output: 9 } },
    openai: { 'gpt-tts': { input: 0.6, output: 12 } },
    vertex: { 'gemini-image': { input: 0.1, output: 0.4, cacheRead: 0.01 } },
  })
})

test('tokens written to the explicit cache of Model Studio cost more than the prompt', () => {
  const ranges = [1, 3].map(price => ({
    ...{ range: [price === 1 ? 0 : 32_000, 0], input_cost_per_token: price / 1e6, output_cost_per_token: 9e-6 },
    cache_read_input_token_cost: price / 1e7,
  }))
  const table = {
    'dashscope/qwen': { mode: 'chat', litellm_provider: 'dashscope', tiered_pricing: ranges },
    'dashscope/other': row('dashscope', 1, 2),
  }
  expect(accountPricesOf(table, () => ({}))).toEqual({
    dashscope: {
      other: { input: 1, output: 2 },
      qwen: {
        ...{ input: 1, output: 9, cacheRead: 0.1, cacheWrite: 1.25 },
        above: { 32000: { input: 3, output: 9, cacheRead: 0.3, cacheWrite: 3.75 } },
      },
    },
  })
})

test('the checked-in table is one line for each model, sorted, by the names that are looked up', () => {
  const text = readFileSync(ACCOUNT_TABLE_FILE, 'utf8')
  const models = Object.values(JSON.parse(text) as AccountTable).map(account => Object.keys(account))
  expect(models.flat().length).toBeGreaterThan(300)
  expect(text.split('\n')).toHaveLength(models.flat().length + 2 * models.length + 1)
  for (const names of models) {
    expect(names).toEqual([...names].sort())
    expect(names.filter(name => listedNames(name)[0] !== name)).toEqual([])
  }
})
