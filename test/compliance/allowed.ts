import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { isObject, type Json, type JsonObject } from '../../src/canonical/node.ts'
import { bytes, json, object, word } from '../laws/arbitrary.ts'

/* Generators of all values that a published schema allows, far beyond those of the laws' own generators. */

interface Schema {
  readonly [keyword: string]: unknown
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly properties?: { readonly [name: string]: Schema }
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly items?: Schema
  readonly enum?: readonly Json[]
  readonly const?: Json
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly minItems?: number
  readonly maxItems?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number | boolean
  readonly pattern?: string
  readonly format?: string
  readonly nullable?: boolean
}

/** Rules of a schema that it cannot express, by its name: exactly one of several fields, or two fields together. */
export type Meant = { readonly [name: string]: (value: JsonObject) => JsonObject }

/** Folder of the descriptions, which are no part of this project. */
const HOME = process.env['SCHEMAS'] ?? join(import.meta.dirname, '../../../shared/specs')

export const present = existsSync(HOME)

/** Depth of nested objects below which nothing optional is generated. */
const DEPTH = 8
/** Approximate number of optional fields of an object that are generated. */
const SAID = 5

/** Description of one API. */
export class Allowed {
  private readonly schemas: { readonly [name: string]: Schema }
  private readonly meant: Meant
  private readonly made = new Map<Schema, fc.Arbitrary<Json>[]>()
  private readonly heights = new Map<Schema, number>()

  constructor(file: string, meant: Meant = {}) {
    this.schemas = present ? JSON.parse(readFileSync(join(HOME, file), 'utf8')).components.schemas : {}
    this.meant = meant
  }

  /** Returns values of the schema with that name. */
  of(name: string): fc.Arbitrary<JsonObject> {
    return this.any({ $ref: `#/${name}` }, DEPTH) as fc.Arbitrary<JsonObject>
  }

  /** Returns values of a field in the schema with that name. */
  field(name: string, field: string): fc.Arbitrary<Json> {
    return this.any(this.schemas[name]!.properties![field]!, DEPTH)
  }

  /** Creates generators when they are first requested, because schemas are large and cyclic. */
  private any(schema: Schema, depth: number): fc.Arbitrary<Json> {
    const made = this.made.get(schema) ?? []
    this.made.set(schema, made)
    made[depth] ??= lazy(() => {
      const value = this.build(schema, depth)
      return schema.nullable === true ? often(value, fc.constant(null)) : value
    })
    return made[depth]
  }

  private build(schema: Schema, depth: number): fc.Arbitrary<Json> {
    if (schema.$ref !== undefined) return this.named(schema.$ref, depth)
    if (schema.const !== undefined) return fc.constant(schema.const)
    if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
    const pieces = [
      ...(schema.allOf ?? []).filter(saysSomething).map(one => this.any(one, depth)),
      ...[schema.anyOf, schema.oneOf].flatMap(options => (options === undefined ? [] : [this.one(options, depth)])),
    ]
    if (pieces.length === 0) return this.plain(schema, depth)
    if (schema.properties !== undefined) pieces.unshift(this.object(schema, depth))
    return pieces.length === 1 ? pieces[0]! : fc.tuple(...pieces).map(all)
  }

  private named(ref: string, depth: number): fc.Arbitrary<Json> {
    const name = ref.slice(ref.lastIndexOf('/') + 1)
    const meaning = Object.hasOwn(this.meant, name) ? this.meant[name] : undefined
    const value = this.any(this.target(ref), depth)
    return meaning === undefined ? value : value.map(one => (isObject(one) ? meaning(one) : one))
  }

  private target(ref: string): Schema {
    return this.schemas[ref.slice(ref.lastIndexOf('/') + 1)]!
  }

  private one(options: readonly Schema[], depth: number): fc.Arbitrary<Json> {
    if (depth > 0) return fc.oneof(...options.map(option => this.any(option, depth)))
    const [lowest] = [...options].sort((a, b) => this.height(a) - this.height(b))
    return this.any(lowest!, depth)
  }

  private plain(schema: Schema, depth: number): fc.Arbitrary<Json> {
    const { type, properties, additionalProperties } = schema
    if (Array.isArray(type)) return fc.oneof(...type.map(one => this.plain({ ...schema, type: one }, depth)))
    if (type === 'string') return texts(schema)
    if (type === 'integer' || type === 'number') return numbers(schema)
    if (type === 'boolean') return fc.boolean()
    if (type === 'null') return fc.constant(null)
    if (type === 'array') return this.list(schema, depth)
    if (properties !== undefined) return this.object(schema, depth)
    if (isObject(additionalProperties) && Object.keys(additionalProperties).length > 0)
      return object(depth > 0 ? this.any(additionalProperties as Schema, depth - 1) : word)
    if (schema.required !== undefined) return fc.constant({})
    return (type === 'object' ? object(json) : json) as fc.Arbitrary<Json>
  }

  private list({ items = {}, minItems = 0, maxItems }: Schema, depth: number): fc.Arbitrary<Json> {
    if (depth <= 0 && minItems === 0) return fc.constant([])
    const maxLength = Math.min(maxItems ?? minItems + 3, minItems + 3)
    return fc.array(this.any(items, depth), { minLength: minItems, maxLength })
  }

