import { setImmediate as breath } from 'node:timers/promises'
import { Kysely } from 'kysely'
import type { StoreConfig } from '../config/types.ts'
import type { AccessRecords } from './access-records.ts'
import type { Captures } from './captures.ts'
import type { ConsoleRecords } from './console-records.ts'
import type { Conversations } from './conversations.ts'
import type { Engine } from './engine.ts'
import type { Events } from './events.ts'
import { dropEvents, dropItems } from './items.ts'
import { KeptAccess } from './kept-access.ts'
import { KeptCaptures } from './kept-captures.ts'
import { KeptConsole } from './kept-console.ts'
import { KeptConversations } from './kept-conversations.ts'
import { KeptEvents } from './kept-events.ts'
import { KeptProcesses } from './kept-processes.ts'
import { keptShared } from './kept-shared.ts'
import { KeptTasks } from './kept-tasks.ts'
import { KeptTurns } from './kept-turns.ts'
import { KeptUsage } from './kept-usage.ts'
import { migrate } from './migrate.ts'
import { openEngine } from './open-engine.ts'
import type { Processes } from './processes.ts'
import type { SharedRecords } from './shared-records.ts'
import { checkTables } from './structure.ts'
import type { Database, Tables } from './tables.ts'
import type { Tasks } from './tasks.ts'
import type { Turns } from './turns.ts'
import type { UsageRecords } from './usage-records.ts'

/**
 * The rooms of the store. A room has everything stored of one kind, behind an interface of its own; every one of its methods
 * has a mode (`modes.ts`).
 */
export interface Rooms {
  readonly turns: Turns
  readonly conversations: Conversations
  readonly events: Events
  readonly tasks: Tasks
  readonly processes: Processes
  readonly access: AccessRecords
  readonly console: ConsoleRecords
  readonly usage: UsageRecords
  readonly shared: SharedRecords
  readonly captures: Captures
}

/** Everything that outlives a request. */
export interface Store extends Rooms {
  /** Deletes what has expired and is not part of a later turn. */
  sweep(): Promise<void>
  /** Whether the file was moved away: what is written here would be lost. */
  moved(): boolean
  /** Looks for all tables, writes something and deletes it; rejects with the database's error where that fails. */
  probe(): Promise<void>
  close(): Promise<void>
}

/**
 * Opens the store, whose database is brought to the newest structure; a SQLite file is created where there is none.
 *
 * @param now Unix time in milliseconds.
 * @throws NewerStore, or the error of the engine.
 */
export async function openStore(config: StoreConfig, now: () => number = Date.now): Promise<Store> {
  const engine = await openEngine(config)
  return storeIn(await openDatabase(engine), engine, now)
}

/** The same for a SQLite file. */
export const openSqlite = (path: string, now?: () => number): Promise<Store> =>
  openStore({ engine: 'sqlite', path }, now)

/** A database in the newest structure. Rejects like `openStore`. */
export async function openDatabase(engine: Engine): Promise<Database> {
  const database = new Kysely<Tables>({ dialect: engine.dialect })
  try {
    await migrate(database, engine)
  } catch (thrown) {
    await database.destroy()
    throw thrown
  }
  return database
}

function storeIn(database: Database, engine: Engine, now: () => number): Store {
  const turns = new KeptTurns(database, now)
  const shared = keptShared(database, now)
  const captures = new KeptCaptures(database, now)
  const users = new KeptConsole(database, now)
  return {
    turns,
    conversations: new KeptConversations(database, now),
    events: new KeptEvents(database),
    tasks: new KeptTasks(database),
    processes: new KeptProcesses(database),
    access: new KeptAccess(database, now),
    console: users,
    usage: new KeptUsage(database, now),
    shared,
    captures,
    async sweep() {
      await sweep(database, now())
      await shared.sweep()
      await captures.sweep()
      await users.sweep()
    },
    moved: engine.moved,
    async probe() {
      await checkTables(database)
      await engine.probe(database)
    },
    async close() {
      await turns.close()
      await database.destroy()
    },
  }
}

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
    .orderBy('owner')
    .orderBy('id')
    .limit(BATCH)
    .execute()
  return remove(database, 'turns', rows, now)
}

async function sweepConversations(database: Database, now: number): Promise<number> {
  const rows = await database
    .selectFrom('conversations')
    .select(['owner', 'id'])
    .where('expires_at', '<=', now)
    .orderBy('owner')
    .orderBy('id')
    .limit(BATCH)
    .execute()
  return remove(database, 'conversations', rows, now)
}

/**
 * Deletes rows that are still expired, in one order: two instances that do so wait for each other in no circle. The row
 * goes first, as whoever writes locks it first.
 */
async function remove(
  database: Database,
  table: 'turns' | 'conversations',
  rows: readonly { readonly owner: string; readonly id: string }[],
  now: number,
): Promise<number> {
  if (rows.length === 0) return 0
  await database.transaction().execute(async one => {
    for (const { owner, id } of rows) {
      const { numDeletedRows } = await one
        .deleteFrom(table)
        .where('owner', '=', owner)
        .where('id', '=', id)
        .where('expires_at', '<=', now)
        .executeTakeFirst()
      if (numDeletedRows === 0n) continue
      await dropItems(one, owner, id)
      await dropEvents(one, owner, id)
    }
  })
  return rows.length
}
