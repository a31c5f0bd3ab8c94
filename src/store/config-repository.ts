import { parseObject } from '../canonical/node.ts'
import { plain } from './access-rows.ts'
import type { StoredConfigRow } from './access-tables.ts'
import { Unchanged, underNewVersion } from './access-version.ts'
import type { AuditedConfig, EntryOf } from './audit-records.ts'
import { addEntry } from './audit-repository.ts'
import { compareText } from './bulk.ts'
import type { ConfigRecords, Encryption, EntryKind, StoredEntry } from './config-records.ts'
import type { SharedRecords } from './shared-records.ts'
import { storedSecret } from './shared-repository.ts'
import type { Database } from './tables.ts'

/** The repository of channels and settings of models that administrators store. */
export class ConfigRepository implements ConfigRecords {
  private readonly database: Database
  private readonly now: () => number

  /** @param now Unix time in milliseconds. */
  constructor(database: Database, now: () => number) {
    this.database = database
    this.now = now
  }

  entries(): Promise<readonly StoredEntry[]> {
    return configEntries(this.database)
  }

  changeEntry(
    kind: EntryKind,
    name: string,
    change: (entry: StoredEntry | undefined) => StoredEntry | undefined,
    auditEntryOf?: EntryOf<AuditedConfig>,
  ): Promise<StoredEntry | undefined> {
    return underNewVersion<StoredEntry | undefined>(
      this.database,
      this.now(),
      async (database, version) => {
        const before = await entryNamed(database, kind, name)
        const entry = change(before)
        if (entry === undefined) return undefined
        if (entry === before) return new Unchanged(before)
        const { kind: _, name: __, ...row } = rowOf(entry, version)
        await database
          .insertInto('stored_config')
          .values({ kind, name: plain(name), ...row })
          .onConflict(conflict => conflict.columns(['kind', 'name']).doUpdateSet(row))
          .execute()
        const drain = await drainOf(database, kind, name)
        await addEntry(database, auditEntryOf, before && { ...before, ...drain }, { ...entry, ...drain })
        return entry
      },
      undefined,
    )
  }

  dropEntry(
    kind: EntryKind,
    name: string,
    keepsDrain = false,
    auditEntryOf?: EntryOf<AuditedConfig>,
  ): Promise<boolean> {
    return underNewVersion(
      this.database,
      this.now(),
      async (database, version) => {
        const entry = await entryNamed(database, kind, name)
        if (entry === undefined) return false
        const drain = await drainOf(database, kind, name)
        await database
          .updateTable('stored_config')
          .set({ dropped: 1, settings: '{}', secrets: null, key_id: null, version })
          .where('kind', '=', kind)
          .where('name', '=', plain(name))
          .execute()
        if (kind === 'channel' && !keepsDrain)
          await database
            .updateTable('access_channels')
            .set({ drained: 0, version })
            .where('channel', '=', plain(name))
            .where('drained', '=', 1)
            .execute()
        const after = keepsDrain ? { name, settings: {}, ...drain } : undefined
        await addEntry(database, auditEntryOf, { ...entry, ...drain }, after)
        return true
      },
      false,
    )
  }

  encryptAgain(prepare: (secretOf: SharedRecords['secret']) => Promise<Encryption>): Promise<number> {
    return underNewVersion(this.database, this.now(), async (database, version) => {
      const { change, secrets } = await prepare(name => storedSecret(database, name))
      const rows = await database.selectFrom('stored_config').selectAll().where('secrets', 'is not', null).execute()
      for (const row of rows) {
        const entry = entryOf(row)
        const { keyId, data } = change(entry, entry.secrets!)
        await database
          .updateTable('stored_config')
          .set({ secrets: data, key_id: keyId, version })
          .where('kind', '=', row.kind)
          .where('name', '=', row.name)
          .execute()
      }
      for (const { name, value: bytes } of secrets) {
        const value = Buffer.from(bytes).toString('base64')
        await database
          .insertInto('secrets')
          .values({ name, value })
          .onConflict(conflict => conflict.column('name').doUpdateSet({ value }))
          .execute()
      }
      return rows.length
    })
  }
}

/** Returns all stored config entries, by kind and name. */
export async function configEntries(database: Database): Promise<readonly StoredEntry[]> {
  const rows = await database.selectFrom('stored_config').selectAll().where('dropped', '=', 0).execute()
  return rows
    .map(entryOf)
    .sort((one, second) => compareText(one.kind, second.kind) || compareText(one.name, second.name))
}

async function entryNamed(database: Database, kind: EntryKind, name: string): Promise<StoredEntry | undefined> {
  const row = await database
    .selectFrom('stored_config')
    .selectAll()
    .where('kind', '=', kind)
    .where('name', '=', plain(name))
    .where('dropped', '=', 0)
    .executeTakeFirst()
  return row && entryOf(row)
}

/** Returns whether a channel is drained, as the audit log compares it. */
async function drainOf(database: Database, kind: EntryKind, name: string): Promise<{ readonly drained?: boolean }> {
  if (kind !== 'channel') return {}
  const row = await database
    .selectFrom('access_channels')
    .select('drained')
    .where('channel', '=', plain(name))
    .executeTakeFirst()
  return { drained: row?.drained === 1 }
}

/** Builds an entry. One with damaged settings has none, so that it is faulty and the other entries are read. */
const entryOf = ({ kind, name, settings, secrets, key_id, created_at, updated_at }: StoredConfigRow): StoredEntry => ({
  ...{ kind: kind as EntryKind, name, settings: parseObject(settings) ?? {} },
  ...(secrets === null || key_id === null ? {} : { secrets: { keyId: key_id, data: secrets } }),
  ...{ createdAt: Number(created_at), updatedAt: Number(updated_at) },
})

const rowOf = ({ kind, name, settings, secrets, createdAt, updatedAt }: StoredEntry, version: number) => ({
  ...{ kind, name: plain(name), settings: JSON.stringify(settings) },
  ...{ secrets: secrets?.data ?? null, key_id: secrets?.keyId ?? null },
  ...{ created_at: createdAt, updated_at: updatedAt, dropped: 0, version },
})
