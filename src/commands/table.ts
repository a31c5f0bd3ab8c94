/** Control characters, which could move a terminal's cursor. */
const CONTROL_CHARACTERS = /\p{Cc}/gu

/**
 * Escapes control characters as JSON does. Names are untrusted, because callers choose the names of models and clients.
 */
const escaped = (text: string): string =>
  text.replace(CONTROL_CHARACTERS, one => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)

/**
 * Formats rows as a table with aligned columns. The first row is the header.
 *
 * @param numbers indexes of right-aligned columns.
 */
export function table(cells: readonly (readonly string[])[], numbers: ReadonlySet<number> = new Set()): string {
  const rows = cells.map(row => row.map(escaped))
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
