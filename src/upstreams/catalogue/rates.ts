import type { ModelPrice, TieredPrices } from '@pydantic/genai-prices'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { Usage } from '../../canonical/result.ts'
import type { ModelFacts } from '../../config/types.ts'
import { type BilledFacts, billedUsage } from './billed-facts.ts'
import type { ListedModel } from './table.ts'

/** A model at the account that answered. */
export interface PricedModel {
  /** Public id, under which the config may set prices. */
  readonly model: string
  readonly upstreamModel: string
  /** Preset of the channel. */
  readonly provider: string
}

/** Calculates the cost of answers. */
export interface Prices {
  /** Returns the cost of an answer in nanodollars, or undefined if a price of any part is unknown. */
  cost(model: PricedModel, usage: Usage, facts?: BilledFacts): number | undefined
}

/** Prices for a gateway without a catalogue: every cost is unknown. */
export const NO_PRICES: Prices = { cost: () => undefined }

/**
 * Price in nanodollars per unit. With tiers, the highest tier that the prompt exceeds determines the price of the whole
 * prompt.
 */
export interface Rate {
  readonly base: number
  readonly tiers?: readonly { readonly above: number; readonly price: number }[]
}

/** Price per token of each kind, and per search, in nanodollars. Absent if unknown. */
export interface Rates {
  readonly input?: Rate
  readonly output?: Rate
  readonly cacheRead?: Rate
  readonly cacheWrite?: Rate
  /** Price of cache writes with a lifetime of one hour. */
  readonly cacheWriteLong?: Rate
  /** Price of audio and images read from a cache, if it differs from that of other cached tokens. */
  readonly cacheReadAudio?: Rate
  readonly cacheReadImage?: Rate
  readonly inputAudio?: Rate
  readonly outputAudio?: Rate
  readonly inputImage?: Rate
  readonly inputVideo?: Rate
  readonly outputImage?: Rate
  readonly reasoning?: Rate
  readonly search?: Rate
  /** True if a search is billed once for each of its queries. */
  readonly searchesByQuery?: boolean
  /** Price of a request, in addition to its tokens. */
  readonly request?: Rate
  /** Price of a second of a transcribed recording, if the upstream counts no tokens. */
  readonly second?: Rate
  /** Price of a generated image, if the upstream counts no tokens. */
  readonly image?: Rate
  /** Price of a character of a text to speak, if the upstream counts no tokens. */
  readonly character?: Rate
  /** Price of a second of a generated video. */
  readonly videoSecond?: Rate
  /** Price of a second of a voice session, if its tokens have no price. */
  readonly sessionSecond?: Rate
  /** Factors on the prices of all tokens, by service tier. 1 for other tiers. */
  readonly tiers?: { readonly [tier: string]: number }
}

/** The fields of `Rates` that are prices. */
type RateName = Exclude<keyof Rates, 'tiers' | 'searchesByQuery'>

/** Field names in the price package, and the units that a price is for: a million tokens, a thousand searches, an hour. */
const RATE_FIELDS: readonly (readonly [ours: RateName, theirs: string, per: number])[] = [
  ['input', 'input_mtok', 1e6],
  ['output', 'output_mtok', 1e6],
  ['cacheRead', 'cache_read_mtok', 1e6],
  ['cacheWrite', 'cache_write_mtok', 1e6],
  ['cacheWriteLong', 'cache_write_1h_mtok', 1e6],
  ['cacheReadAudio', 'cache_audio_read_mtok', 1e6],
  ['cacheReadImage', 'cache_image_read_mtok', 1e6],
  ['inputAudio', 'input_audio_mtok', 1e6],
  ['outputAudio', 'output_audio_mtok', 1e6],
  ['inputImage', 'input_image_mtok', 1e6],
  ['inputVideo', 'input_video_mtok', 1e6],
  ['outputImage', 'output_image_mtok', 1e6],
  ['reasoning', 'output_reasoning_mtok', 1e6],
  ['search', 'web_searches_kcount', 1e3],
  ['request', 'requests_kcount', 1e3],
  ['second', 'input_audio_hours', 3600],
]

