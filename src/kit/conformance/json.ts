/* Access to JSON of unknown shape. */

export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [name: string]: Json
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns the value if it is an object, otherwise an empty object. */
export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {})

/** Returns the value if it is a list, otherwise an empty list. */
export const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? value : [])

export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
export const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)
export const booleanOf = (value: unknown): boolean | undefined => (typeof value === 'boolean' ? value : undefined)

/** Maximum depth of parsed JSON. No format needs more. */
const MAX_DEPTH = 500
/** Maximum number of values in parsed JSON. Every judge visits every value. */
const MAX_VALUES = 500_000

const QUOTE = 34
const BACKSLASH = 92
const OPENING_BRACKETS = new Set([91, 123])
const CLOSING_BRACKETS = new Set([93, 125])
const COMMA = 44

/** Returns true if a JSON text is within the limits above. Also true for text that is not JSON. */
function isWithinLimits(text: string): boolean {
  let depth = 0
  let values = 0
  let isInText = false
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (isInText && code === BACKSLASH) index++
    else if (code === QUOTE) isInText = !isInText
    else if (isInText) continue
    else if (code === COMMA && ++values > MAX_VALUES) return false
    else if (OPENING_BRACKETS.has(code) && ++depth > MAX_DEPTH) return false
    else if (CLOSING_BRACKETS.has(code)) depth--
  }
  return true
}

/** Parses a text. Returns undefined if it is not JSON or exceeds the limits. */
export function parseJson(text: string): Json | undefined {
  if (!isWithinLimits(text)) return undefined
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

/** Returns JSON with sorted keys, so that equal values yield equal texts. */
export const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    isObject(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  ) ?? 'undefined'

/** Turns fields that may be undefined into optional fields. */
type Compact<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  (Array.isArray(value) && value.length === 0) ||
  (isObject(value) && Object.keys(value).length === 0)

/** Copies an object without undefined fields, empty lists and empty objects. */
export const compact = <T extends object>(value: T): Compact<T> =>
  Object.fromEntries(Object.entries(value).filter(([, one]) => !isEmpty(one))) as Compact<T>
