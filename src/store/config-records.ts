import type { JsonObject } from '../canonical/node.ts'
import type { AuditedConfig, EntryOf } from './audit-records.ts'
import type { SharedRecords } from './shared-records.ts'

/** Kinds of config entries that administrators store. */
export type EntryKind = 'channel' | 'model'

/** A channel, or the settings of a model, as written by an administrator. Times are Unix milliseconds. */
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

/** A re-encryption of the secrets of all entries. */
export interface Encryption {
  /** Encrypts the secrets of one entry. */
  readonly change: (entry: StoredEntry, secrets: EncryptedSecrets) => EncryptedSecrets
  /** Secrets of the gateway in the store, replaced in the same transaction. */
  readonly secrets: readonly { readonly name: string; readonly value: Uint8Array }[]
}

/**
 * Config that administrators store. Each change increments the version of the access records, which all processes
 * follow. A change stores its audit entry in the same transaction, if `entryOf` is given.
 */
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
    entryOf?: EntryOf<AuditedConfig>,
  ): Promise<StoredEntry | undefined>
  /**
   * Deletes an entry with its secrets, and ends the drain of a channel. Returns false if there is no such entry.
   *
   * @param keepsDrain whether the config file has a channel of this name, which stays drained.
   */
  dropEntry(kind: EntryKind, name: string, keepsDrain?: boolean, entryOf?: EntryOf<AuditedConfig>): Promise<boolean>
  /**
   * Re-encrypts all secrets in one transaction.
   *
   * @param prepare reads the gateway's secrets while they are locked. May be called again on a retry.
   * @returns the number of changed entries.
   */
  encryptAgain(prepare: (secretOf: SharedRecords['secret']) => Promise<Encryption>): Promise<number>
}
