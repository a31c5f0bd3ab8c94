/** Of a terminal: what moves its cursor, or begins a line. */
const CONTROL = /\p{Cc}/gu

/** A text whose control characters are written as in JSON: names of models and clients are chosen by callers. */
const plain = (text: string): string =>
  text.replace(CONTROL, one => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)

/**
 * Rows as a table with aligned columns, the first row its head.
 *
 * @param numbers the columns of numbers, which stand at the right.
 */
export function table(written: readonly (readonly string[])[], numbers: ReadonlySet<number> = new Set()): string {
  const rows = written.map(row => row.map(plain))
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
