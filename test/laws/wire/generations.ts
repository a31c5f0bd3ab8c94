import fc from 'fast-check'
import type { JsonObject } from '../../../src/canonical/node.ts'
import type { WireRequest } from '../../../src/canonical/wire.ts'
import { filled, json, object, record } from '../arbitrary.ts'

/* Valid requests for videos in one JSON object, with unknown fields and nulls. */

const unknown = object(fc.oneof(json, fc.constant(null)))
const body = record<JsonObject>(
  { model: filled, prompt: filled },
  {
    duration: fc.constantFrom(4, 5, 8, null),
    size: fc.constantFrom('1280x720', 'auto', null),
    width: fc.constantFrom(1280, 720, 0, null),
    height: fc.constantFrom(1280, 720, 0.5, null),
    image: fc.oneof(fc.webUrl(), fc.constant('iVBORw0KGgoAAAANSUhEUg==')),
    images: fc.array(fc.webUrl(), { maxLength: 2 }),
    n: fc.integer({ min: 1, max: 3 }),
    seed: fc.nat(),
    negative_prompt: filled,
    user: filled,
  },
)

export const request: fc.Arbitrary<WireRequest> = fc.tuple(body, unknown).map(([known, more]) => ({
  path: '/video/generations',
  query: {},
  headers: {},
  body: { ...more, ...known },
}))
export const result: fc.Arbitrary<JsonObject> = fc.constant({})
