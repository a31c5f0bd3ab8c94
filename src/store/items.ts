import { parseExactly } from '../canonical/exact-numbers.ts'
import type { JsonObject } from '../canonical/node.ts'
import { insertText, isPostgres, runEach } from './bulk.ts'
import type { Database, ItemRow, TurnRow } from './tables.ts'

/** Rows per statement: databases limit the number of parameters. */
export const ROWS_PER_STATEMENT = 500

const COLUMNS = ['owner', 'parent', 'place', 'id', 'made', 'channel', 'remembered', 'item', 'kept_at'] as const
const INSERT = insertText('items', COLUMNS)

/** Id of rows that no lookup finds by their id. */
export const NO_ID = ''
/** Maximum size of an id by which a lookup finds an item, in bytes. PostgreSQL's indexes refuse longer values. */
const MAX_ID_BYTES = 2600

/** Parses a stored item. Arguments of calls keep every digit of large integers. */
export const parseItem = (text: string): JsonObject => (parseExactly(`{"step":${text}}`) as { step: JsonObject }).step

/** Returns true if the indexes of every engine can hold an id. */
export const isIndexable = (id: string): boolean => Buffer.byteLength(id) <= MAX_ID_BYTES

/** Inserts items of turns or conversations. */
export async function insertItems(database: Database, all: readonly ItemRow[]): Promise<void> {
  const rows = withUniqueIds(all)
  if (!isPostgres(database)) {
    return runEach(
      database,
      INSERT,
      rows.map(row => COLUMNS.map(column => row[column])),
    )
  }
  for (let at = 0; at < rows.length; at += ROWS_PER_STATEMENT)
    await database
      .insertInto('items')
      .values(rows.slice(at, at + ROWS_PER_STATEMENT))
      .execute()
}

/**
 * Leaves each id to one item per turn or conversation: the model's latest, or else the latest. A caller may repeat an id
 * in thousands of items, all of which a lookup would read. An item whose id is too long has none.
 */
function withUniqueIds(rows: readonly ItemRow[]): readonly ItemRow[] {
  const nameOf = ({ owner, parent, id }: ItemRow): string => `${owner} ${parent} ${id}`
  const found = new Map<string, ItemRow>()
  for (const row of rows) {
    if (!isIndexable(row.id)) continue
    const name = nameOf(row)
    if (row.made >= (found.get(name)?.made ?? 0)) found.set(name, row)
  }
  return rows.map(row => (row.id === NO_ID || found.get(nameOf(row)) === row ? row : { ...row, id: NO_ID }))
}

/** Returns the ids that a lookup may find. */
export const searchableIds = (ids: readonly string[]): readonly string[] => ids.filter(id => id !== NO_ID)

/** Deletes all items of a turn or a conversation. */
export const dropItems = (database: Database, owner: string, parent: string): Promise<void> =>
  dropItemsOf(database, [{ owner, id: parent }])

/** A turn or a conversation, whose items have its id as their parent. */
interface Parent {
  readonly owner: string
  readonly id: string
}

/** Deletes all items of up to `ROWS_PER_STATEMENT` turns or conversations. */
export const dropItemsOf = (database: Database, parents: readonly Parent[]): Promise<void> =>
  deleteItems(database, parents, false)

/** Deletes the output items of up to `ROWS_PER_STATEMENT` turns. */
export const dropOutputOf = (database: Database, turns: readonly Parent[]): Promise<void> =>
  deleteItems(database, turns, true)

async function deleteItems(database: Database, parents: readonly Parent[], isOutput: boolean): Promise<void> {
  if (parents.length === 0) return
  if (!isPostgres(database)) {
    return runEach(
      database,
      `delete from items where owner = ? and parent = ?${isOutput ? ' and made = 1' : ''}`,
      parents.map(({ owner, id }) => [owner, id]),
    )
  }
  await database
    .deleteFrom('items')
    .where(({ eb, refTuple, tuple }) =>
      eb(
        refTuple('owner', 'parent'),
        'in',
        parents.map(({ owner, id }) => tuple(owner, id)),
      ),
    )
    .$if(isOutput, query => query.where('made', '=', 1))
    .execute()
}

/** Deletes all events of a turn. */
export async function dropEvents(database: Database, owner: string, parent: string): Promise<void> {
  await database.deleteFrom('events').where('owner', '=', owner).where('parent', '=', parent).execute()
}

/** Returns the columns that record which channel created an item, and whether its upstream also stores it. */
export const upstreamColumns = ({
  channel,
  remembered,
}: {
  readonly channel?: string | undefined
  readonly remembered?: true | undefined
}): Pick<TurnRow, 'channel' | 'remembered'> => ({
  channel: channel ?? null,
  remembered: remembered === true ? 1 : 0,
})

/** Column values of items that no upstream created. */
export const NO_UPSTREAM = upstreamColumns({})
