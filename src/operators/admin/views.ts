import { defined } from '../../canonical/node.ts'
import type { GroupConfig, KeyConfig, KeySettings } from '../../config/index.ts'
import { instantOf } from '../../config/schema.ts'
import type { AdminToken, KeySecret, StoredGroup, StoredKey } from '../../store/access-records.ts'
import type { ConsoleUser } from '../../store/console-records.ts'
import { limitsView } from './permission-fields.ts'

/* Converts stored records to answers. Shows only the first and last characters of secrets. */

const isoTime = (at: number | undefined): string | undefined => (at === undefined ? undefined : instantOf(at))

const settingsView = ({ note, models, doors, limits, onLoss, enabled, expiresAt, captureUntil }: KeySettings) => ({
  ...defined({ note, models, doors, ...limitsView(limits), on_loss: onLoss, expires_at: isoTime(expiresAt) }),
  ...defined({ capture_until: isoTime(captureUntil) }),
  enabled,
})

const secretView = ({ prefix, lastFour, createdAt, expiresAt }: KeySecret) => ({
  ...{ prefix, last_four: lastFour, created_at: instantOf(createdAt) },
  ...defined({ expires_at: isoTime(expiresAt) }),
})

/** Formats a stored key. */
export const keyView = (key: StoredKey) => ({
  ...{ id: key.id, name: key.name, group: key.group, source: 'store' as const },
  ...settingsView(key),
  created_at: instantOf(key.createdAt),
  ...defined({ revoked_at: isoTime(key.revokedAt), last_used_at: isoTime(key.lastUsedAt) }),
  secrets: key.secrets.map(secretView),
})

/** Formats a key from the config, of which only the hash is known. */
export const fixedKeyView = (key: KeyConfig) => ({
  ...{ id: fixedId(key), name: key.name, group: key.group, source: 'config' as const },
  ...settingsView(key),
  secrets: [],
})

/** Returns the id of a key from the config, which is also the owner id of its stored data. */
export const fixedId = ({ hash }: KeyConfig): string => hash.slice(0, 32)

const groupFields = ({ name, models, doors, channels, limits, onLoss, fallbacks }: GroupConfig) => ({
  ...{ name, models, on_loss: onLoss },
  ...defined({ fallbacks: fallbacks?.map(({ model, on }) => ({ model, on: [...on] })) }),
  ...defined({ doors, channels, ...limitsView(limits) }),
})

export const groupView = (group: StoredGroup) => ({
  ...groupFields(group),
  ...{ source: 'store' as const, created_at: instantOf(group.createdAt) },
})

/** Formats a group from the config. */
export const fixedGroupView = (group: GroupConfig) => ({ ...groupFields(group), source: 'config' as const })

export const tokenView = ({ id, name, prefix, lastFour, createdAt, expiresAt }: AdminToken) => ({
  ...{ id, name, prefix, last_four: lastFour, created_at: instantOf(createdAt) },
  ...defined({ expires_at: isoTime(expiresAt) }),
})

export const userView = ({ name, role, source, enabled, createdAt, signedInAt }: ConsoleUser) => ({
  ...{ name, role, source, enabled, created_at: instantOf(createdAt) },
  ...defined({ signed_in_at: isoTime(signedInAt) }),
})
