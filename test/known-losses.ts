import type { Loss, Path } from '../src/canonical/loss.ts'
import { workOf } from '../src/canonical/work.ts'
import { WRITERS } from '../src/egress/index.ts'
import { shownLosses } from '../src/egress/losses.ts'
import { FORMAT_FACTS } from '../src/formats/index.ts'
import { READERS } from '../src/ingress/index.ts'
import { FOREIGN } from './builders/write-options.ts'
import { FIXTURES, requestOf, requestTo } from './golden.ts'

/*
 * The table of known losses in docs/losses.md: what of the fixtures' requests another format cannot say, and why. Made of
 * the very requests the goldens are made of, so it cannot drift from the code.
 */

/** Rows are places in a request, columns the formats it is written in; a cell says why the place is lost there. */
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

/** `messages[].content[].cache`: where it is, whichever it is. */
const placeOf = (path: Path): string =>
  path.map((key, index) => (typeof key === 'number' ? '[]' : index === 0 ? key : `.${key}`)).join('')
