import { withEscapedControls } from '../canonical/text.ts'

/**
 * Formats rows as a table with aligned columns. The first row is the header. Names are untrusted, because callers choose
 * the names of models and clients.
 *
 * @param numbers indexes of right-aligned columns.
 */
export function table(cells: readonly (readonly string[])[], numbers: ReadonlySet<number> = new Set()): string {
  const rows = cells.map(row => row.map(withEscapedControls))
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map(row => row[column]!.length)))
  return rows
    .map(row =>
      row
        .map((cell, column) => (numbers.has(column) ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** Formats a time in UTC to the minute. Empty for undefined. */
export const minute = (at: number | undefined): string =>
  at === undefined ? '' : `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')}`
