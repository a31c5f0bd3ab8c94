import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Check, Status } from '../checks.ts'
import { DATA } from '../data.ts'
import type { CellDocument, Results } from './results.ts'

/* Writes the results as one self-contained HTML page. The template is `conformance/report.html`. */

/** Statuses, most severe first. */
const STATUS_ORDER: readonly Status[] = ['harness-error', 'fail', 'advice', 'unsupported', 'pass']

/**
 * Returns a cell for the page. Wire dumps are included only if a check failed, because all dumps would make the page
 * too large.
 */
function cellOf({ wire, ...cell }: CellDocument, checks: readonly Check[]): object {
  const statuses = checks.map(({ status }) => status)
  const failed = statuses.some(status => status === 'fail' || status === 'harness-error')
  const passed = statuses.filter(status => status === 'pass').length
  const judged = passed + statuses.filter(status => status === 'fail' || status === 'harness-error').length
  const worst = STATUS_ORDER.find(status => statuses.includes(status)) ?? 'unsupported'
  return { ...cell, ...(failed && wire !== undefined ? { wire } : {}), passed, judged, worst }
}

/** Returns JSON that cannot close a script element. */
export const embedded = (value: object): string => JSON.stringify(value).replaceAll('<', '\\u003c')

/** Returns the results as an HTML page, which counts passed checks instead of listing them. */
export function html({ cells, checks, ...results }: Results): string {
  const byCell = Map.groupBy(checks, ({ cell }) => cell)
  const data = {
    ...results,
    cells: cells.map(cell => cellOf(cell, byCell.get(cell.id) ?? [])),
    checks: checks.filter(({ status }) => status !== 'pass'),
  }
  return readFileSync(join(DATA, 'report.html'), 'utf8').replace('RESULTS', () => embedded(data))
}
