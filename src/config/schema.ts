import * as v from 'valibot'
import { suggestion } from './faults.ts'
import { record, strictFields } from './objects.ts'
import { DURATION_PATTERN, durationsUpTo, INSTANT_PATTERN, instant as instantIn, milliseconds } from './units.ts'

/** A JSON Schema, as used in OpenAPI. */
export type JsonSchema = { readonly [key: string]: unknown }

export type AnySchema = v.GenericSchema<never, unknown> | v.GenericSchema

const described = new WeakMap<object, JsonSchema>()

/** Attaches a JSON Schema to a schema from which it cannot be derived. */
export function describedAs<S extends object>(schema: S, json: JsonSchema): S {
  // For a pipe, the converter looks up the description of the first schema.
  const { pipe } = schema as { readonly pipe?: readonly [object, ...object[]] }
  described.set(pipe?.[0] ?? schema, json)
  return schema
}

/** Returns the JSON Schema attached to a schema. */
export const descriptionOf = (schema: object): JsonSchema | undefined => described.get(schema)

/** An object schema that rejects unknown fields and suggests the most similar known one. */
export const fields = <E extends v.ObjectEntries>(entries: E) =>
  strictFields(withoutPrototype(entries), issue => {
    if (issue.expected === 'never') {
      const name = String(issue.path?.at(-1)?.key)
      return `unknown${suggestion(name, Object.keys(entries))}`
    }
    return issue.path === undefined || issue.expected === 'Object' ? expects('an object')(issue) : 'is missing'
  })

/** Copies entries to an object without a prototype, so that inherited names such as `toString` are not fields. */
const withoutPrototype = <E extends object>(entries: E): E => Object.assign(Object.create(null), entries)

/** Builds messages such as `expected a number, found a list`. Values are not shown, because they may be secrets. */
const expects = (what: string) => (issue: v.BaseIssue<unknown>) =>
  issue.input === undefined ? 'is missing' : `expected ${what}, found ${kindOf(issue.input)}`

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (value === null) return 'null'
  if (value === '') return 'an empty string'
  return typeof value === 'string' ? 'another string' : `${/^[aeiou]/.test(typeof value) ? 'an' : 'a'} ${typeof value}`
}

/** A printable, non-empty text with a maximum length (code points, as in JSON Schema) and an optional prefix. */
export const text = (max = 200, first = '') =>
  describedAs(
    v.pipe(
      v.string(expects('a string')),
      v.check(value => value !== '', 'is empty'),
      v.check(value => !isLonger(value, max), `has more than ${max} characters`),
      v.check(value => PRINTABLE.test(value), 'contains characters that cannot be stored'),
      v.startsWith(first, `must start with ${first}`),
    ),
    { type: 'string', minLength: 1, maxLength: max, pattern: portable(first) },
  )

/** Returns true if a string has more than `max` code points, which JSON Schema counts as characters. */
export const isLonger = (value: string, max: number): boolean =>
  value.length > max && (value.length > 2 * max || [...value].length > max)

/** Matches text without control characters and lone surrogates. Some databases cannot store NUL. */
const PRINTABLE = /^[^\p{Cc}\p{Cs}]*$/u
/**
 * Returns the equivalent of `PRINTABLE` for the OpenAPI description. Some validators lack Unicode classes, and JSON has
 * no lone surrogates.
 */
const portable = (first: string): string => `^${first}[^\\u0000-\\u001f\\u007f-\\u009f]*$`

/** A readonly list in a request body. */
export const list = <S extends v.GenericSchema>(item: S, max = 1000) =>
  v.pipe(v.array(item, expects('a list')), v.maxLength(max, `has more than ${max} items`), v.readonly())
/** A list in an answer. */
export const listOf = <S extends v.GenericSchema>(item: S) => v.pipe(v.array(item), v.readonly())

export const oneOf = <const T extends readonly string[]>(values: T) =>
  v.picklist(values, expects(values.map(value => `"${value}"`).join(' or ')))

/** An object with arbitrary names and one schema for all values. */
export const mapOf = <S extends v.GenericSchema>(value: S) => record(v.string(), value, expects('an object'))

/** An object whose fields are checked by the endpoint. The description refers to their schema. */
export const checkedLater = (description: string) =>
  describedAs(
    v.pipe(
      mapOf(v.unknown()),
      v.check(value => !isDeep(value), TOO_DEEP),
    ),
    { type: 'object', description },
  )

/** Maximum nesting depth of objects and lists. The deepest setting, a flag of a dialect, has a depth of five. */
const MAX_DEPTH = 20

