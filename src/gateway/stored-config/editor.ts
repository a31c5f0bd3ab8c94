import { isDeepStrictEqual } from 'node:util'
import { isObject, type JsonObject } from '../../canonical/node.ts'
import type { PathFault } from '../../config/issues.ts'
import { joinSecrets, type Secrets, splitSecrets, type Written } from '../../config/secret-fields.ts'
import { checkedChannel, checkedModel, movedSecrets, type Surroundings } from '../../config/stored-channel.ts'
import type { ChannelConfig } from '../../config/types.ts'
import type { AuditedConfig, EntryOf } from '../../store/audit-records.ts'
import type { ConfigRecords, EntryKind, StoredEntry } from '../../store/config-records.ts'
import { type CredentialKey, type CredentialKeys, decryptedSecrets, encryptedSecrets } from './credential-keys.ts'

/** A stored entry after a change, or the reason why nothing was changed. */
export type Edited =
  | { readonly entry: StoredEntry }
  | { readonly faults: readonly PathFault[] }
  | { readonly refusal: 'taken' | 'unknown' }

/** A channel that is not stored yet, ready to be tested, or its faults. */
export type Draft =
  | { readonly channel: ChannelConfig; readonly written: Written; readonly faults?: undefined }
  | { readonly faults: readonly PathFault[] }
  | { readonly refusal: 'unknown'; readonly faults?: undefined }

export interface EditorOptions {
  readonly records: ConfigRecords
  readonly keys: CredentialKeys
  readonly surroundings: () => Surroundings
}

/** Changes channels and model settings in the store. Checks every entry before storing it. */
export class ConfigEditor {
  private readonly options: EditorOptions

  constructor(options: EditorOptions) {
    this.options = options
  }

  createChannel(written: Written, entryOf?: EntryOf<AuditedConfig>): Promise<Edited> {
    return this.saveChannel(String(written['name']), before => (before === undefined ? written : 'taken'), entryOf)
  }

  /** Replaces the given fields of a channel. Null removes a field. */
  changeChannel(name: string, fields: Written, entryOf?: EntryOf<AuditedConfig>): Promise<Edited> {
    const next = (before: StoredEntry | undefined): Written | 'unknown' =>
      before === undefined ? 'unknown' : withoutNulls({ ...before.settings, ...fields, name })
    return this.saveChannel(name, next, entryOf)
  }

  /** Creates or replaces the settings of a model. */
  putModel(id: string, written: Written, entryOf?: EntryOf<AuditedConfig>): Promise<Edited> {
    return this.saveModel(id, () => written, entryOf)
  }

  /** Changes the given fields of the settings of a model, and of the maps in them. Null removes a field. */
  changeModel(id: string, fields: Written, entryOf?: EntryOf<AuditedConfig>): Promise<Edited> {
    return this.saveModel(id, before => patched(before?.settings ?? {}, fields), entryOf)
  }

  /** Stores the settings that `next` returns for the current ones of a model. */
  private async saveModel(
    id: string,
    next: (before: StoredEntry | undefined) => Written,
    entryOf: EntryOf<AuditedConfig> | undefined,
  ): Promise<Edited> {
    let editResult: Edited = { refusal: 'unknown' }
    const change = (before: StoredEntry | undefined): StoredEntry | undefined => {
      const settings = next(before)
      const { faults } = checkedModel(id, settings)
      if (faults !== undefined) {
        editResult = { faults }
        return undefined
      }
      const now = Date.now()
      const times = { createdAt: before?.createdAt ?? now, updatedAt: now }
      const written = { kind: 'model' as const, name: id, settings: settings as JsonObject, ...times }
      const entry = before !== undefined && hasSettings(before, written) ? before : written
      editResult = { entry }
      return entry
    }
    await this.options.records.changeEntry('model', id, change, entryOf)
    return editResult
  }

  /** @param isShadowed whether the config file has an entry of this name. */
  drop(kind: EntryKind, name: string, isShadowed = false, entryOf?: EntryOf<AuditedConfig>): Promise<boolean> {
    return this.options.records.dropEntry(kind, name, isShadowed, entryOf)
  }

