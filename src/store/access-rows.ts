import { isDeepStrictEqual } from 'node:util'
import { defined, isObject, type Json, parseObject } from '../canonical/node.ts'
import type { KeySettings } from '../config/types.ts'
import type { FallbackReason } from '../formats/model-facts.ts'
import type { AdminToken, KeySecret, StoredGroup, StoredKey } from './access-records.ts'
import type { AccessGroupRow, AccessKeyRow, AccessSecretRow, AdminTokenRow } from './access-tables.ts'

/**
 * Makes text storable and comparable in every engine: removes NUL, which PostgreSQL rejects, and lone surrogates, which
 * UTF-8 cannot encode.
 */
export const plain = (text: string): string => text.replaceAll('\0', '').toWellFormed()

/**
 * Builds a key from its rows.
 *
 * @param secrets newest first.
 */
export const keyOf = (row: AccessKeyRow, secrets: readonly AccessSecretRow[]): StoredKey => ({
  ...keySettingsIn(row.settings),
  ...{ id: row.id, name: row.name, group: row.group_name, createdAt: Number(row.created_at) },
  ...defined({ revokedAt: numberOf(row.revoked_at), lastUsedAt: numberOf(row.last_used_at) }),
  secrets: secrets.map(secretOf),
})

/**
 * Parses the stored settings of a key. A damaged row must not keep all other keys from being read, so that its key is
 * disabled instead.
 */
function keySettingsIn(text: string): KeySettings {
  const settings = parseObject(text)
  const { limits, enabled, models, doors } = settings ?? {}
  const isWhole = isObject(limits) && typeof enabled === 'boolean' && isListOrAbsent(models) && isListOrAbsent(doors)
  return isWhole ? (settings as unknown as KeySettings) : { limits: {}, enabled: false, note: DAMAGED_NOTE }
}

const DAMAGED_NOTE = 'The stored settings of this key are damaged. Set them again.'

const isListOrAbsent = (value: Json | undefined): boolean => value === undefined || Array.isArray(value)

/** Fields of a key. Fails to compile if one is missing. */
const KEY_FIELDS: { readonly [F in keyof StoredKey]-?: true } = {
  ...{ id: true, name: true, group: true, createdAt: true, revokedAt: true, lastUsedAt: true, secrets: true },
  ...{ note: true, models: true, doors: true, limits: true, onLoss: true, enabled: true, expiresAt: true },
  captureUntil: true,
}

/**
 * Returns the settings of a key that only a later version knows. They stay when this version changes the key, as in a
 * rolling upgrade.
 */
export const laterSettingsOf = (key: StoredKey): object =>
  Object.fromEntries(Object.entries(key).filter(([name]) => !Object.hasOwn(KEY_FIELDS, name)))

/** Settings of a key as stored JSON. Fails to compile if a setting is missing. */
const settingsOf = (
  { note, models, doors, limits, onLoss, enabled, expiresAt, captureUntil }: KeySettings,
  later: object,
): string =>
  JSON.stringify({
    ...later,
    ...({ note, models, doors, limits, onLoss, enabled, expiresAt, captureUntil } satisfies {
      [F in keyof KeySettings]-?: KeySettings[F] | undefined
    }),
  })

/** @param later settings that only a later version knows. */
export const keyRowOf = (key: StoredKey, version: number, later: object = {}): AccessKeyRow => ({
  ...{ id: key.id, name: plain(key.name), group_name: plain(key.group), settings: settingsOf(key, later), version },
  ...{ created_at: key.createdAt, revoked_at: key.revokedAt ?? null, last_used_at: key.lastUsedAt ?? null },
})

export const secretRowOf = (key: string, secret: KeySecret): AccessSecretRow => ({
  ...{ hash: secret.hash, key_id: key, prefix: plain(secret.prefix), last_four: plain(secret.lastFour) },
  ...{ created_at: secret.createdAt, expires_at: secret.expiresAt ?? null },
})

const secretOf = (row: AccessSecretRow): KeySecret => ({
  ...{ hash: row.hash, prefix: row.prefix, lastFour: row.last_four, createdAt: Number(row.created_at) },
  ...defined({ expiresAt: numberOf(row.expires_at) }),
})

/** Builds a group from its row. */
export function groupOf({ name, settings, created_at }: AccessGroupRow): StoredGroup {
  const { fallbacks, ...rest } = groupSettingsIn(settings)
  return {
    ...{ ...rest, name, createdAt: Number(created_at) },
    ...defined({ fallbacks: fallbacks?.map(({ model, on }) => ({ model, on: new Set(on) })) }),
  }
}

/** Parses the stored settings of a group. Keys of a damaged group may use no model. */
function groupSettingsIn(text: string): GroupSettings {
  const settings = parseObject(text)
  const { limits, models, doors, channels, fallbacks } = settings ?? {}
  const areLists = Array.isArray(models) && [doors, channels, fallbacks].every(isListOrAbsent)
  return isObject(limits) && areLists
    ? (settings as unknown as GroupSettings)
    : { models: [], limits: {}, onLoss: 'show' }
}

/** Settings of a group as stored JSON, which has no sets. */
type GroupSettings = Omit<StoredGroup, 'name' | 'createdAt' | 'fallbacks'> & {
  readonly fallbacks?: readonly { readonly model: string; readonly on: readonly FallbackReason[] }[]
}

/** Builds the row of a group, with the settings that only a later version knows. */
export function groupRowOf({ name, createdAt, ...settings }: StoredGroup, version: number): AccessGroupRow {
  const fallbacks = settings.fallbacks?.map(({ model, on }) => ({ model, on: [...on] }))
  return {
    ...{ name: plain(name), settings: JSON.stringify({ ...settings, fallbacks }) },
    ...{ created_at: createdAt, dropped: 0, version },
  }
}

export const tokenOf = (row: AdminTokenRow): AdminToken => ({
  ...{ id: row.id, name: row.name, hash: row.hash, prefix: row.prefix, lastFour: row.last_four },
  ...{ createdAt: Number(row.created_at), ...defined({ expiresAt: numberOf(row.expires_at) }) },
})

export const tokenRowOf = (token: AdminToken): AdminTokenRow => ({
  ...{ id: token.id, name: plain(token.name), hash: token.hash },
  ...{ prefix: plain(token.prefix), last_four: plain(token.lastFour) },
  ...{ created_at: token.createdAt, expires_at: token.expiresAt ?? null },
})

/** PostgreSQL's driver returns 64-bit integers as strings by default. */
const numberOf = (value: number | null): number | undefined => (value === null ? undefined : Number(value))

type SettingsRow = Pick<AccessKeyRow, 'name' | 'settings'> & Partial<Pick<AccessKeyRow, 'group_name'>>

/** Returns true if two rows of one key or group have the same settings. The order of fields does not matter. */
export const isSameRow = (one: SettingsRow, other: SettingsRow): boolean =>
  one.name === other.name &&
  one.group_name === other.group_name &&
  isDeepStrictEqual(parseObject(one.settings), parseObject(other.settings))
