import { type Format, isObject, type Json, type JsonObject, type Node, put } from '../canonical/node.ts'

export { defined, definedIfAny, put, withDefined } from '../canonical/node.ts'

/**
 * Error for a known field with a value of the wrong type. The format's schema then identifies the field
 * (validation-error.ts).
 */
export class WrongType extends Error {
  static readonly instance = new WrongType('a field has the wrong type')
}

type Maybe = Json | undefined

const wrong = (): never => {
  throw WrongType.instance
}

/* Strict readers for callers' input. Null and absent fields are undefined. A wrong type throws WrongType. */

export const text = (value: Maybe): string | undefined =>
  typeof value === 'string' ? value : value == null ? undefined : wrong()
export const number = (value: Maybe): number | undefined =>
  typeof value === 'number' ? value : value == null ? undefined : wrong()
export const flag = (value: Maybe): boolean | undefined =>
  typeof value === 'boolean' ? value : value == null ? undefined : wrong()
export const object = (value: Maybe): JsonObject | undefined =>
  isObject(value) ? value : value == null ? undefined : wrong()
export const list = (value: Maybe): readonly Json[] | undefined =>
  Array.isArray(value) ? value : value == null ? undefined : wrong()
export const objects = (value: Maybe): readonly JsonObject[] | undefined =>
  list(value)?.map(item => (isObject(item) ? item : wrong()))
export const texts = (value: Maybe): readonly string[] | undefined =>
  list(value)?.map(item => (typeof item === 'string' ? item : wrong()))
/** Reads a list of strings, or a single string without a list. */
export const oneOrMoreTexts = (value: Maybe): readonly string[] | undefined =>
  typeof value === 'string' ? [value] : texts(value)
/** Reads a whole number of at least 1, such as the number of answers. */
export const count = (value: Maybe): number | undefined => positiveCount(number(value))
/** Like `count`, for a value that has already been read as a number. */
export const positiveCount = (value: number | undefined): number | undefined =>
  value === undefined || (Number.isInteger(value) && value >= 1) ? value : wrong()
/** Returns true if the string in a form field is a number. */
export const isNumeral = (text: string): boolean => text.trim() !== '' && Number.isFinite(Number(text))

/** Returns true if the string is a boolean, as in a form field. */
export const isFlag = (text: string): boolean => /^(?:true|false)$/i.test(text)

/** Throws WrongType if the value is absent. */
export const required = <T>(value: T | undefined): T => (value === undefined ? wrong() : value)

/** Returns true if a value is absent or has the given type. */
export const isMaybe = (value: Maybe, type: 'string' | 'boolean'): boolean => value == null || typeof value === type

/* Lenient readers for upstreams' output. A value of another type counts as absent. */

export const anyText = (value: Maybe): string | undefined => (typeof value === 'string' ? value : undefined)
export const anyNumber = (value: Maybe): number | undefined => (typeof value === 'number' ? value : undefined)
export const anyObject = (value: Maybe): JsonObject | undefined => (isObject(value) ? value : undefined)
export const anyObjects = (value: Maybe): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])

/** Empty set of known fields, for objects whose fields all become extras. */
export const NO_FIELDS: ReadonlySet<string> = new Set()

const NO_EXTRAS: Node = {}

/**
 * Collects the fields that a reader left unread as extras. Null fields are dropped, because null means absent. The
 * original spelling need not be recorded, because the node records its source (`canonical/node.ts`).
 *
 * @param unreadFields known fields whose values the reader could not use. They also become extras.
 */
export function extrasOf(
  format: Format,
  wire: JsonObject,
  knownFields: ReadonlySet<string>,
  unreadFields?: readonly string[],
): Pick<Node, 'extras'> {
  let extras: { [key: string]: Json } | undefined
  for (const key in wire) {
    const value = wire[key]!
    if (value !== null && (!knownFields.has(key) || unreadFields?.includes(key))) put((extras ??= {}), key, value)
  }
  return extras === undefined ? NO_EXTRAS : { extras: { [format]: extras } }
}

/**
 * Like `extrasOf`, for a wire object with an inner object (`image_url: { url }`). Extras of the inner object are stored
 * under the name of its field.
 */
export function extrasWithin(
  format: Format,
  wire: JsonObject,
  field: string,
  inside: JsonObject,
  knownInside: ReadonlySet<string>,
  knownFields: ReadonlySet<string>,
  unreadInside?: readonly string[],
): Pick<Node, 'extras'> {
  const outer = extrasOf(format, wire, knownFields)
  const within = extrasOf(format, inside, knownInside, unreadInside).extras?.[format]
  return within === undefined ? outer : { extras: { [format]: { ...outer.extras?.[format], [field]: within } } }
}
