import { typeOf } from '../frame.ts'
import type { SessionFormat } from '../session-format.ts'
import { answerOf, idsOf } from './answer.ts'
import { exceptions } from './exceptions.ts'
import { grammarOf } from './grammar.ts'
import { lintOf } from './lint.ts'
import type { Version } from './names.ts'
import { reportedSettingsOf, requestOf } from './request.ts'
import { RULES } from './rules.ts'

const SCHEMAS = { file: 'realtime', client: 'RealtimeClientEvent', server: 'RealtimeServerEvent' } as const

/** Creates one version of OpenAI's session format. */
const formatOf = (name: string, version: Version): SessionFormat => ({
  name,
  path: model => `/realtime?model=${encodeURIComponent(model)}`,
  headers: key => ({
    authorization: `Bearer ${key}`,
    ...(version === 'beta' ? { 'openai-beta': 'realtime=v1' } : {}),
  }),
  ...(version === 'ga' ? { secrets: '/realtime/client_secrets' } : {}),
  recognises: path => /^\/realtime(\?|$)/.test(path),
  withModel: frame => frame,
  kind: typeOf,
  optional: new Set(['rate_limits.updated']),
  ids: idsOf,
  echo: { request: 'session.update', reply: 'session.updated' },
  reportedSettings: reportedSettingsOf,
  request: requestOf,
  answer: answerOf,
  grammar: grammarOf(version),
  lint: lintOf(version),
  rules: RULES,
  // OpenAI's published schema defines no union type for the beta events.
  ...(version === 'ga' ? { schemas: SCHEMAS } : {}),
  exceptions,
})

export const realtime: SessionFormat = formatOf('realtime', 'ga')
export const realtimeBeta: SessionFormat = formatOf('realtime.beta', 'beta')
