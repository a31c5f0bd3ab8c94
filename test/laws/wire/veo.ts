import fc from 'fast-check'
import type { JsonObject } from '../../../src/canonical/node.ts'
import type { WireRequest } from '../../../src/canonical/wire.ts'
import { filled, json, object, record, word } from '../arbitrary.ts'

/* Veo is only an upstream. No caller uses its format. Its answers are operations. */

export const request: fc.Arbitrary<WireRequest> = fc.constant({ path: '/', query: {}, headers: {}, body: {} })

const loose = (value: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> =>
  fc.tuple(value, object(json)).map(([known, more]) => ({ ...more, ...known }))

const video = loose(record({}, { uri: fc.webUrl(), encoding: fc.constant('video/mp4'), mimeType: filled }))
const answer = loose(
  record(
    {},
    {
      generatedSamples: fc.array(loose(record({}, { video })), { maxLength: 3 }),
      raiMediaFilteredCount: fc.nat(3),
      raiMediaFilteredReasons: fc.array(word, { maxLength: 2 }),
    },
  ),
)
const error = loose(record({}, { code: fc.nat(20), message: word, status: filled }))

export const result: fc.Arbitrary<JsonObject> = loose(
  record(
    { name: fc.constantFrom('models/veo-3.1-generate-preview/operations/abc1', 'operations/x-2', '../a', 'models') },
    {
      done: fc.boolean(),
      metadata: json,
      error,
      response: loose(record({}, { generateVideoResponse: answer })),
    },
  ),
)
