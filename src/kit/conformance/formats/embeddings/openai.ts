import { nestedErrorFacts } from '../../error-facts.ts'
import { type Format, recogniseAt } from '../../format.ts'
import { compact, type JsonObject, numberOf, objectOf, textOf } from '../../json.ts'
import { type Rule, type Violation, Violations } from '../../rules.ts'
import type { SchemaException } from '../../schema.ts'
import { chat } from '../chat/index.ts'
import { errorType } from '../chat/rules.ts'
import { dataVectors, type EmbeddingFacts, inputsOf, type VectorsFacts, vectorsFacts } from './facts.ts'
import { checkData, dataRules } from './lint.ts'

/* OpenAI embeddings: https://platform.openai.com/docs/api-reference/embeddings */

const PATH = '/embeddings'
const CREATE = 'https://platform.openai.com/docs/api-reference/embeddings/create'
const OBJECT = 'https://platform.openai.com/docs/api-reference/embeddings/object'

const rules: readonly Rule[] = [
  {
    ...{ id: 'input-present', on: 'request', level: 'must', source: CREATE },
    says: 'The input is not empty and has at most 2048 entries.',
  },
  ...dataRules({ request: CREATE, answer: OBJECT }),
  {
    ...{ id: 'usage-adds-up', on: 'answer', level: 'should', source: CREATE },
    says: 'total_tokens equals prompt_tokens, because embeddings have no output tokens.',
  },
  errorType,
]

/** Maximum number of entries in an input. */
const MAX_INPUTS = 2048

function requestLint(body: JsonObject): readonly Violation[] {
  const violations = new Violations()
  const inputs = inputsOf(body['input'])
  if (inputs.length === 0 || inputs.length > MAX_INPUTS)
    violations.add('input-present', `The input has ${inputs.length} entries.`)
  for (const [index, { text, tokens }] of inputs.entries())
    if (!text && !tokens) violations.add('input-present', `Input ${index} is empty.`)
  return violations.list
}

function answerLint(body: JsonObject, requestBody: JsonObject): readonly Violation[] {
  const violations = new Violations()
  const dimensions = numberOf(requestBody['dimensions'])
  checkData(
    body,
    { inputs: inputsOf(requestBody['input']).length, dimensions, encoding: requestBody['encoding_format'] },
    violations,
  )
  const { prompt_tokens: input, total_tokens: total } = objectOf(body['usage'])
  if (input !== undefined && total !== undefined && input !== total)
    violations.add('usage-adds-up', `${input} is not ${total}.`)
  return violations.list
}

const requestFacts = (body: JsonObject): EmbeddingFacts =>
  compact({
    inputs: inputsOf(body['input']),
    dimensions: numberOf(body['dimensions']),
    endUser: textOf(body['user']),
  }) as EmbeddingFacts

const answerFacts = (body: JsonObject): VectorsFacts =>
  vectorsFacts(dataVectors(body), numberOf(objectOf(body['usage'])['prompt_tokens']))

const exceptions: readonly SchemaException[] = [
  {
    schema: /^CreateEmbeddingResponse$/,
    fault: /^\/data\/#\/embedding must be array/,
    why: 'The description lacks base64 vectors, which OpenAI returns if encoding_format is base64.',
  },
]

/** OpenAI's embeddings. The base URL ends with `/v1`. */
export const embeddings: Format = {
  name: 'embeddings',
  work: 'embeddings',
  base: '/v1',
  path: () => PATH,
  headers: chat.headers,
  withModel: (body, model) => ({ ...body, model }),
  recognise: recogniseAt(PATH),
  models: chat.models,
  schemas: { request: 'CreateEmbeddingRequest', answer: 'CreateEmbeddingResponse', error: 'ErrorResponse' },
  exceptions,
  request: requestFacts,
  answer: answerFacts,
  error: nestedErrorFacts,
  lint: {
    request: requestLint,
    answer: (body, _, requestBody) => answerLint(body, requestBody.body),
    error: chat.lint.error,
  },
  rules,
}
