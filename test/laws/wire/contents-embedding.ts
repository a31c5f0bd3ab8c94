import fc from 'fast-check'
import type { JsonObject } from '../../../src/canonical/node.ts'
import type { WireRequest } from '../../../src/canonical/wire.ts'
import { bytes, filled, json, word } from '../arbitrary.ts'
import { is, list, loose, unknown } from '../loose.ts'

/* Requests and answers of `:embedContent` and `:batchEmbedContents`. */

const part = fc.oneof(
  { weight: 3, arbitrary: loose({ text: word }) },
  { weight: 1, arbitrary: loose({ inlineData: loose({ mimeType: is('image/png'), data: bytes }) }) },
  {
    weight: 1,
    arbitrary: loose({ fileData: loose({ fileUri: fc.webUrl() }, { mimeType: is('image/png'), displayName: word }) }),
  },
  { weight: 1, arbitrary: loose({}, { executableCode: loose({ code: word }) }) },
)
const content = loose({}, { role: fc.constantFrom('user', 'model', 'anyone'), parts: fc.oneof(part, list(part)) })
const settings = {
  taskType: fc.constantFrom('RETRIEVAL_QUERY', 'RETRIEVAL_DOCUMENT', 'CODE_RETRIEVAL_QUERY', 'X_TASK'),
  outputDimensionality: fc.constantFrom<unknown>(128, 768, '768'),
}
const toEmbed = loose(
  { content },
  {
    ...settings,
    title: word,
    model: fc.constantFrom('models/', ''),
    embedContentConfig: loose({}, { ...settings, title: word, autoTruncate: fc.boolean() }),
  },
)

const at = (method: string, body: fc.Arbitrary<JsonObject>): fc.Arbitrary<WireRequest> =>
  fc
    .tuple(fc.constantFrom('/v1beta/models/', '/v1/models/'), fc.constantFrom('m', 'a%2Fb'), body)
    .map(([prefix, model, body]) => ({
      path: `${prefix}${model}:${method}`,
      query: {},
      headers: {},
      body: ofModel(body, decodeURIComponent(model)),
    }))

/** Returns a body that names the model of its path, in each of its requests. */
function ofModel(body: JsonObject, model: string): JsonObject {
  const requests = body['requests'] as readonly JsonObject[] | undefined
  if (requests !== undefined) return { ...body, requests: requests.map(one => ofModel(one, model)) }
  return typeof body['model'] === 'string' ? { ...body, model: `${body['model']}${model}` } : body
}

/** Mostly equal, as clients write them. Sometimes each item differs. */
const batch = fc.oneof(
  fc
    .tuple(toEmbed, list(content))
    .map(([first, contents]) => [first, ...contents.map(content => ({ ...first, content }))]),
  fc.array(toEmbed, { minLength: 1, maxLength: 3 }),
)

export const request: fc.Arbitrary<WireRequest> = fc.oneof(
  at('embedContent', toEmbed),
  at('batchEmbedContents', loose({ requests: batch })),
)

const values = fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), { maxLength: 4 })
const embedding = fc.oneof(
  fc.record({ values }, { noNullPrototype: true }),
  loose({ values }, { shape: list(fc.nat(9)), statistics: unknown }),
  loose({}, { shape: list(fc.nat(9)) }),
)
const details = list(loose({}, { modality: fc.constantFrom('TEXT', 'IMAGE', 'DOCUMENT'), tokenCount: fc.nat(99) }), 2)
const usage = {
  usageMetadata: loose(
    {},
    {
      promptTokenCount: fc.nat(99),
      totalTokenCount: fc.nat(99),
      promptTokenDetails: details,
      promptTokensDetails: details,
    },
  ),
}

export const result: fc.Arbitrary<JsonObject> = fc.oneof(
  loose({ embedding }, { ...usage, truncated: json }),
  loose({ embeddings: list(embedding) }, { ...usage, metadata: filled }),
)
