/** One line of a value formatted as JSON. */
export interface Line {
  readonly depth: number
  /** Field name, for fields of an object. */
  readonly name: string | undefined
  readonly pointer: string
  /** Opening bracket, or both brackets for an empty or folded value. */
  readonly open?: string
  readonly close?: string
  readonly isFolded?: boolean
  /** Number of items or fields. */
  readonly count: number
  readonly value?: string | number | boolean | null
  /** Whether another item follows. */
  readonly comma: boolean
}

/** Depth from which values are folded, in levels. */
const DEEPEST = 100

/** Formats a value as lines of JSON and omits the contents of folded paths. */
export function linesOf(value: unknown, folded: ReadonlySet<string>): readonly Line[] {
  const lines: Line[] = []
  write(value, { depth: 0, name: undefined, pointer: '', comma: false }, folded, lines)
  return lines
}

type Place = Pick<Line, 'depth' | 'name' | 'pointer' | 'comma'>

function write(value: unknown, place: Place, folded: ReadonlySet<string>, lines: Line[]): void {
  if (typeof value !== 'object' || value === null) {
    lines.push({ ...place, count: 0, value: value as string | number | boolean | null })
    return
  }
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  const entries: readonly (readonly [string, unknown])[] = Object.entries(value)
  const count = entries.length
  if (count === 0 || folded.has(place.pointer) || place.depth >= DEEPEST) {
    lines.push({ ...place, count, open: open!, close: close!, ...(count > 0 ? { isFolded: true } : {}) })
    return
  }
  lines.push({ ...place, comma: false, count, open: open! })
  for (const [index, [name, item]] of entries.entries())
    write(
      item,
      {
        depth: place.depth + 1,
        name: Array.isArray(value) ? undefined : name,
        pointer: `${place.pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`,
        comma: index < count - 1,
      },
      folded,
      lines,
    )
  lines.push({ depth: place.depth, name: undefined, pointer: place.pointer, comma: place.comma, count, close: close! })
}
