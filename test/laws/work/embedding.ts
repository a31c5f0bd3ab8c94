import fc from 'fast-check'
import type { MediaPart, Part } from '../../../src/canonical/content.ts'
import type { CanonicalRequest, EmbeddingPurpose } from '../../../src/canonical/request.ts'
import type { CanonicalResult, Usage } from '../../../src/canonical/result.ts'
import { filled, media, record, word } from '../arbitrary.ts'
import { count, extras } from '../work-parts.ts'

/* Inputs to embed, one per message, and the vectors of one candidate that answer them. */
const text = record<Part>(
  { type: fc.constant('text'), text: word },
  { extras: extras('contents', 'cohere', 'elsewhere') },
)
const picture: fc.Arbitrary<MediaPart> = media.map(({ cache: _, extras: __, ...part }) => part)
const tokens = fc.array(fc.nat(100_000), { minLength: 1, maxLength: 4 }).map(
  (tokens): Part => ({
    type: 'opaque',
    format: 'embeddings',
    value: { tokens },
    reference: true,
  }),
)
const unknown = record<Part>({
  type: fc.constant('opaque'),
  format: fc.constantFrom('contents', 'cohere', 'elsewhere'),
  value: fc.record({ type: fc.constant('x_unknown'), v: word }, { noNullPrototype: true }),
})

/** Mostly one text. Sometimes several parts that make one vector, or none. */
const content: fc.Arbitrary<readonly Part[]> = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(text) },
  { weight: 1, arbitrary: fc.tuple(picture) },
  { weight: 1, arbitrary: fc.tuple(tokens) },
  { weight: 1, arbitrary: fc.tuple(unknown) },
  { weight: 2, arbitrary: fc.array(fc.oneof(text, picture), { maxLength: 3 }) },
)

export const PURPOSES = [
  ...(['query', 'document', 'similarity', 'classification', 'clustering'] as const),
  ...(['question-answering', 'fact-verification', 'code-query'] as const),
] satisfies readonly EmbeddingPurpose[]

export const request: fc.Arbitrary<CanonicalRequest> = record<CanonicalRequest>(
  {
    model: filled,
    messages: fc.array(
      record(
        { role: fc.constant('user'), content },
        { extras: extras('embeddings', 'contents', 'cohere', 'elsewhere') },
      ),
      { minLength: 1, maxLength: 4 },
    ),
    output: record(
      { modalities: fc.constant(['embedding']) },
      {
        embedding: record(
          {},
          {
            dimensions: fc.integer({ min: 1, max: 4096 }),
            encoding: fc.constantFrom('float', 'base64'),
            purpose: fc.constantFrom(...PURPOSES),
          },
        ),
      },
    ),
    sampling: fc.constant({}),
    stream: fc.constant(false),
  },
  { endUser: filled, extras: extras('embeddings', 'contents', 'cohere', 'elsewhere') },
)

const numbers = fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), { maxLength: 5 })
const vector = fc.oneof(
  { weight: 3, arbitrary: numbers },
  { weight: 1, arbitrary: numbers.map(values => Buffer.from(Float32Array.from(values).buffer).toString('base64')) },
)
const part = record<Part>(
  { type: fc.constant('embedding'), vector },
  { extras: extras('embeddings', 'contents', 'elsewhere') },
)
const usage: fc.Arbitrary<Usage> = record<Usage>(
  { input: count },
  {
    inputBy: record({}, { text: count, image: count }),
    extras: extras('embeddings', 'contents', 'cohere'),
  },
)

/** A result as the gateway passes it to a writer: with id, model and time. */
export const result: fc.Arbitrary<CanonicalResult> = record<CanonicalResult>(
  {
    id: filled,
    model: filled,
    createdAt: fc.nat(2_000_000_000),
    candidates: fc.tuple(record({ content: fc.array(part, { maxLength: 4 }) })),
  },
  { usage, extras: extras('embeddings', 'contents', 'cohere', 'elsewhere') },
)

/** A request that fits the answers. */
export const asked: CanonicalRequest = {
  model: 'asked-model',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'a' }] }],
  output: { modalities: ['embedding'] },
  sampling: {},
  stream: false,
}
