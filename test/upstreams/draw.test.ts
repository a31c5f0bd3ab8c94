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
