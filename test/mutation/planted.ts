import { identityOf, type Status, type TestedMutant } from './mutant.ts'
import type { Room } from './rooms.ts'

/* Mutants whose fate is known: they show that a mutant is detected by its fault, and by nothing else. */

export const PLANTED_FILE = 'test/mutation/planted/planted.ts'

export const PLANTED: Room = {
  name: 'planted',
  files: [PLANTED_FILE],
  tests: ['test/mutation/planted/planted.case.ts'],
  runs: 20,
}

/** Fates of mutants by original and replacement. */
const FATES: readonly (readonly [original: string, replacement: string, status: Status])[] = [
  ['3 * 2', '3 / 2', 'Killed'],
  ['a < b', 'a <= b', 'Survived'],
  ['a < b', 'a >= b', 'Killed'],
  ['index < end', 'index <= end', 'Killed'],
  ['index++', 'index--', 'Timeout'],
  ['1 + 1', '1 - 1', 'NoCoverage'],
]

/** Returns a sentence for each planted mutant that has another fate. */
export function wrongFates(mutants: readonly TestedMutant[]): readonly string[] {
  const fates = mutants.map(mutant => ({ ...identityOf(mutant), status: mutant.status }))
  return FATES.flatMap(([original, replacement, status]) => {
    const found = fates.find(one => one.original === original && one.replacement === replacement)
    if (found?.status === status) return []
    return [`\`${original}\` as \`${replacement}\` is ${found?.status ?? 'missing'}, not ${status}.`]
  })
}
