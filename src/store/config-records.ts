import type { JsonObject } from '../canonical/node.ts'

/** Kinds of config entries that administrators store. */
export type EntryKind = 'channel' | 'model'

/** A channel, or the settings of a model, as administrators wrote it. Times are Unix milliseconds. */
export interface StoredEntry {
  readonly kind: EntryKind
  /** Name of the channel, or public id of the model. */
  readonly name: string
  /** The config as written, with references in place of secrets. */
  readonly settings: JsonObject
  /** The secrets of a channel, encrypted. Absent if it has none. */
  readonly secrets?: EncryptedSecrets
  readonly createdAt: number
  readonly updatedAt: number
}

/** Encrypted secrets, and the id of the key that decrypts them. */
export interface EncryptedSecrets {
  readonly keyId: string
  /** Base64. */
  readonly data: string
}

/** Config that administrators store. Each change increments the version of the access records, so that all follow it. */
export interface ConfigRecords {
  /** Returns all entries, by kind and name. */
  entries(): Promise<readonly StoredEntry[]>
  /**
   * Creates or changes an entry while it is locked. `change` gets the current entry (undefined if there is none) and
   * returns the new one, or undefined to leave it unchanged. `change` may be called again on a retry.
   */
  changeEntry(
    kind: EntryKind,
    name: string,
    change: (entry: StoredEntry | undefined) => StoredEntry | undefined,
  ): Promise<StoredEntry | undefined>
  /** Deletes an entry with its secrets, and ends the drain of a channel. False if there is none. */
  dropEntry(kind: EntryKind, name: string): Promise<boolean>
  /**
   * Encrypts all secrets again, in one transaction.
   *
   * @param change encrypts the secrets of one entry. May be called again on a retry.
   * @param secrets secrets of the store to replace in the same transaction.
   * @returns the number of changed entries.
   */
  encryptAgain(
    change: (entry: StoredEntry, secrets: EncryptedSecrets) => EncryptedSecrets,
    secrets: readonly { readonly name: string; readonly value: Uint8Array }[],
  ): Promise<number>
}
