import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../../src/canonical/node.ts'
import type { Usage } from '../../../src/canonical/result.ts'
import { readUsage } from '../../../src/ingress/contents/usage.ts'
import { readUsage as readChatUsage } from '../../../src/ingress/usage/openai.ts'
import {
  costOf,
  NO_PRICES,
  type Rate,
  type Rates,
  ratesOf,
  withListedPrices,
  withOperatorPrices,
} from '../../../src/upstreams/catalogue/rates.ts'
import { holds } from '../../laws/runs.ts'

/** Prices of other units than the tokens and searches that `Counts` has. */
type NotCounted =
  | ('request' | 'second' | 'image' | 'character' | 'videoSecond' | 'sessionSecond')
  | ('tiers' | 'searchesByQuery')
/** Counts of an answer that do not overlap, by the field of their price. */
type Counts = { readonly [R in Exclude<keyof Rates, NotCounted>]: number }

const KINDS = [
  ...['input', 'output', 'cacheRead', 'cacheWrite', 'cacheWriteLong', 'inputAudio', 'outputAudio'],
  ...['cacheReadAudio', 'cacheReadImage', 'inputImage', 'inputVideo', 'outputImage', 'reasoning', 'search'],
] as readonly (keyof Counts)[]

/** Kinds that the count of the whole prompt includes. */
const INPUTS: readonly (keyof Counts)[] = [
  ...(['input', 'cacheRead', 'cacheWrite', 'cacheWriteLong', 'cacheReadAudio', 'cacheReadImage'] as const),
  ...(['inputAudio', 'inputImage', 'inputVideo'] as const),
]

const recordOf = <T>(value: fc.Arbitrary<T>) =>
  fc.record(Object.fromEntries(KINDS.map(kind => [kind, value]))) as fc.Arbitrary<{ readonly [R in keyof Counts]: T }>

/** Cached tokens by modality, as each format counts them. */
const CACHED_BY: { readonly [format: string]: (audio: number, image: number) => JsonObject } = {
  realtime: (audio, image) => ({ cached_tokens_details: { text_tokens: 7, audio_tokens: audio, image_tokens: image } }),
  contents: (audio, image) => ({
    cacheTokensDetails: [
      { modality: 'TEXT', tokenCount: 7 },
      { modality: 'AUDIO', tokenCount: audio },
      { modality: 'IMAGE', tokenCount: image },
    ],
  }),
  interactions: (audio, image) => ({
    cached_tokens_by_modality: [
      { modality: 'image', tokens: image },
      { modality: 'audio', tokens: audio },
    ],
  }),
}

/** The usage that an upstream counts for these counts, in which some include others. */
const usageOf = (counts: Counts, format = 'realtime'): Usage => ({
  input: INPUTS.reduce((sum, kind) => sum + counts[kind], 0),
  cacheRead: counts.cacheRead + counts.cacheReadAudio + counts.cacheReadImage,
  cacheWrite: counts.cacheWrite + counts.cacheWriteLong,
  output: counts.output + counts.outputAudio + counts.outputImage + counts.reasoning,
  reasoning: counts.reasoning,
  inputBy: {
    audio: counts.inputAudio + counts.cacheReadAudio,
    image: counts.inputImage + counts.cacheReadImage,
    video: counts.inputVideo,
  },
  outputBy: { audio: counts.outputAudio, image: counts.outputImage },
  hostedCalls: { 'web-search': counts.search },
  extras: {
    messages: { cache_creation: { ephemeral_1h_input_tokens: counts.cacheWriteLong } },
    [format]: CACHED_BY[format]!(counts.cacheReadAudio, counts.cacheReadImage),
  },
})

const rate: fc.Arbitrary<Rate> = fc.record(
  {
    base: fc.nat(9000),
    tiers: fc
      .uniqueArray(fc.nat(3000), { maxLength: 3 })
      .chain(bounds =>
        fc.tuple(
          ...bounds.sort((a, b) => a - b).map(above => fc.record({ above: fc.constant(above), price: fc.nat(9000) })),
        ),
      ),
  },
  { requiredKeys: ['base'] },
)

