import type { CheckList } from '../check-list.ts'
import { leavesOf } from '../facts.ts'
import { canonical, isObject, numberOf, objectOf, textOf } from '../json.ts'
import type { Rule } from '../rules.ts'
import { schemaFindings } from '../schema.ts'
import { PREFIX, type SecretRecord } from './client-secret.ts'
import { settingsOf } from './realtime/settings.ts'

/* Judges a client secret. */

const SECRETS = 'docs/wire/realtime.md#client-secrets'

const must = (id: string, says: string): Omit<Rule, 'on'> => ({
  id: `secret.${id}`,
  level: 'must',
  source: SECRETS,
  says,
})

const ISSUED = must('issued', 'A request for a client secret is answered with 200 and the secret.')
const PREFIXED = must('prefix', 'A client secret begins with ek_, by which clients tell it from a key.')
const EXPIRES = must('expires', 'A client secret expires after the requested time.')
const SETTINGS = must('settings', 'The answer states the settings of the session as they were requested.')
const INVENTED = must('invented', 'An invented client secret opens no session.')

/** Tolerated difference between two clocks, in seconds. */
const SKEW = 60

const SCHEMA = 'RealtimeCreateClientSecretResponse'

function expiryFaults({ answer, asked, seconds }: SecretRecord): string[] {
  const expires = numberOf(answer['expires_at'])
  const due = asked + seconds
  if (expires !== undefined && Math.abs(expires - due) <= SKEW) return []
  return [`expires_at is ${String(expires)}, ${due} was requested.`]
}

function settingFaults({ answer, session }: SecretRecord): string[] {
  const stated = leavesOf(settingsOf(objectOf(answer['session'])))
  return [...leavesOf(settingsOf(session))].flatMap(([path, value]) =>
    canonical(stated.get(path) ?? null) === canonical(value) ? [] : [`${path} is ${JSON.stringify(stated.get(path))}.`],
  )
}

/** The checks of a client secret. Returns it, or undefined if there is none. */
export function judgeSecret(record: SecretRecord, list: CheckList): string | undefined {
  const { exchange, answer, invented } = record
  const { got, fault } = exchange
  const value = textOf(answer['value'])
  const detail = fault?.detail ?? `Status ${got?.status}: ${got?.body.toString('utf8').slice(0, 300)}`
  list.rule('answer', ISSUED, got?.status === 200 && value ? [] : [detail])
  if (got?.status !== 200 || !value) return undefined
  list.schema('answer', 'realtime', [schemaFindings('realtime', SCHEMA, answer, EXCEPTIONS)])
  list.rule('answer', PREFIXED, value.startsWith(PREFIX) ? [] : ['It has another beginning.'])
  list.rule('answer', EXPIRES, expiryFaults(record))
  list.rule('answer', SETTINGS, isObject(answer['session']) ? settingFaults(record) : ['There is no session.'])
  list.rule('answer', INVENTED, invented === undefined ? ['A session was opened.'] : [])
  return value
}

/** The service states settings that were not made as null. */
const EXCEPTIONS = [
  {
    schema: /^RealtimeCreateClientSecretResponse$/,
    fault: /^\/session\/.* must be (object|array|string)/,
    why: 'Settings that were not made are null in the session that comes back.',
  },
]
