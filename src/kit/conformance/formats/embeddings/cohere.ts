import { mediaAt, type UsageFacts } from '../../facts.ts'
import { type Format, recogniseAt } from '../../format.ts'
import { compact, type Json, type JsonObject, listOf, numberOf, objectOf, textOf } from '../../json.ts'
import { type Rule, type Violation, Violations } from '../../rules.ts'
import { chat } from '../chat/index.ts'
import { cohereErrorFacts } from '../cohere-error.ts'
import { type EmbeddingFacts, type InputFacts, type Purpose, purposeOf, vectorFacts } from './facts.ts'
import { checkVectors, vectorRules } from './lint.ts'

/* Cohere's embed, version 2 of the API. */

const PATH = '/v2/embed'
const API = 'https://docs.cohere.com/reference/embed'

const PURPOSES: { readonly [value: string]: Purpose } = {
  search_query: 'query',
  search_document: 'document',
  classification: 'classification',
  clustering: 'clustering',
}

const INPUT_LISTS = ['texts', 'images', 'inputs'] as const

/** Maximum number of inputs per request. */
const MAX_INPUTS = 96

const rules: readonly Rule[] = [
  {
    ...{ id: 'one-list', on: 'request', level: 'must', source: API },
    says: 'There are at most 96 inputs, all in one of the fields texts, images and inputs.',
  },
  ...vectorRules({ request: API, answer: API }),
  {
    ...{ id: 'types-as-asked', on: 'answer', level: 'must', source: API },
    says: 'The answer contains vectors in every requested type. The default type is float.',
  },
  {
    ...{ id: 'texts-repeated', on: 'answer', level: 'should', source: API },
    says: 'The answer repeats the texts of the request.',
  },
]

const entriesOf = (body: JsonObject): readonly Json[] => INPUT_LISTS.flatMap(list => listOf(body[list]))

function requestLint(body: JsonObject): readonly Violation[] {
  const violations = new Violations()
  const lists = INPUT_LISTS.filter(list => listOf(body[list]).length > 0)
  if (lists.length !== 1) violations.add('one-list', `The request has ${lists.join(' and ') || 'no inputs'}.`)
  const { length } = entriesOf(body)
  if (length > MAX_INPUTS) violations.add('one-list', `The request has ${length} inputs.`)
  return violations.list
}

/** Types with full precision. Other types are rounded to bits or bytes. */
const FULL_PRECISION = ['float', 'base64'] as const

const vectorsOf = (body: JsonObject): readonly Json[] => {
  const embeddings = objectOf(body['embeddings'])
  return listOf(FULL_PRECISION.map(type => embeddings[type]).find(Array.isArray))
}

function answerLint(body: JsonObject, requestBody: JsonObject): readonly Violation[] {
  const violations = new Violations()
  const types = listOf(requestBody['embedding_types'] ?? ['float']).map(String)
  const embeddings = objectOf(body['embeddings'])
  const inputs = entriesOf(requestBody).length
  for (const type of types)
    if (listOf(embeddings[type]).length !== inputs)
      violations.add('types-as-asked', `The answer has ${listOf(embeddings[type]).length} vectors of the type ${type}.`)
  if (FULL_PRECISION.some(type => types.includes(type)))
    checkVectors(vectorsOf(body), { inputs, dimensions: numberOf(requestBody['output_dimension']) }, violations)
  const texts = listOf(body['texts'])
  if (texts.length > 0 && JSON.stringify(texts) !== JSON.stringify(requestBody['texts']))
    violations.add('texts-repeated', `The texts are ${JSON.stringify(texts).slice(0, 200)}.`)
  return violations.list
}

function inputOf(value: Json): InputFacts {
  if (typeof value === 'string') return { text: value }
  const parts = listOf(objectOf(value)['content']).map(objectOf)
  const text = parts.map(part => textOf(part['text']) ?? '').join('')
  const media = parts.flatMap(part => {
    const url = textOf(objectOf(part['image_url'])['url'])
    return url === undefined ? [] : [mediaAt(url)]
  })
  return compact({ text: text === '' ? undefined : text, media }) as InputFacts
}

/** Reads the facts of a request. The input type `image` is not a purpose. */
const requestFacts = (body: JsonObject): EmbeddingFacts =>
  compact({
    inputs: [
      ...[...listOf(body['texts']), ...listOf(body['inputs'])].map(inputOf),
      ...listOf(body['images']).map(url => ({ media: [mediaAt(String(url))] })),
    ],
    purpose: body['input_type'] === 'image' ? undefined : purposeOf(PURPOSES, body['input_type']),
    dimensions: numberOf(body['output_dimension']),
  }) as EmbeddingFacts

/** Reads the usage. Image tokens are counted separately from text tokens. */
function usageOf(body: JsonObject): UsageFacts {
  const { input_tokens: texts, image_tokens: images } = objectOf(objectOf(body['meta'])['billed_units'])
  if (texts === undefined && images === undefined) return {}
  return { input: (numberOf(texts) ?? 0) + (numberOf(images) ?? 0) }
}

/** Cohere's embed. The base URL has no version. */
export const cohere: Format = {
  name: 'cohere.embeddings',
  work: 'embeddings',
  sharesBaseWith: 'cohere',
  base: '',
  path: () => PATH,
  headers: chat.headers,
  withModel: (body, model) => ({ ...body, model }),
  recognise: recogniseAt(PATH),
  schemas: { request: 'V2EmbedRequest', answer: 'EmbedByTypeResponse', error: 'Error' },
  exceptions: [],
  request: requestFacts,
  answer: body => compact({ vectors: vectorsOf(body).map(vectorFacts), usage: usageOf(body) }),
  error: cohereErrorFacts,
  lint: { request: requestLint, answer: (body, _, requestBody) => answerLint(body, requestBody.body), error: () => [] },
  rules,
}
