import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { ENDPOINTS } from '../../../src/operators/admin/index.ts'
import { description } from '../../../src/operators/admin/openapi.ts'

/** A JSON Schema, as far as values are generated from it. */
interface Schema {
  readonly [key: string]: unknown
  readonly type?: string
  readonly anyOf?: readonly Schema[]
  readonly enum?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly items?: Schema
  readonly maxItems?: number
  readonly properties?: { readonly [name: string]: Schema }
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
}

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly required: boolean
  readonly allowEmptyValue?: true
  readonly schema: Schema
}

// biome-ignore lint/suspicious/noExplicitAny: a JSON document
const openapi: any = JSON.parse(JSON.stringify(description(ENDPOINTS, '1.0.0')))
const ajv = new Ajv2020({ strict: false, validateFormats: false })

const described = (schema: Schema) => ajv.compile({ ...schema, components: openapi.components })

/** Strings at the limits of some check. Lone surrogates are left out, because JSON has none. */
const TEXTS = [
  ...[
    '',
    ' ',
    '.',
    '..',
    '...',
    '/',
    '/v1/x',
    'a/b',
    'ä',
    '𝒳',
    '\u0000',
    'a\u001fb',
    '\u0085',
    '\u007f',
    'a\nb',
    '-',
    '_',
  ],
  ...['true', 'false', 'TRUE', '0', '1', '-1', '1.5', '007', '1e2', '50', '200', '201', '500', '501', '10001', '٣'],
  ...['0s', '1h', '1.5 h', ' 1h ', '1H', '1w', '.5h', '1.h', '7d', '7.0d', '7.01d', '8d', '168h', '168.5h', '10080m'],
  ...['604800s', '604801s', '604800000ms', '604800001ms', '90d', '91d', '2160h', '2161h', '007d', '00090d', '-1h'],
  ...['2027-01-31', '2027-1-31', '2027-13-01', '2027-01-32', '2027', '1969-12-31', '1970-01-01', '9999-12-31'],
  ...['2027-01-31T12:00Z', '2027-01-31T12:00', '2027-01-31t12:00:00.5z', '2027-01-31T12:00:00.1234567891Z'],
  ...['2027-01-31T24:00Z', '2027-01-31T23:60Z', '2027-01-31T23:59:60Z', '2027-01-31T12:00+25:00', ' 2027-01-31'],
  ...[
    '1970-01-01T00:00+02:00',
    '9999-12-31T23:59-02:00',
    'Bob',
    'bob smith',
    ' bob',
    'bob ',
    '-bob',
    'bob/',
    '½',
    '⑴',
    'q',
  ],
]

/** Values of the wrong type. */
const OTHERS: readonly unknown[] = [null, true, 0, 1.5, '', 'x', [], ['x'], {}, { x: 1 }]

function textOf({ minLength = 0, maxLength = 0, enum: names = [] }: Schema): fc.Arbitrary<string> {
  const lengths = [minLength - 1, minLength, maxLength, maxLength + 1].filter(length => length > 0 && length < 300_000)
  const edges = lengths.flatMap(length => ['a', '𝒳', 'é'].map(letter => letter.repeat(length)))
  return fc.oneof(
    fc.constantFrom(...TEXTS),
    ...(names.length > 0 ? [{ weight: 3, arbitrary: fc.constantFrom(...names, `${names[0]}x`) }] : []),
    ...(edges.length > 0 ? [fc.constantFrom(...edges)] : []),
    fc.string({ maxLength: 8 }),
    fc.string({ unit: 'grapheme', maxLength: 8 }),
  )
}

function numberOf({ type, minimum = 0, maximum = 100 }: Schema): fc.Arbitrary<number> {
  const edges = [minimum - 1, minimum, minimum + 1, maximum - 1, maximum, maximum + 1, maximum * 2, 0.5, -0.5]
  return fc.oneof(fc.constantFrom(...edges), fc.integer(), ...(type === 'number' ? [fc.double({ noNaN: true })] : []))
}

/** Generates values that a schema describes, and some that it does not. */
function valuesOf(schema: Schema): fc.Arbitrary<unknown> {
  const meant = (): fc.Arbitrary<unknown> => {
    if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map(valuesOf))
    if (schema.type === 'integer' || schema.type === 'number') return numberOf(schema)
    if (schema.type === 'boolean') return fc.boolean()
    if (schema.type === 'null') return fc.constant(null)
    if (schema.type === 'array') return listOf(schema)
    return schema.type === 'object' ? objectOf(schema) : textOf(schema)
  }
  return fc.oneof({ weight: 30, arbitrary: meant() }, { weight: 1, arbitrary: fc.constantFrom(...OTHERS) })
}

