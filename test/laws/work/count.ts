import fc from 'fast-check'
import type { CanonicalRequest } from '../../../src/canonical/request.ts'
import type { CanonicalResult } from '../../../src/canonical/result.ts'
import { request as conversation, extras, record } from '../arbitrary.ts'
import { asked as conversing } from '../arbitrary-result.ts'

/* Conversations whose tokens are counted, and the counts. */

export const request: fc.Arbitrary<CanonicalRequest> = conversation.map(request => ({
  ...request,
  output: { ...request.output, count: true as const },
  stream: false,
}))

const count = fc.nat(2_000_000)

export const result: fc.Arbitrary<CanonicalResult> = record<CanonicalResult>(
  {
    candidates: fc.constant([]),
    usage: record(
      { input: count },
      { cacheRead: count, inputBy: record({}, { text: count, image: count, audio: count }) },
    ),
  },
  { extras },
)

/** A request that fits the counts. */
export const asked: CanonicalRequest = { ...conversing, output: { count: true } }
