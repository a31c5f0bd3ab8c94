import { expect, it } from 'vitest'
import type { JsonObject } from '../../../src/canonical/node.ts'
import { withCurrentKeywords } from '../../../src/egress/sanitize/older-drafts.ts'

/* Schemas of drafts before 2020-12, as converters of Zod and OpenAPI write them. */

it('an empty tuple has no empty list of schemas, which every draft forbids', () => {
  const empty = { type: 'array', minItems: 0, maxItems: 0 }
  expect(withCurrentKeywords({ ...empty, items: [] })).toEqual(empty)
  expect(withCurrentKeywords({ ...empty, items: [], additionalItems: false })).toEqual({ ...empty, items: false })
})

it('the schema of further members is changed, too', () => {
  const older = { type: 'number', minimum: 0, exclusiveMinimum: true }
  const tuple = { type: 'array', items: [older], additionalItems: { type: 'array', items: [older] } }
  const current = { type: 'number', exclusiveMinimum: 0 }
  const inner = { type: 'array', prefixItems: [current] }
  expect(withCurrentKeywords(tuple)).toEqual({ type: 'array', prefixItems: [current], items: inner })
})

it('a deep tuple is changed in one pass', () => {
  let schema: JsonObject = { type: 'string' }
  for (let depth = 0; depth < 500; depth++)
    schema = { type: 'array', items: [schema], additionalItems: { type: 'null' } }
  expect(JSON.stringify(withCurrentKeywords(schema)).match(/prefixItems/g)).toHaveLength(500)
})