function listOf({ items = {}, maxItems }: Schema): fc.Arbitrary<unknown[]> {
  const few = fc.array(valuesOf(items), { maxLength: 3 })
  if (maxItems === undefined) return few
  const filled = fc.constantFrom(maxItems, maxItems + 1).map(length => Array(length).fill(items.enum?.[0] ?? 'a'))
  return fc.oneof({ weight: 5, arbitrary: few }, { weight: 1, arbitrary: filled })
}

function objectOf({ properties = {}, required = [], additionalProperties }: Schema): fc.Arbitrary<object> {
  const fields = Object.entries(properties).map(([name, schema]) => {
    const isWanted = fc.integer({ min: 0, max: 9 }).map(drawn => (required.includes(name) ? drawn > 0 : drawn > 6))
    return fc.tuple(fc.constant(name), isWanted, valuesOf(schema))
  })
  const more = typeof additionalProperties === 'object' ? valuesOf(additionalProperties) : fc.constant(1)
  const extra = fc.tuple(
    fc.constant('unknown'),
    fc.integer({ min: 0, max: 9 }).map(drawn => drawn === 0),
    more,
  )
  return fc
    .tuple(...fields, extra)
    .map(all => Object.fromEntries(all.filter(([, isWanted]) => isWanted).map(([name, , value]) => [name, value])))
}

/** Parses the text of a parameter as a client does, by its schema (OpenAPI 3.1, style `form` without `explode`). */
function parsed({ type }: Schema, text: string): unknown {
  if (type === 'integer') return /^\d+$/.test(text) ? Number(text) : text
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  return type === 'array' ? text.split(',') : text
}

const written = (value: unknown): string => (Array.isArray(value) ? value.map(String).join(',') : String(value))

/**
 * Whether a user name is already normalized. Names are checked in normalized form, and a pattern can only describe
 * normalized names.
 */
const isNormalized = (value: unknown): boolean => {
  const { name = '' } = (value ?? {}) as { readonly name?: unknown }
  return typeof name !== 'string' || (name.normalize('NFKC') === name && !/[\u{10000}-\u{10ffff}]/u.test(name))
}

/** Compares the verdicts of schema and endpoint, and counts how often they agreed on each verdict. */
function compare(values: fc.Arbitrary<unknown>, isDescribed: (value: never) => boolean, check: v.GenericSchema) {
  const counts = { taken: 0, refused: 0 }
  fc.assert(
    fc.property(values, value => {
      const isTaken = v.is(check, value)
      counts[isTaken ? 'taken' : 'refused']++
      expect(isDescribed(value as never), JSON.stringify(value)?.slice(0, 300)).toBe(isTaken)
    }),
    { numRuns: 400 },
  )
  return counts
}

describe('the description accepts exactly what the checks accept:', () => {
  for (const { method, path, operation, params, query, body } of ENDPOINTS) {
    const { parameters, requestBody } = openapi.paths[path][method] as {
      readonly parameters: readonly Parameter[]
      readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Schema } } }
    }

    for (const [place, check] of [
      ['path', params],
      ['query', query],
    ] as const) {
      const all = parameters.filter(one => one.in === place)
      for (const { name, schema, required, allowEmptyValue } of all)
        it(`${operation}, ${place} ${name}`, () => {
          const validate = described(schema)
          const isDescribed = (given: { readonly [name: string]: string }): boolean => {
            const text = given[name]
            if (text === undefined) return !required
            return (text === '' && allowEmptyValue === true) || validate(parsed(schema, text))
          }
          const others = Object.fromEntries(
            all.filter(one => one.required && one.name !== name).map(one => [one.name, 'a']),
          )
          const values = fc
            .oneof(valuesOf(schema), textOf(schema))
            .map(value => ({ ...others, [name]: written(value) }))
          const counts = compare(
            fc.oneof({ weight: 20, arbitrary: values }, fc.constant(others)),
            isDescribed,
            check as v.GenericSchema,
          )
          expect(Math.min(counts.taken, counts.refused)).toBeGreaterThan(0)
        })
    }

    if (body !== undefined)
      it(`${operation}, body`, () => {
        const schema = requestBody!.content['application/json'].schema
        const values = operation === 'createUser' ? valuesOf(schema).filter(isNormalized) : valuesOf(schema)
        const counts = compare(values, described(schema), body as v.GenericSchema)
        expect(Math.min(counts.taken, counts.refused)).toBeGreaterThan(0)
      })
  }
})