  /**
   * Checks a channel without storing it.
   *
   * @param secretsFrom name of the stored channel that secret references in `written` resolve against.
   */
  async draft(written: Written, secretsFrom: string | undefined): Promise<Draft> {
    const before = secretsFrom === undefined ? undefined : await this.channelNamed(secretsFrom)
    if (secretsFrom !== undefined && before === undefined) return { refusal: 'unknown' }
    const found = this.check(written, before, await this.options.keys.all())
    return 'faults' in found ? found : { channel: found.channel, written: found.withSecrets }
  }

  private async channelNamed(name: string): Promise<StoredEntry | undefined> {
    return (await this.options.records.entries()).find(entry => entry.kind === 'channel' && entry.name === name)
  }

  /** Stores the channel that `next` returns for the current one. */
  private async saveChannel(
    name: string,
    next: (before: StoredEntry | undefined) => Written | 'taken' | 'unknown',
    entryOf: EntryOf<AuditedConfig> | undefined,
  ): Promise<Edited> {
    const { records, keys } = this.options
    const [all, current] = [await keys.all(), await keys.current()]
    let editResult: Edited = { refusal: 'unknown' }
    const change = (before: StoredEntry | undefined): StoredEntry | undefined => {
      editResult = this.edited(name, next(before), before, all, current)
      return 'entry' in editResult ? editResult.entry : undefined
    }
    await records.changeEntry('channel', name, change, entryOf)
    return editResult
  }

  private edited(
    name: string,
    written: Written | 'taken' | 'unknown',
    before: StoredEntry | undefined,
    keys: ReadonlyMap<string, CredentialKey>,
    current: CredentialKey,
  ): Edited {
    if (typeof written === 'string') return { refusal: written }
    const found = this.check(written, before, keys)
    if ('faults' in found) return found
    const { settings, secrets } = splitSecrets(found.withSecrets, found.storedSecrets)
    const now = Date.now()
    // References to secrets are settings: equal ones have equal secrets.
    if (before !== undefined && hasSettings(before, { settings })) return { entry: before }
    const encrypted = encryptedSecrets({ kind: 'channel', name }, secrets, current)
    return {
      entry: {
        ...{ kind: 'channel', name, settings, createdAt: before?.createdAt ?? now, updatedAt: now },
        ...(encrypted === undefined ? {} : { secrets: encrypted }),
      },
    }
  }

  /** Replaces references with the stored secrets, and checks the channel. */
  private check(
    written: Written,
    before: StoredEntry | undefined,
    keys: ReadonlyMap<string, CredentialKey>,
  ):
    | { readonly channel: ChannelConfig; readonly withSecrets: Written; readonly storedSecrets: Secrets }
    | { readonly faults: readonly PathFault[] } {
    const storedSecrets = (before && decryptedSecrets(before, keys).secrets) ?? new Map()
    const movedFaults = before === undefined ? [] : movedSecrets(before.settings, written)
    const { channel: withSecrets, faults } = joinSecrets(written, storedSecrets)
    if (movedFaults.length + faults.length > 0) return { faults: [...movedFaults, ...faults] }
    const checked = checkedChannel(withSecrets, this.options.surroundings())
    return checked.faults === undefined
      ? { channel: checked.value, withSecrets, storedSecrets }
      : { faults: checked.faults }
  }
}

/** Returns true if a stored entry has these settings already. */
const hasSettings = (entry: StoredEntry, { settings }: Pick<StoredEntry, 'settings'>): boolean =>
  isDeepStrictEqual(entry.settings, settings)

/** Applies changes to fields, and to fields of maps. Null removes a field (RFC 7396). */
function patched(before: Written, changes: Written): Written {
  const after = new Map<string, unknown>(Object.entries(before))
  for (const [name, change] of Object.entries(changes)) {
    const was = after.get(name)
    if (change === null) after.delete(name)
    else after.set(name, isObject(change) ? patched(isObject(was) ? was : {}, change) : change)
  }
  return Object.fromEntries(after) as Written
}

/** Returns a copy without null fields. */
export const withoutNulls = (fields: Written): Written =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