type OperatorPrices = NonNullable<ModelFacts['price']>

/** Prices of operators, the rates that each of them sets, and the units that it is for: a million tokens, a minute. */
const OPERATOR_PRICES: readonly (readonly [
  price: Exclude<keyof OperatorPrices, 'tiers'>,
  rates: readonly [RateName, ...RateName[]],
  per: number,
])[] = [
  ['input', ['input'], 1e6],
  ['output', ['output'], 1e6],
  ['cacheRead', ['cacheRead', 'cacheReadAudio', 'cacheReadImage'], 1e6],
  ['cacheWrite', ['cacheWrite', 'cacheWriteLong'], 1e6],
  ['search', ['search'], 1e3],
  ['minute', ['second'], 60],
  ['image', ['image'], 1],
  ['characters', ['character'], 1e6],
  ['videoSecond', ['videoSecond'], 1],
  ['sessionMinute', ['sessionSecond'], 60],
]

/** Kinds of tokens, each with the kind whose price it has at a vendor that lists no other price for it. */
const DEFAULT_KINDS: readonly (readonly [kind: RateName, as: RateName])[] = [
  ['cacheRead', 'input'],
  ['cacheWrite', 'input'],
  ['inputAudio', 'input'],
  ['outputAudio', 'output'],
  ['outputImage', 'output'],
]

/** Default kinds of cached tokens, at a vendor that lists no price for cached tokens at all. */
const UNCACHED_KINDS: typeof DEFAULT_KINDS = [
  ['cacheReadAudio', 'inputAudio'],
  ['cacheReadImage', 'inputImage'],
]

/** Number of nanodollars per dollar. */
const NANODOLLARS = 1e9

