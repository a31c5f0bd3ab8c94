import { nestedErrorFacts } from '../../error-facts.ts'
import { type Conversation, recogniseAt } from '../../format.ts'
import type { JsonObject } from '../../json.ts'
import { chat } from '../chat/index.ts'
import { answerFacts } from './answer.ts'
import { requestAsRead } from './as-read.ts'
import { assemble } from './assemble.ts'
import { exceptions } from './exceptions.ts'
import { grammar } from './grammar.ts'
import { answerLint, requestLint } from './lint.ts'
import { nativeFacts, requestFacts } from './request.ts'
import { rules } from './rules.ts'

const PATH = '/responses'

/** OpenAI's responses. The base URL ends with `/v1`. Model lists and errors are the same as for chat completions. */
export const responses: Conversation = {
  name: 'responses',
  work: 'conversation',
  base: '/v1',
  path: () => PATH,
  headers: chat.headers,
  withModel: (body, model, stream): JsonObject => ({ ...body, model, ...(stream ? { stream: true } : {}) }),
  recognise: recogniseAt(PATH),
  models: chat.models,
  schemas: { request: 'CreateResponse', answer: 'Response', event: 'ResponseStreamEvent', error: 'ErrorResponse' },
  exceptions,
  asRead: { request: requestAsRead },
  request: requestFacts,
  native: nativeFacts,
  answer: answerFacts,
  assemble,
  error: nestedErrorFacts,
  grammar,
  lint: { request: requestLint, answer: answerLint, error: chat.lint.error },
  rules,
}
