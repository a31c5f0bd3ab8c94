/**
 * Rows as a table with aligned columns, the first row its head.
 *
 * @param left the columns of texts; the others are numbers, which stand at the right.
 */
export function table(rows: readonly (readonly string[])[], left: ReadonlySet<number>): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map(row => row[column]!.length)))
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => (left.has(column) ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)))
      .join('  ')
      .trimEnd()
  return rows.map(line).join('\n')
}