/** Converts prices from the price package. */
export function ratesOf(price: ModelPrice | undefined): Rates {
  if (price === undefined) return {}
  return Object.fromEntries(
    RATE_FIELDS.flatMap(([ours, theirs, per]) => {
      const dollars = price[theirs]
      return dollars === undefined ? [] : [[ours, rateOf(dollars, NANODOLLARS / per)]]
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

/** Adds prices of the table of models that the price package lacks. */
export function withListedPrices(rates: Rates, listed: ListedModel | undefined): Rates {
  if (listed === undefined) return rates
  const { search, perQuery, request, second, image, character, videoSecond, sessionSecond, tiers, tokens = {} } = listed
  const of = (dollars: number): Rate => ({ base: dollars * NANODOLLARS })
  const ofTokens = Object.entries(tokens).map(([kind, dollars]) => [kind, { base: (dollars * NANODOLLARS) / 1e6 }])
  return {
    ...(Object.fromEntries(ofTokens) as Rates),
    ...(search !== undefined && { search: of(search) }),
    ...(perQuery !== undefined && { searchesByQuery: true }),
    ...(request !== undefined && { request: of(request) }),
    ...(second !== undefined && { second: of(second) }),
    ...(image !== undefined && { image: of(image) }),
    ...(character !== undefined && { character: of(character) }),
    ...(videoSecond !== undefined && { videoSecond: of(videoSecond) }),
    ...(sessionSecond !== undefined && { sessionSecond: of(sessionSecond) }),
    ...(tiers !== undefined && { tiers }),
    ...rates,
  }
}

/**
 * Applies the operator's prices (dollars per million tokens) to listed ones, field by field. If the operator sets a
 * prompt price and no cache price is known, cached tokens cost as much as other prompt tokens. So do all kinds of tokens
 * without a price: otherwise the cost of a request with one such token is unknown, and no budget counts it.
 */
export function withOperatorPrices(rates: Rates, prices: ModelFacts['price']): Rates {
  if (prices === undefined) return completed(rates)
  const flat = (dollars: number, per = 1e6): Rate => ({ base: (dollars * NANODOLLARS) / per })
  const configuredRates = Object.fromEntries(
    OPERATOR_PRICES.flatMap(([price, names, per]) => {
      const dollars = prices[price]
      return dollars === undefined ? [] : names.map(name => [name, flat(dollars, per)] as const)
    }),
  ) as Rates
  const tiers = prices.tiers && { ...rates.tiers, ...prices.tiers }
  const defaultRates =
    prices.input === undefined ? {} : { cacheRead: flat(prices.input), cacheWrite: flat(prices.input) }
  return completed({ ...defaultRates, ...rates, ...configuredRates, ...(tiers !== undefined && { tiers }) })
}

/** Returns prices in the units of an operator's prices. Of a price that depends on the prompt's size, the first one. */
export function operatorPricesOf(rates: Rates): Omit<OperatorPrices, 'tiers'> {
  return Object.fromEntries(
    OPERATOR_PRICES.flatMap(([price, [name], per]) => {
      const rate = rates[name]
      return rate === undefined ? [] : [[price, Number(((rate.base * per) / NANODOLLARS).toPrecision(12))]]
    }),
  )
}

/** Adds the prices that a list of prices leaves out, because they are those of other kinds. */
function completed(rates: Rates): Rates {
  const kinds = rates.cacheRead === undefined ? [...DEFAULT_KINDS, ...UNCACHED_KINDS] : DEFAULT_KINDS
  const defaults = kinds.flatMap(([kind, as]) => (rates[as] === undefined ? [] : [[kind, rates[as]] as const]))
  return { ...Object.fromEntries(defaults), ...rates }
}

/** Returns the price per unit for a prompt of this many tokens. */
function priceAt({ base, tiers }: Rate, prompt: number): number {
  let price = base
  if (tiers !== undefined) for (const tier of tiers) if (prompt > tier.above) price = tier.price
  return price
}

/**
 * Calculates the cost of an answer in nanodollars: its tokens, each kind at its price and all at that of the service
 * tier, and its searches. An answer whose tokens have no price, or were not counted, costs its other units: seconds of a
 * recording, video or voice session, images, characters, or the searches of a ranking. Returns undefined if nothing was
 * counted or a price is unknown.
 */
export function costOf(rates: Rates, usage: Usage, facts: BilledFacts = {}): number | undefined {
  const searchCount = searchCalls(usage)
  if (searchCount === undefined) return undefined
  const hasTokens = usage.input !== undefined || usage.output !== undefined
  const tokens = hasTokens ? costOfTokens(rates, withKindOfAnswer(billedUsage(usage), facts)) : undefined
  // Some servers count zero tokens of what they bill by other units.
  const isByUnits = tokens === undefined || isEmpty(usage)
  const units = isByUnits ? costOfUnits(rates, facts) : undefined
  const cost = units ?? (tokens === undefined ? undefined : tokens * tierFactor(rates, usage, facts.tier))
  const rankings = isByUnits && rates.search !== undefined ? facts.rankings : undefined
  const searches = searchCount === 0 ? (rankings ?? 0) : searchCount
  if (cost === undefined && (searches === 0 || (hasTokens && rankings === undefined))) return undefined
  const count = rates.searchesByQuery === true ? Math.max(searches, facts.queries ?? 0) : searches
  const fees = priceOf(rates.search, count, usage) + priceOf(rates.request, rates.request === undefined ? 0 : 1, usage)
  const sum = (cost ?? 0) + fees
  return Number.isFinite(sum) ? Math.round(sum) : undefined
}

/**
 * Counts the whole answer as images or speech if the request asks for them and the upstream does not count kinds of
 * tokens, as OpenAI in streams of images (docs/wire/images.md#usage).
 */
function withKindOfAnswer(usage: Usage, { images, characters }: BilledFacts): Usage {
  const { output, outputBy, reasoning = 0 } = usage
  if (output === undefined || outputBy !== undefined) return usage
  const count = Math.max(0, output - reasoning)
  if (images !== undefined) return { ...usage, outputBy: { image: count } }
  return characters === undefined ? usage : { ...usage, outputBy: { audio: count } }
}

/** Returns the price of a number of units. NaN if it is unknown. */
const priceOf = (rate: Rate | undefined, count: number, { input = 0 }: Usage): number =>
  count > 0 ? (rate === undefined ? Number.NaN : priceAt(rate, input) * count) : 0

const isEmpty = ({ input = 0, output = 0 }: Usage): boolean => input === 0 && output === 0

/** Units other than tokens: the fields of their prices and of their counts. */
const UNITS = [
  ['second', 'seconds'],
  ['image', 'images'],
  ['character', 'characters'],
  ['videoSecond', 'videoSeconds'],
  ['sessionSecond', 'sessionSeconds'],
] as const satisfies readonly (readonly [RateName, keyof BilledFacts])[]

/** Returns the cost of the units of an answer that have a price, or undefined if there are none. */
function costOfUnits(rates: Rates, facts: BilledFacts): number | undefined {
  let cost: number | undefined
  for (const [unit, count] of UNITS) {
    const [rate, number] = [rates[unit], facts[count]]
    if (rate !== undefined && number !== undefined) cost = (cost ?? 0) + rate.base * number
  }
  return cost
}

/** Tiers of Vertex AI, which states the type of traffic instead of the tier (docs/wire/contents.md#usage). */
const TRAFFIC_TIERS: ReadonlyMap<Json | undefined, string> = new Map([
  ['ON_DEMAND_PRIORITY', 'priority'],
  ['ON_DEMAND_FLEX', 'flex'],
])

/**
 * Returns the factor on token prices. Anthropic states the tier, fast mode and a guaranteed location of an answer apart
 * from each other (docs/wire/messages.md#usage), and Mistral the tier within the usage (docs/wire/chat.md#usage).
 */
function tierFactor({ tiers }: Rates, { extras }: Usage, tier: string | undefined): number {
  if (tiers === undefined) return 1
  const factorOf = (name: unknown): number | undefined =>
    typeof name === 'string' && Object.hasOwn(tiers, name) ? tiers[name] : undefined
  const { speed, inference_geo: location } = extras?.['messages'] ?? {}
  const inUsage = TRAFFIC_TIERS.get(extras?.['contents']?.['trafficType']) ?? extras?.['chat']?.['service_tier']
  const served = tier ?? inUsage
  // OpenAI also calls its tier `priority` `fast`.
  const ofTier = factorOf(served) ?? (served === 'fast' ? factorOf('priority') : undefined) ?? 1
  return ofTier * (speed === 'fast' && served !== 'fast' ? (factorOf(speed) ?? 1) : 1) * (factorOf(location) ?? 1)
}

/** Calculates the cost of tokens in nanodollars, or undefined if a price is unknown. */
function costOfTokens(rates: Rates, usage: Usage): number | undefined {
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0, reasoning = 0 } = usage
  const longWriteTokens = Math.min(longWrites(usage), cacheWrite)
  const { audio: allAudio = 0, image: allImages = 0, video: allVideo = 0 } = usage.inputBy ?? {}
  const cachedAudio = cachedTokens(usage, 'audio', Math.min(allAudio, cacheRead))
  const cachedImages = cachedTokens(usage, 'image', Math.min(allImages, cacheRead - cachedAudio))
  const audioInput = allAudio - cachedAudio
  const audioOutput = usage.outputBy?.audio ?? 0
  const imageInput = rates.inputImage === undefined ? 0 : allImages - cachedImages
  const cachedVideo = cachedTokens(usage, 'video', Math.min(allVideo, cacheRead - cachedAudio - cachedImages))
  const videoInput = rates.inputVideo === undefined ? 0 : allVideo - cachedVideo
  const imageOutput = usage.outputBy?.image ?? 0
  const reasoningTokens = rates.reasoning === undefined ? 0 : reasoning
  // The difference may be negative, because upstreams may count cached audio without saying how much of it is cached.
  const plainInput = Math.max(0, input - cacheRead - cacheWrite - audioInput - imageInput - videoInput)
  let cost = 0
  const add = (rate: Rate | undefined, count: number): void => {
    if (count > 0) cost += rate === undefined ? Number.NaN : priceAt(rate, input) * count
  }
  add(rates.input, plainInput)
  add(rates.cacheRead, cacheRead - cachedAudio - cachedImages)
  add(rates.cacheReadAudio ?? rates.cacheRead, cachedAudio)
  add(rates.cacheReadImage ?? rates.cacheRead, cachedImages)
  add(rates.cacheWrite, cacheWrite - longWriteTokens)
  // Such writes cost twice the input, unless a price is listed (docs/wire/messages.md#prompt-caching).
  if (rates.cacheWriteLong === undefined) add(rates.input, 2 * longWriteTokens)
  else add(rates.cacheWriteLong, longWriteTokens)
  add(rates.inputAudio, audioInput)
  add(rates.inputImage, imageInput)
  add(rates.inputVideo, videoInput)
  add(rates.output, Math.max(0, output - audioOutput - imageOutput - reasoningTokens))
  add(rates.outputAudio, audioOutput)
  add(rates.outputImage, imageOutput)
  add(rates.reasoning, reasoningTokens)
  return Number.isFinite(cost) ? cost : undefined
}

/** Hosted calls that cost nothing beside their tokens, as fetches of Claude (docs/wire/messages.md#usage). */
const FREE_CALLS: ReadonlySet<string> = new Set(['web-fetch'])

/**
 * Returns the number of the upstream's searches, or undefined if it made other hosted calls, whose price is unknown.
 */
function searchCalls({ hostedCalls, searches: searchUnits = 0 }: Usage): number | undefined {
  let searches = searchUnits
  for (const kind in hostedCalls) {
    const count = hostedCalls[kind]
    if (typeof count !== 'number' || count === 0 || FREE_CALLS.has(kind)) continue
    if (kind !== 'web-search') return undefined
    searches += count
  }
  return searches
}

/**
 * Returns the tokens of cache writes with a lifetime of one hour, if the upstream counts them separately:
 * `cache_creation` of `messages`, or the list `cacheDetails` of `converse` (docs/wire/converse.md#usage).
 */
function longWrites({ extras }: Usage): number {
  for (const format in extras) {
    const { cache_creation: writes, cacheDetails: details } = extras[format]!
    const count = isObject(writes) ? writes['ephemeral_1h_input_tokens'] : longWritesIn(details)
    if (typeof count === 'number' && count > 0) return count
  }
  return 0
}

/** Returns the count of a lifetime of one hour in a list of `{ttl, inputTokens}`. */
const longWritesIn = (list: Json | undefined): Json | undefined =>
  Array.isArray(list) ? list.filter(isObject).find(({ ttl }) => ttl === '1h')?.['inputTokens'] : undefined

/**
 * Returns the cached tokens of a modality, if the upstream counts them separately: `cached_tokens_details` of
 * `realtime` (docs/wire/realtime.md#responses), or the lists of `contents`, `live` and `interactions`. They are also
 * part of all tokens of the modality.
 *
 * @param most maximum number of tokens.
 */
function cachedTokens({ extras }: Usage, modality: 'audio' | 'image' | 'video', most: number): number {
  if (most <= 0) return 0
  for (const format in extras) {
    const { cached_tokens_details: details, cacheTokensDetails, cached_tokens_by_modality: list } = extras[format]!
    const count = isObject(details) ? details[`${modality}_tokens`] : countIn(list ?? cacheTokensDetails, modality)
    if (typeof count === 'number' && count > 0) return Math.min(count, most)
  }
  return 0
}

/** Returns a modality's count in a list of `{modality, tokenCount}` or `{modality, tokens}`. */
function countIn(list: Json | undefined, modality: string): Json | undefined {
  const entry = Array.isArray(list) ? list.filter(isObject).find(one => isModality(one, modality)) : undefined
  return entry?.['tokens'] ?? entry?.['tokenCount']
}

const isModality = ({ modality: name }: JsonObject, modality: string): boolean =>
  typeof name === 'string' && name.toLowerCase() === modality
