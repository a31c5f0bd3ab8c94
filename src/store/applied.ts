import { DatabaseSync } from 'node:sqlite'
import { version } from '../version.ts'
import { NewerStore } from './fault.ts'
import { MIGRATIONS } from './migrations.ts'

/** An applied migration, and the version of the program that applied it. */
export interface AppliedMigration {
  readonly name: string
  readonly program: string
}

/** Table of the applied migrations. Its name is specific enough for a database shared with other applications. */
export const MIGRATIONS_TABLE = 'interlingua_migrations'

/**
 * Checks that this version of the program has every applied migration.
 *
 * @throws NewerStore for an unknown migration.
 */
export function checkKnown(
  applied: readonly AppliedMigration[],
  known: readonly string[] = MIGRATIONS.map(({ name }) => name),
): void {
  const unknown = applied.findLast(({ name }) => !known.includes(name))
  if (unknown === undefined) return
  throw new NewerStore(
    `the store was changed by Interlingua ${unknown.program} (migration ${unknown.name}), which is newer than this Interlingua ${version()}: start ${unknown.program} or a later one, or restore an older backup of the store`,
  )
}

/**
 * Checks, without opening it for use, that no newer version of the program migrated a SQLite file. An unreadable file
 * passes the check, because its fault shows on first use.
 *
 * @throws NewerStore.
 */
export function checkSqlite(path: string): void {
  checkKnown(recordsIn(path))
}

/** Returns the migrations applied to a file, or an empty list if the file cannot be read. */
function recordsIn(path: string): readonly AppliedMigration[] {
  let file: DatabaseSync | undefined
  try {
    file = new DatabaseSync(path, { readOnly: true, timeout: 0 })
    return file
      .prepare(`select name, program from ${MIGRATIONS_TABLE} order by name`)
      .all() as unknown as readonly AppliedMigration[]
  } catch {
    return []
  } finally {
    file?.close()
  }
}
