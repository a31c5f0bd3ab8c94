import { expect, it } from 'vitest'
import { narrowed } from '../../../src/canonical/openapi-schema.ts'

// "enum[0]: cannot be empty" (google-gemini/gemini-cli#3401, sbroenne/mcp-server-excel#607, read on 2026-12-01).
it('leaves out empty texts of an enum, which Gemini refuses', () => {
  const properties = { a: { type: 'string', enum: ['a', ''] }, b: { type: 'string', enum: [''] } }
  expect(narrowed({ type: 'object', properties })['properties']).toEqual({
    a: { type: 'string', enum: ['a'] },
    b: { type: 'string' },
  })
})

it('follows references with encoded names', () => {
  const schema = { properties: { a: { $ref: '#/$defs/a%2Fb%20c' } }, $defs: { 'a/b c': { type: 'boolean' } } }
  expect(narrowed(schema)['properties']).toEqual({ a: { type: 'boolean' } })
})
