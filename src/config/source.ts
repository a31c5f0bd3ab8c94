import {
  type Document,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  visit,
  type YAMLMap,
} from 'yaml'
import type { Path } from '../canonical/loss.ts'
import { getOrAdd, rowOf } from '../canonical/maps.ts'
import type { Fault } from './faults.ts'
import { type Env, variableIn } from './variable.ts'

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

/** Parses YAML (JSON is a subset of it) and replaces environment variables in text values. */
export function readSource(text: string, env: Env): Source {
  const { document, lines } = parsed(text)
  const faults: Fault[] = syntaxFaults(document, text)
    .slice(0, MAX_SYNTAX_FAULTS)
    .map(({ message, offset }) => ({ path: '', message, line: lines.linePos(offset).line }))
  if (faults.length > 0)
    return { value: undefined, lineOf: () => 1, faults, unset: [], withoutValues: message => message }
  const unset: Path[] = []
  const values = interpolate(document, env, (message, offset, path) => {
    faults.push({ path: '', message, line: lines.linePos(offset).line })
    unset.push(path)
  })
  const offsetOf = offsetFinder(document)
  return {
    value: valueIn(document, (message, offset) => faults.push({ path: '', message, line: lines.linePos(offset).line })),
    lineOf: path => lines.linePos(offsetOf(path)).line,
    faults,
    unset,
    withoutValues: message => withoutValues(message, values),
  }
}

/** Options of the YAML parser. It compares each key of a map with all keys before, which takes quadratic time. */
const LINEAR = { uniqueKeys: false } as const

function parsed(text: string): { readonly document: Document; readonly lines: LineCounter } {
  const lines = new LineCounter()
  return { document: parseDocument(text, { ...LINEAR, lineCounter: lines, merge: true, prettyErrors: false }), lines }
}

/**
 * Parses YAML or JSON into plain values, without variables.
 *
 * @throws Error with the line of the first fault, and without texts of the file.
 */
export function parseYaml(text: string): unknown {
  const { document, lines } = parsed(text)
  const [first] = syntaxFaults(document, text)
  if (first !== undefined) throw new Error(`line ${lines.linePos(first.offset).line}: ${first.message}`)
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES })
  } catch (thrown) {
    throw new Error(withoutQuotation((thrown as Error).message))
  }
}

/** A fault of the syntax, without texts of the file. */
interface SyntaxFault {
  readonly message: string
  readonly offset: number
}

/** Returns faults of the syntax, unknown tags, repeated keys and lines that belong to a text by mistake. */
function syntaxFaults(document: Document, text: string): readonly SyntaxFault[] {
  const found = [...document.errors, ...document.warnings].map(({ code, message, pos: [offset] }) => ({
    ...{ message: rowOf(MESSAGES, code) ?? withoutQuotation(message), offset },
  }))
  // The braces of an unquoted variable begin a map, and break everything behind them.
  const unquoted = found.filter(({ offset }) => text.startsWith(`\${`, offset - 1))
  if (unquoted.length > 0) return unquoted.map(({ offset }) => ({ message: UNQUOTED, offset }))
  return [...found, ...keyFaults(document), ...tagFaults(document), ...indentationFaults(document, text)]
}

const NO_TYPE = `a tag such as \`!name\` has no meaning here: write a text in quotes, and a variable as \${NAME}`

/** Messages for the parser's own, by code. Its own for several documents names a function that reads them. */
const MESSAGES: { readonly [code: string]: string } = {
  MULTIPLE_DOCS: 'the file has a second document after `---`: write one',
  TAG_RESOLVE_FAILED: NO_TYPE,
}

const UNQUOTED = `a variable between braces or brackets must be in quotes: "\${NAME}"`

/** Removes what a message of the parser quotes of the file after a colon, because it may be a secret. */
const withoutQuotation = (message: string): string => message.replace(/(?<=\S): (?!"?.{1,2}"?$).*$/s, '')

/**
 * Returns faults of keys that their map already has, of keys that are maps or lists, as in `{{ name }}`, and of keys
 * without a colon, as in `{ rpm:60 }`: such a text is one key, and its setting would be missing.
 */
function keyFaults(document: Document): SyntaxFault[] {
  const faults: SyntaxFault[] = []
  visit(document, {
    Map(part, { items }) {
      const isTemplate = part === 'key'
      const seen = new Set<string>()
      for (const { key, value } of items) {
        if (isMap(key) || isSeq(key)) faults.push({ message: 'Map keys must be texts', offset: startOf(key) })
        if (!isScalar(key)) continue
        // A key with a colon and nothing behind it has an empty scalar as its value.
        if (value === null && !isTemplate) faults.push({ message: NO_VALUE, offset: startOf(key) })
        // A map of texts has one entry for `1` and "1".
        const name = String(key.value)
        if (seen.has(name)) faults.push({ message: 'Map keys must be unique', offset: startOf(key) })
        seen.add(name)
      }
    },
  })
  return faults
}

/** Types that the parser knows although JSON lacks them: their values are no maps, lists or texts of a config. */
const FOREIGN_TYPE = /^tag:yaml\.org,2002:(?:omap|set|pairs|binary|timestamp)$/

/** Returns faults of values with a type that a config has not, such as ordered maps, whose entries would be lost. */
function tagFaults(document: Document): SyntaxFault[] {
  const faults: SyntaxFault[] = []
  visit(document, {
    Value(_, node) {
      if (FOREIGN_TYPE.test(node.tag ?? '')) faults.push({ message: NO_TYPE, offset: startOf(node) })
    },
  })
  return faults
}

