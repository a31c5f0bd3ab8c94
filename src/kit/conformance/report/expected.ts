import type { Check } from '../checks.ts'
import { printable } from './printable.ts'
import type { Results } from './results.ts'

/* Expected failures: a file with the id of one check per line, and its reason after `#`. */

/** Reads a file of expected failures. Empty lines and comments are skipped. */
export const readExpected = (text: string): string[] =>
  text.split(/\r?\n/).flatMap(line => {
    const id = line.replace(/(^|\s)#.*$/, '').trim()
    return id === '' ? [] : [id]
  })

/** Unexpected failures, and expected failures that did not occur. */
export interface Deviation {
  readonly unexpected: readonly Check[]
  /** Ids of checks that did not fail or do not exist, although their cell ran. A complete run covers every cell. */
  readonly stale: readonly string[]
}

/** @param isFullRun true if the run covered every cell. */
export function deviationOf({ checks, cells }: Results, expected: readonly string[], isFullRun: boolean): Deviation {
  const expectedIds = new Set(expected)
  const failures = checks.filter(({ status }) => status === 'fail' || status === 'harness-error')
  const failed = new Set(failures.map(({ id }) => id))
  const hasRun = (id: string): boolean => isFullRun || cells.some(cell => id.startsWith(`${cell.id}/`))
  return {
    unexpected: failures.filter(({ id }) => !expectedIds.has(id)),
    stale: expected.filter(id => !failed.has(id) && hasRun(id)),
  }
}

/** Formats the deviation for a terminal. Empty if there is none. */
export const deviationText = ({ unexpected, stale }: Deviation): string =>
  [
    ...unexpected.map(({ id }) => `Unexpected failure: ${printable(id)}`),
    ...stale.map(id => `Stale entry (the check no longer fails): ${id}`),
  ].join('\n')
