import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { Kysely } from 'kysely'
import type { StoreConfig } from '../config/types.ts'
import type { AccessRecords } from './access-records.ts'
import { AccessRepository } from './access-repository.ts'
import type { AuditRecords } from './audit-records.ts'
import { AuditRepository } from './audit-repository.ts'
import { compareText } from './bulk.ts'
import { CaptureRepository, type Captures } from './capture-repository.ts'
import type { ConfigRecords } from './config-records.ts'
import { ConfigRepository } from './config-repository.ts'
import type { ConsoleRecords } from './console-records.ts'
import { ConsoleRepository } from './console-repository.ts'
import { ConversationRepository, type Conversations } from './conversation-repository.ts'
import type { Engine } from './engine.ts'
import { EventRepository } from './event-repository.ts'
import type { Events } from './events.ts'
import { deleteExpired } from './expired-rows.ts'
import { dropEvents, dropItems } from './items.ts'
import { checkTables, migrate } from './migrate.ts'
import { openEngine } from './open-engine.ts'
import { type Processes, ProcessRepository } from './process-repository.ts'
import type { SharedRecords } from './shared-records.ts'
import { sharedRepository } from './shared-repository.ts'
import { StoreClock } from './store-clock.ts'
import type { Database, Tables, TurnRow } from './tables.ts'
import { TaskRepository } from './task-repository.ts'
import type { Tasks } from './tasks.ts'
import { TurnRepository } from './turn-repository.ts'
import { TurnWrites } from './turn-writes.ts'
import type { Turns } from './turns.ts'
import type { UsageRecords } from './usage-records.ts'
import { UsageRepository } from './usage-repository.ts'

/** The repositories of the store, one per kind of record. Every method has a mode (`modes.ts`). */
export interface Repositories {
  readonly turns: Turns
  readonly conversations: Conversations
  readonly events: Events
  readonly tasks: Tasks
  readonly processes: Processes
  readonly access: AccessRecords
  readonly config: ConfigRecords
  readonly console: ConsoleRecords
  readonly usage: UsageRecords
  readonly shared: SharedRecords
  readonly captures: Captures
  readonly audit: AuditRecords
}

/** All data that outlives a request. */
export interface Store extends Repositories {
  /** Returns the Unix time in milliseconds that decides what has expired (`StoreClock`). */
  now(): number
  /** Returns the Unix time in milliseconds before which expired data may be deleted (`StoreClock`). */
  deletionTime(): number
  /** Deletes expired data, except turns that a later turn continues. */
  sweep(): Promise<void>
  /** Returns true if the database file was removed or replaced, so that writes to the open file would be lost. */
  moved(): boolean
  /** Checks that all tables exist and that a sample row can be written. Rejects with the database's error. */
  probe(): Promise<void>
  close(): Promise<void>
}

/**
 * Opens the store and migrates it to the newest schema. Creates a missing SQLite file.
 *
 * @param now returns the Unix time in milliseconds. By default this machine's clock, but never more than the database
 * server's.
 * @throws NewerStore, or the error of the engine.
 */
export async function openStore(config: StoreConfig, now?: () => number): Promise<Store> {
  const engine = await openEngine(config)
  const database = await openDatabase(engine)
  const clock = now === undefined ? new StoreClock(engine, database) : clockFrom(now)
  try {
    await clock.open()
  } catch (thrown) {
    await database.destroy()
    throw thrown
  }
  return storeIn(database, engine, clock)
}

/** Opens a store in a SQLite file. Otherwise like `openStore`. */
export const openSqlite = (path: string, now?: () => number): Promise<Store> =>
  openStore({ engine: 'sqlite', path }, now)

/** Opens a database and migrates it to the newest schema. Rejects like `openStore`. */
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

type Clock = Pick<StoreClock, 'now' | 'deletionTime' | 'open' | 'measure' | 'record'>

/** A clock that is always right. */
const clockFrom = (now: () => number): Clock => ({
  ...{ now, deletionTime: now },
  ...{ open: async () => {}, measure: async () => {}, record: async () => {} },
})

