import { nestedErrorFacts } from '../../error-facts.ts'
import { type Format, recogniseAt } from '../../format.ts'
import type { SchemaException } from '../../schema.ts'
import { adaptStream } from '../chat/adapt-stream.ts'
import { chat } from '../chat/index.ts'
import { assemble } from './assemble.ts'
import { answerFacts, requestFacts } from './facts.ts'
import { grammar } from './grammar.ts'
import { answerLint, requestLint } from './lint.ts'
import { rules } from './rules.ts'

const PATH = '/completions'

const exceptions: readonly SchemaException[] = [
  {
    schema: /^CreateCompletionResponse$/,
    fault:
      /^\/choices\/#\/finish_reason must be equal|^\/choices\/#\/finish_reason must be string|^\/usage must be object/,
    why: 'The description uses one object for answers and chunks, but chunks before the last have a null finish_reason and usage.',
  },
]

/** OpenAI's text completions. The base URL ends with `/v1`. */
export const completions: Format = {
  name: 'completions',
  work: 'completion',
  base: '/v1',
  path: () => PATH,
  headers: chat.headers,
  withModel: chat.withModel,
  recognise: recogniseAt(PATH),
  models: chat.models,
  schemas: {
    request: 'CreateCompletionRequest',
    answer: 'CreateCompletionResponse',
    event: 'CreateCompletionResponse',
    error: 'ErrorResponse',
  },
  exceptions,
  adaptStream,
  request: requestFacts,
  answer: answerFacts,
  assemble,
  error: nestedErrorFacts,
  grammar,
  lint: { request: requestLint, answer: (body, _, asked) => answerLint(body, asked.body), error: chat.lint.error },
  rules,
}
