import type { Check } from '../checks.ts'
import { printable } from './printable.ts'
import type { Results } from './results.ts'

/** Differences between two runs, as ids of checks. */
export interface Difference {
  /**
   * Checks that failed only in the second run, including new checks, and cells that are now unsupported although the
   * first run judged them.
   */
  readonly broken: readonly string[]
  readonly fixed: readonly string[]
  /** Checks that did not fail in either run, but whose outcome changed. */
  readonly changed: readonly string[]
  readonly added: readonly string[]
  readonly removed: readonly string[]
}

const isFailure = (check: Check | undefined): boolean => check?.status === 'fail' || check?.status === 'harness-error'

/** Compares two runs, check by check. */
export function diffOf(before: Pick<Results, 'checks'>, after: Pick<Results, 'checks'>): Difference {
  const earlier = new Map(before.checks.map(check => [check.id, check]))
  const later = new Map(after.checks.map(check => [check.id, check]))
  const ids = [...new Set([...earlier.keys(), ...later.keys()])]
  const judgedCells = new Set(before.checks.flatMap(({ cell, status }) => (status === 'unsupported' ? [] : cell)))
  const isBroken = (one: Check | undefined, other: Check | undefined): boolean =>
    isFailure(other) ||
    (one?.status !== 'unsupported' && other?.status === 'unsupported' && judgedCells.has(other.cell))
  const idsWhere = (matches: (one: Check | undefined, other: Check | undefined) => boolean): string[] =>
    ids.filter(id => matches(earlier.get(id), later.get(id)))
  return {
    broken: idsWhere((one, other) => !isFailure(one) && isBroken(one, other)),
    fixed: idsWhere((one, other) => isFailure(one) && other !== undefined && !isFailure(other)),
    changed: idsWhere(
      (one, other) =>
        one !== undefined && other !== undefined && one.status !== other.status && !isFailure(one) && !isFailure(other),
    ),
    added: idsWhere((one, other) => one === undefined && !isBroken(one, other)),
    removed: idsWhere((_, other) => other === undefined),
  }
}

const TITLES: { readonly [kind in keyof Difference]: string } = {
  broken: 'Newly failing',
  fixed: 'No longer failing',
  changed: 'Ended differently',
  added: 'New',
  removed: 'Gone',
}

/** Maximum number of check ids printed per kind. Further ids are only counted. */
const MAX_LISTED = 50

/** Formats the differences for a terminal. */
export const diffText = (difference: Difference): string =>
  (Object.keys(TITLES) as (keyof Difference)[])
    .flatMap(kind => {
      const ids = difference[kind]
      const rest = ids.length - MAX_LISTED
      if (ids.length === 0) return []
      const listed = ids.slice(0, MAX_LISTED).map(id => `  ${printable(id)}`)
      return [`${TITLES[kind]}: ${ids.length}`, ...listed, ...(rest > 0 ? [`  and ${rest} more`] : [])]
    })
    .join('\n') || 'No differences.'
