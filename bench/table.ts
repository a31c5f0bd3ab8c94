import { markdownTable, writeMarked } from './marked-table.ts'
import type { Outcome } from './measure.ts'

const HEADS = ['Work', 'unit', 'bare', 'gateway', 'difference', 'interval', 'floor', 'goal', ''] as const

/**
 * Compares a difference with its required value and with the value to aim for. `unsure` if the difference is above the
 * required value by less than its own uncertainty.
 */
export function verdict({ difference: { value, low }, cell: { goal, floor } }: Outcome): string {
  if (value <= goal) return 'goal'
  if (value <= floor) return 'floor'
  return low <= floor ? 'unsure' : 'MISSED'
}

const rowOf = (outcome: Outcome): readonly string[] => [
  outcome.cell.name,
  outcome.unit,
  figure(outcome.reference),
  figure(outcome.measured),
  differenceOf(outcome),
  `${outcome.difference.low.toFixed(2)}–${outcome.difference.high.toFixed(2)}`,
  `${sign(outcome)}${outcome.cell.floor.toFixed(2)}`,
  `${sign(outcome)}${outcome.cell.goal.toFixed(2)}`,
  verdict(outcome),
]

/** The ratio of the two sides, or what the second costs more. `none` if the sides do not differ for certain. */
function differenceOf(outcome: Outcome): string {
  const { value, low, high } = outcome.difference
  const none = outcome.cell.by === 'added' ? 0 : 1
  return low <= none && none <= high ? 'none' : sign(outcome) + value.toFixed(2)
}

const sign = ({ cell: { by } }: Outcome): string => (by === 'added' ? '+' : '')

const figure = (value: number): string => value.toFixed(value < 20 ? 2 : 0)

/** Widths of the terminal columns in characters: the longest cell name, the longest unit, and the figures. */
const [NAME, UNIT, FIGURE] = [75, 17, 13]

const columns = ([name = '', unit = '', ...figures]: readonly string[]): string =>
  name.padEnd(NAME) + unit.padEnd(UNIT) + figures.map(text => text.padStart(FIGURE)).join('')

/** One line of the terminal output. */
export const line = (outcome: Outcome): string => columns(rowOf(outcome))

export const heading = (): string => columns(HEADS)

/** Writes the table between the bench marks of a Markdown file. */
export function writeTable(path: string, outcomes: readonly Outcome[]): void {
  const heads = HEADS.slice(0, -1)
  const rows = [heads, heads.map(() => '---'), ...outcomes.map(one => rowOf(one).slice(0, -1))]
  writeMarked(path, 'bench', markdownTable(rows))
}
