import type { Database, ItemRow, TurnRow } from './tables.ts'

/** Rows per statement: databases limit the number of values. */
export const BATCH = 500

/** Writes the items of a turn or a conversation. */
export async function insertItems(database: Database, rows: readonly ItemRow[]): Promise<void> {
  for (let at = 0; at < rows.length; at += BATCH)
    await database
      .insertInto('items')
      .values(rows.slice(at, at + BATCH))
      .execute()
}

/** Deletes all items of a turn or a conversation. */
export async function dropItems(database: Database, owner: string, parent: string): Promise<void> {
  await database.deleteFrom('items').where('owner', '=', owner).where('parent', '=', parent).execute()
}

/** Deletes the items of a turn's answer. */
export async function dropOutput(database: Database, owner: string, parent: string): Promise<void> {
  await database
    .deleteFrom('items')
    .where('owner', '=', owner)
    .where('parent', '=', parent)
    .where('made', '=', 1)
    .execute()
}

/** Deletes all events of a turn. */
export async function dropEvents(database: Database, owner: string, parent: string): Promise<void> {
  await database.deleteFrom('events').where('owner', '=', owner).where('parent', '=', parent).execute()
}

/** The channel that made something, and whether its upstream still has it. */
export const originOf = ({
  channel,
  remembered,
}: {
  readonly channel?: string | undefined
  readonly remembered?: true | undefined
}): Pick<TurnRow, 'channel' | 'remembered'> => ({
  channel: channel ?? null,
  remembered: remembered === true ? 1 : 0,
})

/** The origin of items that no upstream made. */
export const NO_ORIGIN = originOf({})
