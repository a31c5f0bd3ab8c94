import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ModelFacts } from '../../../src/config/types.ts'
import { PRESETS } from '../../../src/formats/presets.ts'
import { Catalogue } from '../../../src/upstreams/catalogue/index.ts'
import { costOf, type Rates } from '../../../src/upstreams/catalogue/rates.ts'

const facts = (id: string, more: Partial<ModelFacts>): ReadonlyMap<string, ModelFacts> =>
  new Map([[id, { id, input: ['text'], output: ['text'], ...more }]])
const NONE = new Catalogue(new Map())
const at = (provider: string, model: string) => ({ provider, model, upstreamModel: model })

describe('what an answer costs', () => {
  test('is every kind of token at its price', () => {
    // $2.50 and $10 per million tokens, $1.25 for cached tokens
    const usage = { input: 1000, cacheRead: 400, output: 100 }
    expect(NONE.cost(at('openai', 'gpt-4o'), usage)).toBe(600 * 2500 + 400 * 1250 + 100 * 10_000)
    expect(NONE.cost(at('openai', 'gpt-4o-2024-08-06'), { input: 1 })).toBe(2500)
  })

  test('is dearer where a cache is written for an hour, or the prompt is long', () => {
    const model = at('anthropic', 'claude-sonnet-4-5')
    const extras = { messages: { cache_creation: { ephemeral_1h_input_tokens: 30, ephemeral_5m_input_tokens: 70 } } }
    expect(NONE.cost(model, { input: 100, cacheWrite: 100, extras })).toBe(70 * 3750 + 30 * 6000)
    expect(NONE.cost(at('google', 'gemini-2.5-pro'), { input: 200_001 })).toBe(200_001 * 2500)
    expect(NONE.cost(at('google', 'gemini-2.5-pro'), { input: 200_000 })).toBe(200_000 * 1250)
  })

  /** Models that the price package lacks or has at earlier prices, with dollars per million tokens, as vendors state them. */
  test.each([
    // platform.claude.com/docs/en/about-claude/pricing: from 100,000 tokens on, five times as much.
    ['anthropic', 'claude-haiku-5-5', { input: 1000, output: 1000 }, 0.1 + 0.5],
    ['anthropic', 'claude-haiku-5-5', { input: 200_000 }, 0.5 * 200],
    ['anthropic', 'claude-sonnet-5-5', { input: 1000, cacheRead: 1000 }, 0.1],
    ['bedrock-invoke', 'us.anthropic.claude-sonnet-5-5', { input: 1000, cacheRead: 1000 }, 0.11],
    ['openai', 'gpt-6.1-sol', { input: 1000, output: 1000 }, 2 + 10],
    ['azure-deployments', 'gpt-6.1-sol', { input: 1000, output: 1000 }, 2 + 10],
    // docs.mistral.ai/models/mistral-large-3-25-12
    ['mistral', 'mistral-large-latest', { input: 1000, cacheRead: 500, output: 1000 }, 0.25 + 0.025 + 1.5],
    // platform.openai.com/docs/pricing: fine-tuned models cost more than those that were tuned.
    ['openai', 'ft:gpt-4.1-2025-04-14:acme:support:CDVtxfm7', { input: 1000, output: 1000 }, 3 + 12],
    ['openai', 'ft:gpt-4o-2024-08-06:acme::AbC123', { input: 1000, output: 1000 }, 3.75 + 15],
    ['vertex', 'openai/gpt-oss-120b-maas', { input: 1000, output: 1000 }, 0.09 + 0.36],
    // aws.amazon.com/bedrock/pricing: a fifth of the first version.
    ['bedrock-invoke', 'amazon.titan-embed-text-v2:0', { input: 1000 }, 0.02],
    // ai.google.dev/gemini-api/docs/pricing: not the prices of the text model of the same name.
    ['google', 'gemini-3.8-flash-tts', { input: 1000, output: 1000, outputBy: { audio: 1000 } }, 0.5 + 9],
    ['google', 'gemini-3.8-live', { input: 1000, inputBy: { video: 1000 } }, 1],
    ['openai', 'gpt-image-2.6-flare', { input: 1000, output: 1000, outputBy: { image: 1000 } }, 5 + 30],
    // docs.x.ai/docs/models: twice as much above 200,000 tokens.
    ['vertex', 'xai/grok-4.7', { input: 300_000 }, 4 * 300],
    ['zai', 'glm-5.3-flash', { input: 1000, output: 1000 }, 0.15 + 0.5],
    ['dashscope', 'qwen-plus', { input: 1000, output: 1000 }, 0.4 + 1.2],
    // aws.amazon.com/bedrock/pricing
    ['bedrock-converse', 'deepseek.v3.2', { input: 1000, output: 1000 }, 0.62 + 1.85],
  ])('is that of the newest list at %s for %s', (provider, model, usage, thousandths) => {
    expect(NONE.cost(at(provider, model), usage)).toBe(Math.round(thousandths * 1e6))
  })

  test('is unknown, never nothing, where any part of it is', () => {
    const unknown = [
      NONE.cost(at('openai', 'no-such-model'), { input: 1 }),
      NONE.cost(at('custom', 'gpt-4o'), { input: 1 }),
      NONE.cost(at('openai', 'gpt-4o'), {}),
      NONE.cost(at('openai', 'text-embedding-3-small'), { input: 1, searches: 1 }),
      NONE.cost(at('openai', 'gpt-4o'), { input: 1, hostedCalls: { 'code-execution': 1 } }),
    ]
    expect(unknown).toEqual(unknown.map(() => undefined))
    const searched = NONE.cost(at('openai', 'gpt-4o'), { input: 1, hostedCalls: { 'web-search': 2 } })
    expect(searched).toBe(2500 + 2 * 10_000_000)
  })

  test('is the price of the prompt or the answer for kinds of tokens whose price is not listed', () => {
    // No price of cached tokens, and the same price for text and audio.
    expect(NONE.cost(at('groq', 'llama-3.3-70b-versatile'), { input: 1000, cacheRead: 900, output: 0 })).toBe(
      NONE.cost(at('groq', 'llama-3.3-70b-versatile'), { input: 1000 }),
    )
    expect(NONE.cost(at('google', 'gemini-2.5-pro'), { input: 1000, inputBy: { audio: 800 } })).toBe(1000 * 1250)
  })

  /** A model of each vendor, or undefined if no list has the vendor's prices. */
  const MODELS: { readonly [preset: string]: string | undefined } = {
    ...{ openai: 'gpt-5', anthropic: 'claude-opus-4-8', google: 'gemini-2.5-pro', mistral: 'mistral-large-latest' },
    ...{ 'azure-openai': 'gpt-5', 'azure-deployments': 'gpt-4o', 'azure-foundry': 'claude-sonnet-4-5' },
    ...{ bedrock: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0', 'bedrock-converse': 'amazon.nova-pro-v1:0' },
    ...{ 'bedrock-invoke': 'anthropic.claude-sonnet-4-5-20250929-v1:0', 'bedrock-mantle': 'openai.gpt-oss-120b-1:0' },
    ...{ 'claude-aws': 'claude-sonnet-4-5', vertex: 'gemini-2.5-pro', 'vertex-express': 'gemini-2.5-flash' },
    ...{ 'vertex-claude': 'claude-sonnet-4-5@20250929', xai: 'grok-4', deepseek: 'deepseek-chat' },
    ...{ groq: 'llama-3.3-70b-versatile', together: 'meta-llama/Llama-3.3-70B-Instruct-Turbo', zai: 'glm-5.2' },
    ...{ fireworks: 'accounts/fireworks/models/deepseek-v3p2', nvidia: undefined },
    ...{ cerebras: 'gpt-oss-120b', moonshot: 'kimi-k2-0905-preview', minimax: 'MiniMax-M2', cohere: 'embed-v4.0' },
    ...{ openrouter: 'anthropic/claude-sonnet-4.5', voyage: 'voyage-3.5', jina: undefined, huggingface: undefined },
    ...{ dashscope: 'qwen-plus', elevenlabs: undefined, deepgram: undefined, kling: undefined },
    ...{ custom: undefined, ollama: undefined, vllm: undefined, replay: undefined },
    ...{ 'llama-cpp': undefined, 'lm-studio': undefined },
  }

  test.each([...PRESETS.keys()])('is known for models of %s, if a list has its prices', preset => {
    expect(MODELS).toHaveProperty(preset)
    const model = MODELS[preset]
    const cost = model === undefined ? undefined : NONE.cost(at(preset, model), { input: 1000 })
    expect(cost !== undefined && cost > 0).toBe(model !== undefined)
  })

  test.each([
    ['google', 'models/gemini-2.5-pro', 'gemini-2.5-pro'],
    ['vertex', 'google/gemini-2.5-pro', 'gemini-2.5-pro'],
    ['vertex', 'publishers/google/models/gemini-2.5-pro', 'gemini-2.5-pro'],
    ['openrouter', 'anthropic/claude-sonnet-4.5:nitro', 'anthropic/claude-sonnet-4.5'],
    ['openrouter', 'openai/gpt-4o:online', 'openai/gpt-4o'],
  ])('is the same at %s for %s and %s', (provider, spelled, model) => {
    const usage = { input: 1000, output: 1000 }
    expect(NONE.cost(at(provider, model), usage)).toBeGreaterThan(0)
    expect(NONE.cost(at(provider, spelled), usage)).toBe(NONE.cost(at(provider, model), usage))
  })

  test('is that of images for all tokens of a stream of images', () => {
    const usage = { input: 1000, inputBy: { text: 1000 }, output: 1000 }
    expect(NONE.cost(at('openai', 'gpt-image-1.5'), usage, { images: 1 })).toBe(5e6 + 32e6)
  })

  test('has the tokens of models that search for each request, too', () => {
    expect(NONE.cost(at('openai', 'gpt-5-search-api'), { input: 1000, output: 100 })).toBe(
      10e6 + 1000 * 1250 + 100 * 10_000,
    )
  })

  test('is that of the service tier, of searches and of seconds, as the table of models lists them', () => {
    const usage = { input: 1000, output: 1000 }
    const usual = NONE.cost(at('openai', 'gpt-5'), usage)!
    expect(NONE.cost(at('openai', 'gpt-5'), usage, { tier: 'priority' })).toBe(2 * usual)
    expect(NONE.cost(at('openai', 'gpt-5'), usage, { tier: 'flex' })).toBe(usual / 2)
    const claude = at('anthropic', 'claude-opus-5')
    const fast = { ...usage, extras: { messages: { speed: 'fast' } } }
    expect(NONE.cost(claude, fast)).toBe(2 * NONE.cost(claude, usage)!)
    const searched = { ...usage, hostedCalls: { 'web-search': 1 } }
    const gemini = at('google', 'gemini-3.8-flash')
    expect(NONE.cost(gemini, searched, { queries: 3 })! - NONE.cost(gemini, usage)!).toBe(3 * 14_000_000)
    const search = at('openai', 'gpt-4o-search-preview')
    expect(NONE.cost(search, { input: 1 })).toBe(2500 + 25_000_000)
    expect(NONE.cost(at('cohere', 'rerank-v3.5'), { searches: 1 })).toBe(2_000_000)
    expect(NONE.cost(at('openai', 'whisper-1'), {}, { seconds: 60 })).toBe(6_000_000)
    expect(NONE.cost(at('openai', 'tts-1'), {}, { characters: 1000 })).toBe(15_000_000)
    expect(NONE.cost(at('together', 'flux-pro-1.1'), {}, { images: 2 })).toBe(2 * 40_000_000)
    expect(NONE.cost(at('openai', 'sora-2'), {}, { videoSeconds: 8 })).toBe(800_000_000)
    expect(NONE.cost(at('google', 'veo-3.1-generate-preview'), {}, { videoSeconds: 8 })).toBe(3_200_000_000)
    const heard = { input: 100, output: 100, inputBy: { audio: 100 }, outputBy: { audio: 100 } }
    expect(NONE.cost(at('openai', 'gpt-4o-audio-preview-2024-12-17'), heard)).toBe(100 * 40_000 + 100 * 80_000)
    expect(NONE.cost(at('google', 'gemini-3.8-live'), heard)).toBe(100 * 3000 + 100 * 12_000)
    const drawn = { input: 100, output: 100, inputBy: { image: 40 } }
    expect(NONE.cost(at('azure-openai', 'gpt-image-2.5-flare'), drawn)).toBe(60 * 5000 + 40 * 8000 + 100 * 30_000)
    expect(NONE.cost(at('custom', 'gpt-5'), usage, { tier: 'priority' })).toBeUndefined()
  })

  test('is what the operator says, field by field', () => {
    const own = new Catalogue(facts('gpt-4o', { price: { input: 1, output: 2 } }))
    expect(own.cost(at('openai', 'gpt-4o'), { input: 10, cacheRead: 10, output: 10 })).toBe(10 * 1250 + 10 * 2000)
    const local = new Catalogue(facts('llama', { price: { input: 0, output: 0 } }))
    expect(local.cost(at('vllm', 'llama'), { input: 10, cacheRead: 10, output: 10 })).toBe(0)
    own.reload(new Map())
    expect(own.cost(at('openai', 'gpt-4o'), { input: 10 })).toBe(25_000)
  })

  test('grows with every token, and is that of its parts', () => {
    const rates: Rates = { input: { base: 3 }, output: { base: 7 }, cacheRead: { base: 1 }, reasoning: { base: 9 } }
    const count = fc.nat(1e6)
    fc.assert(
      fc.property(count, count, count, count, (fresh, cacheRead, text, reasoning) => {
        const usage = { input: fresh + cacheRead, cacheRead, output: text + reasoning, reasoning }
        expect(costOf(rates, usage)).toBe(fresh * 3 + cacheRead + text * 7 + reasoning * 9)
      }),
    )
  })
})

describe('what is known of a model', () => {
  test('is its limits and abilities, wherever it runs', () => {
    const known = {
      context: 128_000,
      maxOutput: 16_384,
      input: ['text', 'image', 'pdf'],
      output: ['text'],
      tools: true,
    }
    expect(NONE.about('gpt-4o', { provider: 'openai' })).toMatchObject(known)
    expect(NONE.about('openai/gpt-4o', { provider: 'custom' })).toMatchObject(known)
    expect(NONE.about('my-own', { provider: 'openai', upstreamModel: 'gpt-4o' })).toMatchObject(known)
    expect(NONE.about('no-such-model')).toEqual({ rates: {} })
  })

  test('is what the operator says, field by field', () => {
    const own = new Catalogue(facts('gpt-4o', { maxOutput: 5, name: 'Four' }))
    expect(own.about('gpt-4o')).toMatchObject({ name: 'Four', context: 128_000, maxOutput: 5 })
  })

  test('is searched for once, however many models a list has, also if settings of models change', () => {
    const catalogue = new Catalogue(new Map())
    const millisecondsOf = (work: () => void): number => {
      const { user, system } = process.cpuUsage()
      work()
      const now = process.cpuUsage({ user, system })
      return (now.user + now.system) / 1000
    }
    const list = (): void => {
      for (let at = 0; at < 3000; at++) catalogue.about(`unlisted-${at}`, { provider: 'custom' })
    }
    const first = millisecondsOf(list)
    expect(millisecondsOf(list) * 5).toBeLessThan(first)
    catalogue.reload(facts('unlisted-1', { name: 'One' }))
    expect(millisecondsOf(list) * 5).toBeLessThan(first)
    expect(catalogue.about('unlisted-1', { provider: 'custom' }).name).toBe('One')
  })
})
