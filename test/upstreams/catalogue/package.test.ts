import { calcPrice, findProvider } from '@pydantic/genai-prices'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Usage } from '../../../src/canonical/result.ts'
import { costOf, ratesOf, withOperatorPrices } from '../../../src/upstreams/catalogue/rates.ts'
import { holds } from '../../laws/runs.ts'

/* The package computes costs itself, and knows what it means if it lists no price for a kind of tokens. */

const PROVIDERS = ['openai', 'anthropic', 'google', 'deepseek', 'groq', 'openrouter', 'perplexity', 'aws']

/** Models with prices for tokens of both directions. */
const models = PROVIDERS.flatMap(id => {
  const provider = findProvider({ providerId: id })!
  return provider.models.flatMap(({ id: model }) => {
    const price = calcPrice({ input_tokens: 1 }, model, { provider })?.model_price
    return price?.['input_mtok'] === undefined || price['output_mtok'] === undefined ? [] : [{ provider, model, price }]
  })
})

/** Numbers of tokens of kinds that do not overlap. */
const counts = fc.record({
  text: fc.oneof(fc.nat(2000), fc.constantFrom(127_000, 199_999, 200_000, 200_001, 272_000, 300_000)),
  cached: fc.nat(500),
  cachedAudio: fc.nat(20),
  written: fc.nat(20),
  audio: fc.nat(50),
  answer: fc.nat(2000),
  spoken: fc.nat(50),
})

test('an answer costs what the package says, for each model with prices and whatever kinds of tokens it has', () => {
  holds(fc.tuple(fc.constantFrom(...models), counts), ([{ provider, model, price }, count]) => {
    const input = count.text + count.cached + count.cachedAudio + count.written + count.audio
    const output = count.answer + count.spoken
    const usage: Usage = {
      ...{ input, output, cacheRead: count.cached + count.cachedAudio, cacheWrite: count.written },
      ...{ inputBy: { audio: count.audio + count.cachedAudio }, outputBy: { audio: count.spoken } },
      extras: { realtime: { cached_tokens_details: { audio_tokens: count.cachedAudio } } },
    }
    const theirs = calcPrice(
      {
        ...{ input_tokens: input, output_tokens: output, cache_write_tokens: count.written },
        ...{ cache_read_tokens: count.cached + count.cachedAudio, cache_audio_read_tokens: count.cachedAudio },
        ...{ input_audio_tokens: count.audio + count.cachedAudio, output_audio_tokens: count.spoken },
      },
      model,
      { provider },
    )!
    const cost = costOf(withOperatorPrices(ratesOf(price), undefined), usage)
    expect(Math.abs(cost! - theirs.total_price * 1e9), `${provider.id} ${model}`).toBeLessThan(2)
  })
})
