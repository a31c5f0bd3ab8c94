import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { drawOf } from '../../src/upstreams/draw.ts'
import { holds } from '../laws/runs.ts'

it('gives the same numbers in every version, so that conversations stay where their prompts are cached', () => {
  expect(drawOf('conversation-1', 'openai', 1)).toBeCloseTo(0.41656154440627813, 12)
  expect(drawOf('conversation-2', 'anthropic', 3)).toBeCloseTo(0.0484682557099154, 12)
  expect(drawOf('', 'ünïcode', 0.5)).toBeCloseTo(1.8979177032416485, 12)
})

it('is positive and finite, and divided by the weight', () => {
  holds(fc.tuple(fc.string(), fc.string(), fc.integer({ min: 1, max: 100 })), ([draw, name, weight]) => {
    const one = drawOf(draw, name, 1)
    expect(one).toBeGreaterThan(0)
    expect(one).toBeLessThan(Number.POSITIVE_INFINITY)
    expect(drawOf(draw, name, weight)).toBeCloseTo(one / weight, 12)
    expect(drawOf(draw, name, 0)).toBe(Number.MAX_VALUE)
  })
})

/** Names by weight. Similar names must be drawn as independently as others. */
const WEIGHTS: readonly (readonly [name: string, weight: number])[] = [
  ['openai', 1],
  ['openai-2', 3],
  ['openai-3', 0.5],
]
const total = (names: typeof WEIGHTS): number => names.reduce((sum, [, weight]) => sum + weight, 0)

it.each<[string, (index: number) => string]>([
  ['hashes', index => createHash('sha256').update(`${index}`).digest('base64url')],
  ['counted ids', index => `req_${index}`],
  ['long conversations', index => `${'owner\n'.repeat(50)}${index}`],
])('selects names in proportion to their weights, also among those that remain: %s', (_, drawAt) => {
  const COUNT = 20_000
  const first = new Map<string, number>()
  const second = new Map<string, number>()
  for (let index = 0; index < COUNT; index++) {
    const draw = drawAt(index)
    const order = WEIGHTS.toSorted((a, b) => drawOf(draw, ...a) - drawOf(draw, ...b)).map(([name]) => name)
    first.set(order[0]!, (first.get(order[0]!) ?? 0) + 1)
    // The order of the others if the last name rests.
    const rest = order.find(name => name !== WEIGHTS.at(-1)![0])!
    second.set(rest, (second.get(rest) ?? 0) + 1)
  }
  const expectShares = (counts: Map<string, number>, names: typeof WEIGHTS): void => {
    for (const [name, weight] of names) {
      const share = weight / total(names)
      const deviation = Math.sqrt(COUNT * share * (1 - share))
      expect(Math.abs(counts.get(name)! - COUNT * share)).toBeLessThan(6 * deviation)
    }
  }
  expectShares(first, WEIGHTS)
  expectShares(second, WEIGHTS.slice(0, -1))
})
