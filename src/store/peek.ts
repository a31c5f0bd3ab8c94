import { DatabaseSync } from 'node:sqlite'
import { type Applied, checkKnown, RECORDS } from './applied.ts'

/**
 * Checks that no newer version of the program changed a file, without opening it for use.
 *
 * @throws NewerStore; a file that cannot be read is a fault that shows when it is used.
 */
export function checkSqlite(path: string): void {
  checkKnown(recordsIn(path))
}

function recordsIn(path: string): readonly Applied[] {
  let file: DatabaseSync | undefined
  try {
    file = new DatabaseSync(path, { readOnly: true, timeout: 0 })
    return file.prepare(`select name, program from ${RECORDS} order by name`).all() as unknown as readonly Applied[]
  } catch {
    return []
  } finally {
    file?.close()
  }
}
