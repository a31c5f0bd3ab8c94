import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { modelsOf, type TableRow } from '../../building/catalogue-rows.ts'
import { listedNames, TABLE_FILE } from '../../src/upstreams/catalogue/table.ts'

const chat = (host: string, more: TableRow): TableRow => ({ mode: 'chat', litellm_provider: host, ...more })
const LIMITS = { max_input_tokens: 1000, max_output_tokens: 100 }

test("a maker's row stands above its hosts', and missing abilities are unknown where no maker says anything", () => {
  const models = modelsOf({
    'a-host/one': chat('a-host', { max_input_tokens: 500, max_output_tokens: 50, supports_audio_input: true }),
    one: chat('openai', { ...LIMITS, supports_vision: true, supports_function_calling: true }),
    'a-host/two': chat('a-host', { ...LIMITS, supports_function_calling: true }),
    nothing: chat('a-host', {}),
    sample_spec: { mode: 'one of: chat' },
  })
  const [input, output] = [['text', 'image'], ['text']]
  expect(models).toEqual({
    one: { context: 1000, maxOutput: 100, input, output, reasoning: false, tools: true },
    two: { context: 1000, maxOutput: 100, input: ['text'], output, tools: true },
  })
})

test('without a maker the limit of most hosts counts, and an answer as long as the context is no limit', () => {
  const models = modelsOf({
    'a/many': chat('a', { max_input_tokens: 1000, max_output_tokens: 10 }),
    'b/many': chat('b', { max_input_tokens: 1000, max_output_tokens: 20 }),
    'c/many': chat('c', { max_input_tokens: '2000', max_output_tokens: 20 }),
    'a/whole': chat('a', { max_input_tokens: 1000, max_output_tokens: 1000 }),
  })
  expect(models['many']).toMatchObject({ context: 1000, maxOutput: 20 })
  expect(models['whole']).toEqual({ context: 1000, input: ['text'], output: ['text'] })
})

test("a maker's second row adds prices of tokens that its first one lacks, and a host's row none", () => {
  const live: TableRow = { mode: 'realtime', input_cost_per_token: 1e-6, input_cost_per_audio_token: 3e-6 }
  const models = modelsOf({
    'gemini/live': { ...live, litellm_provider: 'gemini' },
    live: { ...live, litellm_provider: 'gemini', input_cost_per_token: 9, input_cost_per_video_token: 2e-6 },
    'vertex_ai/live': { ...live, litellm_provider: 'vertex_ai', output_cost_per_token: 5e-6 },
  })
  expect(models['live']?.tokens).toEqual({ input: 1, inputAudio: 3, inputVideo: 2 })
})

test('images of a conversation are believed where they have a price', () => {
  const lists = { ...LIMITS, supported_output_modalities: ['text', 'image'] }
  const models = modelsOf({
    draws: chat('gemini', { ...lists, output_cost_per_image_token: 1 }),
    writes: chat('openai', lists),
  })
  expect([models['draws']!.output, models['writes']!.output]).toEqual([['text', 'image'], ['text']])
})

test('other spellings of the same facts are left out, and the order is fixed', () => {
  const row = chat('bedrock', LIMITS)
  const ids = ['us.vendor.model-v1:0', 'model-2026-01-02', 'model', 'a-model', 'model-4.5']
  const models = modelsOf(Object.fromEntries(ids.map(id => [id, row])))
  expect(Object.keys(models)).toEqual(['a-model', 'model', 'model-4-5'])
})

