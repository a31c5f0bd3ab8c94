export type Json = string | number | boolean | null | readonly Json[] | JsonObject
export type JsonObject = { readonly [key: string]: Json }

/**
 * A wire format's name. The hub does not depend on the formats: the name is a plain string here, never a list of names.
 */
export type Format = string

/** Fields for data of formats that have more than the canonical model. */
export interface Node {
  /** What a format has here and canonical has no field for. A loss for any other format's writer. */
  readonly extras?: { readonly [format: Format]: JsonObject }
  /** How a format wrote what canonical contains (a string for a one-part list). Never a loss. */
  readonly spelling?: { readonly [format: Format]: JsonObject }
}

/**
 * Whether the field holds the default of its format, which the caller left out: losing it loses nothing the caller
 * wrote.
 */
export const isImplied = ({ spelling = {} }: Node, field: string): boolean =>
  Object.values(spelling).some(({ implied }) => Array.isArray(implied) && implied.includes(field))

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The field's string; an empty string for any other type. */
export const stringIn = (value: Json | undefined): string => (typeof value === 'string' ? value : '')

/** The object a JSON text holds, or undefined where it holds anything else or does not parse. */
export function parseObject(text: string): JsonObject | undefined {
  const value = parseJson(text)
  return isObject(value) ? value : undefined
}

/** The value of a JSON text; undefined where it does not parse. */
export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

/** The same object without the fields that are undefined. */
export const defined = <T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  withDefined({}, fields)

/** As `defined`; undefined where no field is left. */
export function someOf<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } | undefined {
  const out = defined(fields)
  for (const _ in out) return out
  return undefined
}

/**
 * Adds the fields that are not undefined to a newly made object and returns it. Equals `{ ...made, ...defined(fields)
 * }`, which allocates two more objects and takes three times as long.
 */
export function withDefined<T extends object, F extends object>(
  made: T,
  fields: F,
): T & { [K in keyof F]: Exclude<F[K], undefined> } {
  for (const key in fields) {
    const value = fields[key]
    if (value !== undefined) put(made, key, value)
  }
  return made as T & { [K in keyof F]: Exclude<F[K], undefined> }
}

/**
 * Sets a field whose name is untrusted: plain assignment to `__proto__` would set the prototype, and `defineProperty`
 * for every field is many times as slow.
 */
export function put(object: object, key: string, value: unknown): void {
  if (key !== '__proto__') (object as Record<string, unknown>)[key] = value
  else Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
}

/** The object with the objects in one of its lists changed; the very same where none is. */
export function withEach(object: JsonObject, field: string, change: (one: JsonObject) => JsonObject): JsonObject {
  const before = object[field]
  if (!Array.isArray(before)) return object
  const after = before.map(one => (isObject(one) ? change(one) : one))
  return after.every((one, at) => one === before[at]) ? object : { ...object, [field]: after }
}

const ORIGIN = Symbol('origin')

/** The wire value that a node was read from. */
export interface Origin<N, W> {
  readonly node: N
  readonly format: Format
  readonly wire: W
}

type Noted = { [ORIGIN]?: Origin<unknown, unknown> }

/**
 * Notes on a node just made which wire value it was read from. A writer of the same format gives that value back as long
 * as the node is the same: a copy has the same note, and so the original that it differs from.
 */
export function withOrigin<N extends object, W>(node: N, format: Format, wire: W): N {
  ;(node as Noted)[ORIGIN] = { node, format, wire }
  return node
}

/** Where the node, or the one that it is a changed copy of, was read from in this format. */
export function originOf<W, N extends object = object>(node: N, format: Format): Origin<N, W> | undefined {
  const origin = (node as Noted)[ORIGIN] as Origin<N, W> | undefined
  return origin?.format === format ? origin : undefined
}

/** The wire value of a node that is as it was read; undefined of any other. */
export function asRead<W>(node: object, format: Format): W | undefined {
  const origin = (node as Noted)[ORIGIN] as Origin<unknown, W> | undefined
  return origin?.node === node && origin.format === format ? origin.wire : undefined
}
