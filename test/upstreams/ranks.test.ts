import { describe, expect, it } from 'vitest'
import type { Usage } from '../../src/canonical/result.ts'
import type { Work } from '../../src/canonical/work.ts'
import { Catalogue } from '../../src/upstreams/catalogue/index.ts'
import { Channel } from '../../src/upstreams/channel/index.ts'
import { rankBy } from '../../src/upstreams/ranks.ts'
import { type RouteRequest, route } from '../../src/upstreams/router.ts'
import { channelAt } from '../builders/config.ts'
import { permitting } from '../builders/permissions.ts'

const channels = ['a', 'b', 'c'].map(name => new Channel(channelAt('http://127.0.0.1:9', { name, provider: name })))
const [a, b] = channels as [Channel, Channel]

/** The channels that 400 conversations reach first. */
function reached(rank: RouteRequest['rank'], list = channels): { readonly [name: string]: number } {
  const count: { [name: string]: number } = {}
  for (let index = 0; index < 400; index++) {
    const query = { model: 'm', format: 'chat', work: 'conversation', permissions: permitting('*'), now: 1 } as const
    const { name } = route({ ...query, draw: `conversation-${index}`, rank }, list)[0]!.channel
    count[name] = (count[name] ?? 0) + 1
  }
  return count
}

describe('order by latency', () => {
  const rank = rankBy('latency', { model: 'm', channels, prices: undefined, work: 'conversation' })

  it('prefers a channel without a measurement, then the fastest, and explores the others', () => {
    a.latencies.measured('m', 900)
    b.latencies.measured('m', 300)
    expect(reached(rank)['c']).toBeGreaterThan(360)
    channels[2]!.latencies.measured('m', 2000)
    const { a: slow = 0, b: fast = 0, c: slowest = 0 } = reached(rank)
    expect(fast).toBeGreaterThan(360)
    expect(slow + slowest).toBeGreaterThan(2)
    expect(slow + slowest).toBeLessThan(40)
  })

  it('follows a change, but not a single outlier or a small difference', () => {
    b.latencies.measured('m', 600)
    expect(reached(rank)['b']).toBeGreaterThan(360)
    for (let index = 0; index < 20; index++) {
      b.latencies.measured('m', 910)
      channels[2]!.latencies.measured('m', 5000)
    }
    const { a: one = 0, b: other = 0 } = reached(rank)
    expect(one).toBeGreaterThan(120)
    expect(other).toBeGreaterThan(120)
  })
})

describe('the rank by latency', () => {
  /** The rank of a channel with a latency, for a conversation that does not explore. */
  function rankOf(milliseconds: number | undefined, channel = a.config): number {
    const measured = { config: a.config, latencies: { of: () => milliseconds } as unknown as Channel['latencies'] }
    const rank = rankBy('latency', { model: 'm', channels: [measured], prices: undefined, work: 'conversation' })
    const ranks = Array.from({ length: 20 }, (_, index) => rank!({ channel, upstreamModel: 'm' }, `draw-${index}`))
    return ranks.find(one => one !== 0) ?? 0
  }

  it('counts factors of one and a half; a channel without a measurement comes first', () => {
    expect([0, 0.5, 1, 1.5, 1.5 ** 2, 1.5 ** 17].map(one => rankOf(one))).toEqual([0, 0, 0, 1, 2, 17])
    expect([rankOf(undefined), rankOf(1.5 ** 17, b.config)]).toEqual([-1, -1])
  })
})

describe('order by cost', () => {
  it('prefers the cheapest channel; an unknown price comes last', () => {
    const costs: { readonly [provider: string]: number } = { a: 5, b: 3 }
    const prices = { cost: ({ provider }: { provider: string }) => costs[provider] }
    const rank = rankBy('cost', { model: 'm', channels, prices, work: 'conversation' })
    expect(reached(rank)).toEqual({ b: 400 })
    expect(Object.keys(reached(rank, [channels[2]!, a]))).toEqual(['a'])
  })

  it('compares the cost of requests that read four times as much as they write', () => {
    const rates: { readonly [provider: string]: readonly [input: number, output: number] } = {
      a: [3, 0],
      b: [1, 9],
      c: [2, 3],
    }
    const cost = ({ provider }: { provider: string }, { input = 0, output = 0 }: Usage) =>
      provider in rates ? rates[provider]![0] * input + rates[provider]![1] * output : undefined
    expect(reached(rankBy('cost', { model: 'm', channels, prices: { cost }, work: 'conversation' }))).toEqual({
      c: 400,
    })
  })
})

describe('without an order', () => {
  it('the draw by weight decides', () => {
    const prices = { cost: () => 1 }
    for (const order of [undefined, 'weight'] as const)
      expect(rankBy(order, { model: 'm', channels, prices, work: 'conversation' })).toBeUndefined()
    expect(rankBy('cost', { model: 'm', channels, prices: undefined, work: 'conversation' })).toBeUndefined()
    expect(Object.values(reached(undefined)).every(count => count > 80)).toBe(true)
  })
})

describe('order by cost, of work that is billed by other units than the tokens of texts', () => {
  const catalogue = new Catalogue(new Map())
  const deploymentsOf: readonly (readonly [Work, cheap: readonly [string, string], dear: readonly [string, string]])[] =
    [
      ['embedding', ['openai', 'text-embedding-3-small'], ['cohere', 'embed-v4.0']],
      ['ranking', ['voyage', 'rerank-2.5-lite'], ['cohere', 'rerank-v3.5']],
      ['transcription', ['groq', 'whisper-large-v3-turbo'], ['openai', 'whisper-1']],
      ['transcription', ['openai', 'gpt-4o-mini-transcribe'], ['openai', 'whisper-1']],
      ['speech', ['openai', 'tts-1'], ['openai', 'tts-1-hd']],
      ['image', ['openai', 'gpt-image-1-mini'], ['openai', 'gpt-image-1']],
      ['conversation', ['openai', 'gpt-5.4-mini'], ['openai', 'gpt-5.4']],
    ]

  it.each(deploymentsOf)('%s: prefers %s to %s, which has a price too', (work, cheap, dear) => {
    const rank = rankBy('cost', { model: 'm', channels: [], prices: catalogue, work })!
    const [low, high] = [cheap, dear].map(([provider, upstreamModel]) =>
      rank({ channel: { ...a.config, provider }, upstreamModel }, 'draw'),
    ) as [number, number]
    expect(low).toBeGreaterThan(0)
    expect(low).toBeLessThan(high)
    expect(high).toBeLessThan(Number.MAX_VALUE)
  })
})
