import { readFileSync, writeFileSync } from 'node:fs'

/** Formats rows as a Markdown table. The first row is the heading, the second one its alignment. */
export const markdownTable = (rows: readonly (readonly string[])[]): string =>
  rows.map(row => `| ${row.join(' | ')} |`).join('\n')

/**
 * Replaces the text between the two marks of a Markdown file, such as `<!-- bench -->` and `<!-- /bench -->`.
 *
 * @throws Error if the file lacks the marks.
 */
export function writeMarked(path: string, mark: string, table: string): void {
  const [begin, end] = [`<!-- ${mark} -->`, `<!-- /${mark} -->`]
  const text = readFileSync(path, 'utf8')
  const [from, to] = [text.indexOf(begin), text.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`${path} has no ${begin} before a ${end}`)
  writeFileSync(path, `${text.slice(0, from)}${begin}\n\n${table}\n\n${text.slice(to)}`)
}
