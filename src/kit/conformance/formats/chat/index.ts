import { nestedErrorFacts } from '../../error-facts.ts'
import { type Conversation, recogniseAt } from '../../format.ts'
import type { JsonObject } from '../../json.ts'
import { adaptStream } from './adapt-stream.ts'
import { answerFacts } from './answer.ts'
import { assemble } from './assemble.ts'
import { exceptions } from './exceptions.ts'
import { grammar } from './grammar.ts'
import { answerLint, errorLint, requestLint } from './lint.ts'
import { requestFacts } from './request.ts'
import { rules } from './rules.ts'

const PATH = '/chat/completions'

/** OpenAI's chat completions. The base URL ends with `/v1`. */
export const chat: Conversation = {
  name: 'chat',
  work: 'conversation',
  base: '/v1',
  path: () => PATH,
  headers: key => ({ authorization: `Bearer ${key}` }),
  withModel: (body, model, stream): JsonObject => ({
    ...body,
    model,
    ...(stream ? { stream: true, stream_options: { include_usage: true } } : {}),
  }),
  recognise: recogniseAt(PATH),
  models: {
    path: '/models',
    list: ids => ({
      object: 'list',
      data: ids.map(id => ({ id, object: 'model', created: 1_767_225_600, owned_by: 'kit' })),
    }),
  },
  schemas: {
    request: 'CreateChatCompletionRequest',
    answer: 'CreateChatCompletionResponse',
    event: 'CreateChatCompletionStreamResponse',
    error: 'ErrorResponse',
  },
  exceptions,
  // `reasoning_content` and `reasoning` are extensions of other vendors: docs/wire/chat.md.
  extensions: /^candidates\[\d+\]\.reasoning\[\d+\]\.text$/,
  adaptStream,
  request: requestFacts,
  answer: answerFacts,
  assemble,
  error: nestedErrorFacts,
  grammar,
  lint: { request: requestLint, answer: answerLint, error: errorLint },
  rules,
}
