import { defined } from '../canonical/node.ts'
import type { KeyConfig, LimitSettings } from '../config/types.ts'
import type { KeySecret, StoredKey } from '../store/access-records.ts'
import { minute } from './table.ts'

export const KEY_COLUMNS = ['NAME', 'GROUP', 'KEY', 'LIMITS', 'LAST USED', 'STATE']

/** Formats a key from the config as a row of the key list. */
export const fixedRow = ({ name, group, limits, ...settings }: KeyConfig): string[] => [
  ...[name, group, '', limitsText(limits), ''],
  ['defined in the config', ...endings(settings)].join(', '),
]

/** Formats a stored key as a row of the key list. `now` is Unix time in milliseconds. */
export const storedRow = (key: StoredKey, now: number): string[] => [
  ...[key.name, key.group, secretText(key.secrets[0]), limitsText(key.limits), minute(key.lastUsedAt) || 'never'],
  stateOf(key, now),
]

/** Shortens a secret to its first and last characters. */
const secretText = (secret: KeySecret | undefined): string =>
  secret === undefined ? '' : `${secret.prefix}…${secret.lastFour}`

/** Formats limits: `rpm 5, tpm 1000, $2.5 a day`. */
export const limitsText = ({ rpm, tpm, concurrent, budget }: LimitSettings): string =>
  [
    ...Object.entries(defined({ rpm, tpm, concurrent })).map(([name, value]) => `${name} ${value}`),
    ...Object.entries(defined({ day: budget?.day, month: budget?.month })).map(
      ([period, dollars]) => `$${dollars} a ${period}`,
    ),
    ...(budget?.unknown === 'refuse' ? ['known prices only'] : []),
  ].join(', ')

function stateOf(key: StoredKey, now: number): string {
  if (key.revokedAt !== undefined) return `revoked ${minute(key.revokedAt)}`
  if (key.expiresAt !== undefined && key.expiresAt <= now) return `expired ${minute(key.expiresAt)}`
  const old = key.secrets.find(({ expiresAt = 0 }, index) => index > 0 && expiresAt > now)
  const rotated = old === undefined ? [] : [`${secretText(old)} until ${minute(old.expiresAt)}`]
  return [...(key.enabled ? ['valid'] : []), ...endings(key), ...rotated].join(', ')
}

const endings = ({ enabled, expiresAt }: Pick<StoredKey, 'enabled' | 'expiresAt'>): string[] => [
  ...(enabled ? [] : ['disabled']),
  ...(expiresAt === undefined ? [] : [`until ${minute(expiresAt)}`]),
]

/** Formats a key from the config as JSON. */
export const fixedView = ({ hash: _, expiresAt, captureUntil, onLoss, ...key }: KeyConfig): object =>
  defined({ ...key, on_loss: onLoss, expires_at: iso(expiresAt), capture_until: iso(captureUntil), fixed: true })

/** Formats a stored key as JSON, without hashes. */
export function storedView(key: StoredKey): object {
  const { createdAt, revokedAt, lastUsedAt, expiresAt, captureUntil, onLoss, secrets, ...fields } = key
  return defined({
    ...fields,
    ...{ on_loss: onLoss, expires_at: iso(expiresAt), created_at: iso(createdAt), revoked_at: iso(revokedAt) },
    ...{ last_used_at: iso(lastUsedAt), capture_until: iso(captureUntil) },
    secrets: secrets.map(secret =>
      defined({
        ...{ prefix: secret.prefix, last_four: secret.lastFour },
        ...{ created_at: iso(secret.createdAt), expires_at: iso(secret.expiresAt) },
      }),
    ),
  })
}

export const iso = (at: number | undefined): string | undefined =>
  at === undefined ? undefined : new Date(at).toISOString()
