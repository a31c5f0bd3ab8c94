import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'

/*
 * Patterns of schemas. OpenAI compiles each with Python's `re`, and refuses those that are valid in JavaScript only, such
 * as `\p{Cc}` in a tool of Claude Code: "is not a 'regex'" (BerriAI/litellm#40485, bman654/clodex#195, read on
 * 2026-12-01). It also refuses lookaround: "is not supported" (docs/wire/chat.md#tools).
 */

/** Matches lookaround, which strict Claude refuses, too. */
const LOOKAROUND = /\(\?<?[=!]/

/** Returns true if a value is a pattern with lookaround, as Zod's for email addresses. */
export const looksAround = (pattern: Json | undefined): boolean =>
  typeof pattern === 'string' && LOOKAROUND.test(pattern)

/** Loss reasons for a pattern. */
export type PatternReason = 'no-lookaround' | 'no-such-pattern'

/** Returns why OpenAI refuses a pattern, or undefined if it takes it. */
export function refusalOf(pattern: Json | undefined): PatternReason | undefined {
  if (looksAround(pattern)) return 'no-lookaround'
  return typeof pattern === 'string' && !isPythons(pattern) ? 'no-such-pattern' : undefined
}

/**
 * Returns the schema without the patterns of its strings and of its properties' names that OpenAI refuses. The same
 * object if there are none.
 *
 * @param note gets the reason for each pattern that is left out.
 */
export function withoutRefusedPatterns(schema: JsonObject, note: (reason: PatternReason) => void): JsonObject {
  const { pattern, patternProperties: named, ...others } = schema
  const refusal = refusalOf(pattern)
  if (refusal !== undefined) note(refusal)
  const kept = isObject(named) ? Object.entries(named).filter(([name]) => !isRefused(name, note)) : undefined
  const isNarrowed = kept !== undefined && kept.length < Object.keys(named as JsonObject).length
  if (refusal === undefined && !isNarrowed) return schema
  // Names that only a refused pattern allowed are not to be forbidden.
  const { additionalProperties, ...opened } = others
  return {
    ...(isNarrowed && additionalProperties === false ? opened : others),
    ...(refusal === undefined && pattern !== undefined ? { pattern } : {}),
    ...(isNarrowed
      ? { patternProperties: Object.fromEntries(kept) }
      : named === undefined
        ? {}
        : { patternProperties: named }),
  }
}

function isRefused(pattern: string, note: (reason: PatternReason) => void): boolean {
  const refusal = refusalOf(pattern)
  if (refusal !== undefined) note(refusal)
  return refusal !== undefined
}

/** Letters that stand for a set of characters behind a backslash. */
const SETS: ReadonlySet<string | undefined> = new Set('dDsSwW')
/** Other letters and digits that Python takes behind a backslash. */
const ESCAPES: ReadonlySet<string> = new Set('dDsSwWabBfnrtvAZ0123456789')
/** Number of hexadecimal digits behind a letter. */
const HEXADECIMAL: { readonly [letter: string]: number } = { x: 2, u: 4, U: 8 }

/** Returns true if Python compiles the pattern, as far as its syntax differs from that of JavaScript. */
function isPythons(pattern: string): boolean {
  /** Index of the first character in the current class of characters, or undefined outside of one. */
  let start: number | undefined
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at]
    const next = pattern[at + 1]
    if (character === '\\') {
      if (!isEscape(pattern, at + 1)) return false
      if (start !== undefined && SETS.has(next) && opensRange(pattern, at + 2)) return false
      at++
    } else if (start !== undefined) {
      if (character === ']') start = undefined
      else if (character === '-' && at > start && next === '\\' && SETS.has(pattern[at + 2])) return false
    } else if (character === '[') {
      start = next === '^' ? at + 2 : at + 1
      if (pattern[start] === ']') return false
    } else if (character === '(' && pattern.startsWith('?<', at + 1)) return false
  }
  return true
}

function isEscape(pattern: string, at: number): boolean {
  const letter = pattern[at]
  if (letter === undefined) return false
  const digits = HEXADECIMAL[letter]
  if (digits !== undefined) return new RegExp(`^[0-9a-fA-F]{${digits}}$`).test(pattern.slice(at + 1, at + 1 + digits))
  return ESCAPES.has(letter) || !/[a-zA-Z]/.test(letter)
}

/** Returns true if a dash at this place of a class stands between two members. */
const opensRange = (pattern: string, at: number): boolean => pattern[at] === '-' && pattern[at + 1] !== ']'
