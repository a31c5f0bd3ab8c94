import { createRequire } from 'node:module'
import type { ModelInfo, ModelPrice } from '@pydantic/genai-prices'

type PricePackage = typeof import('@pydantic/genai-prices')

const load = createRequire(import.meta.url)

/** Prices and contexts; loaded with the first cost or the first model that is looked up: 20 MB and some 50 ms once. */
let prices: PricePackage | undefined
const pricePackage = (): PricePackage => (prices ??= load('@pydantic/genai-prices') as PricePackage)

/** Vendors whose models are whatever their operator runs: their names identify no price. */
const OWN: ReadonlySet<string> = new Set(['custom', 'ollama', 'vllm', 'replay'])

export interface PricedEntry {
  readonly info: ModelInfo
  readonly price: ModelPrice
}

/** What a vendor takes for a model at that time; undefined where the catalogue does not have it. */
export function pricedEntry(provider: string, model: string, at: Date): PricedEntry | undefined {
  if (OWN.has(provider)) return undefined
  const { findProvider, calcPrice } = pricePackage()
  const known = findProvider({ providerId: provider })
  if (known === undefined) return undefined
  const found = calcPrice({ input_tokens: 1 }, model, { provider: known, timestamp: at })
  return found === null ? undefined : { info: found.model, price: found.model_price }
}

/** Makers, whose models others run, too: looked through where the vendor's own list has no entry. */
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

/** What is known of a model whoever runs it. */
export function modelInfo(provider: string | undefined, model: string): ModelInfo | undefined {
  const at = new Date()
  const own = provider === undefined ? undefined : pricedEntry(provider, model, at)
  if (own !== undefined) return own.info
  const bare = model.slice(model.lastIndexOf('/') + 1)
  for (const maker of MAKERS) {
    const entry = pricedEntry(maker, model, at) ?? (bare === model ? undefined : pricedEntry(maker, bare, at))
    if (entry !== undefined) return entry.info
  }
  return undefined
}
