import { FLAGS_OF } from '../src/formats/dialects/index.ts'
import { type Cell, type FieldFacts, fieldFacts } from './field-facts.ts'

/* Tables of docs/formats/<format>.md: what one format has of conversations, and what a translation loses. */

/** Formats with a page: those that were made for conversations. */
export const PAGED = ['chat', 'responses', 'messages', 'contents', 'converse', 'cohere-chat', 'interactions'] as const

type Paged = (typeof PAGED)[number]

/** Returns the fields of requests or answers that a format has, with the other formats that lose them. */
export function mappingTable(format: Paged, direction: 'request' | 'result'): string {
  const { rows } = fieldFacts('conversation', direction)
  const lines = sorted(rows).flatMap(([field, cells]) => {
    const places = cells.get(format)?.places
    if (places === undefined) return []
    return [`| \`${field}\` | ${places.map(place => `\`${place}\``).join(', ')} | ${lostIn(cells, format)} |`]
  })
  return `| Field | In \`${format}\` | Lost in a translation to |\n|---|---|---|\n${lines.join('\n')}\n`
}

/** The other formats that lose a field, each with the reasons. */
const lostIn = (cells: ReadonlyMap<string, Cell>, format: Paged): string =>
  PAGED.flatMap(other => {
    const cell = cells.get(other)
    if (other === format || cell === undefined || cell.places !== undefined || cell.reasons.size === 0) return []
    return [`${other}: *${[...cell.reasons].sort().join(', ')}*`]
  }).join('; ')

/** Returns the fields that other formats have and this one loses. */
export function missingTable(format: Paged, direction: 'request' | 'result'): string {
  const { rows } = fieldFacts('conversation', direction)
  const lines = sorted(rows).flatMap(([field, cells]) => {
    const { places, reasons } = cells.get(format) ?? { places: undefined, reasons: new Set<string>() }
    if (places !== undefined || reasons.size === 0) return []
    const having = PAGED.filter(other => cells.get(other)?.places !== undefined)
    return having.length === 0 ? [] : [`| \`${field}\` | *${[...reasons].sort().join(', ')}* | ${having.join(', ')} |`]
  })
  return `| Field | Reason | Formats that have it |\n|---|---|---|\n${lines.join('\n')}\n`
}

/** Returns the flags by which upstreams of the format differ. */
export function flagList(format: Paged): string {
  const names = Object.keys(FLAGS_OF[format] ?? {}).map(name => `\`${name}\``)
  return `${names.join(', ')}\n`
}

const sorted = (rows: FieldFacts['rows']) => [...rows].sort(([a], [b]) => (a < b ? -1 : 1))
