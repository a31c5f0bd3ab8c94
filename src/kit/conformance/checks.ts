import type { Level } from './rules.ts'

/** The outcome of a check. Only `fail` and `harness-error` make the command exit with 1. */
export type Status = 'pass' | 'fail' | 'advice' | 'unsupported' | 'harness-error'

/** The outcome of a fact: kept, changed, lost or added. */
export type Meaning = 'kept' | 'changed' | 'lost-reported' | 'lost-silently' | 'added'

/** One check of one cell. */
export interface Check {
  /** `<pair>/<scenario>/<mode>/<rule>`. Stable across runs. */
  readonly id: string
  readonly cell: string
  /** Subject and rule, such as `stream.done` or `request.meaning:turns[0].text`. */
  readonly rule: string
  readonly level: Level
  readonly status: Status
  readonly meaning?: Meaning
  readonly says: string
  readonly source: string
  /** Findings of a check that did not pass. */
  readonly details?: readonly string[]
}

/** Counts of checks by status. */
export type Counts = { readonly [status in Status]: number }

export const countsOf = (checks: readonly Check[]): Counts => {
  const counts = { pass: 0, fail: 0, advice: 0, unsupported: 0, 'harness-error': 0 }
  for (const { status } of checks) counts[status]++
  return counts
}
