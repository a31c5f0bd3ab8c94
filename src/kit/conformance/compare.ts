import { canonical, isObject, type Json, objectOf, parsed } from './json.ts'

/* Compares the facts on both sides of a target. */

export type Fate = 'kept' | 'changed' | 'lost' | 'added'

export interface FactVerdict {
  readonly path: string
  readonly fate: Fate
  /** Whether the format it went to can say it, by the hand-written bytes of the scenario. */
  readonly sayable: boolean
  readonly expected?: Json
  readonly found?: Json
}

export type Leaves = ReadonlyMap<string, Json>

/** Values that mean something to their issuer alone: another format has its own. */
const TOKENS = /\.(id|signature|redacted)$/

/** Tokens that a gateway may add to an answer in another format: its own. */
const OWN_TOKENS = /\.(id|signature)$/

/** Texts of system instructions may be joined in other ways. */
const LOOSE = /^system$/

const squeezed = (value: Json): Json => (typeof value === 'string' ? value.replace(/\s+/g, ' ').trim() : value)

/** Facts that are JSON schemas. */
const SCHEMAS = /\.parameters$|^output\.schema$/

/** Keywords of JSON Schema that say nothing with that value. */
const SILENT: { readonly [keyword: string]: string } = {
  $defs: '{}',
  definitions: '{}',
  properties: '{}',
  required: '[]',
}

/** A JSON schema without keywords that have no effect; values of `const`, `enum` and `default` stay. */
function effective(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(effective)
  if (!isObject(schema)) return schema
  const fields = Object.entries(schema)
    .filter(([name, value]) => name !== '$schema' && SILENT[name] !== JSON.stringify(value))
    .map(([name, value]): [string, Json] => [name, innerOf(name, value)])
  return Object.fromEntries(fields)
}

function innerOf(name: string, value: Json): Json {
  if (name === 'const' || name === 'enum' || name === 'default' || name === 'examples') return value
  if (name !== 'properties' && name !== '$defs' && name !== 'definitions') return effective(value)
  return Object.fromEntries(Object.entries(objectOf(value)).map(([key, one]) => [key, effective(one)]))
}

/** Texts of tool results: an object with one text may be put around a text, as formats need whose results are objects. */
const RESULTS = /\.results\[\d+\]\.text$/

/** The only text of a JSON object, or the text itself. */
function unwrapped(value: Json): Json {
  const inner = Object.values(objectOf(typeof value === 'string' ? parsed(value) : undefined))
  return inner.length === 1 && typeof inner[0] === 'string' ? inner[0] : value
}

function isSame(path: string, expected: Json, found: Json, isNative: boolean): boolean {
  if (TOKENS.test(path) && !isNative) return found !== ''
  if (LOOSE.test(path)) return squeezed(expected) === squeezed(found)
  if (RESULTS.test(path) && !isNative) return unwrapped(expected) === unwrapped(found)
  if (SCHEMAS.test(path)) return canonical(effective(expected)) === canonical(effective(found))
  return canonical(expected) === canonical(found)
}

/** Facts that nobody said and are still reported; a flood of them says no more. */
const MOST_ADDED = 100

/** The sides of a comparison: the facts that went in, those the other format can say at most, and those that came out. */
export interface Compared {
  readonly source: Leaves
  /** The same scenario in the format it went to. */
  readonly reachable: Leaves
  readonly found: Leaves
  readonly isNative: boolean
}

/** The fate of every fact, by its path. What the format needs, and the caller could not say, is not added. */
export function compare({ source, reachable, found, isNative }: Compared): FactVerdict[] {
  const verdicts: FactVerdict[] = []
  for (const [path, expected] of source) {
    const sayable = reachable.has(path)
    const value = found.get(path)
    if (value === undefined) verdicts.push({ path, fate: 'lost', sayable, expected })
    else {
      // Where the formats have other words for a fact, the one of the format it went to is right, too.
      const other = reachable.get(path)
      const isKept =
        isSame(path, expected, value, isNative) || (other !== undefined && isSame(path, other, value, isNative))
      verdicts.push({ path, fate: isKept ? 'kept' : 'changed', sayable, expected, found: value })
    }
  }
  let added = 0
  for (const [path, value] of found) {
    if (added >= MOST_ADDED) break
    // An empty text says nothing.
    if (value !== '' && !source.has(path) && !reachable.has(path) && (isNative || !OWN_TOKENS.test(path))) {
      verdicts.push({ path, fate: 'added', sayable: true, found: value })
      added++
    }
  }
  return verdicts
}
