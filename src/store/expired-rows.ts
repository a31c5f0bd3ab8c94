import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Database } from './tables.ts'

/**
 * Number of rows per statement, by table. The event loop runs between the statements, because SQLite deletes while
 * everything else waits. Captures may have megabytes.
 */
const ROWS_PER_DELETE = { tasks: 200, notes: 200, signatures: 500, captures: 5, console_sessions: 200 } as const

/** Deletes the rows of a table that expired before a time, earliest first. Rows of the same time are deleted together. */
export async function deleteExpired(
  database: Database,
  table: keyof typeof ROWS_PER_DELETE,
  before: number,
): Promise<void> {
  for (;;) {
    const last = await database
      .selectFrom(table)
      .select('expires_at')
      .where('expires_at', '<=', before)
      .orderBy('expires_at')
      .limit(1)
      .offset(ROWS_PER_DELETE[table] - 1)
      .executeTakeFirst()
    const until = last === undefined ? before : Number(last.expires_at)
    await database.deleteFrom(table).where('expires_at', '<=', until).execute()
    if (last === undefined) return
    await yieldToEventLoop()
  }
}
