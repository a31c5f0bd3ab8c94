import type { Loss, Path } from '../src/canonical/loss.ts'
import { workOf } from '../src/canonical/work.ts'
import { WRITERS } from '../src/egress/index.ts'
import { shownLosses } from '../src/egress/losses.ts'
import { FORMAT_FACTS } from '../src/formats/index.ts'
import { READERS } from '../src/ingress/index.ts'
import { FOREIGN } from './builders/write-options.ts'
import { FIXTURES, requestOf, requestTo } from './golden.ts'

/*
 * Generates the table of known losses in docs/losses.md: the values in the fixtures' requests that another format
 * cannot express, with the reasons. The table is made from the requests of the goldens, so that it always agrees with
 * the code.
 */

/**
 * Returns the table. Rows are paths in a request, columns the formats in which it is written. A cell states why the
 * value is lost.
 */
export function lossTable(): string {
  const formats = Object.keys(WRITERS)
    .filter(format => WRITERS[format]!.request !== undefined)
    .sort()
  const places = new Map<string, Map<string, Set<string>>>()
  for (const fixture of FIXTURES) {
    if (fixture.kind !== 'request' || READERS[fixture.format]?.request === undefined) continue
    const request = requestOf(fixture)!
    for (const to of formats) {
      if (to === fixture.format || !FORMAT_FACTS.get(to)!.does.includes(workOf(request))) continue
      for (const loss of shownLosses(WRITERS[to]!.request!(requestTo(fixture, to)!, FOREIGN).losses))
        note(places, loss, to)
    }
  }
  const head = `| Said in a request | ${formats.map(format => `to ${format}`).join(' | ')} |\n|---|${formats.map(() => '---|').join('')}`
  const rows = [...places]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([place, cells]) => `| \`${place}\` | ${formats.map(format => cellOf(cells.get(format))).join(' | ')} |`)
  return `${[head, ...rows].join('\n')}\n`
}

function note(places: Map<string, Map<string, Set<string>>>, loss: Loss, to: string): void {
  const place = placeOf(loss.path)
  const cells = places.get(place) ?? new Map<string, Set<string>>()
  places.set(place, cells)
  cells.set(to, (cells.get(to) ?? new Set()).add(`${loss.kind}: ${loss.reason}`))
}

const cellOf = (reasons: Set<string> | undefined): string => [...(reasons ?? [])].sort().join('; ')

/** Returns a path without indexes: `messages[].content[].cache`. */
const placeOf = (path: Path): string =>
  path.map((key, index) => (typeof key === 'number' ? '[]' : index === 0 ? key : `.${key}`)).join('')
