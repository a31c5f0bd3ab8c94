import { describe, expect, it } from 'vitest'
import { lose } from '../../src/canonical/loss.ts'
import type { Json, JsonObject } from '../../src/canonical/node.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { meaning } from '../laws/same.ts'
import { plain, same } from '../laws/support.ts'

/** Callers' schemas whose size grows with `n`, and which a careless traversal expands to something much larger. */
const SHAPES: { readonly [name: string]: (n: number) => JsonObject } = {
  'properties that are all the schema itself': n => ({ type: 'object', properties: many(n, () => ({ $ref: '#' })) }),
  'definitions that all have each other': n => ({
    $defs: many(n, () => ({ properties: many(n, index => ({ $ref: `#/$defs/k${index}` })) })),
    properties: { a: { $ref: '#/$defs/k0' } },
  }),
  'pieces that are all the schema itself': n => ({ allOf: list(n, () => ({ $ref: '#' })) }),
  'pieces with a property each': n => ({ allOf: list(n, index => ({ properties: { [`p${index}`]: {} } })) }),
  'choices that are all the schema itself': n => ({ anyOf: list(n, () => ({ $ref: '#' })) }),
  'several types in several types': n =>
    nested(n, inner => ({ type: ['object', 'array', 'string'], properties: inner })),
  'a chain of references': n => ({
    $defs: many(n, index => ({ $ref: `#/$defs/k${index + 1}`, title: 't' })),
    $ref: '#/$defs/k0',
  }),
  'one long text, referred to often': n => ({
    $defs: { long: { description: 'x'.repeat(n * 100) } },
    properties: many(n, () => ({ $ref: '#/$defs/long' })),
  }),
  'one long list of values, referred to often': n => ({
    $defs: { long: { enum: list(n, index => `v${index}`) } },
    properties: many(n, () => ({ $ref: '#/$defs/long' })),
  }),
}

const list = <T>(n: number, one: (index: number) => T): T[] => Array.from({ length: n }, (_, index) => one(index))
const many = (n: number, one: (index: number) => JsonObject): JsonObject =>
  Object.fromEntries(list(n, index => [`k${index}`, one(index)]))
function nested(n: number, around: (inner: JsonObject) => JsonObject): JsonObject {
  let out: JsonObject = {}
  for (let level = 0; level < n; level++) out = around({ a: out })
  return out
}

const asking = (...schemas: readonly JsonObject[]): CanonicalRequest => ({
  model: 'm',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi.' }] }],
  tools: schemas.map((parameters, index) => ({ type: 'function', name: `f${index}`, parameters, strict: true })),
  output: {},
  sampling: {},
  stream: false,
})

/** Returns a value that counts how often its parts are read. */
function counted<T extends object>(value: T): { readonly value: T; readonly steps: () => number } {
  let steps = 0
  const known = new Map<object, object>()
  const watched = (one: unknown): unknown => {
    if (typeof one !== 'object' || one === null) return one
    let proxy = known.get(one)
    if (proxy === undefined) {
      proxy = new Proxy(one, {
        get: (target, key) => {
          steps++
          return watched(Reflect.get(target, key))
        },
        has: (target, key) => {
          steps++
          return Reflect.has(target, key)
        },
        ownKeys: target => {
          const keys = Reflect.ownKeys(target)
          steps += keys.length
          return keys
        },
      })
      known.set(one, proxy)
    }
    return proxy
  }
  return { value: watched(value) as T, steps: () => steps }
}

const DIALECTS: { readonly [name: string]: { readonly format: string; readonly dialect: JsonObject } } = {
  'contents, openapi': { format: 'contents', dialect: { schema: 'openapi' } },
  contents: { format: 'contents', dialect: {} },
  messages: { format: 'messages', dialect: {} },
  chat: { format: 'chat', dialect: {} },
  responses: { format: 'responses', dialect: {} },
}

/** Maximum addition of references to a request, in written characters and in steps. */
const ADDED = 4_000_000

describe('trap 106: schemas that refer to themselves', () => {
  const pairs = Object.keys(DIALECTS).flatMap(dialect => Object.keys(SHAPES).map(shape => [dialect, shape] as const))

  it.each(pairs)('%s: %s cost what their size is', (name, shape) => {
    const { format, dialect } = DIALECTS[name]!
    const cost = (n: number) => {
      const schema = SHAPES[shape]!(n)
      const { value, steps } = counted(schema)
      const { wire } = WRITERS[format]!.request!(asking(value), { dialect, native: false })
      return { steps: steps(), written: JSON.stringify(wire.body).length, given: JSON.stringify(schema).length }
    }
    for (const n of [12, 100, 200]) {
      const { steps, written, given } = cost(n)
      expect(steps).toBeLessThan(100 * given + ADDED)
      expect(written).toBeLessThan(5 * given + ADDED)
    }
  })

  it('a thousand tools of one request have no more room together than one', () => {
    const schema = SHAPES['properties that are all the schema itself']!(12)
    const { dialect } = DIALECTS['contents, openapi']!
    const { wire } = WRITERS['contents']!.request!(asking(...list(1000, () => schema)), { dialect, native: false })
    expect(JSON.stringify(wire.body).length).toBeLessThan(ADDED)
  })

  it.each(Object.keys(SHAPES))('what is lost of %s is told exactly', shape => {
    const { dialect } = DIALECTS['contents, openapi']!
    const asked = asking(SHAPES[shape]!(12), SHAPES[shape]!(60))
    const { wire, losses } = WRITERS['contents']!.request!(asked, { dialect, native: false })
    same(meaning(READERS['contents']!.request!(plain(wire))), meaning(lose(asked, losses)))
  })

  it('every property of a schema that is made of itself shows the schema, and its properties show it again', () => {
    const schema = { type: 'object', properties: many(12, () => ({ $ref: '#' })) }
    const { dialect } = DIALECTS['contents, openapi']!
    const { wire } = WRITERS['contents']!.request!(asking(schema), { dialect, native: false })
    const [{ functionDeclarations }] = wire.body['tools'] as [{ functionDeclarations: [{ parameters: JsonObject }] }]
    const { properties } = functionDeclarations[0].parameters as { properties: { [name: string]: JsonObject } }
    for (const one of Object.values(properties)) {
      expect(one['type']).toBe('OBJECT')
      for (const inner of Object.values(one['properties'] as { [name: string]: Json }))
        expect(Object.keys((inner as { properties: object }).properties)).toHaveLength(12)
    }
  })

  it('references into references are followed however deep the place of each is', () => {
    const point = { type: 'object', properties: { x: { type: 'number' } } }
    const schema = { ...nested(12, inner => ({ type: 'object', properties: inner })), $defs: { point } }
    let place = schema as { properties?: { a: JsonObject } }
    while (place.properties!.a['properties'] !== undefined) place = place.properties!.a as typeof place
    place.properties!.a = { $ref: '#/$defs/point' }
    const { wire } = WRITERS['contents']!.request!(asking(schema), { ...DIALECTS['contents, openapi']!, native: false })
    expect(JSON.stringify(wire.body)).toContain('"x":{"type":"NUMBER"}')
  })

  it('a choice among very many tools is written in one pass', () => {
    const names = list(5000, index => `f${index}`)
    const { value, steps } = counted(asking(...names.map(() => ({}))).tools!)
    const asked: CanonicalRequest = { ...asking(), tools: value, toolChoice: { mode: 'auto', only: names } }
    for (const { format } of Object.values(DIALECTS)) WRITERS[format]!.request!(asked, { dialect: {}, native: false })
    expect(steps()).toBeLessThan(500 * names.length)
  })
})