describe('the cost of an answer', () => {
  test('is the sum of its kinds, each at the price of the highest tier that the prompt exceeds', () => {
    const formats = fc.constantFrom(...Object.keys(CACHED_BY))
    holds(fc.tuple(recordOf(fc.nat(500)), recordOf(rate), formats), ([counts, rates, format]) => {
      const usage = usageOf(counts, format)
      const priceOf = ({ base, tiers = [] }: Rate) => tiers.findLast(({ above }) => usage.input! > above)?.price ?? base
      const sum = KINDS.reduce((total, kind) => total + priceOf(rates[kind]) * counts[kind], 0)
      expect(costOf(rates, usage)).toBe(sum)
    })
  })

  test('is unknown if a kind that occurs has no price, except for kinds with the price of another', () => {
    holds(fc.tuple(recordOf(fc.nat(2)), recordOf(fc.nat(9)), fc.constantFrom(...KINDS)), ([counts, bases, missing]) => {
      const rates = Object.fromEntries(
        KINDS.filter(kind => kind !== missing).map(kind => [kind, { base: bases[kind] }]),
      )
      const cost = costOf(rates, usageOf(counts))
      const asOther = {
        ...{ inputImage: bases.input, inputVideo: bases.input, reasoning: bases.output },
        ...{ cacheReadAudio: bases.cacheRead, cacheReadImage: bases.cacheRead, cacheWriteLong: 2 * bases.input },
      }[missing as string]
      if (counts[missing] > 0 && asOther === undefined) expect(cost).toBeUndefined()
      else
        expect(cost).toBe(
          KINDS.reduce((sum, kind) => sum + counts[kind] * (kind === missing ? (asOther ?? 0) : bases[kind]), 0),
        )
    })
  })

  test('is that of images or speech for the tokens of an answer whose kinds the upstream does not count', () => {
    const rates: Rates = {
      ...{ input: { base: 1 }, output: { base: 10 }, reasoning: { base: 5 } },
      ...{ outputImage: { base: 32 }, outputAudio: { base: 12 } },
    }
    expect(costOf(rates, { input: 7, output: 100 }, { images: 1 })).toBe(7 + 3200)
    expect(costOf(rates, { input: 7, output: 100, reasoning: 40 }, { images: 1 })).toBe(7 + 200 + 60 * 32)
    expect(costOf(rates, { input: 7, output: 100 }, { characters: 5 })).toBe(7 + 1200)
    expect(costOf(rates, { input: 7, output: 100, outputBy: { image: 90 } }, { images: 1 })).toBe(7 + 100 + 90 * 32)
    expect(costOf(rates, { input: 7, output: 100 })).toBe(7 + 1000)
  })

  test('is whole nanodollars, and never negative where counts contradict each other', () => {
    const rates: Rates = {
      input: { base: 0.4 },
      output: { base: 0.3 },
      cacheRead: { base: 1 },
      inputAudio: { base: 1 },
    }
    expect(costOf(rates, { input: 4 })).toBe(2)
    expect(costOf(rates, { output: 5 })).toBe(2)
    expect(costOf(rates, { input: 5, cacheRead: 5, inputBy: { audio: 5 } })).toBe(10)
    expect(costOf({ ...rates, reasoning: { base: 2 } }, { output: 1, reasoning: 4 })).toBe(8)
    expect(costOf({ ...rates, inputImage: { base: 2 }, outputImage: { base: 2 } }, { input: 5, output: 5 })).toBe(4)
  })

  test('of cached audio and images is never more than their counts, however they contradict each other', () => {
    const rates: Rates = {
      input: { base: 9 },
      cacheRead: { base: 1 },
      inputAudio: { base: 5 },
      inputImage: { base: 7 },
    }
    const cached = (details: JsonObject) => ({ extras: { realtime: { cached_tokens_details: details } } })
    const usage = { input: 10, cacheRead: 6, inputBy: { audio: 4, image: 4 } }
    expect(costOf(rates, { ...usage, ...cached({ audio_tokens: 9, image_tokens: 9 }) })).toBe(6 + 2 * 7 + 2 * 9)
    expect(costOf(rates, { ...usage, ...cached({ audio_tokens: 'x', image_tokens: -4 }) })).toBe(6 + 4 * 5 + 4 * 7)
    expect(costOf(rates, { ...usage, extras: { contents: { cacheTokensDetails: ['x', { modality: 1 }] } } })).toBe(
      6 + 4 * 5 + 4 * 7,
    )
  })

  test('counts no more long cache writes than cache writes, from the format that counts them', () => {
    const rates: Rates = { input: { base: 1 }, cacheWrite: { base: 2 }, cacheWriteLong: { base: 3 } }
    const written = (extras: NonNullable<Usage['extras']>) => costOf(rates, { input: 4, cacheWrite: 4, extras })
    expect(written({ messages: { cache_creation: { ephemeral_1h_input_tokens: 9 } } })).toBe(12)
    expect(written({ chat: {}, messages: { cache_creation: { ephemeral_1h_input_tokens: 1 } } })).toBe(9)
    expect(
      written({ chat: { cache_creation: 'x' }, messages: { cache_creation: { ephemeral_1h_input_tokens: 'x' } } }),
    ).toBe(8)
    // Such writes cost twice the input if no price is listed.
    const { cacheWriteLong: _, ...unlisted } = rates
    const long = { messages: { cache_creation: { ephemeral_1h_input_tokens: 4 } } }
    expect(costOf(unlisted, { input: 4, cacheWrite: 4, extras: long })).toBe(8)
    expect(costOf({ cacheWrite: { base: 2 } }, { input: 4, cacheWrite: 4, extras: long })).toBeUndefined()
    const tiered = { base: 1, tiers: [{ above: 3, price: 5 }] }
    expect(costOf({ ...unlisted, input: tiered }, { input: 4, cacheWrite: 4, extras: long })).toBe(40)
    const ofConverse = (cacheDetails: unknown) => written({ converse: { cacheDetails } as JsonObject })
    expect(
      ofConverse([
        { ttl: '5m', inputTokens: 3 },
        { ttl: '1h', inputTokens: 1 },
      ]),
    ).toBe(9)
    expect([ofConverse([{ ttl: '1h', inputTokens: 'x' }, 3]), ofConverse({ ttl: '1h' }), ofConverse([])]).toEqual([
      8, 8, 8,
    ])
  })

  test('ignores kinds of hosted calls that did not happen or were not counted', () => {
    const rates: Rates = { input: { base: 1 }, search: { base: 10 } }
    expect(costOf(rates, { input: 1, hostedCalls: { 'code-execution': 0, other: 'x', 'web-search': 2 } })).toBe(21)
    expect(costOf(rates, { input: 1, searches: 0 })).toBe(1)
  })

  test('of web fetches is that of their tokens, beside searches, too', () => {
    const rates: Rates = { input: { base: 1 }, search: { base: 10 } }
    expect(costOf(rates, { input: 1, hostedCalls: { 'web-fetch': 3, 'web-search': 2 } })).toBe(21)
    expect(costOf({ input: { base: 1 } }, { input: 1, hostedCalls: { 'web-fetch': 3 } })).toBe(1)
  })

  test('includes the price of a request, whatever it used', () => {
    const rates: Rates = { input: { base: 1 }, request: { base: 12, tiers: [{ above: 100, price: 14 }] } }
    expect([1, 101].map(input => costOf(rates, { input }))).toEqual([1 + 12, 101 + 14])
    expect(costOf(rates, {})).toBeUndefined()
  })

  test('is that of its service tier, for tokens and not for fees', () => {
    const rates: Rates = {
      ...{ input: { base: 10 }, output: { base: 20 }, search: { base: 5 }, request: { base: 1 } },
      tiers: { priority: 2, flex: 0.5, fast: 6, us: 1.1 },
    }
    const usage = { input: 10, output: 10, hostedCalls: { 'web-search': 1 } }
    const at = (tier: string | undefined, extras: JsonObject = {}) =>
      costOf(rates, { ...usage, extras: { messages: extras } }, { tier })! - 6
    expect([undefined, 'default', 'priority', 'flex', 'constructor'].map(tier => at(tier))).toEqual([
      ...[300, 300, 600, 150, 300],
    ])
    expect([at('default', { speed: 'fast' }), at('default', { speed: 'standard' })]).toEqual([1800, 300])
    expect([at(undefined, { inference_geo: 'us' }), at('flex', { inference_geo: 'us' })]).toEqual([330, 165])
    // OpenAI's name for its tier `priority`.
    expect(costOf({ ...rates, tiers: { priority: 2 } }, usage, { tier: 'fast' })).toBe(606)
  })

  test.each<[trafficType: Json, factor: number]>([
    ['ON_DEMAND', 1],
    ['ON_DEMAND_PRIORITY', 1.8],
    ['ON_DEMAND_FLEX', 0.5],
    ['PROVISIONED_THROUGHPUT', 1],
    [null, 1],
    [{}, 1],
  ])('is that of the traffic %j that Vertex AI states', (trafficType, factor) => {
    const rates: Rates = { input: { base: 10 }, tiers: { priority: 1.8, flex: 0.5 } }
    const usage = readUsage({ promptTokenCount: 10, totalTokenCount: 10, trafficType })
    expect(costOf(rates, usage)).toBe(100 * factor)
  })

  test.each<[tier: Json, factor: number]>([
    ['standard', 1],
    ['priority', 1.8],
    [null, 1],
    [{}, 1],
  ])('is that of the tier %j that Mistral states in the usage', (service_tier, factor) => {
    const rates: Rates = { input: { base: 10 }, tiers: { priority: 1.8 } }
    const usage = readChatUsage('chat', { prompt_tokens: 10, total_tokens: 10, service_tier })
    expect(costOf(rates, usage)).toBe(100 * factor)
  })

  test('is that of the seconds of a recording whose tokens have no price', () => {
    const second = { second: { base: 100 } }
    expect(costOf(second, {}, { seconds: 1.5 })).toBe(150)
    expect(costOf(second, { input: 5, output: 5 }, { seconds: 2 })).toBe(200)
    expect(costOf({ ...second, input: { base: 1 } }, { input: 5 }, { seconds: 2 })).toBe(5)
    expect(costOf(second, {}, {})).toBeUndefined()
    expect(costOf({ ...second, input: { base: 1 } }, { input: 0, output: 0 }, { seconds: 2 })).toBe(200)
    expect(costOf({ image: { base: 7 } }, {}, { images: 3, characters: 9 })).toBe(21)
    expect(costOf({ character: { base: 7 } }, {}, { characters: 3 })).toBe(21)
    expect(costOf({ videoSecond: { base: 7 } }, { input: 5 }, { videoSeconds: 3 })).toBe(21)
    expect(costOf({ sessionSecond: { base: 7 } }, { input: 5 }, { sessionSeconds: 3 })).toBe(21)
    expect(costOf({}, {}, { seconds: 2 })).toBeUndefined()
  })

  test('is that of the searches, or of their queries if the model is billed by them', () => {
    const search = { search: { base: 100 } }
    const usage: Usage = { input: 0, hostedCalls: { 'web-search': 1 } }
    const rates = { ...search, input: { base: 1 } }
    expect(costOf(rates, usage, { queries: 3 })).toBe(100)
    expect(costOf({ ...rates, searchesByQuery: true }, usage, { queries: 3 })).toBe(300)
    expect(costOf(search, { searches: 2 })).toBe(200)
    expect(costOf({ input: { base: 1 } }, { searches: 2 })).toBeUndefined()
  })

  test('is unknown without a catalogue', () => {
    expect(NO_PRICES.cost({ model: 'm', upstreamModel: 'm', provider: 'p' }, { input: 1 })).toBeUndefined()
  })
})

