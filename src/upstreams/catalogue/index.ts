import { createRequire } from 'node:module'
import type { ModelInfo, ModelPrice } from '@pydantic/genai-prices'
import { defined } from '../../canonical/node.ts'
import type { Usage } from '../../canonical/result.ts'
import type { ModelFacts } from '../../config/types.ts'
import { accountRates } from './account-prices.ts'
import type { BilledFacts } from './billed-facts.ts'
import {
  costOf,
  type PricedModel,
  type Prices,
  type Rates,
  ratesOf,
  withListedPrices,
  withOperatorPrices,
} from './rates.ts'
import { statedCost } from './stated-cost.ts'
import { type ListedModel, listedModel, type TableSource, tableSource } from './table.ts'

export type { PricedModel, Prices, Rate, Rates } from './rates.ts'
export type { TableSource } from './table.ts'

/** Known facts about a model. Absent fields are unknown. */
export interface KnownModel extends ListedModel {
  readonly name?: string
  readonly description?: string
  /** Prices in nanodollars per token. */
  readonly rates: Rates
}

/** Upstream account that serves a model. */
export interface ModelAccount {
  /** Preset of the channel. */
  readonly provider?: string
  readonly upstreamModel?: string
}

/** The operator's facts about models, by public id. */
type Facts = ReadonlyMap<string, ModelFacts>

/** Prices of which a model with known prices has at least one. */
const PRICES = [
  'input',
  'output',
  'search',
  'second',
  'image',
  'character',
  'videoSecond',
  'sessionSecond',
] as const satisfies readonly (keyof Rates)[]

/**
 * Maximum number of models per cache. Needed because callers can invent names. A list of all models must fit: it would
 * otherwise search the price package for each of them again, and hold up other requests for a second.
 */
const MAX_CACHED = 20_000
/** Lifetime of a cached price, in milliseconds. Some prices depend on the time of day. */
const PRICE_LIFETIME = 10 * 60_000

interface CachedRates {
  readonly rates: Rates
  readonly until: number
}

/**
 * Prices, limits and capabilities of models. The config takes precedence over the price package and the checked-in
 * table.
 */
export class Catalogue implements Prices {
  private facts: Facts
  private readonly rates = new Map<string, CachedRates>()
  private readonly known = new Map<string, KnownModel>()
  /** Context windows in the price package. They do not depend on the config. */
  private readonly windows = new Map<string, number | undefined>()

  /** @param facts the `models` of the config, by public id. */
  constructor(facts: Facts) {
    this.facts = facts
  }

  reload(facts: Facts): void {
    this.facts = facts
    this.rates.clear()
    this.known.clear()
  }

  /**
   * Returns the cost of an answer in nanodollars, or undefined if a price is unknown. The cost that the vendor states
   * takes precedence over lists of prices, and the operator's price over both.
   */
  cost(model: PricedModel, usage: Usage, facts?: BilledFacts): number | undefined {
    const stated = this.facts.get(model.model)?.price === undefined ? statedCost(model.provider, usage) : undefined
    if (stated !== undefined) return stated
    const rates = this.ratesOf(model)
    const isListed = facts?.model === undefined || PRICES.some(name => rates[name] !== undefined)
    return costOf(isListed ? rates : this.ratesOf({ ...model, upstreamModel: facts.model }), usage, facts)
  }

  /** Returns the current prices of a model at an account. */
  ratesOf({ model, upstreamModel, provider }: PricedModel): Rates {
    const key = `${provider}\n${upstreamModel}\n${model}`
    const cached = this.rates.get(key)
    const now = performance.now()
    if (cached !== undefined && cached.until > now) return cached.rates
    const known = { ...packagedRates(provider, upstreamModel), ...accountRates(provider, upstreamModel) }
    const listed = SELF_HOSTED_PRESETS.has(provider) ? {} : withListedPrices(known, listedModel(upstreamModel))
    const rates = withOperatorPrices(listed, this.facts.get(model)?.price)
    cache(this.rates, key, { rates, until: now + PRICE_LIFETIME })
    return rates
  }

  /** Returns the maximum length of an answer, in tokens, or undefined if unknown. */
  maxOutput(provider: string, upstreamModel: string): number | undefined {
    return this.about(upstreamModel, { provider }).maxOutput
  }

  /** Origin and date of the table of limits and capabilities. */
  get source(): TableSource {
    return tableSource()
  }

  /** Returns everything that is known about a model. */
  about(model: string, account: ModelAccount = {}): KnownModel {
    const { provider = '', upstreamModel = model } = account
    const key = `${provider}\n${upstreamModel}\n${model}`
    const cached = this.known.get(key)
    if (cached !== undefined) return cached
    const knownModel = this.buildModel(model, upstreamModel, account.provider)
    cache(this.known, key, knownModel)
    return knownModel
  }

