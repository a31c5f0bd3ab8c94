import { createRequire } from 'node:module'
import type { ModelInfo, ModelPrice } from '@pydantic/genai-prices'

type PricePackage = typeof import('@pydantic/genai-prices')

const load = createRequire(import.meta.url)

/** The price package. Loaded with the first lookup, because it takes 20 MB and about 50 ms. */
let prices: PricePackage | undefined
const pricePackage = (): PricePackage => (prices ??= load('@pydantic/genai-prices') as PricePackage)

/** Presets for self-hosted models. Their model names do not identify a price. */
const SELF_HOSTED: ReadonlySet<string> = new Set(['custom', 'ollama', 'vllm', 'replay'])

/** A model in the price package, with its prices at a time. */
export interface PricedEntry {
  readonly info: ModelInfo
  readonly price: ModelPrice
}

/** Returns a provider's prices for a model at a time; undefined if the package does not list it. */
export function pricedEntry(provider: string, model: string, at: Date): PricedEntry | undefined {
  if (SELF_HOSTED.has(provider)) return undefined
  const { findProvider, calcPrice } = pricePackage()
  const known = findProvider({ providerId: provider })
  if (known === undefined) return undefined
  const found = calcPrice({ input_tokens: 1 }, model, { provider: known, timestamp: at })
  return found === null ? undefined : { info: found.model, price: found.model_price }
}

/** Vendors whose models other providers also run, searched if the provider itself is not listed with the model. */
const MAKERS = [
  'openai',
  'anthropic',
  'google',
  'x-ai',
  'deepseek',
  'mistral',
  'moonshotai',
  'zhipuai',
  'cohere',
  'openrouter',
]

/** Returns what the package lists about a model, whichever provider runs it. */
export function modelInfo(provider: string | undefined, model: string): ModelInfo | undefined {
  const at = new Date()
  const listed = provider === undefined ? undefined : pricedEntry(provider, model, at)
  if (listed !== undefined) return listed.info
  const bare = model.slice(model.lastIndexOf('/') + 1)
  for (const maker of MAKERS) {
    const entry = pricedEntry(maker, model, at) ?? (bare === model ? undefined : pricedEntry(maker, bare, at))
    if (entry !== undefined) return entry.info
  }
  return undefined
}