test('prices of tiers, searches and other units are those of the maker, or else the highest factors of the hosts', () => {
  const prices = { input_cost_per_token: 2, output_cost_per_token: 10 }
  const sizes = { search_context_size_low: 1, search_context_size_medium: 2, search_context_size_high: 3 }
  const models = modelsOf({
    made: chat('openai', { ...LIMITS, ...prices, output_cost_per_token_flex: 5, search_context_cost_per_query: sizes }),
    'a/made': chat('a', { ...LIMITS, ...prices, output_cost_per_token_priority: 20 }),
    'a/hosted': chat('a', { ...LIMITS, ...prices, output_cost_per_token_priority: 15 }),
    'b/hosted': chat('b', { ...LIMITS, ...prices, input_cost_per_token_priority: 4, input_cost_per_token_flex: 1 }),
    claude: chat('anthropic', { ...LIMITS, provider_specific_entry: { fast: 6, us: 1.1, other: 3 } }),
    'a-search-preview': chat('openai', { ...LIMITS, search_context_cost_per_query: sizes }),
    gemini: chat('gemini', { ...LIMITS, search_context_cost_per_query: sizes, web_search_billing_unit: 'per_query' }),
    ranks: { mode: 'rerank', litellm_provider: 'cohere', input_cost_per_query: 0.002 },
    hears: { mode: 'audio_transcription', litellm_provider: 'openai', input_cost_per_second: 0.0001 },
    speaks: { mode: 'audio_speech', litellm_provider: 'openai', input_cost_per_character: 0.00002 },
    says: chat('openai', {
      ...{ ...LIMITS, input_cost_per_token: 2.5e-6, output_cost_per_token: 1e-5, cache_read_input_token_cost: 1.25e-6 },
      ...{ input_cost_per_audio_token: 4e-5, output_cost_per_audio_token: 8e-5 },
    }),
    'draws-by-tokens': {
      ...{ mode: 'image_generation', litellm_provider: 'openai', input_cost_per_token: 5e-6 },
      ...{ input_cost_per_image_token: 8e-6, output_cost_per_image_token: 3e-5 },
    },
    paints: { mode: 'image_generation', litellm_provider: 'openai', output_cost_per_image: 0.04 },
    'hd/1024-x-1024/pixels': { mode: 'image_generation', litellm_provider: 'openai', input_cost_per_pixel: 7.629e-8 },
    listens: { mode: 'realtime', litellm_provider: 'xai', input_cost_per_second: 0.001 },
    films: { mode: 'video_generation', litellm_provider: 'gemini', output_cost_per_second: 0.4 },
    'openai/shoots': { mode: 'video_generation', litellm_provider: 'openai', output_cost_per_video_per_second: 0.1 },
  })
  expect(models['made']).toMatchObject({ tiers: { flex: 0.5 }, search: 2 })
  expect(models['hosted']!.tiers).toEqual({ priority: 2, flex: 0.5 })
  expect(models['claude']!.tiers).toEqual({ fast: 6, us: 1.1 })
  expect(models['a-search-preview']).toMatchObject({ request: 2 })
  expect(models['a-search-preview']!.search).toBeUndefined()
  expect(models['gemini']).toMatchObject({ search: 2, perQuery: true })
  expect(models['ranks']!.search).toBe(0.002)
  expect(models['hears']!.second).toBe(0.0001)
  expect(models['listens']).toMatchObject({ sessionSecond: 0.001 })
  expect(models['listens']!.second).toBeUndefined()
  expect(models['speaks']!.character).toBe(0.00002)
  expect([models['paints']!.image, models['pixels']!.image]).toEqual([0.04, 0.079996])
  expect(models['says']!.tokens).toEqual({ input: 2.5, output: 10, inputAudio: 40, outputAudio: 80, cacheRead: 1.25 })
  // An image model's answers are images, whatever its row calls their tokens.
  expect(models['draws-by-tokens']!.tokens).toEqual({ input: 5, output: 30, inputImage: 8, outputImage: 30 })
  expect([models['made']!.tokens, models['hears']!.tokens]).toEqual([undefined, undefined])
  expect([models['films']!.videoSecond, models['shoots']!.videoSecond]).toEqual([0.4, 0.1])
})

test('prices of tokens to embed or to rank are those of prompts, without mistakes of a row', () => {
  const row = (mode: string, price: number, fields: object = {}) => ({
    ...{ mode, litellm_provider: 'voyage', input_cost_per_token: price, output_cost_per_token: price },
    ...fields,
  })
  const models = modelsOf({
    embeds: row('embedding', 6e-8),
    ranks: row('rerank', 5e-8),
    mistaken: row('embedding', 1e-4),
    searches: row('rerank', 0, { input_cost_per_query: 0.002 }),
    talks: row('chat', 1e-6, LIMITS),
  })
  expect([models['embeds']!.tokens, models['ranks']!.tokens]).toEqual([{ input: 0.06 }, { input: 0.05 }])
  expect([models['mistaken']!.tokens, models['searches']!.tokens, models['talks']!.tokens]).toEqual(
    Array.from({ length: 3 }),
  )
})

test('the checked-in table is one line for each model, sorted, by the names that are looked up', () => {
  const text = readFileSync(TABLE_FILE, 'utf8')
  const names = Object.keys(JSON.parse(text).models)
  expect(text.split('\n')).toHaveLength(names.length + 4)
  expect(names).toEqual([...names].sort())
  expect(names.filter(name => listedNames(name)[0] !== name)).toEqual([])
})
