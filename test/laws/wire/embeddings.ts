import fc from 'fast-check'
import type { JsonObject } from '../../../src/canonical/node.ts'
import type { WireRequest } from '../../../src/canonical/wire.ts'
import { bytes, filled, json, object, record, word } from '../arbitrary.ts'
import { CHAT_COUNTS, usageIn } from '../counts.ts'
import { maybeNull } from '../loose.ts'
import { plus } from './chat.ts'

/* Embeddings values as clients and upstreams of OpenAI, Voyage, Jina and others write them. */
const tokens = fc.array(fc.nat(100_000), { minLength: 1, maxLength: 3 })
const picture = fc.oneof(
  bytes,
  bytes.map(data => `data:image/png;base64,${data}`),
  fc.webUrl(),
  fc.constantFrom('data:image/png,raw', '/9j/4AAQ', 'iVBORw0KGgo='),
)
const thing = fc.oneof(
  plus(record({ text: word })),
  plus(record({ image: picture }, { text: fc.constant(null) })),
  plus(record({ pdf: picture })),
  plus(record({}, { text: maybeNull(json), image: picture, tokens })),
)
const item = fc.oneof({ weight: 4, arbitrary: word }, { weight: 1, arbitrary: tokens }, { weight: 2, arbitrary: thing })
const input = fc.oneof(item, fc.array(item, { minLength: 1, maxLength: 4 }))

const purposeWord = fc.constantFrom('query', 'document', 'passage', 'search_query', 'x_any')
const task = fc.constantFrom(
  'retrieval.query',
  'retrieval.passage',
  'text-matching',
  'separation',
  'code2code.query',
  'code.passage',
)

const body = plus(
  record(
    { model: filled, input },
    {
      dimensions: maybeNull(fc.nat(3000)),
      encoding_format: maybeNull(fc.constantFrom('float', 'base64', 'int8')),
      user: maybeNull(filled),
      input_type: maybeNull(fc.oneof(purposeWord, json)),
      output_dimension: maybeNull(fc.nat(3000)),
      output_dtype: fc.constantFrom('float', 'int8'),
      truncation: maybeNull(fc.boolean()),
      task: maybeNull(fc.oneof(task, json)),
      embedding_type: fc.oneof(fc.constantFrom('float', 'base64', 'binary'), fc.constant(['float', 'binary']), json),
      normalized: fc.boolean(),
      late_chunking: fc.boolean(),
    },
  ),
)

export const request: fc.Arbitrary<WireRequest> = body.map(body => ({
  path: '/embeddings',
  query: {},
  headers: {},
  body,
}))

const vector = fc.oneof(
  fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), { maxLength: 4 }),
  fc.array(fc.integer({ min: -128, max: 127 }), { maxLength: 4 }),
  bytes,
)
const entry = (index: number): fc.Arbitrary<unknown> =>
  fc.oneof(
    {
      weight: 4,
      arbitrary: record({ object: fc.constant('embedding'), index: fc.constant(index), embedding: vector }),
    },
    {
      weight: 2,
      arbitrary: plus(
        record({ embedding: vector }, { object: maybeNull(word), index: fc.constantFrom(index, index + 1, null) }),
      ),
    },
    { weight: 1, arbitrary: plus(record({ index: fc.constant(index), embedding: object(fc.double()) })) },
    {
      weight: 1,
      arbitrary: plus(record({ object: fc.constant('embeddings'), embeddings: fc.array(vector, { maxLength: 2 }) })),
    },
  )
const usage = plus(
  fc.oneof(
    usageIn(CHAT_COUNTS),
    record(
      {},
      {
        prompt_tokens: maybeNull(fc.nat(99)),
        total_tokens: maybeNull(fc.nat(99)),
        completion_tokens: fc.constant(0),
        image_tokens: fc.nat(99),
      },
    ),
  ),
)
export const result: fc.Arbitrary<JsonObject> = plus(
  record(
    { data: fc.nat(3).chain(length => fc.tuple(...Array.from({ length }, (_, index) => entry(index)))) },
    {
      object: maybeNull(fc.constantFrom('list', 'x_list')),
      model: maybeNull(filled),
      id: maybeNull(filled),
      created: maybeNull(fc.nat()),
      usage: maybeNull(usage),
    },
  ),
)
