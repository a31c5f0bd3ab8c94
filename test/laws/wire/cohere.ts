import fc from 'fast-check'
import type { JsonObject } from '../../../src/canonical/node.ts'
import type { WireRequest } from '../../../src/canonical/wire.ts'
import { bytes, filled, record, word } from '../arbitrary.ts'
import { dataUrl, maybeNull } from '../loose.ts'
import { plus } from './chat.ts'
import { meta } from './rerank.ts'

/* Values of Cohere's API version 2: rankings and vectors, with random unknown fields. */
const rerank = plus(
  record(
    { model: filled, query: word, documents: fc.array(word, { minLength: 1, maxLength: 4 }) },
    {
      top_n: maybeNull(fc.integer({ min: 1, max: 9 })),
      max_tokens_per_doc: fc.nat(4096),
      priority: fc.nat(9),
    },
  ),
)
const part = fc.oneof(
  plus(record({ type: fc.constant('text'), text: word })),
  plus(record({ type: fc.constant('image_url'), image_url: plus(record({ url: fc.oneof(dataUrl, fc.webUrl()) })) })),
  plus(record({ type: fc.constant('x_sound') }, { data: word })),
)
const input = plus(record({ content: fc.array(part, { maxLength: 3 }) }))
const lists = {
  texts: maybeNull(fc.array(word, { maxLength: 3 })),
  images: maybeNull(fc.array(dataUrl, { maxLength: 2 })),
  inputs: maybeNull(fc.array(input, { maxLength: 2 })),
}
const embed = plus(
  record(
    { model: filled },
    {
      ...lists,
      input_type: maybeNull(
        fc.constantFrom('search_query', 'search_document', 'classification', 'clustering', 'image', 'x_other'),
      ),
      embedding_types: maybeNull(
        fc.uniqueArray(fc.constantFrom('float', 'base64', 'int8', 'ubinary'), { maxLength: 3 }),
      ),
      output_dimension: maybeNull(fc.constantFrom(256, 1024)),
      truncate: maybeNull(fc.constantFrom('NONE', 'END', 'START')),
      max_tokens: maybeNull(fc.nat()),
    },
  ),
).map(body => (isEmpty(body) ? { ...body, texts: ['a'] } : body))

const isEmpty = (body: JsonObject): boolean =>
  Object.keys(lists).every(list => !Array.isArray(body[list]) || body[list].length === 0)

/** Requests of the first version that the second one also accepts. */
const oldEmbed = embed.map(body => ({
  ...body,
  input_type: body['input_type'] ?? 'clustering',
  embedding_types: body['embedding_types'] ?? ['float'],
}))

const at = (path: string) => (body: JsonObject) => ({ path, query: {}, headers: {}, body })
export const request: fc.Arbitrary<WireRequest> = fc.oneof(
  rerank.map(at('/v2/rerank')),
  embed.map(at('/v2/embed')),
  oldEmbed.map(at('/v1/embed')),
)

const rank = fc.oneof(
  {
    weight: 5,
    arbitrary: plus(
      record(
        { index: fc.nat(3), relevance_score: fc.constantFrom(0.98, 0.5, 0, 1e-7) },
        { document: record({ text: word }) },
      ),
    ),
  },
  { weight: 1, arbitrary: plus(record({ index: fc.nat(3) })) },
)
const ranking = record(
  { results: fc.array(rank, { maxLength: 4 }) },
  { id: maybeNull(filled), meta: maybeNull(meta), model: maybeNull(filled) },
)

const floats = fc.array(fc.constantFrom(0.5, -0.25, 1e-3), { minLength: 1, maxLength: 3 })
const whole = fc.array(fc.integer({ min: -128, max: 127 }), { maxLength: 3 })
const few = (one: fc.Arbitrary<unknown>) => fc.array(one, { maxLength: 3 })
const vectors = record(
  {
    id: filled,
    embeddings: record({}, { float: few(floats), base64: few(bytes), int8: few(whole), ubinary: few(whole) }),
  },
  {
    response_type: maybeNull(fc.constantFrom('embeddings_by_type', 'x_other')),
    texts: few(word),
    images: few(record({ width: fc.nat(9), height: fc.nat(9) })),
    meta: maybeNull(meta),
    model: maybeNull(filled),
  },
)
const flat = record({ id: filled, embeddings: few(floats) }, { response_type: fc.constant('embeddings_floats') })

export const result: fc.Arbitrary<JsonObject> = plus(fc.oneof(ranking, vectors, flat))