const NO_VALUE = 'a name has no value: write `name: value`, with a space after the colon'

/** Returns faults of texts without quotes that go on with an item of a list in their next line. */
function indentationFaults(document: Document, text: string): SyntaxFault[] {
  const faults: SyntaxFault[] = []
  visit(document, {
    Scalar(_, { type, range }) {
      if (type !== 'PLAIN' || range == null) return
      const item = /\n[ \t]*(?=- )/.exec(text.slice(range[0], range[1]))
      if (item !== null) faults.push({ message: TOO_FAR, offset: range[0] + item.index + item[0].length })
    },
  })
  return faults
}

const TOO_FAR = 'this line is indented too far, so that it belongs to the text of the line above'

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

/** Maximum number of values to which the aliases of one anchor expand. The parser's default is 100. */
const MAX_ALIASES = 1000

/**
 * Converts the document to plain values. If an alias is undefined or the aliases expand to too much, reports a fault
 * and returns undefined.
 */
function valueIn(document: Document, fault: (message: string, offset: number) => void): unknown {
  try {
    return document.toJS({ reviver: withoutNull, maxAliasCount: MAX_ALIASES })
  } catch (thrown) {
    let [offset, isCyclic] = [0, false]
    // To resolve each alias would search the whole document each time.
    const anchors = new Set<string>()
    visit(document, {
      Value(_, node) {
        if (node.anchor !== undefined) anchors.add(node.anchor)
      },
      Alias(_, node, above) {
        isCyclic = above.some(part => isNode(part) && 'anchor' in part && part.anchor === node.source)
        if (anchors.has(node.source) && !isCyclic) return undefined
        offset = node.range?.[0] ?? 0
        return visit.BREAK
      },
    })
    fault(isCyclic ? CYCLE : withoutQuotation((thrown as Error).message), offset)
    return undefined
  }
}

const CYCLE = 'an alias stands for a value that contains it'

/** Returns true if the file has only whitespace, comments and keys without values. */
export const isEmpty = ({ value, faults }: Source): boolean => faults.length === 0 && isEmptyValue(value)

const isEmptyValue = (value: unknown): boolean =>
  value == null || (typeof value === 'object' && Object.values(value).every(isEmptyValue))

/** Drops keys without a value, because everything below such a key is often commented out. */
function withoutNull(this: unknown, _key: unknown, value: unknown): unknown {
  return value === null && !Array.isArray(this) ? undefined : value
}

/** Matches `${NAME}` and `${NAME:-default}`; `$${` is an escaped `${`, and any other `${` begins no variable. */
const VARIABLE = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}|\$\{/g

/** Matches the beginnings of variables behind the last `}`, where none ends. */
const UNENDED = /\$?\$\{/g

/** Fault of a text with another form of variables, as shells know them. The text itself must not become a key. */
const NO_VARIABLE = `a variable must be written as \${NAME} or \${NAME:-default}; $\${ stands for the text \${`

type Replace = (whole: string, name?: string, fallback?: string) => string

/**
 * Replaces the variables in a text. Behind the last `}` there are none, but the expression would search the rest of the
 * text for the end of each.
 */
function withVariables(text: string, replace: Replace): string {
  const end = text.lastIndexOf('}') + 1
  return text.slice(0, end).replace(VARIABLE, replace) + text.slice(end).replace(UNENDED, whole => replace(whole))
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
      const report = (message: string): void => fault(message, node.range?.[0] ?? 0, pathOf(node, above))
      let isFaulty = false
      node.value = withVariables(node.value, (whole, name, fallback) => {
        if (name === undefined) {
          isFaulty ||= whole === '${'
          return '${'
        }
        const value = variableIn(env, name)
        if (value !== undefined && (value !== '' || fallback === undefined)) {
          values.set(value, name)
          return value
        }
        if (fallback === undefined) report(`the environment variable ${name} is not set`)
        return fallback ?? whole
      })
      if (isFaulty) report(NO_VARIABLE)
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
  const offsetOf = offsetFinder(document)
  return path => lines.linePos(offsetOf(path)).line
}

/**
 * Returns a function that finds the offset of a value in the text; for a map entry, the offset of its key. If there is
 * no such value, it returns the offset of the nearest parent. Maps are indexed, because a file may have many faults.
 */
function offsetFinder(document: Document): (path: Path) => number {
  const entries = new Map<YAMLMap, ReadonlyMap<string, Pair>>()
  return path => {
    let parent: unknown = document.contents
    let offset = parent === null ? 0 : startOf(parent as Node)
    for (const step of path) {
      const map = isMap(parent) ? parent : undefined
      const pair = map && getOrAdd(entries, map, () => entriesOf(map)).get(String(step))
      const item = pair?.value ?? (isSeq(parent) ? parent.items[step as number] : undefined)
      const start = pair?.key ?? item
      if (!isNode(start)) return offset
      offset = startOf(start)
      parent = item
    }
    return offset
  }
}

/** Returns the entries of a map by name, the first of each name. */
const entriesOf = ({ items }: YAMLMap): ReadonlyMap<string, Pair> =>
  new Map(items.flatMap(pair => (isScalar(pair.key) ? [[String(pair.key.value), pair] as const] : [])).reverse())

const startOf = (node: Node): number => node.range?.[0] ?? 0
