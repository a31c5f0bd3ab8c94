import { errorFactsOf } from '../../error-facts.ts'
import type { ErrorFacts } from '../../facts.ts'
import { type Format, type Headers, recogniseAt } from '../../format.ts'
import { booleanOf, compact, type Json, type JsonObject, numberOf, objectOf } from '../../json.ts'
import { type Rule, type Violation, Violations } from '../../rules.ts'
import { chat } from '../chat/index.ts'
import { dataVectors, type EmbeddingFacts, inputsOf, type Purpose, purposeOf, vectorsFacts } from './facts.ts'
import { checkData, dataRules, ownFieldsLint } from './lint.ts'

/* Voyage AI's embeddings. The path is the same as OpenAI's, but the fields differ. */

const PATH = '/embeddings'
const API = 'https://docs.voyageai.com/reference/embeddings-api'

const PURPOSES: { readonly [value: string]: Purpose } = { query: 'query', document: 'document' }

const rules: readonly Rule[] = [
  {
    ...{ id: 'own-fields', on: 'request', level: 'must', source: API },
    says: 'The length and encoding of vectors are stated in output_dimension and encoding_format. The only encoding is base64.',
  },
  ...dataRules({ request: API, answer: API }),
]

/** Fields of OpenAI and Jina for which Voyage uses other names. */
const OTHER_VENDORS_FIELDS = ['dimensions', 'embedding_type', 'task', 'user'] as const

function answerLint(body: JsonObject, requestBody: JsonObject): readonly Violation[] {
  const violations = new Violations()
  const dimensions = numberOf(requestBody['output_dimension'])
  checkData(
    body,
    { inputs: inputsOf(requestBody['input']).length, dimensions, encoding: requestBody['encoding_format'] },
    violations,
  )
  return violations.list
}

const requestFacts = (body: JsonObject): EmbeddingFacts =>
  compact({
    inputs: inputsOf(body['input']),
    purpose: purposeOf(PURPOSES, body['input_type']),
    dimensions: numberOf(body['output_dimension']),
    truncate: booleanOf(body['truncation']) === false ? 'never' : undefined,
  }) as EmbeddingFacts

/** Returns the facts of a Voyage error, whose text is in `detail`. */
export const detailFacts = (status: number, headers: Headers, body: Json | undefined): ErrorFacts =>
  errorFactsOf(status, headers, { message: objectOf(body)['detail'] ?? null })

/** Voyage's embeddings. The base URL ends with `/v1`. */
export const voyage: Format = {
  name: 'embeddings.voyage',
  work: 'embeddings',
  base: '/v1',
  path: () => PATH,
  headers: chat.headers,
  withModel: (body, model) => ({ ...body, model }),
  recognise: recogniseAt(PATH),
  schemas: { request: 'EmbeddingsRequest', answer: 'EmbeddingsResponse', error: 'Error' },
  exceptions: [],
  request: requestFacts,
  answer: body => vectorsFacts(dataVectors(body), numberOf(objectOf(body['usage'])['total_tokens'])),
  error: detailFacts,
  lint: {
    request: body => ownFieldsLint(OTHER_VENDORS_FIELDS, body),
    answer: (body, _, requestBody) => answerLint(body, requestBody.body),
    error: () => [],
  },
  rules,
}
