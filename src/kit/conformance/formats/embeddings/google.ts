import { mediaAt, protoMediaOf } from '../../facts.ts'
import type { Format } from '../../format.ts'
import { compact, isObject, type JsonObject, listOf, numberOf, objectOf, textOf } from '../../json.ts'
import { type Rule, type Violation, Violations } from '../../rules.ts'
import { contents } from '../contents/index.ts'
import { type EmbeddingFacts, type InputFacts, type Purpose, purposeOf, vectorsFacts } from './facts.ts'
import { checkVectors, vectorRules } from './lint.ts'

/* Google's embedContent and batchEmbedContents. */

const PATH = /^\/(?:v1beta|v1)\/models\/([^?]+)(?::|%3[Aa])(embedContent|batchEmbedContents)(?:\?.*)?$/
const API = 'https://ai.google.dev/api/embeddings'

const PURPOSES: { readonly [value: string]: Purpose } = {
  RETRIEVAL_QUERY: 'query',
  RETRIEVAL_DOCUMENT: 'document',
  SEMANTIC_SIMILARITY: 'similarity',
  CLASSIFICATION: 'classification',
  CLUSTERING: 'clustering',
  QUESTION_ANSWERING: 'question',
  FACT_VERIFICATION: 'claim',
  CODE_RETRIEVAL_QUERY: 'code-query',
}

const rules: readonly Rule[] = [
  {
    ...{ id: 'model-in-requests', on: 'request', level: 'must', source: `${API}#method:-models.batchembedcontents` },
    says: 'Every request of a batch repeats the model from the path.',
  },
  { id: 'content-present', on: 'request', level: 'must', source: API, says: 'Every content has parts.' },
  ...vectorRules({ request: API, answer: API }),
  ...contents.rules.filter(({ on }) => on === 'error'),
]

const isBatch = (path: string): boolean => PATH.exec(path)?.[2] === 'batchEmbedContents'

const requestsOf = (body: JsonObject): JsonObject[] =>
  Array.isArray(body['requests']) ? listOf(body['requests']).map(objectOf) : [body]

const partsOf = (request: JsonObject): JsonObject[] => listOf(objectOf(request['content'])['parts']).map(objectOf)

function requestLint(body: JsonObject, path: string): readonly Violation[] {
  const violations = new Violations()
  const model = `models/${PATH.exec(path)?.[1] ?? ''}`
  for (const [index, request] of requestsOf(body).entries()) {
    if (partsOf(request).length === 0) violations.add('content-present', `Content ${index} has no parts.`)
    if (isBatch(path) && request['model'] !== model)
      violations.add('model-in-requests', `Request ${index} names ${JSON.stringify(request['model'])}.`)
  }
  return violations.list
}

/** Returns a setting, which is next to the content or in the newer `embedContentConfig`. */
const settingOf = (request: JsonObject, name: string) =>
  objectOf(request['embedContentConfig'])[name] ?? request[name] ?? undefined

/** Converts a hand-written answer: one vector for `embedContent`, a list for `batchEmbedContents`. */
function adaptAnswer(answer: JsonObject, path: string): JsonObject {
  const { embedding, embeddings, ...rest } = answer
  if (isBatch(path)) return embedding === undefined ? answer : { embeddings: [embedding], ...rest }
  const first = listOf(embeddings)[0]
  return first === undefined ? answer : { embedding: first, ...rest }
}

const dimensionsOf = (body: JsonObject): number | undefined =>
  numberOf(settingOf(requestsOf(body)[0] ?? {}, 'outputDimensionality'))

const vectorsOf = (body: JsonObject) =>
  (isObject(body['embedding']) ? [body['embedding']] : listOf(body['embeddings'])).map(one => objectOf(one)['values'])

function answerLint(body: JsonObject, requestBody: JsonObject): readonly Violation[] {
  const violations = new Violations()
  checkVectors(
    vectorsOf(body),
    { inputs: requestsOf(requestBody).length, dimensions: dimensionsOf(requestBody) },
    violations,
  )
  return violations.list
}

function inputOf(request: JsonObject): InputFacts {
  const parts = partsOf(request)
  const media = parts.flatMap(({ inlineData, fileData }) => {
    const { mimeType, data } = objectOf(inlineData)
    const { fileUri } = objectOf(fileData)
    if (typeof data === 'string') return [protoMediaOf(textOf(mimeType), data)]
    return typeof fileUri === 'string' ? [mediaAt(fileUri)] : []
  })
  const text = parts.map(part => textOf(part['text']) ?? '').join('')
  return compact({
    text: text === '' ? undefined : text,
    media,
    title: textOf(settingOf(request, 'title')),
  }) as InputFacts
}

function requestFacts(body: JsonObject): EmbeddingFacts {
  const requests = requestsOf(body)
  return compact({
    inputs: requests.map(inputOf),
    purpose: purposeOf(PURPOSES, settingOf(requests[0] ?? {}, 'taskType')),
    dimensions: dimensionsOf(body),
  }) as EmbeddingFacts
}

/** Google's embeddings. The base URL has no version. */
export const google: Format = {
  name: 'contents.embeddings',
  work: 'embeddings',
  sharesBaseWith: 'contents',
  base: '',
  path: (model, _, body) =>
    `/v1beta/models/${model}:${Array.isArray(body['requests']) ? 'batchEmbedContents' : 'embedContent'}`,
  headers: contents.headers,
  withModel: body => body,
  recognise: path => {
    const model = PATH.exec(path)?.[1]
    return model === undefined ? undefined : { model, stream: false }
  },
  schemas: {
    request: path => (isBatch(path) ? 'BatchEmbedContentsRequest' : 'EmbedContentRequest'),
    answer: path => (isBatch(path) ? 'BatchEmbedContentsResponse' : 'EmbedContentResponse'),
  },
  exceptions: [],
  adaptAnswer: adaptAnswer,
  request: requestFacts,
  answer: body => vectorsFacts(vectorsOf(body), numberOf(objectOf(body['usageMetadata'])['promptTokenCount'])),
  error: contents.error,
  lint: {
    request: (body, _, path) => requestLint(body, path),
    answer: (body, _, requestBody) => answerLint(body, requestBody.body),
    error: contents.lint.error,
  },
  rules,
}
