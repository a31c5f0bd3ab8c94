import fc from 'fast-check'

/** Number of runs that is enough for every push. */
export const USUAL_RUNS = 300

/** Number of runs. `RUNS=20000 npm test` searches deeper. */
export const RUNS = Number(process.env['RUNS'] ?? USUAL_RUNS)

export function holds<T>(
  arbitrary: fc.Arbitrary<T>,
  check: (value: T) => void,
  examples: readonly T[] = [],
  numRuns = RUNS,
): void {
  fc.assert(
    fc.property(arbitrary, value => check(value)),
    { numRuns, examples: examples.map(example => [example] as [T]) },
  )
}

/** Like `holds`, for a law over all pairs of formats: a third of the runs, because the pairs share what they draw. */
export function holdsForPair<T>(arbitrary: fc.Arbitrary<T>, check: (value: T) => void): void {
  fc.assert(
    fc.property(arbitrary, value => check(value)),
    { numRuns: Math.ceil(RUNS / 3) },
  )
}
