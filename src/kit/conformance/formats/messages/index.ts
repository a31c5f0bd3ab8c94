import { nestedErrorFacts } from '../../error-facts.ts'
import { type Conversation, recogniseAt } from '../../format.ts'
import type { JsonObject } from '../../json.ts'
import { answerFacts } from './answer.ts'
import { assemble } from './assemble.ts'
import { exceptions } from './exceptions.ts'
import { grammar } from './grammar.ts'
import { answerLint, errorLint, requestLint } from './lint.ts'
import { requestFacts } from './request.ts'
import { rules } from './rules.ts'
import { versions } from './version.ts'

const PATH = '/v1/messages'

/** Anthropic's messages. The base URL has no `/v1`. */
export const messages: Conversation = {
  name: 'messages',
  work: 'conversation',
  base: '',
  path: () => PATH,
  headers: key => versions.headers(versions.names[0]!, key),
  versions,
  withModel: (body, model, stream): JsonObject => ({ ...body, model, ...(stream ? { stream: true } : {}) }),
  recognise: recogniseAt(PATH),
  models: {
    path: '/v1/models',
    list: ids => ({
      data: ids.map(id => ({ type: 'model', id, display_name: id, created_at: '2026-01-01T00:00:00Z' })),
      ...{ has_more: false, first_id: ids[0] ?? null, last_id: ids.at(-1) ?? null },
    }),
  },
  schemas: { request: 'CreateMessageParams', answer: 'Message', event: 'MessageStreamEvent', error: 'ErrorResponse' },
  exceptions,
  request: requestFacts,
  answer: answerFacts,
  assemble,
  error: nestedErrorFacts,
  grammar,
  lint: { request: requestLint, answer: answerLint, error: errorLint },
  rules,
}
