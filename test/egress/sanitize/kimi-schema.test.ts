import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/canonical/node.ts'
import { kimiSchema } from '../../../src/egress/sanitize/kimi-schema.ts'
import { isRefusedSchema } from '../../laws/vendors/kimi-schema.ts'

const of = (a: JsonObject | boolean, others: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties: { a },
  ...others,
})

const NODE: JsonObject = {
  type: 'object',
  properties: { next: { $ref: '#/$defs/N', description: 'b' }, other: { anyOf: [{ $ref: '#/$defs/N' }] } },
}

describe('kimiSchema', () => {
  it.each<[string, JsonObject, JsonObject]>([
    [
      'a nullable text',
      of({ type: ['string', 'null'], default: null }),
      of({ default: null, anyOf: [{ type: 'string' }, { type: 'null' }] }),
    ],
    ['an enum without a type', of({ enum: ['a', 'b'] }), of({ enum: ['a', 'b'], type: 'string' })],
    ['anything', of(true), of({})],
    [
      'a reference with a description',
      of({ $ref: '#/$defs/A', description: 'x' }, { $defs: { A: { type: 'string', description: 'y' } } }),
      of({ type: 'string', description: 'x' }, { $defs: { A: { type: 'string', description: 'y' } } }),
    ],
    [
      'a list of either type',
      of({ type: 'array', anyOf: [{ items: { type: 'string' } }, { items: {} }] }),
      of({
        anyOf: [
          { type: 'array', items: { type: 'string' } },
          { type: 'array', items: {} },
        ],
      }),
    ],
    [
      'alternatives of required properties',
      of({ type: 'object', properties: { b: {} }, anyOf: [{ required: ['b'] }] }),
      of({ type: 'object', properties: { b: {} } }),
    ],
    [
      'a reserved name',
      {
        type: 'object',
        properties: { required: { type: 'boolean' } },
        required: ['required'],
        additionalProperties: false,
      },
      {
        type: 'object',
        properties: {},
        required: [],
        description: 'Also takes "required", which matches {"type":"boolean"}.',
      },
    ],
  ])('writes %s in the subset', (_, schema, expected) => {
    expect(isRefusedSchema(schema)).toBe(true)
    expect(kimiSchema(schema)).toEqual(expected)
    expect(isRefusedSchema(kimiSchema(schema))).toBe(false)
  })

  it('keeps a schema that refers to itself', () => {
    const written = kimiSchema(of({ $ref: '#/$defs/N', description: 'a' }, { $defs: { N: NODE } }))
    expect(isRefusedSchema(written)).toBe(false)
    expect(kimiSchema(written)).toBe(written)
  })

  it('does not repeat references without end', () => {
    const twice = (name: string): JsonObject => ({
      type: 'object',
      properties: { b: { $ref: name, title: 'b' }, c: { $ref: name, title: 'c' } },
    })
    const names = Array.from({ length: 40 }, (_, index) => `d${index}`)
    const $defs = Object.fromEntries(names.map((name, index) => [name, twice(`#/$defs/${names[index + 1] ?? name}`)]))
    const written = kimiSchema(of({ $ref: '#/$defs/d0' }, { $defs }))
    expect(JSON.stringify(written).length).toBeLessThan(4_000_000)
  })

  it('returns a schema in the subset unchanged', () => {
    const schema = of({ $ref: '#/$defs/A' }, { required: ['a'], $defs: { A: { type: ['string', 'null'] } } })
    expect(kimiSchema(schema)).toBe(schema)
  })
})
