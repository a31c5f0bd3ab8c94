import { findElsewhere, isMoved } from './elsewhere.ts'
import { canonical, isObject, type Json, objectOf, parseJson } from './json.ts'

/* Compares the facts on both sides of a target. */

export type Fate = 'kept' | 'changed' | 'lost' | 'added'

export interface FactVerdict {
  readonly path: string
  readonly fate: Fate
  /** True if the target format can express the fact, according to the scenario's hand-written bytes. */
  readonly expressible: boolean
  /** True if both sides have the same format. */
  readonly isNative: boolean
  readonly expected?: Json
  readonly found?: Json
}

export type Leaves = ReadonlyMap<string, Json>

/** Values that only their issuer can interpret. Every format has different ones. */
const ISSUER_VALUES = /\.(id|signature|redacted)$/

/** Ids and signatures that a gateway may add to an answer in another format. */
const ADDABLE_VALUES = /\.(id|signature)$/

/** Facts whose parts, which empty lines separate, may be joined with other whitespace. */
const JOINED_TEXTS = /^system$/

/** Returns true if two texts have the same parts. Whitespace within a part has a meaning, as in a list or in code. */
function isSameJoined(expected: Json, found: Json): boolean {
  if (typeof expected !== 'string' || typeof found !== 'string') return false
  let rest = found.trim()
  for (const part of expected.split('\n\n').map(one => one.trim())) {
    if (part === '') continue
    const next = rest.slice(part.length)
    if (!rest.startsWith(part) || /^\S/.test(next)) return false
    rest = next.trimStart()
  }
  return rest === ''
}

/** Facts that hold a JSON schema. */
const SCHEMA_FACTS = /\.parameters$|^output\.schema$/

/** Keywords of JSON Schema that have no effect with the given value. */
const INEFFECTIVE_VALUES: { readonly [keyword: string]: string } = {
  $defs: '{}',
  definitions: '{}',
  properties: '{}',
  required: '[]',
}

/** Removes schema keywords that have no effect. Values of `const`, `enum`, `default` and `examples` stay unchanged. */
function effectiveSchema(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(effectiveSchema)
  if (!isObject(schema)) return schema
  const fields = Object.entries(schema)
    .filter(([name, value]) => name !== '$schema' && INEFFECTIVE_VALUES[name] !== JSON.stringify(value))
    .map(([name, value]): [string, Json] => [name, innerOf(name, value)])
  return Object.fromEntries(fields)
}

function innerOf(name: string, value: Json): Json {
  if (name === 'const' || name === 'enum' || name === 'default' || name === 'examples') return value
  if (name !== 'properties' && name !== '$defs' && name !== 'definitions') return effectiveSchema(value)
  return Object.fromEntries(Object.entries(objectOf(value)).map(([key, one]) => [key, effectiveSchema(one)]))
}

/** Texts of tool results, which formats may wrap in an object with one field if their results are objects. */
const RESULT_TEXTS = /\.results\[\d+\]\.text$/

/** Returns the only text of a JSON object, the canonical JSON of any other object, or otherwise the value itself. */
function unwrappedResult(value: Json): Json {
  const object = typeof value === 'string' ? parseJson(value) : undefined
  const inner = Object.values(objectOf(object))
  if (inner.length === 1 && typeof inner[0] === 'string') return inner[0]
  return isObject(object) ? canonical(object) : value
}

/** Returns true if two tool results agree. Formats whose results are a single text may join the parts by line feeds. */
const isSameResult = (expected: Json, found: Json): boolean =>
  expected === found || (typeof found === 'string' && found.replaceAll('\n', '') === expected)

function isSame(path: string, expected: Json, found: Json, isNative: boolean): boolean {
  if (ISSUER_VALUES.test(path) && !isNative) return found !== ''
  if (JOINED_TEXTS.test(path)) return isSameJoined(expected, found)
  if (RESULT_TEXTS.test(path) && !isNative) return isSameResult(unwrappedResult(expected), unwrappedResult(found))
  if (SCHEMA_FACTS.test(path)) return canonical(effectiveSchema(expected)) === canonical(effectiveSchema(found))
  return canonical(expected) === canonical(found)
}

/** Maximum number of added facts to report. */
const MAX_ADDED = 100

/** The sides of a comparison: the sent facts, the facts that the target format can express, and the received facts. */
export interface ComparedFacts {
  readonly source: Leaves
  /** Facts of the same scenario in the target format. */
  readonly reachable: Leaves
  readonly found: Leaves
  readonly isNative: boolean
  /** Facts that only extensions of the target format can express. The comparison treats them as not expressible. */
  readonly extensions?: RegExp | undefined
}

/**
 * Returns the outcome of every fact, by path. Facts that the target format requires but the caller's format cannot
 * express do not count as added.
 */
export function compare({ source, reachable, found, isNative, extensions }: ComparedFacts): FactVerdict[] {
  const verdicts: FactVerdict[] = []
  for (const [path, expected] of source) {
    const expressible = reachable.has(path) && (isNative || !extensions?.test(path))
    const movedFact = isNative ? undefined : findElsewhere(path, expected, found, source)
    const value = movedFact ?? found.get(path)
    if (value === undefined) verdicts.push({ path, fate: 'lost', expressible, isNative, expected })
    else {
      // If the formats use different words for a fact, the target format's word is also correct.
      const word = reachable.get(path)
      const isKept =
        isSame(path, expected, value, isNative) || (word !== undefined && isSame(path, word, value, isNative))
      verdicts.push({ path, fate: isKept ? 'kept' : 'changed', expressible, isNative, expected, found: value })
    }
  }
  let added = 0
  for (const [path, value] of found) {
    if (added >= MAX_ADDED) break
    if (source.has(path) || reachable.has(path)) continue
    const isTargetsOwn = !isNative && (ADDABLE_VALUES.test(path) || isMoved(path, value, source))
    // An empty text carries no meaning.
    if (value !== '' && !isTargetsOwn) {
      verdicts.push({ path, fate: 'added', expressible: true, isNative, found: value })
      added++
    }
  }
  return verdicts
}
