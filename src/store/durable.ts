import { sql } from 'kysely'
import { isPostgres } from './bulk.ts'
import type { Database } from './tables.ts'

/**
 * Runs a transaction that survives a power loss once it is committed, such as the revocation of a key. SQLite then
 * waits for the disk, for this transaction and all before it. PostgreSQL does so by default.
 */
export function durably<T>(database: Database, work: (transaction: Database) => Promise<T>): Promise<T> {
  if (isPostgres(database)) return database.transaction().execute(work)
  return database.connection().execute(async connection => {
    await sql`pragma synchronous = full`.execute(connection)
    try {
      return await connection.transaction().execute(work)
    } finally {
      // A failure must not refuse what is committed. The next transactions then wait for the disk, too.
      await sql`pragma synchronous = normal`.execute(connection).catch(() => {})
    }
  })
}
