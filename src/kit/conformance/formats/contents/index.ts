import { errorFactsOf } from '../../error-facts.ts'
import type { ErrorFacts } from '../../facts.ts'
import type { Conversation, Headers } from '../../format.ts'
import { compact, type Json, listOf, objectOf, textOf } from '../../json.ts'
import { adaptStream } from './adapt-stream.ts'
import { answerFacts } from './answer.ts'
import { assemble } from './assemble.ts'
import { exceptions } from './exceptions.ts'
import { grammar } from './grammar.ts'
import { answerLint, errorLint, requestLint } from './lint.ts'
import { answerAsRead, requestAsRead } from './proto-json.ts'
import { requestFacts } from './request.ts'
import { rules } from './rules.ts'

const PATH = /^\/(?:v1beta|v1)\/models\/([^?]+)(?::|%3[Aa])(generateContent|streamGenerateContent)(?:\?.*)?$/

/** Reads the retry delay from the body, where Google states it. Falls back to the headers. */
function errorFacts(status: number, headers: Headers, body: Json | undefined): ErrorFacts {
  const error = objectOf(objectOf(body)['error'])
  const details = listOf(error['details']).map(objectOf)
  const delay = details.flatMap(({ retryDelay }) => /^([\d.]+)s$/.exec(textOf(retryDelay) ?? '')?.[1] ?? [])[0]
  return errorFactsOf(status, { ...(delay === undefined ? {} : { 'retry-after': delay }), ...headers }, error)
}

/** Google's generateContent. The base URL has no version. */
export const contents: Conversation = {
  name: 'contents',
  work: 'conversation',
  base: '',
  path: (model, stream) => `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  headers: key => ({ 'x-goog-api-key': key }),
  withModel: body => body,
  recognise: path => {
    const [, model, method] = PATH.exec(path) ?? []
    return model === undefined ? undefined : { model, stream: method === 'streamGenerateContent' }
  },
  models: {
    path: '/v1beta/models',
    list: ids => ({
      models: ids.map(id => ({
        ...{
          name: `models/${id}`,
          version: '1',
          displayName: id,
          inputTokenLimit: 1_048_576,
          outputTokenLimit: 65_536,
        },
        supportedGenerationMethods: ['generateContent', 'countTokens'],
      })),
    }),
  },
  schemas: {
    request: 'GenerateContentRequest',
    answer: 'GenerateContentResponse',
    event: 'GenerateContentResponse',
  },
  exceptions,
  asRead: { request: requestAsRead, answer: answerAsRead },
  // Google's recorded streams use CRLF.
  newline: '\r\n',
  adaptStream,
  request: requestFacts,
  native: ({ generationConfig }) =>
    compact({ shownThoughts: objectOf(objectOf(generationConfig)['thinkingConfig'])['includeThoughts'] }),
  answer: answerFacts,
  assemble,
  error: errorFacts,
  grammar,
  lint: { request: requestLint, answer: answerLint, error: errorLint },
  rules,
}
