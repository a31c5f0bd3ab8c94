import type { CellResult } from '../../src/kit/conformance/run-cells.ts'

/** The checks of the conformance kit that failed, with their details. */
export const failedChecks = (results: readonly CellResult[]): string[] =>
  results
    .flatMap(({ checks }) => checks)
    .filter(({ status }) => status === 'fail' || status === 'harness-error')
    .map(({ id, details }) => `${id}: ${details?.join(' | ')}`)
