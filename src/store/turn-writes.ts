import { changedByEach, insertText, isPostgres, runEach, type Values } from './bulk.ts'
import { appendItems, type NewItems } from './conversation-repository.ts'
import { storeFault } from './fault.ts'
import { GroupedWrites } from './grouped-writes.ts'
import { dropItemsOf, dropOutputOf, insertItems } from './items.ts'
import type { Database, EventsRow, ItemRow, TurnRow } from './tables.ts'

/** One write of a turn. */
export interface TurnWrite {
  readonly owner: string
  readonly id: string
  /** True to create or replace the turn. Any other write changes nothing if the turn has ended or was deleted. */
  readonly isNew: boolean
  /** The turn's row, or undefined if only events are added. */
  readonly row?: TurnRow
  /** The items to store with the row: all items of a new turn, otherwise only its output. */
  readonly items: readonly ItemRow[]
  readonly events?: EventsRow | undefined
  /** Items that are appended to a conversation. */
  readonly addition?: NewItems | undefined
}

/** Writes turns, their progress and their events. Groups concurrent writes into one transaction. */
export class TurnWrites {
  private readonly writes: GroupedWrites<TurnWrite, boolean>

  constructor(database: Database) {
    this.writes = new GroupedWrites<TurnWrite, boolean>({
      write: all => database.transaction().execute(one => write(one, all)),
      sizeOf,
      keyOf,
      isFault: thrown => storeFault(thrown) !== undefined,
    })
  }

  /** Resolves to false if nothing was written because the turn has ended or was deleted. */
  add(write: TurnWrite): Promise<boolean> {
    return this.writes.add(write)
  }

  /** Resolves when every pending write is stored or has failed. */
  close(): Promise<void> {
    return this.writes.close()
  }
}

const sizeOf = ({ row, items, events }: TurnWrite): number =>
  items.reduce((size, { item }) => size + item.length, (row?.response.length ?? 0) + (events?.texts.length ?? 0))

/**
 * Writes all of a group and returns, for each, whether it was written. Locks the unfinished turns first, then writes
 * the turn rows, then the conversations, all sorted, so that concurrent changes wait without deadlocks.
 */
async function write(database: Database, all: readonly TurnWrite[]): Promise<readonly boolean[]> {
  const unfinished = await lockUnfinished(database, all)
  const mayWrite = (one: TurnWrite): boolean => one.isNew || unfinished.has(keyOf(one))
  const writes = all.filter(mayWrite)
  const turns = writes.filter(({ row }) => row !== undefined)
  if (!(await areInserted(database, turns))) await replaceTurns(database, turns)
  await insertItems(
    database,
    turns.flatMap(({ items }) => items),
  )
  await upsertEvents(
    database,
    writes.flatMap(({ events = [] }) => events),
  )
  for (const addition of additionsOf(writes)) await appendItems(database, addition)
  return all.map(mayWrite)
}

/**
 * Inserts turns into SQLite if all are new, as nearly all groups are. Returns false if some were stored before, so that
 * rows and items must be replaced.
 */
async function areInserted(database: Database, turns: readonly TurnWrite[]): Promise<boolean> {
  if (isPostgres(database) || turns.length === 0 || turns.some(({ isNew }) => !isNew)) return false
  const rows = turns.map(({ row }) => valuesOf(row!))
  return (await changedByEach(database, INSERT_TURN, rows)) === rows.length
}

async function replaceTurns(database: Database, turns: readonly TurnWrite[]): Promise<void> {
  await upsertTurns(
    database,
    turns.map(({ row }) => row!),
  )
  await dropItemsOf(
    database,
    turns.filter(({ isNew }) => isNew),
  )
  await dropOutputOf(
    database,
    turns.filter(({ isNew }) => !isNew),
  )
}

/** Returns the additions of writes in the order in which their conversations are locked. */
const additionsOf = (writes: readonly TurnWrite[]): readonly NewItems[] =>
  writes.flatMap(({ addition = [] }) => addition).sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0))

const keyOf = ({ owner, id }: Pick<TurnWrite, 'owner' | 'id'>): string => `${owner} ${id}`

/**
 * Locks the turns of the group that must be unfinished, so that no other process ends them first, and returns their
 * keys. Does not lock in SQLite, where a transaction is the only writer.
 */
async function lockUnfinished(database: Database, all: readonly TurnWrite[]): Promise<ReadonlySet<string>> {
  const ids = all.flatMap(({ isNew, id }) => (isNew ? [] : [id]))
  if (ids.length === 0) return NO_KEYS
  const rows = await database
    .selectFrom('turns')
    .select(['owner', 'id'])
    .where('id', 'in', ids)
    .where('lease', 'is not', null)
    .orderBy('id')
    .$if(isPostgres(database), query => query.forUpdate())
    .execute()
  return new Set(rows.map(keyOf))
}

const NO_KEYS: ReadonlySet<string> = new Set()

const TURN_COLUMNS = [
  ...(['owner', 'id', 'previous', 'channel', 'remembered', 'copy', 'response', 'created_at', 'expires_at'] as const),
  ...(['lease', 'worker', 'gone'] as const),
]
const EVENT_COLUMNS = ['owner', 'parent', 'first', 'count', 'texts'] as const

/** SQLite statement that inserts one row, or replaces the row with the same key. */
const upsertText = (table: string, key: string, columns: readonly string[]): string =>
  `${insertText(table, columns)} on conflict (${key}) do update set ${columns.map(column => `${column} = excluded.${column}`).join(', ')}`

const INSERT_TURN = `${insertText('turns', TURN_COLUMNS)} on conflict do nothing`
const UPSERT_TURN = upsertText('turns', 'owner, id', TURN_COLUMNS)
const UPSERT_EVENTS = upsertText('events', 'owner, parent, first', EVENT_COLUMNS)

const valuesOf = (row: TurnRow): Values => TURN_COLUMNS.map(column => row[column])

async function upsertTurns(database: Database, unsorted: readonly TurnRow[]): Promise<void> {
  const rows = [...unsorted].sort((a, b) => (a.id < b.id ? -1 : 1))
  if (!isPostgres(database)) return runEach(database, UPSERT_TURN, rows.map(valuesOf))
  if (rows.length > 0)
    await database
      .insertInto('turns')
      .values(rows)
      .onConflict(conflict =>
        conflict
          .columns(['owner', 'id'])
          .doUpdateSet(({ ref }) =>
            Object.fromEntries(TURN_COLUMNS.map(column => [column, ref(`excluded.${column}`)])),
          ),
      )
      .execute()
}

/** Writes batches of events. Replaces a batch that is already stored because its transaction only seemed to fail. */
async function upsertEvents(database: Database, rows: readonly EventsRow[]): Promise<void> {
  if (!isPostgres(database))
    return runEach(
      database,
      UPSERT_EVENTS,
      rows.map(row => EVENT_COLUMNS.map(column => row[column])),
    )
  if (rows.length > 0)
    await database
      .insertInto('events')
      .values(rows)
      .onConflict(conflict =>
        conflict
          .columns(['owner', 'parent', 'first'])
          .doUpdateSet(({ ref }) => ({ count: ref('excluded.count'), texts: ref('excluded.texts') })),
      )
      .execute()
}
