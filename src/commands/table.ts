/**
 * Rows as a table with aligned columns, the first row its head.
 *
 * @param numbers the columns of numbers, which stand at the right.
 */
export function table(rows: readonly (readonly string[])[], numbers: ReadonlySet<number> = new Set()): string {
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

/** A time in UTC, to the minute; empty where there is none. */
export const minute = (at: number | undefined): string =>
  at === undefined ? '' : `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')}`
