import { isObject, type Json, type JsonObject, type Node } from '../../canonical/node.ts'
import { anyNumber, defined, put, rest, spelling } from '../fields.ts'

export const FORMAT = 'contents'

/** A wire object, its known fields under their camelCase names, and how they were written where differently. */
export interface Opened {
  readonly fields: JsonObject
  readonly names: JsonObject | undefined
  /** Numbers that were written as texts. */
  readonly numerals?: JsonObject | undefined
}

/**
 * Fields may be written in camelCase or in snake_case, each by itself, and those of `numbers` as texts (proto3 JSON,
 * FORMATS §7).
 */
export function open(wire: JsonObject, known: ReadonlySet<string>, numbers: readonly string[] = []): Opened {
  const opened = cased(wire, known)
  const { fields, names } = opened
  const written = numbers.filter(name => typeof fields[name] === 'string' && NUMERAL.test(fields[name]))
  if (written.length === 0) return opened
  return {
    fields: { ...fields, ...Object.fromEntries(written.map(name => [name, Number(fields[name])])) },
    names,
    numerals: Object.fromEntries(written.map(name => [name, fields[name]!])),
  }
}

/** A number as JSON writes it. */
export const NUMERAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d{1,2})?$/

/** A number an upstream sent, as such or as a text. */
export const anyNumeral = (value: Json | undefined): number | undefined =>
  typeof value === 'string' && NUMERAL.test(value) ? Number(value) : anyNumber(value)

function cased(wire: JsonObject, known: ReadonlySet<string>): Opened {
  let names: Record<string, string> | undefined
  for (const key in wire) {
    if (!key.includes('_')) continue
    const camel = camelCase(key)
    if (camel !== key && known.has(camel) && !Object.hasOwn(wire, camel)) (names ??= {})[camel] ??= key
  }
  if (names === undefined) return { fields: wire, names: undefined }
  const written = new Map(Object.entries(names).map(([camel, key]) => [key, camel]))
  const fields: JsonObject = {}
  for (const key in wire) put(fields, written.get(key) ?? key, wire[key])
  return { fields, names }
}

const camelCase = (name: string): string =>
  name.replace(/(?<=.)_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())

/** The name a field was written under. */
export const writtenAs = (field: string, { names }: Opened): string =>
  names !== undefined && Object.hasOwn(names, field) ? String(names[field]) : field

/** What a reader leaves of an object: fields canonical does not have, and the spelling of the others. */
export interface Remains {
  readonly extras?: JsonObject
  readonly marks?: JsonObject
}

/** What is left of an object inside which others were read, whose remains are kept under their fields' names. */
export function remainsOf(
  { fields, names, numerals }: Opened,
  taken: ReadonlySet<string>,
  spelt: { readonly [key: string]: Json | undefined } = {},
  inside: { readonly [field: string]: Remains | undefined } = {},
  refused?: readonly string[],
): Remains {
  const { extras, spelling: marks } = rest(FORMAT, fields, taken, undefined, refused)
  const own = marks?.[FORMAT]
  const outerExtras = extras?.[FORMAT]
  const innerExtras = pick(inside, 'extras')
  const spelled = own === undefined ? spelt : { ...own, ...spelt }
  return defined({
    extras: innerExtras === undefined ? outerExtras : { ...outerExtras, ...innerExtras },
    marks: spelling({ ...spelled, names, numerals, inside: pick(inside, 'marks') }),
  })
}

function pick(inside: { readonly [field: string]: Remains | undefined }, what: keyof Remains): JsonObject | undefined {
  let out: { [field: string]: Json } | undefined
  for (const field in inside) {
    const value = inside[field]?.[what]
    if (value !== undefined) put((out ??= {}), field, value)
  }
  return out
}

/** What is left as a canonical node holds it. */
export const nodeOf = ({ extras, marks }: Remains): Node =>
  defined({
    extras: extras === undefined ? undefined : { [FORMAT]: extras },
    spelling: marks === undefined ? undefined : { [FORMAT]: marks },
  })

/** A list may be written as its only item. */
export const listed = (value: Json | undefined): Json | undefined => (isObject(value) ? [value] : value)

/** Whether a list was written as its only item. */
export const single = (value: Json | undefined): 'single' | undefined => (isObject(value) ? 'single' : undefined)
