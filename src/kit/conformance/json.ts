/* Looking into JSON whose shape nobody vouches for. */

export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [name: string]: Json
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The object, or an empty one for anything else. */
export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {})

/** The list, or an empty one for anything else. */
export const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? value : [])

export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
export const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)
export const booleanOf = (value: unknown): boolean | undefined => (typeof value === 'boolean' ? value : undefined)

/** The parsed text, or `undefined` where it is not JSON. */
export function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

/** JSON with sorted keys, so that equal values have equal texts. */
export const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    isObject(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  ) ?? 'undefined'

/** The fields that may be `undefined` may be absent. */
type Compact<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  (Array.isArray(value) && value.length === 0) ||
  (isObject(value) && Object.keys(value).length === 0)

/** A copy without the fields that are `undefined`, empty lists or empty objects. */
export const compact = <T extends object>(value: T): Compact<T> =>
  Object.fromEntries(Object.entries(value).filter(([, one]) => !isEmpty(one))) as Compact<T>
