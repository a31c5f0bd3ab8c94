import fc from 'fast-check'
import { isObject, type Json, type JsonObject } from '../../src/canonical/node.ts'

/** A value of every type, names that every object inherits, and values that look like another type. */
const RUBBISH: readonly Json[] = [
  ...[null, true, false, 0, -1, 1.5, 1e21, '', 'zz', '0', 'constructor', '__proto__', 'toString', 'valueOf'],
  ...[[], ['zz'], [null], [{}], [[]], {}, { zz: 1 }, { type: 'zz' }, { text: 'zz' }, { toString: 'zz', length: 1 }],
]

type Place = readonly (string | number)[]

/** Returns the path of every value inside a value. */
function placesIn(value: Json, at: Place = []): Place[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, item]) => {
    const place = [...at, Array.isArray(value) ? Number(key) : key]
    return [place, ...placesIn(item, place)]
  })
}

/** Returns the value with another value at one path. */
function replaced(value: Json, [key, ...rest]: Place, by: Json): Json {
  if (key === undefined) return by
  if (Array.isArray(value)) return value.map((item, index) => (index === key ? replaced(item, rest, by) : item))
  return { ...(value as JsonObject), [key]: replaced((value as JsonObject)[key]!, rest, by) }
}

/** Replaces one or two values of an object with values of another type, all with equal probability. */
export const spoiled = (body: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> =>
  fc
    .tuple(body, fc.array(fc.tuple(fc.nat(), fc.constantFrom(...RUBBISH)), { minLength: 1, maxLength: 2 }))
    .map(([whole, changes]) =>
      changes.reduce<Json>((value, [at, by]) => {
        const places = placesIn(value)
        return places.length === 0 ? value : replaced(value, places[at % places.length]!, by)
      }, whole),
    )
    .filter(isObject)
