import { plain } from './access-rows.ts'
import type { StoredConfigRow } from './access-tables.ts'
import { underNewVersion } from './access-version.ts'
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
  ): Promise<StoredEntry | undefined> {
    return underNewVersion<StoredEntry | undefined>(
      this.database,
      this.now(),
      async (database, version) => {
        const known = await selectEntry(database, kind, name).executeTakeFirst()
        const entry = change(known && entryOf(known))
        if (entry === undefined) return undefined
        const { kind: _, name: __, ...row } = rowOf(entry, version)
        await database
          .insertInto('stored_config')
          .values({ kind, name: plain(name), ...row })
          .onConflict(conflict => conflict.columns(['kind', 'name']).doUpdateSet(row))
          .execute()
        return entry
      },
      undefined,
    )
  }

  dropEntry(kind: EntryKind, name: string, keepsDrain = false): Promise<boolean> {
    return underNewVersion(
      this.database,
      this.now(),
      async (database, version) => {
        const { numUpdatedRows } = await database
          .updateTable('stored_config')
          .set({ dropped: 1, settings: '{}', secrets: null, key_id: null, version })
          .where('kind', '=', kind)
          .where('name', '=', plain(name))
          .where('dropped', '=', 0)
          .executeTakeFirst()
        if (numUpdatedRows === 0n) return false
        if (kind === 'channel' && !keepsDrain)
          await database
            .updateTable('access_channels')
            .set({ drained: 0, version })
            .where('channel', '=', plain(name))
            .where('drained', '=', 1)
            .execute()
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

const selectEntry = (database: Database, kind: EntryKind, name: string) =>
  database
    .selectFrom('stored_config')
    .selectAll()
    .where('kind', '=', kind)
    .where('name', '=', plain(name))
    .where('dropped', '=', 0)

const entryOf = ({ kind, name, settings, secrets, key_id, created_at, updated_at }: StoredConfigRow): StoredEntry => ({
  ...{ kind: kind as EntryKind, name, settings: JSON.parse(settings) },
  ...(secrets === null || key_id === null ? {} : { secrets: { keyId: key_id, data: secrets } }),
  ...{ createdAt: Number(created_at), updatedAt: Number(updated_at) },
})

const rowOf = ({ kind, name, settings, secrets, createdAt, updatedAt }: StoredEntry, version: number) => ({
  ...{ kind, name: plain(name), settings: JSON.stringify(settings) },
  ...{ secrets: secrets?.data ?? null, key_id: secrets?.keyId ?? null },
  ...{ created_at: createdAt, updated_at: updatedAt, dropped: 0, version },
})