export const TOO_DEEP = `has more than ${MAX_DEPTH} levels`

/** A name in URL paths. Clients resolve `.` and `..` there, so these names are refused. */
export const pathName = () => v.pipe(text(), v.notValues(['.', '..'], 'cannot be used in a URL path'))

/** Returns true if a value is nested so deeply that recursive code could exhaust the stack. */
export const isDeep = (value: unknown, levels = MAX_DEPTH): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some(inner => isDeep(inner, levels - 1)))

export const yesOrNo = v.boolean(expects('true or false'))

/** A whole number within a range. */
export const whole = (least = 0, max = Number.MAX_SAFE_INTEGER) => {
  const message = expects(`a whole number, ${least} or more`)
  return v.pipe(
    v.number(message),
    v.integer(message),
    v.minValue(least, message),
    v.maxValue(max, `is more than ${max}`),
  )
}
const MAX_DOLLARS = 1_000_000
/** An amount in US dollars. Larger amounts could not be counted exactly. */
export const money = v.pipe(
  v.number(expects('an amount, 0 or more')),
  v.minValue(0, expects('an amount, 0 or more')),
  v.maxValue(MAX_DOLLARS, `is more than ${MAX_DOLLARS}`),
)

/** A string that matches a pattern. Messages show `what` instead of the pattern. */
const textMatching = (pattern: string, what: string) => {
  const whole = `^(?:${pattern})$`
  const isValid = new RegExp(whole, 'u')
  return describedAs(
    v.pipe(
      v.string(expects(what)),
      v.check(value => isValid.test(value), expects(what)),
    ),
    {
      ...{ type: 'string', pattern: whole, description: what },
    },
  )
}

const TIME = 'a time such as 2027-01-31T12:00:00Z'

/** A time in a request body: ISO 8601, converted to Unix milliseconds. */
export const time = v.pipe(
  textMatching(INSTANT_PATTERN, TIME),
  v.transform(value => instantIn(value)!),
)
/** A time in an answer. */
export const instant = v.pipe(v.string(), v.isoTimestamp())
/** Formats Unix milliseconds as a time in an answer. */
export const instantOf = (at: number): string => new Date(at).toISOString()

/** A duration such as `1h`, up to a number of days, converted to milliseconds. */
export const duration = (days: number) =>
  v.pipe(
    textMatching(durationsUpTo(days), `a duration such as 1h, up to ${days}d`),
    v.transform(value => milliseconds(value)!),
  )

/* Query parameters. Their values are always strings. */

const TIME_OR_AGE = `${TIME}, or a duration before now such as 24h`
/** A time, or a duration before now, converted to Unix milliseconds. */
export const since = v.pipe(
  textMatching(`${INSTANT_PATTERN}|${DURATION_PATTERN}`, TIME_OR_AGE),
  v.transform(value => instantIn(value) ?? Math.max(0, Date.now() - milliseconds(value)!)),
)

/** A page size. */
export const limit = (usual: number, max: number) => {
  const message = expects(`a whole number from 1 to ${max}`)
  const isValid = (value: string): boolean => /^\d+$/.test(value) && Number(value) >= 1 && Number(value) <= max
  const schema = v.pipe(v.string(), v.check(isValid, message), v.transform(Number))
  const json = { type: 'integer', minimum: 1, maximum: max, default: usual }
  return describedAs(v.optional(schema, String(usual)), json)
}

/** A boolean parameter: `?force` or `?force=true`. */
export const flag = describedAs(
  v.optional(
    v.pipe(
      v.picklist(['', 'true', 'false'], expects('true or false')),
      v.transform(value => value !== 'false'),
    ),
    'false',
  ),
  { type: 'boolean', default: false },
)

/** A comma-separated list of names: `?by=key,model`. Duplicates are removed. */
export const namesOf = <const T extends readonly string[]>(names: T) =>
  describedAs(
    v.pipe(
      v.string(),
      v.transform(value => [...new Set(value.split(','))]),
      v.array(oneOf(names)),
      v.readonly(),
    ),
    { type: 'array', items: { type: 'string', enum: names } },
  )

/** A parameter with 1 to 500 printable characters. */
export const word = text(500)
/** Like `word`, but may be empty, to select entries without a value. */
export const wordOrNone = describedAs(
  v.pipe(
    v.string(),
    v.check(value => value === '' || v.is(word, value), 'is too long, or contains characters that cannot be stored'),
  ),
  { type: 'string', maxLength: 500, pattern: portable('') },
)
