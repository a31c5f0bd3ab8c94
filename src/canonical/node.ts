export type Json = string | number | boolean | null | readonly Json[] | JsonObject
export type JsonObject = { readonly [key: string]: Json }

/**
 * The name of a wire format. Any string instead of a union of names, because the canonical model does not depend on the
 * formats.
 */
export type Format = string

/** Fields of every canonical node for format-specific data that the canonical model lacks. */
export interface Node {
  /** Fields of a format that the canonical model lacks. Writers of other formats drop them. */
  readonly extras?: { readonly [format: Format]: JsonObject }
  /**
   * The way a format wrote the canonical content, such as a string instead of a list with one part. Dropping it is
   * never a loss.
   */
  readonly spelling?: { readonly [format: Format]: JsonObject }
}

/**
 * Returns true if the field's value is a default that the caller left out. Dropping it loses nothing that the caller
 * wrote.
 */
export const isImplied = ({ spelling = {} }: Node, field: string): boolean =>
  Object.values(spelling).some(({ implied }) => Array.isArray(implied) && implied.includes(field))

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns a string value, or an empty string for any other type. */
export const stringIn = (value: Json | undefined): string => (typeof value === 'string' ? value : '')

/** Parses the JSON text of an object. Returns undefined for any other value and for malformed JSON. */
export function parseObject(text: string): JsonObject | undefined {
  const value = parseJson(text)
  return isObject(value) ? value : undefined
}

/** Parses a JSON text. Returns undefined if it is malformed. */
export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

/** Returns a copy without the fields that are undefined. */
export const defined = <T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  withDefined({}, fields)

/** Returns a copy without the fields that are undefined, or undefined if no field remains. */
export function definedIfAny<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } | undefined {
  const out = defined(fields)
  for (const _ in out) return out
  return undefined
}

/**
 * Adds the fields that are not undefined to a newly created object and returns it. Equivalent to `{ ...created,
 * ...defined(fields) }`, which allocates two more objects and takes three times as long.
 */
export function withDefined<T extends object, F extends object>(
  created: T,
  fields: F,
): T & { [K in keyof F]: Exclude<F[K], undefined> } {
  for (const key in fields) {
    const value = fields[key]
    if (value !== undefined) put(created, key, value)
  }
  return created as T & { [K in keyof F]: Exclude<F[K], undefined> }
}

/**
 * Sets a field whose name is untrusted. Plain assignment to `__proto__` would set the prototype, and `defineProperty`
 * for every field is many times slower.
 */
export function put(object: object, key: string, value: unknown): void {
  if (key !== '__proto__') (object as Record<string, unknown>)[key] = value
  else Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
}

/** Maps the object in a field. Returns the same object if nothing changes. */
export function withMappedObject(
  object: JsonObject,
  field: string,
  change: (one: JsonObject) => JsonObject,
): JsonObject {
  const before = object[field]
  if (!isObject(before)) return object
  const after = change(before)
  return after === before ? object : { ...object, [field]: after }
}

/** Maps the objects in a list field. Returns the same object if no item changes. */
export function withMappedItems(
  object: JsonObject,
  field: string,
  change: (one: JsonObject) => JsonObject,
): JsonObject {
  const before = object[field]
  if (!Array.isArray(before)) return object
  const after = before.map(one => (isObject(one) ? change(one) : one))
  return after.every((one, at) => one === before[at]) ? object : { ...object, [field]: after }
}

const WIRE_SOURCE = Symbol('origin')

/** A canonical node and the wire value that it was read from. */
export interface WireSource<N, W> {
  readonly node: N
  readonly format: Format
  readonly wire: W
}

type WithWireSource = { [WIRE_SOURCE]?: WireSource<unknown, unknown> }

/**
 * Attaches the source wire value to a new node. A writer of the same format returns that value if the node is
 * unchanged. A changed copy of the node shares the record, which still refers to the original node.
 */
export function withWireSource<N extends object, W>(node: N, format: Format, wire: W): N {
  ;(node as WithWireSource)[WIRE_SOURCE] = { node, format, wire }
  return node
}

/**
 * Returns the wire value of this format from which the node or its original was read, or undefined for another format
 * and for a node that was not read from a wire value.
 */
export function wireSourceOf<W, N extends object = object>(node: N, format: Format): WireSource<N, W> | undefined {
  const source = (node as WithWireSource)[WIRE_SOURCE] as WireSource<N, W> | undefined
  return source?.format === format ? source : undefined
}

/**
 * Returns the wire value of a node that is unchanged since it was read in this format, or undefined for any other node.
 */
export function unchangedWire<W>(node: object, format: Format): W | undefined {
  const source = (node as WithWireSource)[WIRE_SOURCE] as WireSource<unknown, W> | undefined
  return source?.node === node && source.format === format ? source.wire : undefined
}
