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

/** The first lines of a value, and the number of all its lines. */
export interface Lines {
  readonly lines: readonly Line[]
  readonly total: number
}

/**
 * Formats a value as lines of JSON and omits the contents of folded paths.
 *
 * @param most maximum number of lines. The others are only counted, because a body may have hundreds of thousands.
 */
export function linesOf(value: unknown, folded: ReadonlySet<string>, most = Number.POSITIVE_INFINITY): Lines {
  const writer = new LineWriter(folded, most)
  writer.write(value, { depth: 0, name: undefined, pointer: '', comma: false })
  return writer
}

type Place = Pick<Line, 'depth' | 'name' | 'pointer' | 'comma'>

class LineWriter implements Lines {
  readonly lines: Line[] = []
  total = 0
  private readonly folded: ReadonlySet<string>
  private readonly most: number

  constructor(folded: ReadonlySet<string>, most: number) {
    this.folded = folded
    this.most = most
  }

  write(value: unknown, place: Place): void {
    if (typeof value !== 'object' || value === null) {
      this.add({ ...place, count: 0, value: value as string | number | boolean | null })
      return
    }
    const names = Array.isArray(value) ? undefined : Object.keys(value)
    const items: readonly unknown[] = Array.isArray(value) ? value : Object.values(value)
    const [open, close] = names === undefined ? ['[', ']'] : ['{', '}']
    const { length: count } = items
    if (count === 0 || this.folded.has(place.pointer) || place.depth >= DEEPEST) {
      this.add({ ...place, count, open, close, ...(count > 0 ? { isFolded: true } : {}) })
      return
    }
    this.add({ ...place, comma: false, count, open })
    for (const [index, item] of items.entries()) {
      if (this.isFull && (typeof item !== 'object' || item === null)) this.total++
      else this.write(item, placeIn(place, names?.[index], index, index < count - 1))
    }
    this.add({ depth: place.depth, name: undefined, pointer: place.pointer, comma: place.comma, count, close })
  }

  private get isFull(): boolean {
    return this.lines.length >= this.most
  }

  private add(line: Line): void {
    this.total++
    if (!this.isFull) this.lines.push(line)
  }
}

/** @param name name of the field, or undefined for an item of a list. */
const placeIn = ({ depth, pointer }: Place, name: string | undefined, index: number, comma: boolean): Place => ({
  ...{ depth: depth + 1, name, comma },
  pointer: `${pointer}/${name === undefined ? index : name.replaceAll('~', '~0').replaceAll('/', '~1')}`,
})
