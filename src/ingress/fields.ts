import { type Format, isObject, type Json, type JsonObject, type Node, put } from '../canonical/node.ts'

export { defined, put, someOf, withDefined } from '../canonical/node.ts'

/** A known field holds a value of the wrong type; the format's schema then names the field (validation-error.ts). */
export class WrongType extends Error {
  static readonly instance = new WrongType('a field has the wrong type')
}

type Maybe = Json | undefined

const wrong = (): never => {
  throw WrongType.instance
}

/* Strict, for callers' input: absent and null are undefined, a wrong type throws. */

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
/** Texts, of which a single one may stand without a list. */
export const oneOrMoreTexts = (value: Maybe): readonly string[] | undefined =>
  typeof value === 'string' ? [value] : texts(value)
/** A whole number of at least one: a number of things requested. */
export const count = (value: Maybe): number | undefined => counted(number(value))
/** As `count`, of a value read as a number already. */
export const counted = (value: number | undefined): number | undefined =>
  value === undefined || (Number.isInteger(value) && value >= 1) ? value : wrong()
/** Whether a form's text is a number. */
export const isNumeral = (text: string): boolean => text.trim() !== '' && Number.isFinite(Number(text))

export const required = <T>(value: T | undefined): T => (value === undefined ? wrong() : value)

/** Whether a value is of a type, if there is one. */
export const isMaybe = (value: Maybe, type: 'string' | 'boolean'): boolean => value == null || typeof value === type

/* Lenient, for upstreams' output: a value of another type counts as absent. */

export const anyText = (value: Maybe): string | undefined => (typeof value === 'string' ? value : undefined)
export const anyNumber = (value: Maybe): number | undefined => (typeof value === 'number' ? value : undefined)
export const anyObject = (value: Maybe): JsonObject | undefined => (isObject(value) ? value : undefined)
export const anyObjects = (value: Maybe): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])

/** For an object of which a reader takes nothing: all of it is left. */
export const NONE: ReadonlySet<string> = new Set()

const BARE: Node = {}

/**
 * The fields of a wire object that its reader did not take, as extras; nulls mean no more than absence. How it was spelled
 * need not be kept, as its node notes it (`canonical/node.ts`). `refused` names taken fields whose values the reader could
 * not use this time.
 */
export function left(
  format: Format,
  wire: JsonObject,
  taken: ReadonlySet<string>,
  refused?: readonly string[],
): Pick<Node, 'extras'> {
  let extras: { [key: string]: Json } | undefined
  for (const key in wire) {
    const value = wire[key]!
    if (value !== null && (!taken.has(key) || refused?.includes(key))) put((extras ??= {}), key, value)
  }
  return extras === undefined ? BARE : { extras: { [format]: extras } }
}

/**
 * As `left`, for a wire object whose fields stand in an object inside (`image_url: { url }`): what is left inside is kept
 * under the inner field's own name.
 */
export function leftWithin(
  format: Format,
  wire: JsonObject,
  field: string,
  inside: JsonObject,
  takenInside: ReadonlySet<string>,
  taken: ReadonlySet<string>,
  refusedInside?: readonly string[],
): Pick<Node, 'extras'> {
  const outer = left(format, wire, taken)
  const within = left(format, inside, takenInside, refusedInside).extras?.[format]
  return within === undefined ? outer : { extras: { [format]: { ...outer.extras?.[format], [field]: within } } }
}