/** Names of prices in the package, and the units that they are for. */
const PACKAGE_NAMES: { readonly [R in keyof Counts]: readonly [name: string, per: number] } = {
  input: ['input_mtok', 1e6],
  output: ['output_mtok', 1e6],
  cacheRead: ['cache_read_mtok', 1e6],
  cacheWrite: ['cache_write_mtok', 1e6],
  cacheWriteLong: ['cache_write_1h_mtok', 1e6],
  cacheReadAudio: ['cache_audio_read_mtok', 1e6],
  cacheReadImage: ['cache_image_read_mtok', 1e6],
  inputAudio: ['input_audio_mtok', 1e6],
  outputAudio: ['output_audio_mtok', 1e6],
  inputImage: ['input_image_mtok', 1e6],
  inputVideo: ['input_video_mtok', 1e6],
  outputImage: ['output_image_mtok', 1e6],
  reasoning: ['output_reasoning_mtok', 1e6],
  search: ['web_searches_kcount', 1e3],
}

describe('prices of the package', () => {
  test.each(KINDS)('of %s are dollars for many units', kind => {
    const [name, per] = PACKAGE_NAMES[kind]
    expect(ratesOf({ [name]: per / 1e9 })).toEqual({ [kind]: { base: 1 } })
    const tiered = { base: per / 1e9, tiers: [{ start: 7, price: (2 * per) / 1e9 }] }
    expect(ratesOf({ [name]: tiered })).toEqual({ [kind]: { base: 1, tiers: [{ above: 7, price: 2 }] } })
  })

  test('of a request are dollars for a thousand', () => {
    expect(ratesOf({ requests_kcount: 0.000_001 })).toEqual({ request: { base: 1 } })
  })

  test('are unknown for a model that it does not have', () => {
    expect(ratesOf(undefined)).toEqual({})
  })
})

