import type { Work } from '../src/canonical/work.ts'
import { type Cell, fieldFacts } from './field-facts.ts'
import { WORKS } from './laws/works.ts'

/* Tables of docs/formats.md: the position of each field of a canonical request in each format. */

/** Returns one table per kind of work, each under a heading. */
export function fieldTables(): string {
  return Object.keys(WORKS)
    .sort()
    .map(work => tableOf(work as Work))
    .join('\n')
}

function tableOf(work: Work): string {
  const { formats, rows } = fieldFacts(work, 'request')
  const head = `| Field | ${formats.join(' | ')} |\n|---|${formats.map(() => '---|').join('')}`
  const lines = [...rows]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([field, cells]) => `| \`${field}\` | ${formats.map(format => textOf(cells.get(format))).join(' | ')} |`)
  return `### ${work}\n\n${[head, ...lines].join('\n')}\n`
}

const textOf = (cell: Cell | undefined): string => {
  if (cell?.places !== undefined) return cell.places.map(place => `\`${place}\``).join(', ')
  return cell === undefined || cell.reasons.size === 0 ? '' : `*${[...cell.reasons].sort().join(', ')}*`
}
