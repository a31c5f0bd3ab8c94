import fc from 'fast-check'
import type { MediaPart, Part } from '../../../src/canonical/content.ts'
import type { CanonicalRequest } from '../../../src/canonical/request.ts'
import type { CanonicalResult, Usage } from '../../../src/canonical/result.ts'
import { cache, citation, filled, media, object, record, word } from '../arbitrary.ts'
import { count, extras, opaque } from '../work-parts.ts'

/* Documents to rank, one message each, and the ranks of one candidate that answer them. */
const text = record<Part>(
  { type: fc.constant('text'), text: word },
  { extras: extras('contents', 'elsewhere'), cache, annotations: fc.array(citation, { minLength: 1, maxLength: 1 }) },
)
const picture: fc.Arbitrary<MediaPart> = media
/** Mostly one text. Sometimes an image, several parts, or none. */
const content: fc.Arbitrary<readonly Part[]> = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(text) },
  { weight: 2, arbitrary: fc.tuple(picture) },
  { weight: 3, arbitrary: fc.array(fc.oneof(text, text, picture, opaque), { maxLength: 4 }) },
)

export const request: fc.Arbitrary<CanonicalRequest> = record<CanonicalRequest>(
  {
    model: filled,
    messages: fc.array(
      record({ role: fc.constant('user'), content }, { name: filled, extras: extras('chat', 'elsewhere') }),
      { minLength: 1, maxLength: 4 },
    ),
    output: record(
      { ranking: record({ query: word }, { top: fc.integer({ min: 1, max: 9 }), echo: fc.boolean() }) },
      { verbosity: filled },
    ),
    sampling: record({}, { seed: fc.nat() }),
    stream: fc.constant(false),
  },
  { endUser: filled, metadata: object(word), extras: extras('rerank', 'cohere', 'elsewhere') },
)

const rank = record<Part>(
  { type: fc.constant('rank'), index: fc.nat(5), score: fc.constantFrom(0.98, 0.5, 0, -0.25, 1e-7) },
  { content, extras: extras('rerank', 'cohere', 'elsewhere') },
)
const usage: fc.Arbitrary<Usage> = record<Usage>(
  {},
  {
    input: count,
    output: count,
    cacheRead: count,
    searches: count,
    inputBy: record({}, { text: count, image: count }),
    extras: extras('rerank', 'cohere', 'elsewhere'),
  },
)

/** A result as the gateway passes it to a writer: with id, model and time. */
export const result: fc.Arbitrary<CanonicalResult> = record<CanonicalResult>(
  {
    id: filled,
    model: filled,
    createdAt: fc.nat(2_000_000_000),
    candidates: fc.array(
      record({ content: fc.array(fc.oneof({ weight: 5, arbitrary: rank }, text), { maxLength: 4 }) }),
      {
        minLength: 1,
        maxLength: 2,
      },
    ),
  },
  { usage, serviceTier: filled, extras: extras('rerank', 'cohere', 'elsewhere') },
)

/** A request that fits the answers. */
export const asked: CanonicalRequest = {
  model: 'asked-model',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'a' }] }],
  output: { ranking: { query: 'q' } },
  sampling: {},
  stream: false,
}
