import { readFileSync } from 'node:fs'
import { diffOf, diffText } from '../kit/conformance/report/diff.ts'
import type { Results } from '../kit/conformance/report/results.ts'
import { type Terminal, UsageError } from './outcome.ts'

/** Reads a file of results. Throws a UsageError if the file contains none. */
export function resultsIn(file: string): Results {
  try {
    const results = JSON.parse(readFileSync(file, 'utf8')) as Partial<Results> | null
    if (results?.schema === 'interlingua-conformance-1' && Array.isArray(results.checks)) return results as Results
  } catch (thrown) {
    throw new UsageError(`${file} cannot be read: ${(thrown as Error).message}`)
  }
  throw new UsageError(`${file} contains no results from this version of the kit`)
}

/**
 * `interlingua conformance diff`: prints the differences between two runs. Throws if a check newly fails, or if the
 * second run is incomplete.
 */
export function conformanceDiff(before: string, after: string, terminal: Terminal): void {
  const later = resultsIn(after)
  const difference = diffOf(resultsIn(before), later)
  terminal.out(diffText(difference))
  if (difference.broken.length > 0) throw new Error('a check newly fails')
  if (later.interrupted) throw new Error('the second run was interrupted before all its cells had run')
}
