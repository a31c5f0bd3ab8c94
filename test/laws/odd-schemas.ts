import fc from 'fast-check'
import type { Json, JsonObject } from '../../src/canonical/node.ts'

/*
 * Schemas of tools and answers as MCP servers and generators of code write them: older drafts, OpenAPI's dialect, odd
 * references, and keywords whose values have wrong types. Each shrinks to an object without properties.
 */

type Fields = fc.Arbitrary<JsonObject>

const pick = (...values: readonly JsonObject[]): Fields => fc.constantFrom(...values)

/** Scalars, from plain ones to those of older drafts, OpenAPI and handwritten servers. */
const scalar = pick(
  { type: 'string' },
  { type: 'integer', minimum: 0, maximum: 9 },
  {},
  { description: 'anything' },
  { type: 'string', enum: ['a', 'b'] },
  { enum: ['a', 'b'] },
  { type: 'string', enum: ['a', ''] },
  { enum: ['a', 1, null] },
  { enum: [] },
  { const: 'a' },
  { const: null },
  { type: ['string', 'null'], default: null },
  { type: ['string', 'number', 'boolean'], format: 'date' },
  { type: [] },
  { type: 'string', nullable: true, example: 'a', readOnly: true, 'x-order': 1 },
  { type: 'any' },
  { type: 'STRING' },
  { type: 'float' },
  { type: null },
  { type: 'integer', minimum: 0, exclusiveMinimum: true },
  { type: 'number', maximum: 9, exclusiveMaximum: false },
  { type: 'number', minimum: '0', maximum: null },
  { type: 'integer', minimum: -9_223_372_036_854_776_000, maximum: 1e300, multipleOf: 0 },
  { type: 'string', minLength: 1, maxLength: 65_536 },
  { type: 'string', minLength: -1, maxLength: 1.5 },
  { type: 'string', pattern: '^(?=a).*$' },
  { type: 'string', pattern: '^\\d{3}$' },
  { type: 'string', pattern: '\\p{L}+' },
  { type: 'string', pattern: '[' },
  { type: 'string', format: 'uint8' },
  { type: 'string', format: 'email', contentMediaType: 'text/plain' },
  { type: 'string', default: 3, examples: 'a' },
  { type: 'string', title: 1, description: ['a', 'b'] },
  { type: 'string', description: null, title: null },
)

/** Keywords beside those of a property, which belong to no type. */
const beside = pick(
  {},
  { description: 'a' },
  { required: true },
  { required: false },
  { optional: true },
  { $comment: 'a', deprecated: true },
  { $id: 'a', $schema: 'http://json-schema.org/draft-04/schema#' },
  { id: '#a' },
)

const reference = pick(
  { $ref: '#/$defs/A' },
  { $ref: '#' },
  { $ref: '#/$defs/A', description: 'b' },
  { $ref: '#/$defs/A', type: 'string' },
  { $ref: '#/definitions/B' },
  { $ref: '#/$defs/N' },
  { $ref: '#/$defs/a~1b' },
  { $ref: '#/$defs/a%2Fb%20c' },
  { $ref: '#/$defs/Missing' },
  { $ref: 'https://example.org/a.json#/b' },
  { $ref: 'A' },
  { $ref: null },
)

const DEFINITIONS: JsonObject = {
  $defs: {
    A: { type: 'string', description: 'a' },
    N: { type: 'object', properties: { next: { $ref: '#/$defs/N' } } },
    'a/b': { type: 'integer' },
    'a/b c': { type: 'boolean' },
  },
  definitions: { B: { type: 'object', properties: { c: { type: 'string' } }, required: ['c'] } },
}

const NAMES = ['a', 'b', 'type', 'required', '$ref', '$filter', 'filter[id]', 'é', '__proto__', 'x'.repeat(65)] as const

const name = fc.constantFrom(...NAMES)

const { node } = fc.letrec<{ node: JsonObject; inner: JsonObject | boolean }>(tie => {
  const inner = fc.oneof(
    { depthSize: 'small', maxDepth: 3 },
    { weight: 6, arbitrary: scalar },
    { weight: 2, arbitrary: reference },
    { weight: 1, arbitrary: fc.boolean() },
    { weight: 4, arbitrary: tie('node') },
  )
  const one = fc
    .tuple(inner, beside)
    .map(([schema, fields]) => (typeof schema === 'boolean' ? schema : { ...schema, ...fields }))
  const several = fc.array(one, { minLength: 1, maxLength: 2 })
  const lists: Fields = several.chain(([first, second]) =>
    pick(
      { type: 'array' },
      { type: 'array', items: first! },
      { type: 'array', items: [first!, ...(second === undefined ? [] : [second])], additionalItems: false },
      { type: 'array', prefixItems: [first!], items: false },
      { type: 'array', items: first!, minItems: 1, maxItems: 3000, uniqueItems: 'true' },
      { type: 'array', contains: first!, minItems: '1' },
      { type: ['array', 'null'], items: null },
    ),
  )
  const unions: Fields = several.chain(list =>
    pick(
      { anyOf: list },
      { oneOf: list, discriminator: { propertyName: 'a' } },
      { allOf: list },
      { type: 'object', anyOf: [{ not: {} }, ...list] },
      { type: 'object', properties: { a: list[0]! }, oneOf: [{ required: ['a'] }, { required: ['b'] }] },
      { not: list[0]! },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
      { if: list[0]!, then: list.at(-1)!, else: false },
      { anyOf: [] },
      { anyOf: [null, ...list] },
    ),
  )
  const objects: Fields = fc
    .tuple(
      fc.dictionary(name, one, { maxKeys: 3, noNullPrototype: true }),
      fc.constantFrom<Json | undefined>(undefined, [], ['a'], ['a', 'a'], ['unknown', 'b'], 'a', null, {}),
      fc.oneof(fc.constant(undefined), fc.boolean(), one),
      one.chain(schema =>
        pick(
          {},
          { patternProperties: { '^x-': schema, '(?=a)': schema } },
          { propertyNames: { pattern: '^[a-z]+$' }, minProperties: 1, maxProperties: '9' },
          { dependencies: { a: ['b'], b: schema } },
          { dependentRequired: { a: ['b'] }, unevaluatedProperties: false },
          { dependentSchemas: { a: schema } },
          { title: false, $schema: 'https://json-schema.org/draft/2020-12/schema' },
        ),
      ),
    )
    .map(([properties, required, additionalProperties, more]) => ({
      type: 'object',
      properties,
      ...(required === undefined ? {} : { required }),
      ...(additionalProperties === undefined ? {} : { additionalProperties }),
      ...more,
    }))
  const broken = pick(
    { type: 'object' },
    { type: 'object', properties: null },
    { type: 'object', properties: [] },
    { type: 'object', properties: { a: { type: 'string' }, type: 'object' } },
    { type: 'object', properties: { a: null, b: 'string' } },
    { type: 'object', required: ['a'] },
    { type: ['object', 'null'], properties: {} },
    { properties: {} },
    {},
  )
  return {
    inner: one,
    node: fc.oneof(
      { depthSize: 'small' },
      { weight: 6, arbitrary: objects },
      { weight: 2, arbitrary: broken },
      { weight: 2, arbitrary: lists },
      { weight: 2, arbitrary: unions },
    ),
  }
})

/** Schemas as clients send them for the arguments of tools, or for answers. */
export const oddSchema: Fields = fc
  .oneof({ weight: 4, arbitrary: node }, { weight: 1, arbitrary: reference })
  .map(schema => (JSON.stringify(schema).includes('"$ref":') ? { ...schema, ...DEFINITIONS } : schema))
