/** Header of an answer in CSV that states whether it has all rows, as `complete` and `next_cursor` do in JSON. */
export const COMPLETE_HEADER = 'x-interlingua-complete'

type Cell = string | number | boolean | undefined

/**
 * Formats rows as CSV (RFC 4180) with a header line. A text that a spreadsheet would read as a formula gets an
 * apostrophe.
 */
export function csvOf<Row>(columns: { readonly [name: string]: (row: Row) => Cell }, rows: readonly Row[]): string {
  const cells = Object.values(columns)
  const lines = [Object.keys(columns), ...rows.map(row => cells.map(cell => cell(row)))]
  return lines.map(line => `${line.map(cellText).join(',')}\r\n`).join('')
}

function cellText(cell: Cell): string {
  if (cell === undefined) return ''
  const text = typeof cell === 'string' && /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : String(cell)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
