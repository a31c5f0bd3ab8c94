import fc from 'fast-check'
import type { Json } from '../../src/canonical/node.ts'

/** Number of generated values among the first inputs of a target. */
const SAMPLES = 24

/** Draws values of a generator as JSON. */
export const sampled = (arbitrary: fc.Arbitrary<unknown>, seed: number): readonly Json[] =>
  fc.sample(arbitrary, { numRuns: SAMPLES, seed }).map(value => JSON.parse(JSON.stringify(value ?? null)) as Json)
