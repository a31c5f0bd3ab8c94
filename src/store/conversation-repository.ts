import type { ExpressionBuilder } from 'kysely'
import type { JsonObject } from '../canonical/node.ts'
import { dropItems, insertItems, NO_UPSTREAM, parseItem, ROWS_PER_STATEMENT } from './items.ts'
import type { Database, Tables } from './tables.ts'

/** A named list of items that responses continue (docs/wire/responses.md#conversations). */
export interface Conversation {
  readonly owner: string
  readonly id: string
  readonly metadata: JsonObject
  /** Time of creation, in Unix milliseconds like all times in this file. */
  readonly createdAt: number
  /** Extended with every added item. */
  readonly expiresAt: number
}

/** All conversations. Every method takes the owner: another owner's conversation counts as unknown. */
export interface Conversations {
  create(conversation: Conversation, items: readonly JsonObject[]): Promise<void>
  find(owner: string, id: string): Promise<Conversation | undefined>
  /**
   * Returns true if the id must not be referenced because only another owner has it or the conversation was deleted.
   */
  isForbidden(owner: string, id: string): Promise<boolean>
  /** Replaces the metadata. Returns false if the conversation is unknown. */
  describe(owner: string, id: string, metadata: JsonObject): Promise<boolean>
  /** Returns the items, oldest first, or undefined if the conversation is unknown. */
  items(owner: string, id: string): Promise<readonly JsonObject[] | undefined>
  /** Appends items, each with an id. Returns false if the conversation is unknown. */
  add(owner: string, id: string, items: readonly JsonObject[], expiresAt: number): Promise<boolean>
  dropItem(owner: string, id: string, item: string): Promise<boolean>
  /** Deletes a conversation and its items permanently. */
  drop(owner: string, id: string): Promise<boolean>
}

/** The query condition for conversations that are neither deleted nor expired. */
const isActive = (owner: string, id: string, now: number) => (row: ExpressionBuilder<Tables, 'conversations'>) =>
  row.and([
    row('conversations.owner', '=', owner),
    row('conversations.id', '=', id),
    row('conversations.gone', '=', 0),
    row('conversations.expires_at', '>', now),
  ])

/** The repository of conversations. Their items share a table with the items of turns. */
export class ConversationRepository implements Conversations {
  private readonly database: Database
  private readonly now: () => number

  constructor(database: Database, now: () => number) {
    this.database = database
    this.now = now
  }

  async create({ owner, id, metadata, createdAt, expiresAt }: Conversation, items: readonly JsonObject[]) {
    await this.database.transaction().execute(async database => {
      await database
        .insertInto('conversations')
        .values({
          ...{ owner, id, metadata: JSON.stringify(metadata), gone: 0 },
          ...{ created_at: createdAt, expires_at: expiresAt },
        })
        .execute()
      await insert(database, owner, id, items, 0, this.now())
    })
  }

  async find(owner: string, id: string): Promise<Conversation | undefined> {
    const row = await this.database
      .selectFrom('conversations')
      .selectAll()
      .where(isActive(owner, id, this.now()))
      .executeTakeFirst()
    return (
      row && {
        ...{ owner, id, metadata: JSON.parse(row.metadata) as JsonObject },
        ...{ createdAt: Number(row.created_at), expiresAt: Number(row.expires_at) },
      }
    )
  }

  async isForbidden(owner: string, id: string): Promise<boolean> {
    const rows = await this.database
      .selectFrom('conversations')
      .select(['owner', 'gone'])
      .where('id', '=', id)
      .execute()
    return rows.some(row => row.owner !== owner || row.gone === 1)
  }

  async describe(owner: string, id: string, metadata: JsonObject): Promise<boolean> {
    const { numUpdatedRows } = await this.database
      .updateTable('conversations')
      .set({ metadata: JSON.stringify(metadata) })
      .where(isActive(owner, id, this.now()))
      .executeTakeFirst()
    return numUpdatedRows > 0n
  }

