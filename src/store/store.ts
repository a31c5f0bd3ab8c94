import { setImmediate as breath } from 'node:timers/promises'
import { Kysely } from 'kysely'
import type { StoreConfig } from '../config/types.ts'
import type { AccessRecords } from './access-records.ts'
import type { Conversations } from './conversations.ts'
import type { Events } from './events.ts'
import { dropEvents, dropItems } from './items.ts'
import { KeptAccess } from './kept-access.ts'
import { KeptConversations } from './kept-conversations.ts'
import { KeptEvents } from './kept-events.ts'
import { KeptTasks } from './kept-tasks.ts'
import { KeptTurns } from './kept-turns.ts'
import { KeptUsage } from './kept-usage.ts'
import { migrate } from './migrate.ts'
import { type SqliteFile, sqlite } from './sqlite.ts'
import type { Database, Tables } from './tables.ts'
import type { Tasks } from './tasks.ts'
import type { Turns } from './turns.ts'
import type { UsageRecords } from './usage-records.ts'

/** Everything that outlives a request. */
export interface Store {
  readonly turns: Turns
  readonly conversations: Conversations
  readonly events: Events
  readonly tasks: Tasks
  readonly access: AccessRecords
  readonly usage: UsageRecords
  /** Deletes what has expired and is not part of a later turn. */
  sweep(): Promise<void>
  /** Whether the file was moved away: what is written here would be lost. */
  moved(): boolean
  /** Writes something and deletes it; throws the database's error where that fails. */
  probe(): void
  close(): Promise<void>
}

/**
 * Opens the store in a SQLite file, which is created where there is none.
 *
 * @param now Unix time in milliseconds.
 */
export const openSqlite = (path: string, now: () => number = Date.now): Promise<Store> => storeIn(sqlite(path), now)

/** Opens the store that a config names. Rejects where it cannot be reached, or is newer than the program. */
export async function openStore(config: StoreConfig, now?: () => number): Promise<Store> {
  if (config.engine !== 'sqlite') throw new Error('PostgreSQL is not supported yet')
  return openSqlite(config.path, now)
}

async function storeIn({ dialect, moved, probe }: SqliteFile, now: () => number): Promise<Store> {
  const database = new Kysely<Tables>({ dialect })
  try {
    await migrate(database, SQLITE_TYPES)
  } catch (thrown) {
    await database.destroy()
    throw thrown
  }
  return {
    turns: new KeptTurns(database, now),
    conversations: new KeptConversations(database, now),
    events: new KeptEvents(database),
    tasks: new KeptTasks(database),
    access: new KeptAccess(database, now),
    usage: new KeptUsage(database, now),
    sweep: () => sweep(database, now()),
    moved,
    probe,
    close: () => database.destroy(),
  }
}

const SQLITE_TYPES = { bytes: 'blob' }

/** Rows deleted at a time: others need to read in between. */
const BATCH = 200

/** Leaf by leaf: an expired turn is deleted once no later one builds on it. */
async function sweep(database: Database, now: number): Promise<void> {
  await database.deleteFrom('tasks').where('expires_at', '<=', now).execute()
  while ((await sweepTurns(database, now)) + (await sweepConversations(database, now)) > 0) await breath()
}

async function sweepTurns(database: Database, now: number): Promise<number> {
  const rows = await database
    .selectFrom('turns')
    .select(['owner', 'id'])
    .where('expires_at', '<=', now)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('turns as later')
            .select('later.id')
            .whereRef('later.owner', '=', 'turns.owner')
            .whereRef('later.previous', '=', 'turns.id'),
        ),
      ),
    )
    .limit(BATCH)
    .execute()
  return remove(database, 'turns', rows)
}

async function sweepConversations(database: Database, now: number): Promise<number> {
  const rows = await database
    .selectFrom('conversations')
    .select(['owner', 'id'])
    .where('expires_at', '<=', now)
    .limit(BATCH)
    .execute()
  return remove(database, 'conversations', rows)
}

async function remove(
  database: Database,
  table: 'turns' | 'conversations',
  rows: readonly { readonly owner: string; readonly id: string }[],
): Promise<number> {
  if (rows.length === 0) return 0
  await database.transaction().execute(async one => {
    for (const { owner, id } of rows) {
      await dropItems(one, owner, id)
      await dropEvents(one, owner, id)
      await one.deleteFrom(table).where('owner', '=', owner).where('id', '=', id).execute()
    }
  })
  return rows.length
}
