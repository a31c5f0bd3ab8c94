import { type Conversation, type Format, recogniseAt } from '../../format.ts'
import { compact, isObject, type JsonObject, numberOf, objectOf } from '../../json.ts'
import { type Rule, type Violation, Violations } from '../../rules.ts'
import { contents } from '../contents/index.ts'
import { messages } from '../messages/index.ts'
import { responses } from '../responses/index.ts'

/* Counts the tokens of a conversation. The request is the conversation's request, but the answer is only a number. */

/** The properties in which formats differ: documentation page, name of the count, conversation format. */
interface Counting {
  readonly of: Conversation
  readonly page: string
  readonly field: string
  readonly counted?: (body: JsonObject) => JsonObject
}

const rulesOf = ({ of, page, field }: Counting): Rule[] => [
  ...of.rules.filter(({ on }) => on === 'request' || on === 'error'),
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
  const { of, field, counted = body => body } = own
  return {
    name: `${of.name}.tokens`,
    work: 'tokens',
    home: of.name,
    base: of.base,
    headers: of.headers,
    ...(of.versions === undefined ? {} : { versions: of.versions }),
    addressed: (body, model) => of.addressed(body, model, false),
    exceptions: of.exceptions,
    request: (body, path) => of.request(counted(body), path),
    answer: body => compact({ usage: compact({ input: numberOf(body[field]) }) }),
    error: of.error,
    lint: {
      request: (body, headers) => of.lint.request(counted(body), headers),
      answer: body => answerLint(body, own),
      error: of.lint.error,
    },
    rules: rulesOf(own),
  }
}

const MESSAGES = '/v1/messages/count_tokens'
const RESPONSES = '/responses/input_tokens'
const CONTENTS = /^\/(?:v1beta|v1)\/models\/([^?]+)(?::|%3[Aa])countTokens(?:\?.*)?$/

const messagesTokens: Format = {
  ...counting({
    ...{ of: messages, page: 'https://platform.claude.com/docs/en/api/messages/count_tokens', field: 'input_tokens' },
  }),
  path: () => MESSAGES,
  // Clients also name beta features in the query.
  recognise: (path, body, method) => recogniseAt(MESSAGES)(path.split('?')[0]!, body, method),
  schemas: { request: 'CountMessageTokensParams', answer: 'CountMessageTokensResponse', error: 'ErrorResponse' },
}

const responsesTokens: Format = {
  ...counting({
    of: responses,
    page: 'https://platform.openai.com/docs/api-reference/responses/input-tokens',
    field: 'input_tokens',
  }),
  path: () => RESPONSES,
  recognise: recogniseAt(RESPONSES),
  schemas: { request: 'TokenCountsBody', answer: 'TokenCountsResource', error: 'ErrorResponse' },
}

/** Unwraps `generateContentRequest`, which may contain the complete request to count. */
const wholeOf = (body: JsonObject): JsonObject => {
  const { generateContentRequest: whole } = body
  return isObject(whole) ? objectOf(whole) : body
}

const contentsTokens: Format = {
  ...counting({
    ...{ of: contents, page: 'https://ai.google.dev/api/tokens', field: 'totalTokens', counted: wholeOf },
  }),
  path: model => `/v1beta/models/${model}:countTokens`,
  recognise: path => {
    const model = CONTENTS.exec(path)?.[1]
    return model === undefined ? undefined : { model, stream: false }
  },
  schemas: { request: 'CountTokensRequest', answer: 'CountTokensResponse' },
}

export const COUNTING: readonly Format[] = [messagesTokens, responsesTokens, contentsTokens]