  private object(schema: Schema, depth: number): fc.Arbitrary<Json> {
    const { properties = {}, additionalProperties } = schema
    const names = Object.keys(properties)
    const required = neededIn(schema)
    const optional = names.filter(name => !required.includes(name))
    const fields = names.map(name => {
      const value = this.any(properties[name]!, depth - 1)
      if (required.includes(name)) return value
      return depth > 0 ? sometimes(value, SAID / optional.length) : fc.constant(ABSENT)
    })
    const strange = additionalProperties === false || depth <= 0 ? fc.constant({}) : often(fc.constant({}), STRANGE, 12)
    return fc.tuple(strange, ...fields).map(([more, ...values]) => {
      const said = names.map((name, index) => [name, values[index]] as const).filter(([, value]) => value !== ABSENT)
      return { ...(more as JsonObject), ...Object.fromEntries(said) } as JsonObject
    })
  }

  /** Returns the depth of the smallest value of a schema. */
  private height(schema: Schema): number {
    const known = this.heights.get(schema)
    if (known !== undefined) return known
    this.heights.set(schema, Number.POSITIVE_INFINITY)
    const height = this.measured(schema)
    this.heights.set(schema, height)
    return height
  }

  private measured(schema: Schema): number {
    const { $ref, anyOf, oneOf, allOf, properties = {}, items, minItems = 0 } = schema
    const required = neededIn(schema)
    if ($ref !== undefined) return this.height(this.target($ref))
    const choices = [anyOf, oneOf].flatMap(options => options?.map(one => this.height(one)) ?? [])
    const needed = required.flatMap(name => (properties[name] === undefined ? [] : [1 + this.height(properties[name])]))
    const others = (allOf ?? []).map(one => this.height(one))
    const item = items !== undefined && minItems > 0 ? this.height(items) : 0
    return Math.max(0, item, ...needed, ...others, ...(choices.length === 0 ? [] : [Math.min(...choices)]))
  }
}

/** Returns the required fields of an object. Google states them in text. */
const neededIn = ({ required = [], properties = {} }: Schema): readonly string[] => [
  ...required,
  ...Object.keys(properties).filter(name => /^Required\. /.test(String(properties[name]!['description']))),
]

const ABSENT = Symbol('absent') as unknown as Json

const lazy = <T>(build: () => fc.Arbitrary<T>): fc.Arbitrary<T> => {
  let built: fc.Arbitrary<T> | undefined
  return fc.constant(undefined).chain(() => {
    built ??= build()
    return built
  })
}

const STRANGE = object(json) as fc.Arbitrary<Json>

const often = (value: fc.Arbitrary<Json>, other: fc.Arbitrary<Json>, weight = 6): fc.Arbitrary<Json> =>
  fc.oneof({ weight: 1, arbitrary: other }, { weight, arbitrary: value })

const sometimes = (value: fc.Arbitrary<Json>, share: number): fc.Arbitrary<Json> => {
  const weight = Math.round(100 * Math.min(0.5, share))
  return fc.oneof(
    { withCrossShrink: true },
    { weight: 100 - weight, arbitrary: fc.constant(ABSENT) },
    { weight, arbitrary: value },
  )
}

/** Whether a schema states anything. Some schemas only describe their siblings. */
const saysSomething = (schema: Schema): boolean => Object.keys(schema).some(keyword => !ABOUT.has(keyword))
const ABOUT = new Set(['description', 'title', 'default', 'deprecated', 'example', 'nullable'])

/** Merges several schemas' values: the fields of objects, otherwise the last value. */
const all = (pieces: readonly Json[]): Json =>
  pieces.every(isObject) ? (Object.assign({}, ...pieces) as JsonObject) : pieces.at(-1)!

const FORMATS: { readonly [format: string]: fc.Arbitrary<string> } = {
  byte: bytes,
  uri: fc.webUrl(),
  'date-time': fc.constantFrom('2026-11-21T00:00:00Z', '2026-11-21T12:30:00.5+01:00'),
  'google-datetime': fc.constant('2026-11-21T00:00:00Z'),
  'google-duration': fc.constantFrom('3.5s', '0s'),
  int64: fc.nat(9000).map(String),
}

function texts({ format, pattern, minLength = 0, maxLength = Number.POSITIVE_INFINITY }: Schema): fc.Arbitrary<string> {
  const known = format === undefined ? undefined : FORMATS[format]
  if (known !== undefined) return known
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern)).filter(fits)
  return fc.oneof(word, fc.string({ minLength, maxLength: Math.min(maxLength, minLength + 6) })).filter(fits)
  function fits({ length }: string): boolean {
    return length >= minLength && length <= maxLength
  }
}

/** Limit beyond which JSON numbers are not exact (the named exception of law 1). */
const LARGE = 2 ** 31 - 1

function numbers({ type, minimum, maximum, exclusiveMinimum }: Schema): fc.Arbitrary<number> {
  const above = typeof exclusiveMinimum === 'number' ? exclusiveMinimum + 1 : 0
  const min = Math.max(minimum ?? above, -LARGE)
  const whole = fc.integer({
    min: Math.ceil(min),
    max: Math.floor(Math.min(LARGE, Math.max(min, maximum ?? min + 9000))),
  })
  if (type === 'integer') return whole
  return fc.oneof(
    whole,
    fc.constantFrom(0.25, 0.5).map(part => Math.min(maximum ?? 1, min + part)),
  )
}
