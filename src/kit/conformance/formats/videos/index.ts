import { nestedErrorFacts } from '../../error-facts.ts'
import type { Format, RequestOnWire } from '../../format.ts'
import { textOf } from '../../json.ts'
import { chat } from '../chat/index.ts'
import { actionOf } from './action.ts'
import { answerFacts } from './answer.ts'
import { exceptions } from './exceptions.ts'
import { answerLint, requestLint } from './lint.ts'
import { requestFacts } from './request.ts'
import { rules } from './rules.ts'

const REQUESTS: { readonly [action: string]: string } = { create: 'CreateVideoJsonBody', remix: 'CreateVideoRemixBody' }
const ANSWERS: { readonly [action: string]: string } = {
  ...{ create: 'VideoResource', retrieve: 'VideoResource', remix: 'VideoResource' },
  ...{ list: 'VideoListResource', delete: 'DeletedVideoResource' },
}

/**
 * Returns the schema of a request. Forms have no schema, because the description types files as texts, so the kit's
 * rules check them instead.
 */
const requestSchema = (path: string, { method, files }: Omit<RequestOnWire, 'path'>): string | undefined =>
  files === undefined ? REQUESTS[actionOf(method, path) ?? ''] : undefined

/** OpenAI's videos. A video is a job whose state is polled until the file exists. */
export const videos: Format = {
  name: 'videos',
  work: 'videos',
  base: '/v1',
  path: () => '/videos',
  headers: chat.headers,
  // Scenarios name the model only in requests that have one. A remix uses the model of its original.
  withModel: body => body,
  recognise: (path, body, method) =>
    actionOf(method, path) === undefined ? undefined : { model: textOf(body['model']) ?? '', stream: false },
  action: actionOf,
  models: chat.models,
  schemas: {
    request: requestSchema,
    answer: (path, { method }) => ANSWERS[actionOf(method, path) ?? ''],
    error: 'ErrorResponse',
  },
  exceptions,
  request: requestFacts,
  answer: answerFacts,
  error: nestedErrorFacts,
  lint: { request: requestLint, answer: answerLint, error: chat.lint.error },
  rules,
}
