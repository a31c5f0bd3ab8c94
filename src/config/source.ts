import { type Document, isPair, isScalar, isSeq, LineCounter, type Node, parseDocument, visit } from 'yaml'
import type { Path } from '../canonical/loss.ts'
import type { Fault } from './faults.ts'

/** A parsed config file: its value, and the lines of its parts. */
export interface Source {
  readonly value: unknown
  /**
   * Returns the line of the value at a path, starting at 1. If there is no such value, returns the line of its nearest
   * parent.
   */
  lineOf(path: Path): number
  readonly faults: readonly Fault[]
  /** Paths of texts with unset variables. */
  readonly unset: readonly Path[]
  /** Replaces variables' values in a message with their names, because a secret may be in the wrong field. */
  withoutValues(message: string): string
}

export type Env = { readonly [name: string]: string | undefined }

/** Parses YAML (JSON is a subset of it) and replaces environment variables in text values. */
export function readSource(text: string, env: Env): Source {
  const lines = new LineCounter()
  const document = parseDocument(text, { ...LINEAR, lineCounter: lines, merge: true, prettyErrors: false })
  const faults: Fault[] = [
    ...document.errors.map(({ message, pos }) => ({ message, offset: pos[0] })),
    ...repeatedKeys(document).map(offset => ({ message: 'Map keys must be unique', offset })),
  ]
    .slice(0, MAX_SYNTAX_FAULTS)
    .map(({ message, offset }) => ({ path: '', message, line: lines.linePos(offset).line }))
  if (faults.length > 0)
    return { value: undefined, lineOf: () => 1, faults, unset: [], withoutValues: message => message }
  const unset: Path[] = []
  const values = interpolate(document, env, (message, offset, path) => {
    faults.push({ path: '', message, line: lines.linePos(offset).line })
    unset.push(path)
  })
  return {
    value: valueIn(document, (message, offset) => faults.push({ path: '', message, line: lines.linePos(offset).line })),
    lineOf: path => lines.linePos(offsetOf(document, path)).line,
    faults,
    unset,
    withoutValues: message => withoutValues(message, values),
  }
}

/** Options of the YAML parser. It compares each key of a map with all keys before, which takes quadratic time. */
const LINEAR = { uniqueKeys: false } as const

/** Returns the offsets of keys that their map already has. */
function repeatedKeys(document: Document): number[] {
  const repeated: number[] = []
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<unknown>()
      for (const { key } of items) {
        if (!isScalar(key)) continue
        if (seen.has(key.value)) repeated.push(startOf(key))
        seen.add(key.value)
      }
    },
  })
  return repeated
}

/** Maximum number of reported syntax faults. One missing bracket may have a fault in every line. */
const MAX_SYNTAX_FAULTS = 20

/** Minimum length of values that messages hide. Shorter values are ports, names or words rather than secrets. */
const MIN_SECRET_LENGTH = 8

/** Replaces values, raw and as JSON escapes them, with the names of the variables that they came from. */
function withoutValues(message: string, values: ReadonlyMap<string, string>): string {
  let safe = message
  for (const [value, name] of values)
    if (value.length >= MIN_SECRET_LENGTH)
      for (const shown of [JSON.stringify(value).slice(1, -1), value])
        safe = safe.replaceAll(shown, () => `\${${name}}`)
  return safe
}

/**
 * Converts the document to plain values. If an alias is undefined or the aliases expand to too much, reports a fault
 * and returns undefined.
 */
function valueIn(document: Document, fault: (message: string, offset: number) => void): unknown {
  try {
    return document.toJS({ reviver: withoutNull })
  } catch (thrown) {
    let offset = 0
    // To resolve each alias would search the whole document each time.
    const anchors = new Set<string>()
    visit(document, {
      Value(_, node) {
        if (node.anchor !== undefined) anchors.add(node.anchor)
      },
      Alias(_, node) {
        if (anchors.has(node.source)) return undefined
        offset = node.range?.[0] ?? 0
        return visit.BREAK
      },
    })
    fault((thrown as Error).message, offset)
    return undefined
  }
}

/** Returns true if the file has only whitespace, comments and keys without values. */
export const isEmpty = ({ value, faults }: Source): boolean => faults.length === 0 && isEmptyValue(value)

const isEmptyValue = (value: unknown): boolean =>
  value == null || (typeof value === 'object' && Object.values(value).every(isEmptyValue))

/** Drops keys without a value, because everything below such a key is often commented out. */
function withoutNull(this: unknown, _key: unknown, value: unknown): unknown {
  return value === null && !Array.isArray(this) ? undefined : value
}

/** Matches `${NAME}` and `${NAME:-default}`; `$${` is an escaped `${`. */
const VARIABLE = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g

type Replace = (whole: string, name: string | undefined, fallback: string | undefined) => string

/**
 * Replaces the variables in a text. Behind the last `}` there are none, but the expression would search the rest of the
 * text for the end of each.
 */
function withVariables(text: string, replace: Replace): string {
  const end = text.lastIndexOf('}') + 1
  return text.slice(0, end).replace(VARIABLE, replace) + text.slice(end).replaceAll('$${', '${')
}

/** Replaces the variables in all texts. Returns the names of the variables by their values. */
function interpolate(
  document: Document,
  env: Env,
  fault: (message: string, offset: number, path: Path) => void,
): ReadonlyMap<string, string> {
  const values = new Map<string, string>()
  visit(document, {
    Scalar(key, node, above) {
      if (key === 'key' || typeof node.value !== 'string') return
      node.value = withVariables(node.value, (whole, name, fallback) => {
        if (name === undefined) return '${'
        const value = env[name]
        if (value !== undefined && (value !== '' || fallback === undefined)) {
          values.set(value, name)
          return value
        }
        if (fallback === undefined)
          fault(`the environment variable ${name} is not set`, node.range?.[0] ?? 0, pathOf(node, above))
        return fallback ?? whole
      })
    },
  })
  return values
}

/** Returns the path of a node: the keys and indexes that lead to it. */
function pathOf(node: Node, above: readonly unknown[]): Path {
  const way = [...above, node]
  return way.slice(0, -1).flatMap((parent, index): Path => {
    if (isPair(parent)) return isScalar(parent.key) ? [String(parent.key.value)] : []
    return isSeq(parent) ? [parent.items.indexOf(way[index + 1])] : []
  })
}

/** Returns a function that finds the line of the value at a path in YAML or JSON. Lines start at 1. */
export function lineFinder(text: string): (path: Path) => number {
  const lines = new LineCounter()
  const document = parseDocument(text, { ...LINEAR, lineCounter: lines, prettyErrors: false })
  return path => lines.linePos(offsetOf(document, path)).line
}

/** Returns the offset of a value in the text; for a map entry, the offset of its key. */
function offsetOf(document: Document, path: Path): number {
  for (let length = path.length; length > 0; length--) {
    const parent = document.getIn(path.slice(0, length - 1), true)
    const step = path[length - 1]!
    for (const item of itemsOf(parent))
      if (isPair(item) && isScalar(item.key) && String(item.key.value) === String(step))
        return startOf(item.key as Node)
    const node = document.getIn(path.slice(0, length), true)
    if (node !== undefined && node !== null) return startOf(node as Node)
  }
  return document.contents === null ? 0 : startOf(document.contents)
}

const itemsOf = (node: unknown): readonly unknown[] => (node as { items?: unknown[] } | undefined)?.items ?? []
const startOf = (node: Node): number => node.range?.[0] ?? 0
