import type { Json } from '../../canonical/node.ts'
import { withEscapedControls } from '../../canonical/text.ts'

/** One field in which two requests differ. A side that lacks the field is undefined. */
export interface Difference {
  readonly path: string
  readonly recorded: Json | undefined
  readonly requested: Json | undefined
}

/** Lists the fields in which two canonical requests differ. */
export function differences(recorded: Json, requested: Json): readonly Difference[] {
  const found: Difference[] = []
  compare(recorded, requested, '', found)
  return found
}

/** Adds the differences of two values. A path is joined when it is shown, because the paths of all fields are long. */
function compare(recorded: Json | undefined, requested: Json | undefined, path: string, found: Difference[]): void {
  const [before, after] = [fieldsOf(recorded), fieldsOf(requested)]
  const [was, is] = [before === undefined ? recorded : undefined, after === undefined ? requested : undefined]
  if (was !== is) found.push({ path, recorded: was, requested: is })
  for (const name of new Set([...(before?.keys() ?? []), ...(after?.keys() ?? [])]))
    compare(before?.get(name), after?.get(name), path === '' ? name : `${path}.${name}`, found)
}

/** Returns the fields or items of a value, or undefined if it has none. */
const fieldsOf = (value: Json | undefined): ReadonlyMap<string, Json> | undefined =>
  typeof value === 'object' && value !== null
    ? new Map(Object.entries(value as { readonly [name: string]: Json }))
    : undefined

/** Maximum number of differences in a message. */
const MAX_DIFFERENCES = 20
/** Maximum number of characters shown of one value. */
const MAX_VALUE_LENGTH = 200

/** Formats differences as lines: `- ` for the recorded value, `+ ` for the requested value. */
export function differenceText(all: readonly Difference[]): string {
  const lines = all
    .slice(0, MAX_DIFFERENCES)
    .flatMap(({ path, recorded, requested }) => [
      ...(recorded === undefined ? [] : [`- ${excerptOfPath(path)}: ${excerpt(recorded, requested)}`]),
      ...(requested === undefined ? [] : [`+ ${excerptOfPath(path)}: ${excerpt(requested, recorded)}`]),
    ])
    .map(withEscapedControls)
  return [...lines, ...(all.length > MAX_DIFFERENCES ? [`  … and ${all.length - MAX_DIFFERENCES} more`] : [])].join(
    '\n',
  )
}

/** Returns the end of a path, which is the most telling part. */
const excerptOfPath = (path: string): string =>
  path.length <= MAX_VALUE_LENGTH ? path : `…${path.slice(-MAX_VALUE_LENGTH)}`

/** Formats a value as JSON. Of long texts, shows only the part around the first difference. */
function excerpt(value: Json, other: Json | undefined): string {
  if (typeof value !== 'string' || value.length <= MAX_VALUE_LENGTH) return JSON.stringify(value)
  let start = 0
  while (typeof other === 'string' && start < value.length && value[start] === other[start]) start++
  start = Math.max(0, start - MAX_VALUE_LENGTH / 4)
  return `${start > 0 ? '…' : ''}${JSON.stringify(value.slice(start, start + MAX_VALUE_LENGTH))}…`
}
