import { expect, it } from 'vitest'
import { overloaded } from '../../../src/canonical/error.ts'
import { detailsOf } from '../../../src/operators/admin/problem.ts'
import { UNAVAILABLE } from '../../../src/store/fault.ts'

it.each([
  ['the store', UNAVAILABLE, 'store-unavailable'],
  ['anything else', overloaded('Every upstream of this model is busy. Try again later.', 1), 'overloaded'],
])('an overload of %s has a problem type of its own', (_, thrown, type) => {
  expect(detailsOf(thrown, 'req_1')).toMatchObject({ type: `urn:interlingua:problem:${type}`, status: 503 })
})
