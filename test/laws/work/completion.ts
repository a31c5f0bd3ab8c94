import fc from 'fast-check'
import type { Part } from '../../../src/canonical/content.ts'
import type { CanonicalRequest } from '../../../src/canonical/request.ts'
import { cache, extras, filled, object, opaque, record, text, word } from '../arbitrary.ts'
import { asked as conversing } from '../arbitrary-result.ts'

/* Texts to continue, one per message. The continuation may be any result of a conversation. */

export { result } from '../arbitrary-result.ts'
export { RESULTS as examples } from '../examples.ts'

const tokens = fc
  .array(fc.nat(100_000), { minLength: 1, maxLength: 4 })
  .map((tokens): Part => ({ type: 'opaque', format: 'completions', value: { tokens }, reference: true }))

/** Mostly one text. Sometimes several parts that make one text, or none. */
const content: fc.Arbitrary<readonly Part[]> = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(record<Part>({ type: fc.constant('text'), text: word }, { cache })) },
  { weight: 2, arbitrary: fc.tuple(tokens) },
  { weight: 2, arbitrary: fc.array(fc.oneof(text, opaque), { maxLength: 3 }) },
)

const own = object(word)
  .filter(said => Object.keys(said).length > 0)
  .map(said => ({ completions: said }))

export const request: fc.Arbitrary<CanonicalRequest> = record<CanonicalRequest>(
  {
    model: filled,
    messages: fc.array(record({ role: fc.constant('user'), content }), { maxLength: 4 }),
    output: record(
      { completion: record({}, { suffix: word, echo: fc.boolean() }) },
      { candidates: fc.integer({ min: 1, max: 4 }) },
    ),
    sampling: record(
      {},
      {
        maxTokens: fc.integer({ min: 1, max: 9000 }),
        temperature: fc.constantFrom(0, 0.5, 1, 1.5),
        topP: fc.constantFrom(0.1, 1),
        topK: fc.nat(50),
        seed: fc.nat(),
        stop: fc.array(filled, { minLength: 1, maxLength: 6 }),
        frequencyPenalty: fc.constantFrom(0, 0.5),
        presencePenalty: fc.constantFrom(0, 0.5),
        logprobs: fc.nat(5),
      },
    ),
    stream: fc.boolean(),
  },
  { endUser: filled, metadata: object(word), cacheKey: filled, extras: fc.oneof(extras, own) },
)

/** A request whose caller wants usage in streams. */
export const asked: CanonicalRequest = {
  ...conversing,
  output: { completion: {} },
  spelling: { ...conversing.spelling, completions: { stream_options: { include_usage: true } } },
}
