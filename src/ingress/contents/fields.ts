import { isObject, type Json, type JsonObject, type Node } from '../../canonical/node.ts'
import { anyNumber, left, number, put } from '../fields.ts'

export const FORMAT = 'contents'

export const CONTENT: ReadonlySet<string> = new Set(['role', 'parts'])
/** What a request to count tokens may stand in. */
export const WRAPPER: ReadonlySet<string> = new Set(['generateContentRequest'])

/**
 * A wire object with its known fields under their camelCase names: each may be written in snake_case instead (proto3
 * JSON, docs/wire/contents.md#json).
 */
export function open(wire: JsonObject, known: ReadonlySet<string>): JsonObject {
  for (const key in wire) if (key.includes('_')) return cased(wire, known)
  return wire
}

function cased(wire: JsonObject, known: ReadonlySet<string>): JsonObject {
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

/** A number as JSON writes it. */
export const NUMERAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d{1,2})?$/

const isNumeral = (value: Json | undefined): value is string => typeof value === 'string' && NUMERAL.test(value)

/** A caller's number, which may be written as a text (proto3 JSON). */
export const numeral = (value: Json | undefined): number | undefined =>
  isNumeral(value) ? Number(value) : number(value)

/** A number an upstream sent, as such or as a text. */
export const anyNumeral = (value: Json | undefined): number | undefined =>
  isNumeral(value) ? Number(value) : anyNumber(value)

/** The fields of an object that canonical does not have. */
export type Extras = Pick<Node, 'extras'>

/** What is left of an object, and of objects inside it, whose extras stand under their fields' names. */
export function leftOf(
  fields: JsonObject,
  taken: ReadonlySet<string>,
  inside: { readonly [field: string]: Extras | undefined } = {},
  refused?: readonly string[],
): Extras {
  const outer = left(FORMAT, fields, taken, refused)
  let own: { [field: string]: Json } | undefined
  for (const field in inside) {
    const deeper = inside[field]?.extras?.[FORMAT]
    if (deeper !== undefined) (own ??= { ...outer.extras?.[FORMAT] })[field] = deeper
  }
  return own === undefined ? outer : { extras: { [FORMAT]: own } }
}

/** A list may be written as its only item. */
export const listed = (value: Json | undefined): Json | undefined => (isObject(value) ? [value] : value)
