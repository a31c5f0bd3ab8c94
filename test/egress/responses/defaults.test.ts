import { expect, test } from 'vitest'
import { partWithDefaults } from '../../../src/egress/responses/defaults.ts'

test('a part whose type is an object is passed on unchanged', () => {
  const part = { type: { toString: 'zz', length: 1 }, text: 'a' }
  expect(partWithDefaults(part)).toEqual(part)
})
