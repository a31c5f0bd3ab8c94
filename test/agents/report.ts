import { writeFileSync } from 'node:fs'

export interface Counts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

/** Writes counts in the form of a vitest report, so that they can be added to those of vitest. */
export function writeReport(path: string | undefined, { passed, failed, skipped }: Counts): void {
  if (path === undefined) return
  writeFileSync(path, JSON.stringify({ numPassedTests: passed, numFailedTests: failed, numPendingTests: skipped }))
}
