import { DatabaseSync } from 'node:sqlite'
import { type Applied, checkKnown, MIGRATIONS_TABLE } from './applied.ts'

/**
 * Checks that no newer version of the program migrated a SQLite file, without opening it for use. A file that cannot be
 * read passes: its fault shows on first use.
 *
 * @throws NewerStore.
 */
export function checkSqlite(path: string): void {
  checkKnown(recordsIn(path))
}

/** Returns the applied migrations of a file; an empty list if it cannot be read. */
function recordsIn(path: string): readonly Applied[] {
  let file: DatabaseSync | undefined
  try {
    file = new DatabaseSync(path, { readOnly: true, timeout: 0 })
    return file
      .prepare(`select name, program from ${MIGRATIONS_TABLE} order by name`)
      .all() as unknown as readonly Applied[]
  } catch {
    return []
  } finally {
    file?.close()
  }
}
