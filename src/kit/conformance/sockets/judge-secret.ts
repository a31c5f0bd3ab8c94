import type { CheckList } from '../check-list.ts'
import { leavesOf } from '../facts.ts'
import { canonical, isObject, numberOf, objectOf, textOf } from '../json.ts'
import type { Rule } from '../rules.ts'
import { schemaFindings } from '../schema.ts'
import { PREFIX, type SecretRecord } from './client-secret.ts'
import { settingsOf } from './realtime/settings.ts'

const SECRETS = 'docs/wire/realtime.md#client-secrets'

const mustRule = (id: string, says: string): Omit<Rule, 'on'> => ({
  id: `secret.${id}`,
  level: 'must',
  source: SECRETS,
  says,
})

const ISSUED = mustRule(
  'issued',
  'The answer to a request for a client secret has the status 200 and contains the secret.',
)
const PREFIXED = mustRule('prefix', 'A client secret begins with ek_, so that clients can tell it from a key.')
const EXPIRES = mustRule('expires', 'A client secret expires when requested.')
const SETTINGS = mustRule('settings', 'The answer repeats the requested session settings.')
const INVENTED = mustRule('invented', 'A made-up client secret does not open a session.')

/** Maximum difference between two clocks, in seconds. */
const MAX_CLOCK_SKEW = 60

const SCHEMA = 'RealtimeCreateClientSecretResponse'

function expiryFaults({ answer, requestedAt, seconds }: SecretRecord): string[] {
  const expires = numberOf(answer['expires_at'])
  const due = requestedAt + seconds
  if (expires !== undefined && Math.abs(expires - due) <= MAX_CLOCK_SKEW) return []
  return [`expires_at is ${String(expires)} instead of ${due}.`]
}

function settingFaults({ answer, session }: SecretRecord): string[] {
  const reportedSettings = leavesOf(settingsOf(objectOf(answer['session'])))
  return [...leavesOf(settingsOf(session))].flatMap(([path, value]) =>
    canonical(reportedSettings.get(path) ?? null) === canonical(value)
      ? []
      : [`${path} is ${JSON.stringify(reportedSettings.get(path))}.`],
  )
}

/** Adds the checks of a client secret. Returns the secret, or undefined if the answer has none. */
export function judgeSecret(record: SecretRecord, list: CheckList): string | undefined {
  const { exchange, answer, madeUpStatus } = record
  const { got, fault } = exchange
  const value = textOf(answer['value'])
  const detail = fault?.detail ?? `Status ${got?.status}: ${got?.body.toString('utf8').slice(0, 300)}`
  list.rule('answer', ISSUED, got?.status === 200 && value ? [] : [detail])
  if (got?.status !== 200 || !value) return undefined
  list.schema('answer', 'realtime', [schemaFindings('realtime', SCHEMA, answer, EXCEPTIONS)])
  list.rule('answer', PREFIXED, value.startsWith(PREFIX) ? [] : ['The client secret does not begin with ek_.'])
  list.rule('answer', EXPIRES, expiryFaults(record))
  list.rule('answer', SETTINGS, isObject(answer['session']) ? settingFaults(record) : ['The answer has no session.'])
  list.rule('answer', INVENTED, madeUpStatus === undefined ? ['The target opened a session.'] : [])
  return value
}

/** Known deviations of the service, which returns null for settings that were not given. */
const EXCEPTIONS = [
  {
    schema: /^RealtimeCreateClientSecretResponse$/,
    fault: /^\/session\/.* must be (object|array|string)/,
    why: 'In the returned session, settings that were not given are null.',
  },
]
