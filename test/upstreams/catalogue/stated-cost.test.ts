import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/canonical/node.ts'
import { totalUsage } from '../../../src/canonical/result.ts'
import { readConfig } from '../../../src/config/read.ts'
import { estimatedUsage } from '../../../src/gateway/uncounted.ts'
import { readUsage } from '../../../src/ingress/usage/openai.ts'
import { Catalogue } from '../../../src/upstreams/catalogue/index.ts'
import { billedIterations } from '../../../src/upstreams/catalogue/iterations.ts'

/*
 * A vendor that states what an answer costs is right: its lists of prices leave out the provider that it chose, searches,
 * parsed files and hosted tools (openrouter.ai/docs/use-cases/usage-accounting, docs.x.ai/developers/cost-tracking).
 */

const catalogue = new Catalogue(new Map())

const TOKENS = { prompt_tokens: 888, completion_tokens: 74, total_tokens: 962 }

const usageOf = (more: JsonObject) => readUsage('chat', { ...TOKENS, ...more })

const costAt = (provider: string, more: JsonObject, model = 'openai/gpt-4o-mini', prices = catalogue) =>
  prices.cost({ model, upstreamModel: model, provider }, usageOf(more))

describe('an answer that states its cost costs that much', () => {
  test('at OpenRouter, whose hosted tools cost more than the tokens [rec]', () =>
    expect(costAt('openrouter', { cost: 0.0145476, server_tool_use_details: { tool_calls_executed: 1 } })).toBe(
      14_547_600,
    ))

  test('at xAI, in ticks', () => expect(costAt('xai', { cost_in_usd_ticks: 37_756_000 }, 'grok-4')).toBe(3_775_600))

  test('for a model without a price, which was free for budgets [rec]', () =>
    expect(costAt('openrouter', { cost: 0.00183 }, 'anthropic/claude-sonnet-4-5')).toBe(1_830_000))

  test('with what the provider of the operator’s own key charges', () => {
    const own = { is_byok: true, cost: 0.001, cost_details: { upstream_inference_cost: 0.019 } }
    expect(costAt('openrouter', own)).toBe(20_000_000)
    expect(costAt('openrouter', { ...own, is_byok: false })).toBe(1_000_000)
  })

  test('to the nanodollar, whatever it is', () =>
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e12 }), cost => {
        expect(costAt('openrouter', { cost: cost / 1e9 })).toBe(cost)
        expect(costAt('xai', { cost_in_usd_ticks: cost * 10 }, 'grok-4')).toBe(cost)
      }),
    ))

  test('also if it consists of several', () => {
    const usage = totalUsage([usageOf({ cost: 0.25 }), usageOf({ cost: 0.5 })])!
    expect(catalogue.cost({ model: 'm', upstreamModel: 'm', provider: 'openrouter' }, usage)).toBe(750_000_000)
  })
})

describe('an answer costs its tokens', () => {
  const expected = costAt('openrouter', {})

  test.each<[string, JsonObject]>([
    ['states no cost', {}],
    ['states a negative cost', { cost: -1 }],
    ['states a text', { cost: '0.5' }],
    ['states null', { cost: null }],
    ['states an absurd cost', { cost: 1e9 }],
    ['states the fee for the operator’s own key alone', { cost: 0, is_byok: true, cost_details: null }],
  ])('if it %s', (_, more) => {
    expect(expected).toBeGreaterThan(0)
    expect(costAt('openrouter', more)).toBe(expected)
  })

  test('at the operator’s price', () => {
    const { models } = readConfig(
      'channels: []\nmodels: { openai/gpt-4o-mini: { price: { input: 1, output: 1 } } }',
      {},
    )
    const operators = new Catalogue(models)
    expect(costAt('openrouter', { cost: 5 }, 'openai/gpt-4o-mini', operators)).toBe(962_000)
  })

  test('at vendors that are not known to state what they charge', () => {
    expect(costAt('custom', { cost: 5 })).toBeUndefined()
    expect(costAt('openai', { cost: 5 }, 'gpt-4o-mini')).toBe(costAt('openai', {}, 'gpt-4o-mini'))
  })

  test('if it goes on after the count that states the cost', () => {
    const answer = {
      work: 'conversation',
      lastCount: usageOf({ cost: 5 }),
      written: 800,
      input: 1,
      unreceived: 0,
    } as const
    const cost = (writtenSince: number) =>
      catalogue.cost(
        { model: 'openai/gpt-4o-mini', upstreamModel: 'openai/gpt-4o-mini', provider: 'openrouter' },
        estimatedUsage({ ...answer, writtenSince })!,
      )
    expect(cost(0)).toBe(5e9)
    expect(cost(400)).toBe(expected! + 100 * 600)
  })
})

test('a step of an answer costs nothing beside a cost that the answer states', () => {
  const iterations = [{ type: 'compaction', input_tokens: 1000, output_tokens: 10 }]
  const [step] = billedIterations({ input: 1, output: 1, extras: { messages: { iterations, cost: 0.5 } } })
  const claude = { model: 'c', upstreamModel: 'anthropic/claude-sonnet-4.5', provider: 'openrouter' }
  expect(catalogue.cost(claude, step!.usage)).toBe(0)
  const [unpaid] = billedIterations({ input: 1, output: 1, extras: { messages: { iterations } } })
  expect(catalogue.cost(claude, unpaid!.usage)).toBe(1000 * 3000 + 10 * 15_000)
})
