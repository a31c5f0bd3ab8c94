import { nestedErrorFacts } from '../../error-facts.ts'
import type { Format, RequestOnWire } from '../../format.ts'
import { recogniseForms } from '../../media/values.ts'
import { chat } from '../chat/index.ts'
import { answerFacts } from './answer.ts'
import { assemble } from './assemble.ts'
import { exceptions } from './exceptions.ts'
import { grammar } from './grammar.ts'
import { answerLint, requestLint } from './lint.ts'
import { requestFacts } from './request.ts'
import { rules } from './rules.ts'

const PATH = /^\/images\/(?:generations|edits|variations)$/

/**
 * Returns the schema of a request. Forms have no schema, because the description types files as texts, so the kit's
 * rules check them instead.
 */
function requestSchema(path: string, { files }: Pick<RequestOnWire, 'files'>): string | undefined {
  if (files !== undefined) return undefined
  return path.endsWith('/edits') ? 'EditImageBodyJsonParam' : 'CreateImageRequest'
}

/** OpenAI's images: generations, edits and variations, as JSON and as forms. */
export const images: Format = {
  name: 'images',
  work: 'images',
  base: '/v1',
  path: () => '/images/generations',
  headers: chat.headers,
  withModel: (body, model, stream) => ({ ...body, model, ...(stream ? { stream: true } : {}) }),
  recognise: recogniseForms(PATH),
  models: chat.models,
  schemas: {
    request: requestSchema,
    answer: 'ImagesResponse',
    event: path => (path.endsWith('/edits') ? 'ImageEditStreamEvent' : 'ImageGenStreamEvent'),
    error: 'ErrorResponse',
  },
  exceptions,
  request: requestFacts,
  answer: answerFacts,
  assemble,
  error: nestedErrorFacts,
  grammar,
  lint: { request: requestLint, answer: answerLint, error: chat.lint.error },
  rules,
}
