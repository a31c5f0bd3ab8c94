import type { Json } from '../../canonical/node.ts'

/** One field in which two requests differ. A side that lacks the field is undefined. */
export interface Difference {
  readonly path: string
  readonly recorded: Json | undefined
  readonly requested: Json | undefined
}

/** Lists the fields in which two canonical requests differ. */
export function differences(recorded: Json, requested: Json): readonly Difference[] {
  const [before, after] = [leavesOf(recorded), leavesOf(requested)]
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter(path => before.get(path) !== after.get(path))
    .map(path => ({ path, recorded: before.get(path), requested: after.get(path) }))
}

function leavesOf(value: Json, path = '', leaves = new Map<string, Json>()): Map<string, Json> {
  if (typeof value !== 'object' || value === null) return leaves.set(path, value)
  for (const [name, item] of Object.entries(value))
    leavesOf(item as Json, path === '' ? name : `${path}.${name}`, leaves)
  return leaves
}

/** Maximum number of differences in a message. */
const MAX_DIFFERENCES = 20
/** Maximum number of characters shown of one value. */
const MAX_VALUE_LENGTH = 200

/** Formats differences as lines: `- ` for the recorded value, `+ ` for the requested value. */
export function differenceText(all: readonly Difference[]): string {
  const lines = all
    .slice(0, MAX_DIFFERENCES)
    .flatMap(({ path, recorded, requested }) => [
      ...(recorded === undefined ? [] : [`- ${path}: ${excerpt(recorded, requested)}`]),
      ...(requested === undefined ? [] : [`+ ${path}: ${excerpt(requested, recorded)}`]),
    ])
  return [...lines, ...(all.length > MAX_DIFFERENCES ? [`  … and ${all.length - MAX_DIFFERENCES} more`] : [])].join(
    '\n',
  )
}

/** Formats a value as JSON. Of long texts, shows only the part around the first difference. */
function excerpt(value: Json, other: Json | undefined): string {
  if (typeof value !== 'string' || typeof other !== 'string' || value.length <= MAX_VALUE_LENGTH)
    return JSON.stringify(value)
  let start = 0
  while (start < value.length && value[start] === other[start]) start++
  start = Math.max(0, start - MAX_VALUE_LENGTH / 4)
  return `${start > 0 ? '…' : ''}${JSON.stringify(value.slice(start, start + MAX_VALUE_LENGTH))}…`
}
