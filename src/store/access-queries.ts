import type { StoredGroup, StoredKey } from './access-records.ts'
import { groupOf, keyOf, plain } from './access-rows.ts'
import type { AccessKeyRow, AccessSecretRow } from './access-tables.ts'
import type { Database } from './tables.ts'

/* Reads single keys and groups, and answers questions about them. */

/** Returns the group with that name, unless it was deleted. */
export async function groupNamed(database: Database, name: string): Promise<StoredGroup | undefined> {
  const row = await database
    .selectFrom('access_groups')
    .selectAll()
    .where('name', '=', plain(name))
    .where('dropped', '=', 0)
    .executeTakeFirst()
  return row && groupOf(row)
}

export async function keyById(database: Database, id: string): Promise<StoredKey | undefined> {
  const row = await database.selectFrom('access_keys').selectAll().where('id', '=', id).executeTakeFirst()
  return row && keyOf(row, await secretsOf(database, [id]))
}

export const secretsOf = (database: Database, keys: readonly string[]): Promise<AccessSecretRow[]> =>
  database
    .selectFrom('access_secrets')
    .selectAll()
    .where('key_id', 'in', keys)
    .orderBy('created_at', 'desc')
    .orderBy('hash')
    .execute()

export function withSecrets(keys: readonly AccessKeyRow[], secrets: readonly AccessSecretRow[]): StoredKey[] {
  const byKey = Map.groupBy(secrets, ({ key_id }) => key_id)
  return keys.map(row => keyOf(row, byKey.get(row.id) ?? []))
}

/** Returns true if an unrevoked key has the name. */
export async function isNamed(database: Database, name: string): Promise<boolean> {
  const row = await database
    .selectFrom('access_keys')
    .select('id')
    .where('name', '=', name)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  return row !== undefined
}

/** Returns true if a group of that name is stored. */
export const isGroup = async (database: Database, name: string): Promise<boolean> =>
  (await groupNamed(database, name)) !== undefined

/** Returns true if a group has an unrevoked key. */
export async function hasKeys(database: Database, group: string): Promise<boolean> {
  const row = await database
    .selectFrom('access_keys')
    .select('id')
    .where('group_name', '=', plain(group))
    .where('revoked_at', 'is', null)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Returns true if one of the secrets belongs, or once belonged, to any key. */
export async function isKnown(database: Database, hashes: readonly string[]): Promise<boolean> {
  if (hashes.length === 0) return false
  const row = await database.selectFrom('access_secrets').select('hash').where('hash', 'in', hashes).executeTakeFirst()
  return row !== undefined
}
