import fc from 'fast-check'
import type { JsonObject } from '../../src/canonical/node.ts'
import { bytes, json, object, record } from './arbitrary.ts'

/* Freedoms of proto3 JSON everywhere: either casing, unknown fields and nulls. */

type Generators = { readonly [field: string]: fc.Arbitrary<unknown> }

export const unknown = object(fc.oneof(json, fc.constant(null)))
export const is = <T>(value: T) => fc.constant(value)
export const list = (value: fc.Arbitrary<unknown>, maxLength = 3) => fc.array(value, { maxLength })
export const maybe = (value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 6, arbitrary: value }, { weight: 1, arbitrary: is(null) })

/** A number, which may be written as a string. */
export const numeral = (value: fc.Arbitrary<number>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 4, arbitrary: value }, { weight: 1, arbitrary: value.map(String) })

const snake = (name: string): string => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

/** The object with some of its fields in snake_case. */
const cased = (value: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> =>
  fc.tuple(value, fc.nat(3)).map(([fields, dice]) => {
    if (dice > 1) return fields
    return Object.fromEntries(
      Object.entries(fields).map(([name, one], index) => [dice === 0 || index % 2 === 0 ? snake(name) : name, one]),
    )
  })

/** An object whose optional fields are present, null or missing, in either casing, with additional unknown fields. */
export const loose = (needed: Generators, optional: Generators = {}): fc.Arbitrary<JsonObject> => {
  const nullable = Object.fromEntries(Object.entries(optional).map(([name, value]) => [name, maybe(value)]))
  return fc
    .tuple(cased(record<JsonObject>(needed, nullable)), unknown)
    .map(([known, others]) => ({ ...others, ...known }))
}

/** A value, or null in its place. */
export const maybeNull = (value: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 5, arbitrary: value }, { weight: 1, arbitrary: fc.constant(null) })

export const dataUrl = bytes.map(data => `data:image/png;base64,${data}`)
