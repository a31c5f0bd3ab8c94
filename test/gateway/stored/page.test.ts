import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { JsonObject } from '../../../src/canonical/node.ts'
import { paged, pageOf } from '../../../src/gateway/stored/page.ts'

const items = (count: number): JsonObject[] => Array.from({ length: count }, (_, index) => ({ id: `i${index}` }))

test('pages, put together, are the list', () => {
  fc.assert(
    fc.property(fc.nat(60), fc.integer({ min: 1, max: 100 }), fc.constantFrom('asc', 'desc'), (count, limit, order) => {
      const all: unknown[] = []
      let after: string | undefined
      for (;;) {
        const page = paged(items(count), { limit, order: order as 'asc', after })
        all.push(...(page['data'] as unknown[]))
        expect(page).toMatchObject({ object: 'list', first_id: page['first_id'] ?? null })
        if (page['has_more'] !== true) break
        after = page['last_id'] as string
      }
      expect(all).toEqual(order === 'asc' ? items(count) : items(count).reverse())
    }),
  )
})

test('a page is 20 items, the latest first, unless said otherwise; at least 1, at most 100', () => {
  expect(pageOf({})).toEqual({ limit: 20, order: 'desc', after: undefined })
  expect(pageOf({ limit: '100', order: 'asc', after: 'x' })).toEqual({ limit: 100, order: 'asc', after: 'x' })
  for (const limit of ['0', '101', '1.5', 'x', ' ']) expect(() => pageOf({ limit })).toThrow('limit')
  expect(() => pageOf({ order: 'random' })).toThrow('order')
  expect(() => paged(items(3), { limit: 1, order: 'asc', after: 'none' })).toThrow('none')
})
