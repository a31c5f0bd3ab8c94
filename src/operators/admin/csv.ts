type Cell = string | number | boolean | undefined

/** Rows as a table (RFC 4180), with a line of names. A text that a spreadsheet would calculate is quoted by a mark. */
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
