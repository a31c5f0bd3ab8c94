import { isObject, type Json, type JsonObject, type Node } from '../../canonical/node.ts'
import { anyNumber, extrasOf, number, put } from '../fields.ts'

export const FORMAT = 'contents'

/** The known fields of a content. */
export const CONTENT: ReadonlySet<string> = new Set(['role', 'parts'])
/** The field that may wrap the request whose tokens are counted. */
export const WRAPPER: ReadonlySet<string> = new Set(['generateContentRequest'])

/**
 * Normalizes the known fields of a wire object to camelCase. Callers may also write them in snake_case (proto3 JSON,
 * docs/wire/contents.md#json).
 */
export function inCamelCase(wire: JsonObject, known: ReadonlySet<string>): JsonObject {
  for (const key in wire) if (key.includes('_')) return converted(wire, known)
  return wire
}

function converted(wire: JsonObject, known: ReadonlySet<string>): JsonObject {
  const fields: JsonObject = {}
  for (const key in wire) {
    const camel = camelCase(key)
    const isOther = camel !== key && known.has(camel) && !Object.hasOwn(wire, camel) && !Object.hasOwn(fields, camel)
    put(fields, isOther ? camel : key, wire[key])
  }
  return fields
}

const camelCase = (name: string): string =>
  name.replace(/(?<=.)_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())

/** The notation of a JSON number. */
export const NUMERAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d{1,2})?$/

const isNumeral = (value: Json | undefined): value is string => typeof value === 'string' && NUMERAL.test(value)

/**
 * Reads a caller's number, which may be written as a string (proto3 JSON).
 *
 * @throws WrongType.
 */
export const numeral = (value: Json | undefined): number | undefined =>
  isNumeral(value) ? Number(value) : number(value)

/** Reads an upstream's number, which may be written as a string. Returns undefined for any other value. */
export const anyNumeral = (value: Json | undefined): number | undefined =>
  isNumeral(value) ? Number(value) : anyNumber(value)

/** Extras of a node: fields that the canonical model lacks. */
export type Extras = Pick<Node, 'extras'>

/**
 * Collects the extras of an object and of its inner objects. Extras of inner objects are nested under the field's name.
 *
 * @param inside extras of inner objects by field name.
 * @param unreadFields known fields that could not be read and therefore also become extras.
 */
export function contentsExtras(
  fields: JsonObject,
  knownFields: ReadonlySet<string>,
  inside: { readonly [field: string]: Extras | undefined } = {},
  unreadFields?: readonly string[],
): Extras {
  const outer = extrasOf(FORMAT, fields, knownFields, unreadFields)
  let merged: { [field: string]: Json } | undefined
  for (const field in inside) {
    const deeper = inside[field]?.extras?.[FORMAT]
    if (deeper !== undefined) (merged ??= { ...outer.extras?.[FORMAT] })[field] = deeper
  }
  return merged === undefined ? outer : { extras: { [FORMAT]: merged } }
}

/** Wraps an object in a list, because callers may write a list of one item as that item. */
export const asList = (value: Json | undefined): Json | undefined => (isObject(value) ? [value] : value)
