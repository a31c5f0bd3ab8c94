import { expect, test } from 'vitest'
import { importConfig } from '../../../src/config/imports/index.ts'
import { readConfig } from '../../../src/config/read.ts'

/* Which entry of a name LiteLLM tries first, and how it spreads requests (`router.py` of version 1.108.7). */

const entry = (key: string, params: object = {}, model_info: object = {}) => ({
  ...{ model_name: 'm', model_info },
  litellm_params: { model: 'openai/gpt-5.6', api_key: key, ...params },
})

const importEntries = (model_list: readonly object[], router_settings = {}) =>
  importConfig('litellm', JSON.stringify({ model_list, router_settings }), 'file')

/** Returns the priority and weight of each channel, by key. */
function ranksOf(model_list: readonly object[], router_settings = {}) {
  const { channels } = readConfig(importEntries(model_list, router_settings).text, {})
  return channels.map(({ priority, weight }) => [priority, weight])
}

test('entries without an order come after those with one', () => {
  expect(ranksOf([entry('a', { order: 1 }), entry('b')])).toEqual([
    [1, 1],
    [2, 1],
  ])
  expect(ranksOf([entry('a'), entry('b', {}, { order: 3 }), entry('c', { order: 0 })])).toEqual([
    [4, 1],
    [3, 1],
    [0, 1],
  ])
})

test('the order of one name does not concern another', () => {
  expect(ranksOf([entry('a', { order: 1 }), { ...entry('b'), model_name: 'other' }])).toEqual([
    [1, 1],
    [0, 1],
  ])
})

test.each<[shares: readonly object[], weights: readonly number[]]>([
  [
    [{ weight: 3 }, {}],
    [3, 0],
  ],
  [
    [{ weight: 0 }, { weight: 1 }],
    [0, 1],
  ],
  [
    [{ rpm: 900 }, { rpm: 100 }],
    [900, 100],
  ],
  [
    [{ tpm: 2000 }, { tpm: 1000 }, {}],
    [2000, 1000, 0],
  ],
  [
    [
      { weight: 1, rpm: 900 },
      { weight: 2, rpm: 100 },
    ],
    [1, 2],
  ],
  [
    [{ rpm: 900 }, { rpm: 900 }],
    [1, 1],
  ],
  [
    [{ order: 1, rpm: 10 }, { order: 2 }, { order: 1, rpm: 90 }],
    [10, 1, 90],
  ],
])('%j: weights %j', (shares, weights) => {
  const entries = shares.map((params, index) => entry(`key-${index}`, params))
  expect(ranksOf(entries).map(([, weight]) => weight)).toEqual(weights)
  expect(importEntries(entries).notes).toEqual([])
})

test('other strategies than shuffling take no shares from limits', () => {
  const entries = [entry('a', { rpm: 900 }), entry('b', { rpm: 100 })]
  expect(ranksOf(entries, { routing_strategy: 'usage-based-routing-v2' })).toEqual([
    [0, 1],
    [0, 1],
  ])
})

test('each entry has its own limits, also if others have the same account', () => {
  const limited = (model_name: string, params: object) => ({ ...entry('k', params), model_name })
  const channelsOf = (params: object) =>
    readConfig(importEntries([limited('a', params), limited('b', params), limited('c', {})]).text, {}).channels.map(
      ({ models }) => [...models.named.keys()].join(),
    )
  expect(channelsOf({ rpm: 60 })).toEqual(['a', 'b', 'c'])
  expect(channelsOf({ max_parallel_requests: 5 })).toEqual(['a', 'b', 'c'])
  expect(channelsOf({ timeout: 60 })).toEqual(['a,b', 'c'])
})
