import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lose } from '../../src/canonical/loss.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import { narrowed, openApiOf } from '../../src/canonical/openapi-schema.ts'
import { contents as writer } from '../../src/egress/contents/index.ts'
import { contents as reader } from '../../src/ingress/contents/index.ts'
import { jsonSchemaOf } from '../../src/ingress/contents/tools.ts'
import { request } from '../laws/arbitrary.ts'
import { meaning } from '../laws/same.ts'
import { holds, plain, same } from '../laws/support.ts'

const OPENAPI = { dialect: { schema: 'openapi' }, native: false }
const narrow = (schema: JsonObject) => openApiOf(narrowed(schema))

describe('schemas for upstreams of the older dialect (trap 55)', () => {
  it('inlines references, also such as refer to each other without end', () => {
    const point = { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] }
    expect(narrow({ type: 'object', properties: { at: { $ref: '#/$defs/point' } }, $defs: { point } })).toEqual({
      type: 'OBJECT',
      properties: { at: { type: 'OBJECT', properties: { x: { type: 'NUMBER' } }, required: ['x'] } },
    })
    const tree = { type: 'object', properties: { child: { $ref: '#' } } }
    expect(JSON.stringify(narrow(tree)).length).toBeLessThan(1000)
    expect(narrow({ $ref: '#/nowhere', description: 'd' })).toEqual({ description: 'd' })
  })

  it('removes keywords nobody there knows, and no property of that name', () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      additionalProperties: false,
      properties: { additionalProperties: { type: 'string', deprecated: true }, $ref: { type: 'integer', const: 3 } },
      required: ['$ref', 'missing'],
    }
    expect(narrow(schema)).toEqual({
      type: 'OBJECT',
      properties: { additionalProperties: { type: 'STRING' }, $ref: { type: 'INTEGER' } },
      required: ['$ref'],
    })
  })

  it('says null, unions and constants in the words there are', () => {
    expect(narrow({ type: ['string', 'null'] })).toEqual({ type: 'STRING', nullable: true })
    expect(narrow({ type: ['string', 'number', 'null'] })).toEqual({
      anyOf: [{ type: 'STRING' }, { type: 'NUMBER' }],
      nullable: true,
    })
    expect(narrow({ oneOf: [{ type: 'string' }, { type: 'null' }] })).toEqual({ type: 'STRING', nullable: true })
    expect(narrow({ const: 'a' })).toEqual({ type: 'STRING', enum: ['a'] })
    expect(narrow({ type: 'integer', enum: [1, 2] })).toEqual({ type: 'INTEGER' })
    expect(narrow({ type: 'array' })).toEqual({ type: 'ARRAY', items: { type: 'STRING' } })
    expect(narrow({ allOf: [{ properties: { a: {} } }, { properties: { b: {} }, required: ['b'] }] })).toEqual({
      type: 'OBJECT',
      properties: { a: {}, b: {} },
      required: ['b'],
    })
  })

  it('is read back as it was narrowed, and narrows no further', () => {
    const leaf = fc.constantFrom<JsonObject>(
      { type: 'string', format: 'date-time' },
      { type: ['integer', 'null'], minimum: 1, exclusiveMinimum: 0 },
      { enum: ['a', null] },
      { type: ['string', 'boolean'] },
      { $ref: '#/properties/a' },
      { anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'null' }], title: 't' },
      { type: 'array', items: { type: 'object', properties: { a: { const: 'x' } } } },
    )
    const schema = fc
      .dictionary(fc.constantFrom('a', 'b', 'type', 'items', 'constructor'), leaf, { noNullPrototype: true })
      .map(properties => ({ type: 'object', properties, required: ['a'] }))
    holds(schema, value => {
      const once = narrowed(value)
      same(jsonSchemaOf(openApiOf(once)), once)
      same(narrowed(once), once)
    })
  })

  it('tells exactly what was lost of a request', () => {
    holds(request, asked => {
      const { wire, losses } = writer.request!(asked, OPENAPI)
      same(meaning(reader.request!(plain(wire))), meaning(lose(asked, losses)))
    })
  })
})

describe('requests to the cloud surface', () => {
  it('trap 57: have no ids of calls, and every result still finds its call', () => {
    holds(request, asked => {
      const { wire, losses } = writer.request!(asked, { dialect: { vertex: true }, native: false })
      expect(JSON.stringify(wire.body['contents'])).not.toMatch(/"function(Call|Response)":\{"id"/)
      same(meaning(reader.request!(plain(wire))), meaning(lose(asked, losses)))
    })
  })
})
