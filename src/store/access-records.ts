import type { GroupConfig, KeySettings } from '../config/types.ts'

/** A key as it is stored: of its secrets only their hashes. Times are Unix milliseconds. */
export interface StoredKey extends KeySettings {
  /** Names the key for good, also when it is renamed or rotated: what its requests store belongs to this id. */
  readonly id: string
  /** Unique among keys that are not revoked. */
  readonly name: string
  readonly group: string
  readonly createdAt: number
  readonly revokedAt?: number
  /** Set in batches, so at most a minute old. */
  readonly lastUsedAt?: number
  /** Those that are valid now or were, the latest first. */
  readonly secrets: readonly KeySecret[]
}

/** One of the texts by which a key is shown to be known; rotation adds one and has the others end. */
export interface KeySecret {
  /** SHA-256, in hex. */
  readonly hash: string
  /** Its beginning and its last four characters, for recognition in lists. */
  readonly prefix: string
  readonly lastFour: string
  readonly createdAt: number
  readonly expiresAt?: number
}

/** Changes of a key; an undefined value removes the field. */
export type KeyChange = { readonly [F in keyof KeySettings | 'name' | 'group']?: StoredKey[F] | undefined }

export interface StoredGroup extends Omit<GroupConfig, 'implied'> {
  readonly createdAt: number
}

/** A token for the admin API, which takes nothing else. */
export interface AdminToken {
  readonly id: string
  readonly name: string
  readonly hash: string
  readonly prefix: string
  readonly lastFour: string
  readonly createdAt: number
  readonly expiresAt?: number
}

/** What changed since a version, as it is now: whole rows. `lastUsedAt` is none of the changes. */
export interface AccessChanges {
  readonly version: number
  readonly keys: readonly StoredKey[]
  readonly groups: readonly StoredGroup[]
  readonly droppedGroups: readonly string[]
  /** All channels that are drained, where any of them changed. */
  readonly drained?: readonly string[]
  /** This is everything there is: what a follower has besides is gone. */
  readonly whole?: true
}

export interface KeyPage {
  readonly limit: number
  /** The id behind which it continues. */
  readonly after?: string
  readonly group?: string
  readonly name?: string
  /** Whether revoked ones are listed, too. */
  readonly revoked?: boolean
}

/** Keys, groups and what else administrators change while the gateway runs. Every change has a version of its own. */
export interface AccessRecords {
  /** Everything that changed after a version; everything there is for 0, or for a version of another database. */
  changes(since: number): Promise<AccessChanges>
  /** False where any key has the id or one of the secrets, or one that is not revoked the name. */
  createKey(key: StoredKey): Promise<boolean>
  key(id: string): Promise<StoredKey | undefined>
  /** The unrevoked key of that name. */
  keyNamed(name: string): Promise<StoredKey | undefined>
  /** A page of keys, by name; one row more than the limit where more follow, none behind an unknown id. */
  keys(page: KeyPage): Promise<readonly StoredKey[]>
  /**
   * The key as it is then; undefined where there is none that is not revoked, `taken` where the name is another's.
   *
   * @param change a function of the key is called while nobody else can change it, perhaps more than once.
   */
  changeKey(id: string, change: KeyChange | ((key: StoredKey) => KeyChange)): Promise<StoredKey | 'taken' | undefined>
  /** Ends a key for good; false where there is none that is not revoked. */
  revokeKey(id: string, at: number): Promise<boolean>
  /** Adds a secret; those there were end at that time, or before. Undefined where the key is revoked, or the secret known. */
  rotateKey(id: string, secret: KeySecret, othersUntil: number): Promise<StoredKey | undefined>
  /** Stores when keys were last used. */
  used(at: ReadonlyMap<string, number>): Promise<void>
  groups(): Promise<readonly StoredGroup[]>
  /** Creates or replaces a group. */
  keepGroup(group: StoredGroup): Promise<void>
  /**
   * Creates or changes the group of that name by what it is (undefined where there is none), while nobody else can change
   * it: what is returned is stored, and undefined leaves all as it is. The function may be called more than once.
   */
  changeGroup(
    name: string,
    change: (group: StoredGroup | undefined) => StoredGroup | undefined,
  ): Promise<StoredGroup | undefined>
  dropGroup(name: string): Promise<boolean>
  /** Marks a channel as drained or not; false where it was so already. */
  drain(channel: string, drained: boolean): Promise<boolean>
  addToken(token: AdminToken): Promise<void>
  tokens(): Promise<readonly AdminToken[]>
  token(hash: string): Promise<AdminToken | undefined>
  /**
   * Deletes a token; `last` where no other is good, and that is not forced: then nothing changes, whoever else deletes
   * one meanwhile.
   */
  dropToken(id: string, isForced: boolean): Promise<'done' | 'last' | 'unknown'>
}
