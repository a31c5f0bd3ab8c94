import type { ModelPrice, TieredPrices } from '@pydantic/genai-prices'
import { isObject } from '../../canonical/node.ts'
import type { Usage } from '../../canonical/result.ts'
import type { ModelFacts } from '../../config/types.ts'

/** A model at the account that answered. */
export interface PricedModel {
  /** The public id: the operator's facts have it. */
  readonly model: string
  readonly upstreamModel: string
  /** The preset of its channel. */
  readonly provider: string
}

export interface Prices {
  /** What an answer cost, in nanodollars; undefined where the price of any of it is unknown. */
  cost(model: PricedModel, usage: Usage): number | undefined
}

/** Prices of nothing: every cost is unknown. */
export const NO_PRICES: Prices = { cost: () => undefined }

/** A price in nanodollars: one, or a dearer one for requests whose prompt is longer than a limit. */
export interface Rate {
  readonly base: number
  readonly tiers?: readonly { readonly above: number; readonly price: number }[]
}

/** Nanodollars for a token of each kind, and for a search; absent where unknown. */
export interface Rates {
  readonly input?: Rate
  readonly output?: Rate
  readonly cacheRead?: Rate
  readonly cacheWrite?: Rate
  /** Written to be kept for an hour. */
  readonly cacheWriteLong?: Rate
  readonly inputAudio?: Rate
  readonly outputAudio?: Rate
  readonly inputImage?: Rate
  readonly outputImage?: Rate
  readonly reasoning?: Rate
  readonly search?: Rate
}

/** The package's names, and what a unit of its price is of ours: a million tokens, or a thousand searches. */
const NAMES: readonly (readonly [ours: keyof Rates, theirs: string, per: number])[] = [
  ['input', 'input_mtok', 1e6],
  ['output', 'output_mtok', 1e6],
  ['cacheRead', 'cache_read_mtok', 1e6],
  ['cacheWrite', 'cache_write_mtok', 1e6],
  ['cacheWriteLong', 'cache_write_1h_mtok', 1e6],
  ['inputAudio', 'input_audio_mtok', 1e6],
  ['outputAudio', 'output_audio_mtok', 1e6],
  ['inputImage', 'input_image_mtok', 1e6],
  ['outputImage', 'output_image_mtok', 1e6],
  ['reasoning', 'output_reasoning_mtok', 1e6],
  ['search', 'web_searches_kcount', 1e3],
]

const NANO = 1e9

/** The catalogue's prices of a model. */
export function ratesOf(price: ModelPrice | undefined): Rates {
  if (price === undefined) return {}
  return Object.fromEntries(
    NAMES.flatMap(([ours, theirs, per]) => {
      const dollars = price[theirs]
      return dollars === undefined ? [] : [[ours, rateOf(dollars, NANO / per)]]
    }),
  )
}

const rateOf = (dollars: number | TieredPrices, scale: number): Rate =>
  typeof dollars === 'number'
    ? { base: dollars * scale }
    : {
        base: dollars.base * scale,
        tiers: dollars.tiers.map(({ start, price }) => ({ above: start, price: price * scale })),
      }

/**
 * With the operator's prices, field by field, in dollars a million tokens. Where the operator prices the prompt and
 * nobody prices its cached part, that part costs as any other.
 */
export function withOwnPrices(rates: Rates, own: ModelFacts['price']): Rates {
  if (own === undefined) return rates
  const flat = (dollars: number | undefined): Rate | undefined =>
    dollars === undefined ? undefined : { base: (dollars * NANO) / 1e6 }
  const mine = {
    ...{ input: flat(own.input), output: flat(own.output) },
    ...{ cacheRead: flat(own.cacheRead), cacheWrite: flat(own.cacheWrite), cacheWriteLong: flat(own.cacheWrite) },
  }
  const known = Object.fromEntries(Object.entries(mine).filter(([, rate]) => rate !== undefined)) as Rates
  const usual = own.input === undefined ? {} : { cacheRead: flat(own.input)!, cacheWrite: flat(own.input)! }
  return { ...usual, ...rates, ...known }
}

/** Of a rate, the price for a prompt of so many tokens. */
function priceAt({ base, tiers }: Rate, prompt: number): number {
  let price = base
  if (tiers !== undefined) for (const tier of tiers) if (prompt > tier.above) price = tier.price
  return price
}

/**
 * What an answer cost, in nanodollars: every kind of token it has at its price. Undefined where nothing was counted,
 * or the price of any part is unknown.
 */
export function costOf(rates: Rates, usage: Usage): number | undefined {
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0, reasoning = 0, searches = 0 } = usage
  if ((usage.input === undefined && usage.output === undefined) || searches > 0) return undefined
  const calls = searchCalls(usage)
  if (calls === undefined) return undefined
  const long = Math.min(longWrites(usage), cacheWrite)
  const inAudio = usage.inputBy?.audio ?? 0
  const outAudio = usage.outputBy?.audio ?? 0
  const inImage = rates.inputImage === undefined ? 0 : (usage.inputBy?.image ?? 0)
  const outImage = usage.outputBy?.image ?? 0
  const thoughts = rates.reasoning === undefined ? 0 : reasoning
  // What was read from a cache may be sound, too: no more than the whole prompt is charged.
  const fresh = Math.max(0, input - cacheRead - cacheWrite - inAudio - inImage)
  let cost = 0
  const add = (rate: Rate | undefined, count: number): void => {
    if (count > 0) cost += rate === undefined ? Number.NaN : priceAt(rate, input) * count
  }
  add(rates.input, fresh)
  add(rates.cacheRead, cacheRead)
  add(rates.cacheWrite, cacheWrite - long)
  add(rates.cacheWriteLong, long)
  add(rates.inputAudio, inAudio)
  add(rates.inputImage, inImage)
  add(rates.output, Math.max(0, output - outAudio - outImage - thoughts))
  add(rates.outputAudio, outAudio)
  add(rates.outputImage, outImage)
  add(rates.reasoning, thoughts)
  add(rates.search, calls)
  return Number.isFinite(cost) ? Math.round(cost) : undefined
}

/** Searches the upstream made; undefined where it made other calls, whose price is unknown. */
function searchCalls({ hostedCalls }: Usage): number | undefined {
  let searches = 0
  for (const kind in hostedCalls) {
    const count = hostedCalls[kind]
    if (typeof count !== 'number' || count === 0) continue
    if (kind !== 'web-search') return undefined
    searches += count
  }
  return searches
}

/** Tokens written to be kept for an hour, where an upstream counts those apart. */
function longWrites({ extras }: Usage): number {
  for (const format in extras) {
    const writes = extras[format]?.['cache_creation']
    const count = isObject(writes) ? writes['ephemeral_1h_input_tokens'] : undefined
    if (typeof count === 'number') return count
  }
  return 0
}
