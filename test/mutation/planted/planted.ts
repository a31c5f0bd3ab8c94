/* Code with known mutants: `test/mutation/planted.ts` states which of them the tests detect. */

/** A value that exists once, before any test runs. */
export const LIMIT = 3 * 2

/** The distance of two numbers. Of equal numbers either may be the smaller one. */
export const distance = (a: number, b: number): number => (a < b ? b - a : a - b)

/** The sum of the numbers below `end`, in a loop that a mutant never leaves. */
export function sumBelow(end: number): number {
  let sum = 0
  for (let index = 0; index < end; index++) sum += index
  return sum
}

/** Nobody calls this. */
export const unused = (): number => 1 + 1
