import { defined } from '../canonical/node.ts'
import type { Usage } from '../canonical/result.ts'
import type { ModelFacts } from '../config/types.ts'
import { limitEntry, modelInfo, pricedEntry } from './packages.ts'
import { costOf, type PricedModel, type Prices, type Rates, ratesOf, withOwnPrices } from './rates.ts'

export type { PricedModel, Prices, Rate, Rates } from './rates.ts'

/** What is known about a model; absent fields are unknown. */
export interface KnownModel {
  readonly name?: string
  readonly description?: string
  /** Tokens of context, and of an answer at most. */
  readonly context?: number
  readonly maxOutput?: number
  readonly input?: readonly string[]
  readonly output?: readonly string[]
  readonly reasoning?: boolean
  readonly tools?: boolean
  /** In nanodollars a token. */
  readonly rates: Rates
}

/** Where a model is run. */
export interface ModelPlace {
  /** The preset of its channel. */
  readonly provider?: string
  readonly upstreamModel?: string
}

type Facts = ReadonlyMap<string, ModelFacts>

/** Names that are cached: some come from callers. */
const MOST = 2000
/** Milliseconds for which a price holds: some depend on the hour. */
const HOLDS = 10 * 60_000
/** How far two lists may differ in a model's context, while it counts as the same model. */
const SAME = 1.1

interface CachedRates {
  readonly rates: Rates
  readonly until: number
}

/** Prices, limits and abilities of models: the operator's word first, then what packages list. */
export class Catalogue implements Prices {
  private facts: Facts
  private readonly rates = new Map<string, CachedRates>()
  private readonly known = new Map<string, KnownModel>()

  /** @param facts the `models` of the config, by public id. */
  constructor(facts: Facts) {
    this.facts = facts
  }

  reload(facts: Facts): void {
    this.facts = facts
    this.rates.clear()
    this.known.clear()
  }

  cost(model: PricedModel, usage: Usage): number | undefined {
    return costOf(this.ratesOf(model), usage)
  }

  /** The prices of a model at an account, at present. */
  ratesOf({ model, upstreamModel, provider }: PricedModel): Rates {
    const key = `${provider}\n${upstreamModel}\n${model}`
    const cached = this.rates.get(key)
    const now = performance.now()
    if (cached !== undefined && cached.until > now) return cached.rates
    const listed = ratesOf(pricedEntry(provider, upstreamModel, new Date())?.price)
    const rates = withOwnPrices(listed, this.facts.get(model)?.price)
    if (this.rates.size >= MOST) this.rates.clear()
    this.rates.set(key, { rates, until: now + HOLDS })
    return rates
  }

  /** Tokens of an answer at most; undefined where unknown. */
  maxOutput(provider: string, upstreamModel: string): number | undefined {
    return this.about(upstreamModel, { provider }).maxOutput
  }

  /** Everything that is known about a model. */
  about(model: string, place: ModelPlace = {}): KnownModel {
    const { provider = '', upstreamModel = model } = place
    const key = `${provider}\n${upstreamModel}\n${model}`
    const cached = this.known.get(key)
    if (cached !== undefined) return cached
    const made = this.make(model, upstreamModel, place.provider)
    if (this.known.size >= MOST) this.known.clear()
    this.known.set(key, made)
    return made
  }

  private make(model: string, upstreamModel: string, provider: string | undefined): KnownModel {
    const facts = this.facts.get(model)
    const info = modelInfo(provider, upstreamModel)
    const listed = limitEntry(upstreamModel)
    // A name may have been given to a later model since its limits were listed.
    const limits = isSame(info?.context_window, listed?.context) ? listed : undefined
    return {
      rates: provider === undefined ? {} : this.ratesOf({ model, upstreamModel, provider }),
      ...defined({
        name: facts?.name,
        description: facts?.description,
        context: facts?.context ?? info?.context_window ?? limits?.context,
        maxOutput: facts?.maxOutput ?? limits?.output,
        input: declared(facts?.input) ?? limits?.modalities?.input,
        output: declared(facts?.output) ?? limits?.modalities?.output,
        reasoning: limits?.reasoning,
        tools: limits?.tools,
      }),
    }
  }
}

/** A list that the operator wrote; an empty one counts as absent. */
const declared = (list: readonly string[] = []): readonly string[] | undefined => (list.length === 0 ? undefined : list)

const isSame = (one: number | undefined, other: number | undefined): boolean =>
  one === undefined || other === undefined || Math.max(one, other) / Math.min(one, other) <= SAME