  private buildModel(model: string, upstreamModel: string, provider: string | undefined): KnownModel {
    const facts = this.facts.get(model)
    const listed = listedModel(upstreamModel)
    return {
      rates: provider === undefined ? {} : this.ratesOf({ model, upstreamModel, provider }),
      ...defined({
        name: facts?.name,
        description: facts?.description,
        context: facts?.context ?? this.windowOf(upstreamModel, provider) ?? listed?.context,
        maxOutput: facts?.maxOutput ?? listed?.maxOutput,
        input: nonEmpty(facts?.input) ?? listed?.input,
        output: nonEmpty(facts?.output) ?? listed?.output,
        reasoning: facts?.reasoning ?? listed?.reasoning,
        tools: facts?.tools ?? listed?.tools,
      }),
    }
  }

  /** Returns the context window of a model in the price package. The search takes up to a millisecond. */
  private windowOf(upstreamModel: string, provider: string | undefined): number | undefined {
    const key = `${provider ?? ''}\n${upstreamModel}`
    if (this.windows.has(key)) return this.windows.get(key)
    const window = modelInfo(provider, upstreamModel)?.context_window
    cache(this.windows, key, window)
    return window
  }
}

/** Adds an entry to a cache, which is emptied first if it is full. */
function cache<T>(entries: Map<string, T>, key: string, entry: T): void {
  if (entries.size >= MAX_CACHED) entries.clear()
  entries.set(key, entry)
}

/** Returns a list from the config. An empty list counts as absent. */
const nonEmpty = (list: readonly string[] = []): readonly string[] | undefined => (list.length === 0 ? undefined : list)

type PricePackage = typeof import('@pydantic/genai-prices')

const requirePackage = createRequire(import.meta.url)

/** The price package. Loaded at the first lookup, because loading takes 20 MB and about 50 ms. */
let prices: PricePackage | undefined
const pricePackage = (): PricePackage => (prices ??= requirePackage('@pydantic/genai-prices') as PricePackage)

/** Presets for self-hosted models. Their model names do not identify a price. */
const SELF_HOSTED_PRESETS: ReadonlySet<string> = new Set([
  ...['custom', 'llama-cpp', 'lm-studio', 'ollama', 'vllm', 'replay'],
])

/** Lists of the price package, by presets whose names do not lead to them. */
const PRICE_LISTS: ReadonlyMap<string, string> = new Map([
  ['azure-openai', 'azure'],
  ['azure-deployments', 'azure'],
  ['azure-foundry', 'azure'],
  ['claude-aws', 'anthropic'],
])

/** Matches what clouds of Google accept before a model's name, and OpenRouter after it. Free variants cost nothing. */
const DECORATION = /^(?:(?:publishers\/[^/]+\/)?models|google)\/|:(?:nitro|floor|online|exacto|thinking|extended)$/g

/** A model in the price package, with its prices at a time. */
export interface PricedEntry {
  readonly info: ModelInfo
  readonly price: ModelPrice
}

/** Returns a provider's prices for a model at a time, or undefined if the package does not list it. */
function pricedEntry(provider: string, model: string, at: Date): PricedEntry | undefined {
  if (SELF_HOSTED_PRESETS.has(provider)) return undefined
  const { findProvider, calcPrice } = pricePackage()
  const known = findProvider({ providerId: PRICE_LISTS.get(provider) ?? provider })
  if (known === undefined) return undefined
  for (const name of new Set([model, model.replace(DECORATION, '')])) {
    const found = calcPrice({ input_tokens: 1 }, name, { provider: known, timestamp: at })
    if (found !== null) return { info: found.model, price: found.model_price }
  }
  return undefined
}

/** Returns the current prices in the package of a model at the account of a preset. */
export const packagedRates = (provider: string, model: string): Rates =>
  ratesOf(pricedEntry(provider, model, new Date())?.price)

/**
 * Vendors whose models are also served by other providers. They are searched if the package does not list the model for
 * the provider itself.
 */
const MODEL_VENDORS = [
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

/** Returns the package's facts about a model, regardless of the provider. */
function modelInfo(provider: string | undefined, model: string): ModelInfo | undefined {
  const at = new Date()
  const listed = provider === undefined ? undefined : pricedEntry(provider, model, at)
  if (listed !== undefined) return listed.info
  const nameWithoutHost = model.slice(model.lastIndexOf('/') + 1)
  for (const vendor of MODEL_VENDORS) {
    const entry =
      pricedEntry(vendor, model, at) ??
      (nameWithoutHost === model ? undefined : pricedEntry(vendor, nameWithoutHost, at))
    if (entry !== undefined) return entry.info
  }
  return undefined
}
