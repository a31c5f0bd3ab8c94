import fc from 'fast-check'
import type { JsonObject } from '../../../src/canonical/node.ts'
import type { WireRequest } from '../../../src/canonical/wire.ts'
import { bytes, filled, record, word } from '../arbitrary.ts'
import { maybeNull } from '../loose.ts'
import { plus } from './chat.ts'

/* Rerank values as the clients and upstreams of three vendors write them, with random unknown fields. */
const picture = fc.oneof(
  fc.webUrl(),
  bytes,
  bytes.map(data => `data:image/png;base64,${data}`),
)
const document = fc.oneof(
  { weight: 3, arbitrary: word },
  { weight: 1, arbitrary: plus(record({ text: maybeNull(word) }, { title: word, id: fc.nat() })) },
  { weight: 1, arbitrary: plus(record({ image: picture }, { text: word })) },
  { weight: 1, arbitrary: plus(record({}, { title: word, body: word })) },
)

const body = plus(
  record(
    { model: filled, query: word, documents: fc.array(document, { minLength: 1, maxLength: 4 }) },
    {
      top_n: maybeNull(fc.integer({ min: 1, max: 9 })),
      top_k: maybeNull(fc.integer({ min: 1, max: 9 })),
      return_documents: maybeNull(fc.boolean()),
      rank_fields: maybeNull(
        fc.array(fc.constantFrom('title', 'body', 'text', 'image', '__proto__'), { maxLength: 3 }),
      ),
      max_chunks_per_doc: fc.nat(9),
      truncation: maybeNull(fc.boolean()),
      return_embeddings: fc.boolean(),
    },
  ),
)
const headers = fc.constantFrom<{ [name: string]: string }>(
  {},
  { 'user-agent': 'cohere/5.20.0' },
  { 'x-fern-sdk-name': 'cohere-ai' },
  { 'x-fern-sdk-name': 'voyageai' },
  { 'user-agent': 'python-requests/2.32' },
)
export const request: fc.Arbitrary<WireRequest> = fc
  .tuple(body, headers)
  .map(([body, headers]) => ({ path: '/rerank', query: {}, headers, body }))

const score = fc.constantFrom(0.98, 0.5, 0, -0.25, 1e-7)
const echo = fc.oneof(word, plus(record({ text: word }, { title: word })), plus(record({ image: picture })))
const rank = fc.oneof(
  {
    weight: 4,
    arbitrary: plus(
      record({ index: fc.nat(3), relevance_score: score }, { document: maybeNull(echo), embedding: fc.array(score) }),
    ),
  },
  { weight: 1, arbitrary: plus(record({ index: fc.nat(3) })) },
)
const ranks = fc.array(rank, { maxLength: 4 })

const jina = record(
  { model: filled, results: ranks },
  {
    object: maybeNull(fc.constantFrom('list', 'reranking')),
    id: maybeNull(filled),
    usage: maybeNull(plus(record({}, { total_tokens: fc.nat(99), prompt_tokens: maybeNull(fc.nat(99)) }))),
  },
)
const voyage = record(
  { object: fc.constant('list'), data: ranks, model: filled, usage: plus(record({ total_tokens: fc.nat(99) })) },
  {},
)

/** Cohere's `meta`, complete or in part. */
export const meta = plus(
  record(
    {},
    {
      api_version: record({ version: fc.constantFrom('1', '2') }, { is_experimental: fc.boolean() }),
      billed_units: maybeNull(
        plus(record({}, { search_units: fc.nat(9), input_tokens: fc.nat(99), image_tokens: fc.nat(9) })),
      ),
      tokens: plus(record({}, { input_tokens: fc.nat(99), output_tokens: maybeNull(fc.nat(9)) })),
      cached_tokens: maybeNull(fc.nat(9)),
      warnings: fc.array(word, { maxLength: 1 }),
    },
  ),
)
const cohere = record({ results: ranks }, { id: maybeNull(filled), meta: maybeNull(meta) })

export const result: fc.Arbitrary<JsonObject> = plus(fc.oneof(jina, voyage, cohere))
