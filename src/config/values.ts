import * as v from 'valibot'
import { suggestion } from './faults.ts'
import { insteadOf } from './foreign-names.ts'
import { record, strictFields } from './objects.ts'
import { isRange } from './ranges.ts'
import { withValueKind } from './setting.ts'
import { bytes, instant, milliseconds } from './units.ts'
import { MAX_WORKERS } from './workers.ts'

/* Schemas for the kinds of values in a config file. Their messages never show secrets. */

/** An object schema that rejects unknown keys and suggests the most similar known one. */
export const fields = <E extends v.ObjectEntries>(entries: E) =>
  strictFields(entries, issue => {
    if (issue.expected === 'never') {
      const key = String(issue.path?.at(-1)?.key)
      const instead = insteadOf(key, entries)
      return `unknown key${instead === undefined ? suggestion(key, Object.keys(entries)) : `; ${instead}`}`
    }
    return issue.path === undefined || issue.expected === 'Object' ? expectsKind('a map')(issue) : 'is missing'
  })

/** Builds messages such as `expected a number, found "many"`. */
export const expects = (what: string) => (issue: v.BaseIssue<unknown>) =>
  issue.input === undefined ? 'is missing' : `expected ${what}, found ${shownValue(issue.input)}`

/**
 * Builds messages such as `expected a list, found a string`. A text in place of a list or map is not shown, because it
 * may be one of the keys that the list or map should contain.
 */
export const expectsKind = (what: string) => (issue: v.BaseIssue<unknown>) =>
  typeof issue.input === 'string' ? `expected ${what}, found a string` : expects(what)(issue)

function shownValue(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'a map'
  return typeof value === 'string' ? JSON.stringify(withoutCredentials(value)) : String(value)
}

/** Hides the user, the password and the query of an address, which may be secret. */
const withoutCredentials = (text: string): string => text.replace(/^(\w+:\/\/)?.*@/s, '$1…@').replace(/\?.+$/s, '?…')

export const text = withValueKind('text', v.pipe(v.string(expects('a string')), v.minLength(1, 'is empty')))
/**
 * A secret. Its value is trimmed, because files and variables often end with a line break, and never shown in messages.
 */
export const secret = withValueKind(
  'secret',
  v.pipe(v.string('expected a string'), v.trim(), v.minLength(1, 'is empty')),
)
/** Matches the name of a variable as shells, Kubernetes, Windows, LiteLLM, TensorZero, Kong and programs write it. */
const VARIABLE_NAME =
  /^(?:\$\w+|\$\([\w.-]+\)|%\w+%|os\.environ\/[\w.-]+|(?:process\.)?env(?:\.|::?|:\/\/)\w+|\{vault:\/\/env\/[\w-]+\})$/i

