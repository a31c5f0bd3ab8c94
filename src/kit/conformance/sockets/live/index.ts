import { type JsonObject, listOf, objectOf, textOf } from '../../json.ts'
import type { SessionFormat } from '../session-format.ts'
import { answerOf } from './answer.ts'
import { grammarOf, lintOf } from './grammar.ts'
import { kindOf } from './names.ts'
import { requestOf } from './request.ts'
import { RULES } from './rules.ts'

const METHOD = 'google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent'

const idsOf = (data: JsonObject): string[] =>
  listOf(objectOf(data['toolCall'])['functionCalls']).flatMap(call => textOf(objectOf(call)['id']) ?? [])

/** Google's Live sessions. */
export const live: SessionFormat = {
  name: 'live',
  path: () => `/ws/${METHOD}`,
  headers: key => ({ 'x-goog-api-key': key }),
  recognises: path => /^\/ws\/[\w.]+\.BidiGenerateContent(\?|$)/.test(path),
  withModel: (frame, model) =>
    'setup' in frame ? { setup: { ...objectOf(frame['setup']), model: `models/${model}` } } : frame,
  kind: kindOf,
  optional: new Set(['sessionResumptionUpdate']),
  ids: idsOf,
  request: requestOf,
  answer: answerOf,
  grammar: grammarOf,
  lint: lintOf,
  rules: RULES,
  exceptions: [],
}
