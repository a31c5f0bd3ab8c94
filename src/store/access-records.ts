import type { GroupConfig, KeySettings } from '../config/types.ts'
import type { AuditedConfig, EntryOf } from './audit-records.ts'
import type { StoredEntry } from './config-records.ts'

/** An API key as stored: settings, and only the hashes of its secrets. Times are Unix milliseconds. */
export interface StoredKey extends KeySettings {
  /**
   * Permanent id, unaffected by renaming and rotation. Owner of everything that the key's requests store.
   */
  readonly id: string
  /** Unique among keys that are not revoked. */
  readonly name: string
  readonly group: string
  readonly createdAt: number
  readonly revokedAt?: number
  /** Time of the last use, up to a minute late because it is written in batches. */
  readonly lastUsedAt?: number
  /** All secrets, valid and expired, newest first. */
  readonly secrets: readonly KeySecret[]
}

/** One secret of a key. Rotation adds a secret and sets the expiry of the older ones. */
export interface KeySecret {
  /** SHA-256, in hex. */
  readonly hash: string
  /** First characters of the secret. Together with `lastFour`, identifies the key in lists. */
  readonly prefix: string
  readonly lastFour: string
  readonly createdAt: number
  readonly expiresAt?: number
}

/** Changed fields of a key. An undefined value removes the field. */
export type KeyChange = { readonly [F in keyof KeySettings | 'name' | 'group']?: StoredKey[F] | undefined }

/** A group of keys as an administrator created it. */
export interface StoredGroup extends Omit<GroupConfig, 'implied'> {
  readonly createdAt: number
}

/** A bearer token for the admin API. No other endpoint accepts it. */
export interface AdminToken {
  readonly id: string
  readonly name: string
  readonly hash: string
  readonly prefix: string
  readonly lastFour: string
  readonly createdAt: number
  readonly expiresAt?: number
}

/**
 * Rows that changed since a version, each in its current state. A new `lastUsedAt` does not count as a change.
 */
export interface AccessChanges {
  readonly version: number
  readonly keys: readonly StoredKey[]
  readonly groups: readonly StoredGroup[]
  readonly droppedGroups: readonly string[]
  /** All drained channels. Present only if any channel changed. */
  readonly drained?: readonly string[]
  /** All stored channels and settings of models. Present only if any changed. */
  readonly config?: readonly StoredEntry[]
  /** True if the changes are the complete state, so that the reader deletes all its other rows. */
  readonly whole?: true
}

/** Filter and position of one page of the list of keys. */
export interface KeyPage {
  readonly limit: number
  /** Last key of the previous page, by the name that it had then: keys may be renamed between two pages. */
  readonly after?: Pick<StoredKey, 'id' | 'name'>
  readonly group?: string
  readonly name?: string
  /** Default: false; if true, revoked keys are listed too. */
  readonly revoked?: boolean
}

/**
 * Keys, groups, drained channels and admin tokens, which administrators change at runtime. Each change of a key, group
 * or channel increments the version. A change stores its audit entry in the same transaction, if `entryOf` is given.
 */
export interface AccessRecords {
  /**
   * Returns everything that changed after version `since`, or the complete state for version 0 and for a version of
   * another database.
   */
  changes(since: number): Promise<AccessChanges>
  /**
   * Creates a key. Returns false if any key already uses the id or a secret, or an unrevoked key uses the name.
   *
   * @param needsGroup if true, also returns false if the key's group is not stored at that moment.
   */
  createKey(key: StoredKey, needsGroup?: boolean, entryOf?: EntryOf<StoredKey>): Promise<boolean>
  key(id: string): Promise<StoredKey | undefined>
  /** Returns the unrevoked key with that name. */
  keyNamed(name: string): Promise<StoredKey | undefined>
  /**
   * Returns a page of keys, sorted by name, with one extra row if more follow. An unknown `after` gives an empty page.
   */
  keys(page: KeyPage): Promise<readonly StoredKey[]>
  /**
   * Changes a key and returns its new state. Returns undefined if the key is unknown or revoked, `taken` if another key
   * has the name.
   *
   * @param change the new values, or a function of the current key. The function runs while the key is locked and may
   * be called again on a retry.
   * @param needsGroup if true, also returns undefined if the new group is not stored at that moment.
   */
  changeKey(
    id: string,
    change: KeyChange | ((key: StoredKey) => KeyChange),
    needsGroup?: boolean,
    entryOf?: EntryOf<StoredKey>,
  ): Promise<StoredKey | 'taken' | undefined>
  /** Revokes a key permanently. Returns false if the key is unknown or already revoked. */
  revokeKey(id: string, at: number, entryOf?: EntryOf<StoredKey>): Promise<boolean>
  /**
   * Adds a secret to a key. Older secrets expire at `othersUntil` or at their own expiry, whichever is earlier. Returns
   * undefined if the key is revoked or the secret is already in use.
   */
  rotateKey(
    id: string,
    secret: KeySecret,
    othersUntil: number,
    entryOf?: EntryOf<StoredKey>,
  ): Promise<StoredKey | undefined>
  /** Stores the time of last use per key id. A time earlier than the stored one is ignored. */
  recordUses(at: ReadonlyMap<string, number>): Promise<void>
  groups(): Promise<readonly StoredGroup[]>
  /** Creates or replaces a group. */
  putGroup(group: StoredGroup): Promise<void>
  /**
   * Creates or changes a group while it is locked. `change` gets the current group (undefined if there is none) and
   * returns the new one, or undefined to leave the group unchanged. `change` may be called again on a retry.
   */
  changeGroup(
    name: string,
    change: (group: StoredGroup | undefined) => StoredGroup | undefined,
    entryOf?: EntryOf<StoredGroup>,
  ): Promise<StoredGroup | undefined>
  /**
   * Deletes a group. Returns false if it does not exist.
   *
   * @param unusedOnly if true, also returns false if the group has an unrevoked key.
   */
  dropGroup(name: string, unusedOnly?: boolean, entryOf?: EntryOf<StoredGroup>): Promise<boolean>
  /** Drains a channel or ends the drain. Returns false if the channel is already in that state. */
  drain(channel: string, drained: boolean, entryOf?: EntryOf<AuditedConfig>): Promise<boolean>
  addToken(token: AdminToken, entryOf?: EntryOf<AdminToken>): Promise<void>
  tokens(): Promise<readonly AdminToken[]>
  token(hash: string): Promise<AdminToken | undefined>
  /**
   * Deletes a token. Returns `last` and deletes nothing if no other token would be valid, unless `isForced`. Concurrent
   * deletions cannot remove the last two tokens.
   */
  dropToken(id: string, isForced: boolean, entryOf?: EntryOf<AdminToken>): Promise<'done' | 'last' | 'unknown'>
}
