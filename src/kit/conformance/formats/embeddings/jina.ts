import { type MediaFacts, mediaAt, mediaOf } from '../../facts.ts'
import { type Format, recogniseAt } from '../../format.ts'
import { booleanOf, compact, type Json, type JsonObject, listOf, numberOf, objectOf, textOf } from '../../json.ts'
import { containerOf } from '../../media/containers.ts'
import { type Rule, type Violation, Violations } from '../../rules.ts'
import { chat } from '../chat/index.ts'
import { dataVectors, type EmbeddingFacts, type InputFacts, type Purpose, purposeOf, vectorsFacts } from './facts.ts'
import { checkData, dataRules, ownFieldsLint } from './lint.ts'
import { detailFacts } from './voyage.ts'

/* Jina AI's embeddings. The path is the same as OpenAI's, but the fields differ. */

const PATH = '/embeddings'
const API = 'https://jina.ai/embeddings/'

const PURPOSES: { readonly [value: string]: Purpose } = {
  'retrieval.query': 'query',
  'retrieval.passage': 'document',
  'text-matching': 'similarity',
  classification: 'classification',
  clustering: 'clustering',
  separation: 'clustering',
  'code.query': 'code-query',
  'nl2code.query': 'code-query',
  'qa.query': 'question',
}

const rules: readonly Rule[] = [
  {
    ...{ id: 'own-fields', on: 'request', level: 'must', source: API },
    says: 'The length, encoding and purpose of vectors are stated in dimensions, embedding_type and task.',
  },
  ...dataRules({ request: API, answer: API }),
]

/** Fields of OpenAI and Voyage for which Jina uses other names. */
const OTHER_VENDORS_FIELDS = ['output_dimension', 'encoding_format', 'input_type', 'user'] as const

/** Reads an image: a URL, or base64 whose first bytes show the type. */
function imageAt(text: string): MediaFacts {
  if (/^[a-z][a-z0-9+.-]*:/i.test(text)) return mediaAt(text)
  const container = containerOf(Buffer.from(text, 'base64'))
  return mediaOf(container && `image/${container}`, text)
}

function inputOf(value: Json): InputFacts {
  if (typeof value === 'string') return { text: value }
  const { text, image } = objectOf(value)
  return typeof image === 'string' ? { media: [imageAt(image)] } : { text: textOf(text) ?? '' }
}

const inputsIn = ({ input = '' }: JsonObject): InputFacts[] =>
  Array.isArray(input) ? listOf(input).map(inputOf) : [inputOf(input)]

function answerLint(body: JsonObject, requestBody: JsonObject): readonly Violation[] {
  const violations = new Violations()
  const dimensions = numberOf(requestBody['dimensions'])
  checkData(
    body,
    { inputs: inputsIn(requestBody).length, dimensions, encoding: requestBody['embedding_type'] },
    violations,
  )
  return violations.list
}

const requestFacts = (body: JsonObject): EmbeddingFacts =>
  compact({
    inputs: inputsIn(body),
    purpose: purposeOf(PURPOSES, body['task']),
    dimensions: numberOf(body['dimensions']),
    truncate: booleanOf(body['truncate']) === true ? 'end' : undefined,
  }) as EmbeddingFacts

/** Jina's embeddings. The base URL ends with `/v1`. */
export const jina: Format = {
  name: 'embeddings.jina',
  work: 'embeddings',
  base: '/v1',
  path: () => PATH,
  headers: chat.headers,
  withModel: (body, model) => ({ ...body, model }),
  recognise: recogniseAt(PATH),
  schemas: { request: 'EmbeddingsRequest', answer: 'EmbeddingsResponse', error: 'Error' },
  exceptions: [],
  request: requestFacts,
  answer: body => {
    const { prompt_tokens: input, total_tokens: total } = objectOf(body['usage'])
    return vectorsFacts(dataVectors(body), numberOf(input) ?? numberOf(total))
  },
  error: detailFacts,
  lint: {
    request: body => ownFieldsLint(OTHER_VENDORS_FIELDS, body),
    answer: (body, _, requestBody) => answerLint(body, requestBody.body),
    error: () => [],
  },
  rules,
}