/** Assembles the repositories over an open database. */
function storeIn(database: Database, engine: Engine, clock: Clock): Store {
  const { now, deletionTime } = clock
  const turnWrites = new TurnWrites(database)
  const shared = sharedRepository(database, now)
  const captures = new CaptureRepository(database, now)
  const users = new ConsoleRepository(database, now)
  return {
    turns: new TurnRepository(database, turnWrites, now),
    conversations: new ConversationRepository(database, now),
    events: new EventRepository(database, turnWrites),
    tasks: new TaskRepository(database),
    processes: new ProcessRepository(database),
    access: new AccessRepository(database, now),
    config: new ConfigRepository(database, now),
    console: users,
    usage: new UsageRepository(database, now, deletionTime),
    shared,
    captures,
    audit: new AuditRepository(database),
    now,
    deletionTime,
    async sweep() {
      await clock.measure()
      const before = deletionTime()
      await sweep(database, before)
      await shared.sweep(before)
      await captures.sweep(before)
      await users.sweep(before)
      await clock.record(before)
    },
    moved: engine.moved,
    async probe() {
      await checkTables(database)
      await engine.probe(database)
    },
    async close() {
      await turnWrites.close()
      await database.destroy()
    },
  }
}

/** Number of rows per deletion, so that reads can run in between. */
const ROWS_PER_DELETE = 200

/** Deletes expired tasks, turns and conversations. An expired turn is deleted only after all turns that continue it. */
async function sweep(database: Database, now: number): Promise<void> {
  await deleteExpired(database, 'tasks', now)
  await sweepTurns(database, now)
  await sweepConversations(database, now)
}

/** Deletes expired turns that no turn continues, earliest first, and after each of them the turns that it continued. */
async function sweepTurns(database: Database, now: number): Promise<void> {
  for (let from = 0; ; ) {
    const rows = await lastTurns(database, now)
      .where('expires_at', '>=', from)
      .orderBy('expires_at')
      .limit(ROWS_PER_DELETE)
      .execute()
    for (let ends = rows; ends.length > 0; ends = await turnsBefore(database, ends, now)) {
      await remove(database, 'turns', ends, now)
      await yieldToEventLoop()
    }
    if (rows.length < ROWS_PER_DELETE) return
    from = Number(rows.at(-1)!.expires_at)
  }
}

/** Builds the query for the expired turns that no turn continues. */
const lastTurns = (database: Database, now: number) =>
  database
    .selectFrom('turns')
    .select(['owner', 'id', 'previous', 'expires_at'])
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

/** Returns the turns that deleted turns continued, if they have expired and no other turn continues them. */
async function turnsBefore(database: Database, deleted: readonly Pick<TurnRow, 'previous'>[], now: number) {
  const ids = deleted.flatMap(({ previous }) => previous ?? [])
  return ids.length === 0 ? [] : lastTurns(database, now).where('id', 'in', ids).execute()
}

async function sweepConversations(database: Database, now: number): Promise<void> {
  for (;;) {
    const rows = await database
      .selectFrom('conversations')
      .select(['owner', 'id'])
      .where('expires_at', '<=', now)
      .orderBy('expires_at')
      .limit(ROWS_PER_DELETE)
      .execute()
    await remove(database, 'conversations', rows, now)
    if (rows.length < ROWS_PER_DELETE) return
    await yieldToEventLoop()
  }
}

/**
 * Deletes rows that are still expired, in sorted order so that two instances cannot deadlock. Deletes the parent row
 * first, because writers lock that row first.
 */
async function remove(
  database: Database,
  table: 'turns' | 'conversations',
  rows: readonly { readonly owner: string; readonly id: string }[],
  now: number,
): Promise<void> {
  const sorted = rows.toSorted((a, b) => compareText(a.owner, b.owner) || compareText(a.id, b.id))
  if (sorted.length === 0) return
  await database.transaction().execute(async one => {
    for (const { owner, id } of sorted) {
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
}
