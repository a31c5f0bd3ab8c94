import { saveText } from '../../ui/save-text.ts'
import { spanOf } from './load.ts'
import type { Pivot, PivotCosts } from './pivot-data.ts'
import type { Range } from './ranges.ts'
import { text } from './texts.ts'

/** Writes a cell. A text that a spreadsheet would read as a formula gets an apostrophe. */
function cellOf(cell: string | number): string {
  const said = typeof cell === 'string' && /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : String(cell)
  return /[",\r\n]/.test(said) ? `"${said.replaceAll('"', '""')}"` : said
}

/** Known cost in US dollars. Empty if nothing is known of it. */
const costOf = (costs: PivotCosts | undefined): string | number =>
  costs === undefined || (costs.cost === 0 && costs.unpriced > 0) ? '' : costs.cost

/** Formats a table of costs as CSV, with all columns, totals, and the number of requests with an unknown cost. */
export function pivotCsv({ rows, columns, rowField }: Pivot): string {
  const lines = [
    [rowField, ...columns.map(({ name }) => name), 'total', 'unpriced_requests'],
    ...rows.map(({ name, cells, total }) => [
      ...[name, ...columns.map(({ id }) => costOf(cells.get(id)))],
      ...[costOf(total), total.unpriced],
    ]),
  ]
  return lines.map(line => `${line.map(cellOf).join(',')}\r\n`).join('')
}

/** Downloads a table of costs as a CSV file. */
export const savePivot = (pivot: Pivot, range: Range): void =>
  saveText([pivotCsv(pivot)], `${text().pivot.file}-${spanOf(range).since.slice(0, 10)}.csv`)
