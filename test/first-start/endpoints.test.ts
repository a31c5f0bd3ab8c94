import { expect, test } from 'vitest'
import { CASES, ENDPOINTS } from './endpoints.ts'

test('every endpoint has a case in the first start, and every case an endpoint', () => {
  expect(Object.keys(CASES).sort()).toEqual([...ENDPOINTS].sort())
})