/** Matches the place of a secret in a file or a vault, as other programs write it. */
const SECRET_PLACE =
  /^(?:\{?(?!https?:)[a-z][a-z\d+.-]{0,30}:\/\/|path::|dynamic::|\/(?:run|var|etc|mnt|home|secrets?)\/)/i

/** Matches a key with quotes around it, which files of variables for Docker keep. */
export const QUOTED = /^(["']).*\1$/

/**
 * An API key. Contains only characters that are allowed in headers. Whoever knows the config's form could guess a
 * caller's key that is the name of a variable.
 */
export const credential = withValueKind(
  'key',
  v.pipe(
    secret,
    v.check(key => !VARIABLE_NAME.test(key), `is the name of a variable, not its value: write \${NAME}`),
    v.check(
      key => VARIABLE_NAME.test(key) || !SECRET_PLACE.test(key),
      `is the place of a secret, which is not read: set a variable to the secret and write \${NAME}`,
    ),
    v.check(key => !/^<.*>$/.test(key), 'is a placeholder: write the key'),
    v.check(key => !QUOTED.test(key), 'has quotes around it: remove them, also where the variable is set'),
    v.regex(/^[\x21-\x7e\x80-\xff]*$/, 'has a space, a line break or another character that no header can hold'),
  ),
)
/** Creates a separate schema, to which a description can be attached. */
export const listOfTexts = () => v.array(text, expectsKind('a list of strings'))
export const texts = listOfTexts()
export const mapOf = <T extends v.GenericSchema>(value: T) => record(v.string(), value, expectsKind('a map'))
export const headerName = withValueKind(
  'header name',
  v.pipe(v.string(), v.regex(/^[\w!#$%&'*+.^`|~-]+$/, 'is not a header name')),
)
/** Headers by name. Messages do not show the values, because they may be secret. */
export const headers = withValueKind(
  'map of headers',
  record(
    headerName,
    v.pipe(
      v.string('expected a string'),
      v.trim(),
      v.minLength(1, 'is empty'),
      v.regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'has a line break or another character that no header can hold'),
    ),
    expectsKind('a map'),
  ),
)

/** A number, or a numeric string, which variable interpolation produces. */
export const number = (what: string, lowest: number, whole: boolean) => {
  const inRange = (value: number): boolean =>
    Number.isFinite(value) && value >= lowest && (!whole || Number.isInteger(value))
  return withValueKind(
    what.replace(/^an? /, ''),
    v.union(
      [
        v.pipe(v.number(), v.check(inRange, expects(what))),
        v.pipe(
          v.string(),
          v.regex(/^-?\d+(\.\d+)?$/, expects(what)),
          v.transform(Number),
          v.check(inRange, expects(what)),
        ),
      ],
      expects(what),
    ),
  )
}
export const WORKERS = `a whole number from 1 to ${MAX_WORKERS}`
export const count = (what = 'a whole number, 0 or more') => number(what, 0, true)
export const port = withValueKind('port', v.pipe(count('a port'), v.maxValue(65_535, expects('a port'))))
/** An ISO 8601 time or day, converted to Unix milliseconds. */
export const time = withValueKind(
  'time',
  v.pipe(
    text,
    v.check(value => instant(value) !== undefined, expects('a time such as 2027-01-31 or 2027-01-31T12:00:00Z')),
    v.transform(value => instant(value)!),
  ),
)
export const duration = withValueKind(
  'duration',
  v.pipe(
    v.string(expects('a duration such as 5s or 500ms')),
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      const value = milliseconds(dataset.value)
      if (value !== undefined) return value
      addIssue({ message: `expected a duration such as 5s or 500ms, found ${shownValue(dataset.value)}` })
      return NEVER
    }),
  ),
)
/** A duration for a timer. The maximum is 24 days, because Node fires longer timers immediately. */
export const wait = (shortest = '1ms', longest = '24d') =>
  withValueKind(
    'duration',
    v.pipe(
      duration,
      v.rawCheck(({ dataset, addIssue }) => {
        if (!dataset.typed || (dataset.value >= milliseconds(shortest)! && dataset.value <= milliseconds(longest)!))
          return
        addIssue({ message: `expected a duration from ${shortest} to ${longest}` })
      }),
    ),
  )
export const size = withValueKind(
  'size',
  v.pipe(
    v.union([v.string(), v.number()], expects('a size such as 32MiB')),
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      const value = bytes(String(dataset.value))
      if (value !== undefined) return value
      addIssue({ message: `expected a size such as 32MiB, found ${shownValue(dataset.value)}` })
      return NEVER
    }),
  ),
)
/** A boolean, or its name as a string, which variable interpolation produces. */
export const yesOrNo = withValueKind(
  '`true` or `false`',
  v.union(
    [
      v.boolean(),
      v.pipe(
        v.picklist(['true', 'false', 'on', 'off']),
        v.transform(value => value === 'true' || value === 'on'),
      ),
    ],
    expects('true or false'),
  ),
)
export const oneOf = <const T extends readonly string[]>(values: T) =>
  v.picklist(values, issue => `${expects(values.map(value => `"${value}"`).join(' or '))(issue)}`)

export const address = withValueKind(
  'http or https address',
  v.pipe(
    text,
    v.trim(),
    v.check(
      value => /^https?:\/\/[^/?#]+(?:\/[^?#]*)?$/.test(value) && URL.canParse(value),
      expects('an http or https address'),
    ),
  ),
)
/**
 * Returns true if the percent-encoding of a text is valid. The HTTP client decodes the user and password of a proxy.
 */
export function isDecodable(text: string): boolean {
  try {
    return decodeURIComponent(text) !== ''
  } catch {
    return false
  }
}

/** The URL of a proxy, or `none`. Messages do not show it, because it may contain credentials. */
export const proxy = withValueKind(
  'address, or `none`',
  v.pipe(
    v.string('expected the http or https URL of a proxy, or none'),
    v.check(
      value => value === 'none' || (/^https?:\/\/[^/?#]+\/?$/.test(value) && URL.canParse(value) && isDecodable(value)),
      'expected the http or https URL of a proxy, or none',
    ),
  ),
)
/** A browser origin, or `*` for any. */
export const origin = withValueKind(
  'origin, or `"*"`',
  v.pipe(
    text,
    v.trim(),
    v.check(
      value => value === '*' || /^https?:\/\/[^/?#]+$/.test(value),
      expects('an origin such as https://example.org, or "*"'),
    ),
  ),
)
export const range = withValueKind(
  'address or range',
  v.pipe(text, v.check(isRange, expects('an address or a range such as 10.0.0.0/8'))),
)
export const models = v.union([texts, mapOf(text)], expectsKind('a list or a map of models'))
export const modalities = v.array(
  oneOf(['text', 'image', 'audio', 'video', 'file', 'embedding']),
  expectsKind('a list'),
)
export const money = withValueKind('amount', number('an amount, 0 or more', 0, false))