  /** Reads both in one statement, because another process may delete the conversation in between. */
  async items(owner: string, id: string): Promise<readonly JsonObject[] | undefined> {
    const rows = await this.database
      .selectFrom('conversations')
      .leftJoin('items', join =>
        join.onRef('items.owner', '=', 'conversations.owner').onRef('items.parent', '=', 'conversations.id'),
      )
      .select('items.item')
      .where(isActive(owner, id, this.now()))
      .orderBy('items.place')
      .execute()
    return rows.length === 0 ? undefined : rows.flatMap(({ item }) => (item === null ? [] : [parseItem(item)]))
  }

  async add(owner: string, id: string, items: readonly JsonObject[], expiresAt: number): Promise<boolean> {
    const addition = { owner, id, items, expiresAt, now: this.now() }
    return this.database.transaction().execute(database => appendItems(database, addition))
  }

  async dropItem(owner: string, id: string, item: string): Promise<boolean> {
    return this.database.transaction().execute(database => dropItem(database, owner, id, item))
  }

  async drop(owner: string, id: string): Promise<boolean> {
    return this.database.transaction().execute(async database => {
      const { numUpdatedRows } = await database
        .updateTable('conversations')
        .set({ metadata: '{}', gone: 1 })
        .where('owner', '=', owner)
        .where('id', '=', id)
        .where('gone', '=', 0)
        .executeTakeFirst()
      await dropItems(database, owner, id)
      return numUpdatedRows > 0n
    })
  }
}

/**
 * Deletes the items with an id. Locks the conversation first, because its next item would get the place of the last one
 * as soon as another process has deleted that.
 */
async function dropItem(database: Database, owner: string, id: string, item: string): Promise<boolean> {
  await database
    .updateTable('conversations')
    .set({ gone: ({ ref }) => ref('gone') })
    .where('owner', '=', owner)
    .where('id', '=', id)
    .execute()
  const rows = await database
    .selectFrom('items')
    .select(['place', 'item'])
    .where('owner', '=', owner)
    .where('parent', '=', id)
    .execute()
  // The store finds one of several items with the same id, so that all items are read here.
  const places = rows.flatMap(row => (idOf(JSON.parse(row.item) as JsonObject) === item ? [Number(row.place)] : []))
  let count = 0n
  for (let at = 0; at < places.length; at += ROWS_PER_STATEMENT) {
    const { numDeletedRows } = await database
      .deleteFrom('items')
      .where('owner', '=', owner)
      .where('parent', '=', id)
      .where('place', 'in', places.slice(at, at + ROWS_PER_STATEMENT))
      .executeTakeFirst()
    count += numDeletedRows
  }
  return count > 0n
}

/** Items that are appended to a conversation, which then expires at `expiresAt`. Times are Unix milliseconds. */
export interface NewItems {
  readonly owner: string
  /** Id of the conversation. */
  readonly id: string
  readonly items: readonly JsonObject[]
  readonly expiresAt: number
  readonly now: number
}

/** Appends items to a conversation within a transaction. Returns false if the conversation is unknown. */
export async function appendItems(
  database: Database,
  { owner, id, items, expiresAt, now }: NewItems,
): Promise<boolean> {
  const { numUpdatedRows } = await database
    .updateTable('conversations')
    .set({ expires_at: expiresAt })
    .where(isActive(owner, id, now))
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return false
  const last = await database
    .selectFrom('items')
    .select(({ fn }) => fn.max('place').as('place'))
    .where('owner', '=', owner)
    .where('parent', '=', id)
    .executeTakeFirst()
  await insert(database, owner, id, items, Number(last?.place ?? -1) + 1, now)
  return true
}

const idOf = (item: JsonObject): string => String(item['id'] ?? '')

/** Inserts items that no upstream stores. */
async function insert(
  database: Database,
  owner: string,
  parent: string,
  items: readonly JsonObject[],
  from: number,
  now: number,
): Promise<void> {
  const rows = items.map((item, index) => ({
    ...{ owner, parent, place: from + index, id: idOf(item), made: 0 },
    ...NO_UPSTREAM,
    ...{ item: JSON.stringify(item), kept_at: now },
  }))
  await insertItems(database, rows)
}
