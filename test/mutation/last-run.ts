import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestedMutant } from './mutant.ts'
import { isSurvivor } from './score.ts'
import type { Slice } from './slices.ts'
import { OUT } from './stryker.ts'

/** What the last run of a room found. */
export interface LastRun {
  readonly slices: readonly Slice[]
  readonly isSample: boolean
  readonly mutants: readonly TestedMutant[]
}

const pathOf = (room: string): string => join(OUT, `${room}.json`)

export const lastRunOf = (room: string): LastRun => JSON.parse(readFileSync(pathOf(room), 'utf8')) as LastRun

export function storeRun(room: string, run: LastRun): void {
  writeFileSync(pathOf(room), `${JSON.stringify(run, undefined, 1)}\n`)
}

/** Returns the places of the survivors. */
export const placesOf = (mutants: readonly TestedMutant[]): readonly Slice[] =>
  mutants.filter(isSurvivor).map(({ file, start, end }) => ({
    ...{ file, from: start.line, to: end.line },
    columns: [start.column, end.column],
  }))

/** Replaces the survivors of a run by what became of them. Other mutants at their places are left out. */
export function withFates(before: readonly TestedMutant[], after: readonly TestedMutant[]): readonly TestedMutant[] {
  const fates = new Map(after.map(one => [nameOf(one), one]))
  return before.flatMap(one => (isSurvivor(one) ? (fates.get(nameOf(one)) ?? []) : one))
}

const nameOf = ({ file, mutator, replacement, start, end }: TestedMutant): string =>
  JSON.stringify([file, mutator, replacement, start.line, start.column, end.line, end.column])
