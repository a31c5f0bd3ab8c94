import { typeOf } from '../frame.ts'
import type { SessionFormat } from '../session-format.ts'
import { answerOf, idsOf } from './answer.ts'
import { exceptions } from './exceptions.ts'
import { grammarOf } from './grammar.ts'
import { lintOf } from './lint.ts'
import type { Version } from './names.ts'
import { requestOf, statedOf } from './request.ts'
import { RULES } from './rules.ts'

const SCHEMAS = { file: 'realtime', client: 'RealtimeClientEvent', server: 'RealtimeServerEvent' } as const

/** Creates one version of the format of OpenAI's sessions. */
const formatOf = (name: string, version: Version): SessionFormat => ({
  name,
  path: model => `/realtime?model=${encodeURIComponent(model)}`,
  headers: key => ({
    authorization: `Bearer ${key}`,
    ...(version === 'beta' ? { 'openai-beta': 'realtime=v1' } : {}),
  }),
  ...(version === 'ga' ? { secrets: '/realtime/client_secrets' } : {}),
  recognises: path => /^\/realtime(\?|$)/.test(path),
  addressed: frame => frame,
  kind: typeOf,
  optional: new Set(['rate_limits.updated']),
  ids: idsOf,
  echo: { asked: 'session.update', answered: 'session.updated' },
  stated: statedOf,
  request: requestOf,
  answer: answerOf,
  grammar: grammarOf(version),
  lint: lintOf(version),
  rules: RULES,
  // The published description does not have a union of the beta's events.
  ...(version === 'ga' ? { schemas: SCHEMAS } : {}),
  exceptions,
})

export const realtime: SessionFormat = formatOf('realtime', 'ga')
export const realtimeBeta: SessionFormat = formatOf('realtime.beta', 'beta')