test('prices that the package lacks are those of the table of models', () => {
  const listed = { tiers: { flex: 0.5 }, search: 0.01, perQuery: true, request: 0.02, second: 0.0001 } as const
  const others = { searchesByQuery: true, request: { base: 2e7 }, second: { base: 1e5 }, tiers: { flex: 0.5 } }
  expect(withListedPrices({}, listed)).toEqual({ ...others, search: { base: 1e7 } })
  expect(withListedPrices({ search: { base: 1 } }, listed)).toEqual({ ...others, search: { base: 1 } })
  expect(withListedPrices({ search: { base: 1 } }, undefined)).toEqual({ search: { base: 1 } })
  const tokens = { tokens: { input: 2.5, inputAudio: 40 } }
  expect(withListedPrices({ input: { base: 1 } }, tokens)).toEqual({ input: { base: 1 }, inputAudio: { base: 40_000 } })
  const own = withOperatorPrices(
    { tiers: { flex: 0.5, priority: 2 } },
    { search: 10, minute: 0.006, tiers: { flex: 1 } },
  )
  expect(own).toEqual({ search: { base: 1e7 }, second: { base: 1e5 }, tiers: { flex: 1, priority: 2 } })
})

describe("the operator's prices", () => {
  const known: Rates = { input: { base: 1 }, cacheRead: { base: 2 }, search: { base: 3 } }

  test('replace known ones field by field, and only those that are set', () => {
    const complete = { ...known, cacheWrite: { base: 1 }, inputAudio: { base: 1 } }
    expect(withOperatorPrices(known, undefined)).toEqual(complete)
    expect(withOperatorPrices(known, { output: 0.005 })).toEqual({
      ...complete,
      ...{ output: { base: 5 }, outputAudio: { base: 5 }, outputImage: { base: 5 } },
    })
    expect(withOperatorPrices(known, { cacheRead: 0.004, cacheWrite: 0.006 })).toEqual({
      ...complete,
      cacheRead: { base: 4 },
      cacheReadAudio: { base: 4 },
      cacheReadImage: { base: 4 },
      cacheWrite: { base: 6 },
      cacheWriteLong: { base: 6 },
    })
  })

  test('of the prompt hold for cached tokens whose price is unknown', () => {
    expect(withOperatorPrices(known, { input: 0.009 })).toEqual({
      ...known,
      input: { base: 9 },
      cacheWrite: { base: 9 },
      inputAudio: { base: 9 },
    })
    expect(withOperatorPrices({}, { input: 0.009 })).toEqual({
      ...{ input: { base: 9 }, cacheRead: { base: 9 }, cacheWrite: { base: 9 }, inputAudio: { base: 9 } },
    })
  })

  test('of a model that no list has hold for its images and sound', () => {
    const own = withOperatorPrices({}, { input: 0.003, output: 0.015 })
    const media: Usage = { input: 100, inputBy: { audio: 10, image: 20 }, output: 50, outputBy: { audio: 5, image: 7 } }
    expect(costOf(own, media)).toBe(costOf(own, { input: 100, output: 50 }))
    expect(costOf(withOperatorPrices({}, { search: 1 }), media)).toBeUndefined()
  })
})
