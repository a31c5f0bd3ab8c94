import { expect, test } from 'vitest'
import { isCounted, isFailed, recordedModel, tokenFields, upstreamFields } from '../../../src/store/usage/row.ts'

test('what upstreams report is counted where it names tokens or searches that can be true', () => {
  expect(isCounted({ input: 5, output: 2 })).toBe(true)
  expect(isCounted({ input: 0 })).toBe(true)
  expect(isCounted({ output: 1e7 })).toBe(true)
  expect(isCounted({})).toBe(false)
  expect([0, 3, 1e5, 1e5 + 1].map(searches => isCounted({ searches }))).toEqual([false, true, true, false])
  expect([1e5, 4e9].map(calls => isCounted({ input: 5, hostedCalls: { 'web-search': calls } }))).toEqual([true, false])
  expect(isCounted({ input: Number.MAX_SAFE_INTEGER, output: 2 })).toBe(false)
  expect(isCounted({ input: 5, output: 1e300 })).toBe(false)
  expect(isCounted({ input: Number.POSITIVE_INFINITY })).toBe(false)
})

test('a count is plausible up to a hundred million', () => {
  expect([1e8, 1e8 + 1].map(input => isCounted({ input }))).toEqual([true, false])
  expect([1e8, 1e8 + 1].map(output => isCounted({ output }))).toEqual([true, false])
})

test('a count of a part, which may have a price of its own, is plausible up to a hundred million, too', () => {
  const parts = (count: number) => [
    { cacheRead: count },
    { cacheWrite: count },
    { reasoning: count },
    { inputBy: { audio: count } },
    { inputBy: { text: 1, video: count } },
    { outputBy: { image: count } },
  ]
  for (const part of parts(1e8)) expect(isCounted({ input: 5, output: 2, ...part })).toBe(true)
  for (const part of [...parts(1e8 + 1), ...parts(-1)]) expect(isCounted({ input: 5, output: 2, ...part })).toBe(false)
})

test('a request failed by its status or an error, unless its caller went away', () => {
  expect([200, 399, 400, 503].map(status => isFailed({ status }))).toEqual([false, false, true, true])
  expect(isFailed({ status: 200, error: 'overloaded' })).toBe(true)
  expect([isFailed({ status: 499 }), isFailed({ status: 499, error: 'cancelled' })]).toEqual([false, false])
})

test('a name is recorded with 500 characters at most', () => {
  expect(recordedModel('m'.repeat(500))).toBe('m'.repeat(500))
  expect(recordedModel(`${'m'.repeat(500)}x`)).toBe('m'.repeat(500))
})

test('a row names the upstream, and counts as the upstream did', () => {
  const target = { channel: { name: 'c' }, format: { format: 'chat' }, upstreamModel: 'm'.repeat(501) }
  expect(upstreamFields(target)).toEqual({ channel: 'c', upstreamFormat: 'chat', upstreamModel: 'm'.repeat(500) })
  expect(Object.values(upstreamFields(undefined))).toEqual([undefined, undefined, undefined])
  expect(
    tokenFields({
      ...{ input: 1, output: 2, cacheRead: 3, cacheWrite: 4, reasoning: 5 },
      ...{ inputBy: { audio: 6 }, outputBy: { audio: 7 } },
    }),
  ).toEqual({ input: 1, output: 2, cacheRead: 3, cacheWrite: 4, reasoning: 5, inputAudio: 6, outputAudio: 7 })
  for (const usage of [undefined, {}])
    expect(Object.values(tokenFields(usage)).every(count => count === undefined)).toBe(true)
})
