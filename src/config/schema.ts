import * as v from 'valibot'
import { suggestion } from './faults.ts'
import { record, strictFields } from './objects.ts'
import { DURATION_PATTERN, durationsUpTo, INSTANT_PATTERN, instant as instantIn, milliseconds } from './units.ts'

/** A JSON Schema, as the description of the API has it. */
export type JsonSchema = { readonly [key: string]: unknown }

export type AnySchema = v.GenericSchema<never, unknown> | v.GenericSchema

const described = new WeakMap<object, JsonSchema>()

/** A schema with its JSON Schema, where that cannot be derived. */
export function describedAs<S extends object>(schema: S, json: JsonSchema): S {
  // Of a pipe, its first schema is what is asked for.
  const { pipe } = schema as { readonly pipe?: readonly [object, ...object[]] }
  described.set(pipe?.[0] ?? schema, json)
  return schema
}

/** The JSON Schema that was given with a schema. */
export const descriptionOf = (schema: object): JsonSchema | undefined => described.get(schema)

/** An object of exactly these fields; any other is refused with the most similar of them. */
export const fields = <E extends v.ObjectEntries>(entries: E) =>
  strictFields(ownOnly(entries), issue => {
    if (issue.expected === 'never') {
      const name = String(issue.path?.at(-1)?.key)
      return `unknown${suggestion(name, Object.keys(entries))}`
    }
    return issue.path === undefined || issue.expected === 'Object' ? expects('an object')(issue) : 'is missing'
  })

/** Without a prototype: what every object inherits is no field of it. */
const ownOnly = <E extends object>(entries: E): E => Object.assign(Object.create(null), entries)

/** `expected a number, found a list`; values are not repeated, as they may be secrets. */
const expects = (what: string) => (issue: v.BaseIssue<unknown>) =>
  issue.input === undefined ? 'is missing' : `expected ${what}, found ${kindOf(issue.input)}`

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (value === null) return 'null'
  if (value === '') return 'an empty text'
  return typeof value === 'string' ? 'another text' : `${/^[aeiou]/.test(typeof value) ? 'an' : 'a'} ${typeof value}`
}

/** A text of one to so many characters (code points, as JSON Schema counts them), which begins in a certain way. */
export const text = (most = 200, first = '') =>
  describedAs(
    v.pipe(
      v.string(expects('a text')),
      v.check(value => value !== '', 'is empty'),
      v.check(value => !isLonger(value, most), `has more than ${most} characters`),
      v.check(value => PRINTABLE.test(value), 'holds characters that cannot be stored'),
      v.startsWith(first, `does not begin with ${first}`),
    ),
    { type: 'string', minLength: 1, maxLength: most, pattern: portable(first) },
  )

/** Whether a text has more code points, as JSON Schema counts characters. */
export const isLonger = (value: string, most: number): boolean =>
  value.length > most && (value.length > 2 * most || [...value].length > most)

/** Neither control characters nor halves of characters; NUL cannot be stored everywhere. */
const PRINTABLE = /^[^\p{Cc}\p{Cs}]*$/u
/** The same for those who read the description: not every validator has classes of Unicode; JSON has no halves. */
const portable = (first: string): string => `^${first}[^\\u0000-\\u001f\\u007f-\\u009f]*$`

/** A list, which is not changed. */
export const list = <S extends v.GenericSchema>(item: S, most = 1000) =>
  v.pipe(v.array(item, expects('a list')), v.maxLength(most, `has more than ${most} items`), v.readonly())
/** A list of an answer. */
export const listOf = <S extends v.GenericSchema>(item: S) => v.pipe(v.array(item), v.readonly())

export const oneOf = <const T extends readonly string[]>(values: T) =>
  v.picklist(values, expects(values.map(value => `"${value}"`).join(' or ')))

/** An object of any names whose values have one schema. */
export const mapOf = <S extends v.GenericSchema>(value: S) => record(v.string(), value, expects('an object'))

export const yesOrNo = v.boolean(expects('true or false'))

/** A whole number in that range. */
export const whole = (least = 0, most = Number.MAX_SAFE_INTEGER) => {
  const message = expects(`a whole number, ${least} or more`)
  return v.pipe(
    v.number(message),
    v.integer(message),
    v.minValue(least, message),
    v.maxValue(most, `is more than ${most}`),
  )
}
const MOST_DOLLARS = 1_000_000
/** US dollars. More of them could not be counted exactly. */
export const money = v.pipe(
  v.number(expects('an amount, 0 or more')),
  v.minValue(0, expects('an amount, 0 or more')),
  v.maxValue(MOST_DOLLARS, `is more than ${MOST_DOLLARS}`),
)

/** A text that has a pattern, which is not in a message. */
const patterned = (pattern: string, what: string) => {
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

/** An instant of a body: ISO 8601, in Unix milliseconds. */
export const time = v.pipe(
  patterned(INSTANT_PATTERN, TIME),
  v.transform(value => instantIn(value)!),
)
/** An instant of an answer. */
export const instant = v.pipe(v.string(), v.isoTimestamp())
/** Unix milliseconds as an instant of an answer. */
export const instantOf = (at: number): string => new Date(at).toISOString()

/** A duration such as `1h` of at most so many days, in milliseconds. */
export const duration = (days: number) =>
  v.pipe(
    patterned(durationsUpTo(days), `a duration such as 1h, up to ${days}d`),
    v.transform(value => milliseconds(value)!),
  )

/* Parameters of a query, which are texts. */

const AGO = `${TIME}, or a duration before now such as 24h`
/** An instant, or how long before now it was; in Unix milliseconds. */
export const since = v.pipe(
  patterned(`${INSTANT_PATTERN}|${DURATION_PATTERN}`, AGO),
  v.transform(value => instantIn(value) ?? Math.max(0, Date.now() - milliseconds(value)!)),
)

/** The size of a page. */
export const limit = (usual: number, most: number) => {
  const message = expects(`a whole number from 1 to ${most}`)
  const isValid = (value: string): boolean => /^\d+$/.test(value) && Number(value) >= 1 && Number(value) <= most
  const schema = v.pipe(v.string(), v.check(isValid, message), v.transform(Number))
  const json = { type: 'integer', minimum: 1, maximum: most, default: usual }
  return describedAs(v.optional(schema, String(usual)), json)
}

/** `?force` or `?force=true`. */
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

/** `?by=key,model`: several of these names, without repetition. */
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

/** A parameter that is any text. */
export const word = text(500)
/** The same, or nothing: those that have none. */
export const wordOrNone = describedAs(
  v.pipe(
    v.string(),
    v.check(value => value === '' || v.is(word, value), 'is too long, or holds characters that cannot be stored'),
  ),
  { type: 'string', maxLength: 500, pattern: portable('') },
)
