import { isObject, type Json, listOf, objectOf } from './json.ts'

/* Facts that a format stores under another path or expresses differently. They do not count as lost. */

type Leaves = ReadonlyMap<string, Json>

/** Finds a fact by the groups matched in its path. Returns undefined if the fact is missing. */
type FactFinder = (groups: readonly string[], expected: Json, found: Leaves, source: Leaves) => Json | undefined

/** The path of a signature within its candidate or turn. */
const SIGNATURE = /^(.*\.)(?:calls|reasoning)\[\d+\]\.signature$/

/**
 * Finds a signature, which may move between a call and the reasoning before it: Google signs calls, other vendors sign
 * reasoning.
 */
const signature: FactFinder = ([owner], _, found, source) =>
  [...found].find(([at]) => !source.has(at) && SIGNATURE.exec(at)?.[1] === owner)?.[1]

/** Finds media of a tool result. In formats whose tool results are texts, the media follow the result. */
const resultMedia: FactFinder = ([turn, field], expected, found) =>
  [...found].some(([at, value]) => at.startsWith(`${turn}media[`) && at.endsWith(`].${field}`) && value === expected)
    ? expected
    : undefined

/** Finds a grammar. In formats whose tools need schemas, it moves into the description of its tool. */
const grammar: FactFinder = ([tool], expected, found) => {
  const description = found.get(`${tool}description`)
  return typeof description === 'string' && description.includes(String(expected)) ? expected : undefined
}

/** Finds a free-form tool, which becomes a tool whose schema has a single text field. */
const kind: FactFinder = ([tool], expected, found) => {
  const properties = Object.values(objectOf(objectOf(found.get(`${tool}parameters`))['properties']))
  const [only, ...others] = listOf(properties)
  return expected === 'free-form' && isObject(only) && only['type'] === 'string' && others.length === 0
    ? expected
    : undefined
}

/** Finds the description of a tool, which is followed by its grammar. */
const description: FactFinder = ([tool], expected, found, source) => {
  const value = found.get(`${tool}description`)
  const hasGrammar = source.has(`${tool}grammar.definition`)
  return hasGrammar && typeof value === 'string' && value.startsWith(String(expected)) ? expected : undefined
}

const FINDERS: readonly (readonly [RegExp, FactFinder])[] = [
  [SIGNATURE, signature],
  [/^(turns\[\d+\]\.)results\[\d+\]\.media\[\d+\]\.(\w+)$/, resultMedia],
  [/^(tools\..+\.)grammar\.\w+$/, grammar],
  [/^(tools\..+\.)kind$/, kind],
  [/^(tools\..+\.)description$/, description],
]

/** Returns a fact that has another path on the other side, or undefined if the fact is lost. */
export function findElsewhere(path: string, expected: Json, found: Leaves, source: Leaves): Json | undefined {
  for (const [pattern, find] of FINDERS) {
    const groups = pattern.exec(path)
    if (groups !== null) return find(groups.slice(1), expected, found, source)
  }
  return undefined
}

/** Path of a media fact in a turn. */
const TURN_MEDIA = /^(turns\[\d+\]\.)media\[\d+\]\.(\w+)$/

/** Returns true if a fact describes media that moved from a tool result to the parts after it. */
export function isMoved(path: string, value: Json, source: Leaves): boolean {
  const [, turn, field] = TURN_MEDIA.exec(path) ?? []
  if (turn === undefined) return false
  return [...source].some(
    ([at, one]) =>
      at.startsWith(`${turn}results[`) && at.endsWith(`].${field}`) && /\.media\[/.test(at) && one === value,
  )
}
