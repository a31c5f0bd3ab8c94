import { nestedErrorFacts } from '../../error-facts.ts'
import type { Format } from '../../format.ts'
import { textOf } from '../../json.ts'
import { chat } from '../chat/index.ts'
import { assemble } from './assemble.ts'
import { answerFacts, requestFacts } from './facts.ts'
import { grammar } from './grammar.ts'
import { answerLint } from './lint.ts'
import { rules } from './rules.ts'

const PATH = '/audio/speech'

/** OpenAI's speech. A whole answer is the recording itself. */
export const speech: Format = {
  name: 'speech',
  work: 'speech',
  base: '/v1',
  path: () => PATH,
  headers: chat.headers,
  withModel: (body, model, stream) => ({ ...body, model, ...(stream ? { stream_format: 'sse' } : {}) }),
  recognise: (path, body) =>
    path === PATH ? { model: textOf(body['model']) ?? '', stream: body['stream_format'] === 'sse' } : undefined,
  models: chat.models,
  schemas: { request: 'CreateSpeechRequest', event: 'CreateSpeechResponseStreamEvent', error: 'ErrorResponse' },
  exceptions: [],
  request: requestFacts,
  answer: answerFacts,
  assemble,
  error: nestedErrorFacts,
  grammar,
  lint: { request: () => [], answer: answerLint, error: chat.lint.error },
  rules,
}
