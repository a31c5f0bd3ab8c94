import { nestedErrorFacts } from '../../error-facts.ts'
import type { Format, RequestOnWire } from '../../format.ts'
import { recogniseForms } from '../../media/values.ts'
import { chat } from '../chat/index.ts'
import { answerFacts } from './answer.ts'
import { assemble } from './assemble.ts'
import { exceptions } from './exceptions.ts'
import { grammar } from './grammar.ts'
import { answerLint, formatOf, requestLint } from './lint.ts'
import { requestFacts } from './request.ts'
import { rules } from './rules.ts'

const PATH = /^\/audio\/(?:transcriptions|translations)$/

/** Schemas of JSON answers, by requested format. */
const TRANSCRIPTIONS: { readonly [format: string]: string } = {
  json: 'CreateTranscriptionResponseJson',
  verbose_json: 'CreateTranscriptionResponseVerboseJson',
  diarized_json: 'CreateTranscriptionResponseDiarizedJson',
}
const TRANSLATIONS: { readonly [format: string]: string } = {
  json: 'CreateTranslationResponseJson',
  verbose_json: 'CreateTranslationResponseVerboseJson',
}

const answerSchema = (path: string, { body }: Pick<RequestOnWire, 'body'>): string | undefined =>
  (path.endsWith('/translations') ? TRANSLATIONS : TRANSCRIPTIONS)[formatOf(body)]

/** OpenAI's transcriptions and translations of recordings. Requests are forms, which the kit's own rules check. */
export const transcriptions: Format = {
  name: 'transcriptions',
  work: 'transcription',
  base: '/v1',
  path: () => '/audio/transcriptions',
  headers: chat.headers,
  withModel: (body, model, stream) => ({ ...body, model, ...(stream ? { stream: true } : {}) }),
  recognise: recogniseForms(PATH),
  models: chat.models,
  schemas: { answer: answerSchema, event: 'CreateTranscriptionResponseStreamEvent', error: 'ErrorResponse' },
  exceptions,
  request: requestFacts,
  answer: answerFacts,
  assemble,
  error: nestedErrorFacts,
  grammar,
  lint: { request: requestLint, answer: answerLint, error: chat.lint.error },
  rules,
}
