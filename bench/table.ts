import { readFileSync, writeFileSync } from 'node:fs'
import type { Outcome } from './measure.ts'

const HEADS = ['Work', 'unit', 'bare', 'gateway', 'ratio', 'floor', 'goal', ''] as const

/** Compares a ratio with its required value and with the value to aim for. */
export const verdict = ({ ratio, cell }: Outcome): string =>
  ratio <= cell.goal ? 'goal' : ratio <= cell.floor ? 'floor' : 'MISSED'

const rowOf = (outcome: Outcome): readonly string[] => [
  outcome.cell.name,
  outcome.unit,
  figure(outcome.reference),
  figure(outcome.measured),
  outcome.ratio.toFixed(2),
  outcome.cell.floor.toFixed(2),
  outcome.cell.goal.toFixed(2),
  verdict(outcome),
]

const figure = (value: number): string => value.toFixed(value < 20 ? 2 : 0)

/** Widths of the terminal columns in characters: the longest cell name, the longest unit, and the figures. */
const [NAME, UNIT, FIGURE] = [57, 17, 8]

const columns = ([name = '', unit = '', ...figures]: readonly string[]): string =>
  name.padEnd(NAME) + unit.padEnd(UNIT) + figures.map(text => text.padStart(FIGURE)).join('')

/** One line of the terminal output. */
export const line = (outcome: Outcome): string => columns(rowOf(outcome))

export const heading = (): string => columns(HEADS)

const BEGIN = '<!-- bench -->'
const END = '<!-- /bench -->'

/** Replaces the text between the two marks in a Markdown file with the table. */
export function writeTable(path: string, outcomes: readonly Outcome[]): void {
  const text = readFileSync(path, 'utf8')
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)]
  if (begin < 0 || end < begin) throw new Error(`${path} has no ${BEGIN} before a ${END}`)
  const rows = [HEADS.slice(0, 7), HEADS.slice(0, 7).map(() => '---'), ...outcomes.map(one => rowOf(one).slice(0, 7))]
  const table = rows.map(row => `| ${row.join(' | ')} |`).join('\n')
  writeFileSync(path, `${text.slice(0, begin)}${BEGIN}\n\n${table}\n\n${text.slice(end)}`)
}
