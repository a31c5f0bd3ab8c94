import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Identity, identityOf, type TestedMutant } from './mutant.ts'

/** A survivor that no test can kill, and why. */
export interface Listed extends Identity {
  /** `equivalent: …` if it behaves like the original; `unobservable: …` if no test could see the difference. */
  readonly reason: string
}

/** Listed survivors by file. */
export type Survivors = { readonly [file: string]: readonly Listed[] }

export const LIST = join(import.meta.dirname, 'survivors.json')

export const listedSurvivors = (): Survivors => JSON.parse(readFileSync(LIST, 'utf8')) as Survivors

const FIELDS = ['mutator', 'line', 'original', 'replacement'] as const

const isSame = (a: Identity, b: Identity): boolean => FIELDS.every(field => a[field] === b[field])

/** Returns the survivors that are not in the list. */
export const unlisted = (mutants: readonly TestedMutant[], list: Survivors): readonly TestedMutant[] =>
  mutants.filter(mutant => {
    const identity = identityOf(mutant)
    return list[mutant.file]?.some(row => isSame(row, identity)) !== true
  })

/** Returns the listed mutants that a test now detects, so that their rows can go. */
export const outdated = (detected: readonly TestedMutant[], survivors: readonly TestedMutant[], list: Survivors) => {
  const alive = survivors.map(one => ({ file: one.file, identity: identityOf(one) }))
  return detected
    .map(({ file }, index) => ({ file, identity: identityOf(detected[index]!) }))
    .filter(
      ({ file, identity }) =>
        list[file]?.some(row => isSame(row, identity)) === true &&
        // Equal code may stand twice on one line: one may be detected and the other not.
        !alive.some(other => other.file === file && isSame(other.identity, identity)),
    )
}
