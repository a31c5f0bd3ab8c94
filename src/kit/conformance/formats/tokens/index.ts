import { type Conversation, type Format, recogniseAt } from '../../format.ts'
import { compact, isObject, type JsonObject, numberOf, objectOf } from '../../json.ts'
import { type Rule, type Violation, Violations } from '../../rules.ts'
import { contents } from '../contents/index.ts'
import { messages } from '../messages/index.ts'
import { responses } from '../responses/index.ts'

/* Counts the tokens of a conversation. The request is the conversation's request, but the answer is only a number. */

/** The properties in which formats differ: documentation page, name of the count, conversation format. */
interface Counting {
  readonly conversation: Conversation
  readonly page: string
  readonly field: string
  readonly countedBody?: (body: JsonObject) => JsonObject
}

const rulesOf = ({ conversation, page, field }: Counting): Rule[] => [
  ...conversation.rules.filter(({ on }) => on === 'request' || on === 'error'),
  { id: 'count', on: 'answer', level: 'must', source: page, says: `${field} is a whole number above 0.` },
]

function answerLint(body: JsonObject, { field }: Counting): readonly Violation[] {
  const violations = new Violations()
  const count = numberOf(body[field])
  if (count === undefined || !Number.isInteger(count) || count <= 0)
    violations.add('count', `${field} is ${JSON.stringify(body[field])?.slice(0, 100) ?? 'missing'}.`)
  return violations.list
}

/** Returns the parts of a format that counting shares with conversations. */
function counting(own: Counting): Omit<Format, 'path' | 'recognise' | 'schemas'> {
  const { conversation, field, countedBody = body => body } = own
  return {
    name: `${conversation.name}.tokens`,
    work: 'tokens',
    sharesBaseWith: conversation.name,
    base: conversation.base,
    headers: conversation.headers,
    ...(conversation.versions === undefined ? {} : { versions: conversation.versions }),
    withModel: (body, model) => conversation.withModel(body, model, false),
    exceptions: conversation.exceptions,
    request: (body, path) => conversation.request(countedBody(body), path),
    answer: body => compact({ usage: compact({ input: numberOf(body[field]) }) }),
    error: conversation.error,
    lint: {
      request: (body, headers) => conversation.lint.request(countedBody(body), headers),
      answer: body => answerLint(body, own),
      error: conversation.lint.error,
    },
    rules: rulesOf(own),
  }
}

const MESSAGES = '/v1/messages/count_tokens'
const RESPONSES = '/responses/input_tokens'
const CONTENTS = /^\/(?:v1beta|v1)\/models\/([^?]+)(?::|%3[Aa])countTokens(?:\?.*)?$/

const messagesTokens: Format = {
  ...counting({
    ...{
      conversation: messages,
      page: 'https://platform.claude.com/docs/en/api/messages/count_tokens',
      field: 'input_tokens',
    },
  }),
  path: () => MESSAGES,
  // Clients also name beta features in the query.
  recognise: (path, body, method) => recogniseAt(MESSAGES)(path.split('?')[0]!, body, method),
  schemas: { request: 'CountMessageTokensParams', answer: 'CountMessageTokensResponse', error: 'ErrorResponse' },
}

const responsesTokens: Format = {
  ...counting({
    conversation: responses,
    page: 'https://platform.openai.com/docs/api-reference/responses/input-tokens',
    field: 'input_tokens',
  }),
  path: () => RESPONSES,
  recognise: recogniseAt(RESPONSES),
  schemas: { request: 'TokenCountsBody', answer: 'TokenCountsResource', error: 'ErrorResponse' },
}

/** Unwraps `generateContentRequest`, which may contain the complete request to count. */
const completeRequest = (body: JsonObject): JsonObject => {
  const { generateContentRequest: fullRequest } = body
  return isObject(fullRequest) ? objectOf(fullRequest) : body
}

const contentsTokens: Format = {
  ...counting({
    ...{
      conversation: contents,
      page: 'https://ai.google.dev/api/tokens',
      field: 'totalTokens',
      countedBody: completeRequest,
    },
  }),
  path: model => `/v1beta/models/${model}:countTokens`,
  recognise: path => {
    const model = CONTENTS.exec(path)?.[1]
    return model === undefined ? undefined : { model, stream: false }
  },
  schemas: { request: 'CountTokensRequest', answer: 'CountTokensResponse' },
}

export const COUNTING: readonly Format[] = [messagesTokens, responsesTokens, contentsTokens]
