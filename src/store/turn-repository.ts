import { sql } from 'kysely'
import { tooLarge } from '../canonical/error.ts'
import { append } from '../canonical/lists.ts'
import type { JsonObject } from '../canonical/node.ts'
import { eventsRow } from './event-repository.ts'
import type { NewEvents } from './events.ts'
import { dropEvents, dropItems, NO_UPSTREAM, ROWS_PER_STATEMENT, searchableIds, upstreamColumns } from './items.ts'
import type { Database, ItemRow, TurnRow } from './tables.ts'
import type { TurnWrites } from './turn-writes.ts'
import {
  type Addition,
  type Chain,
  type FoundItem,
  type Link,
  MAX_CHAIN,
  outputFieldOf,
  outputOf,
  type Turn,
  type Turns,
} from './turns.ts'

/** The repository of turns. */
export class TurnRepository implements Turns {
  private readonly database: Database
  private readonly now: () => number
  private readonly writes: TurnWrites

  /** @param writes shared with the repository of events. */
  constructor(database: Database, writes: TurnWrites, now: () => number) {
    this.database = database
    this.writes = writes
    this.now = now
  }

  async find(owner: string, id: string): Promise<Turn | undefined> {
    const row = await this.database
      .selectFrom('turns')
      .selectAll()
      .where('owner', '=', owner)
      .where('id', '=', id)
      .where('gone', '=', 0)
      .where('expires_at', '>', this.now())
      .executeTakeFirst()
    if (row === undefined) return undefined
    const items = await this.database
      .selectFrom('items')
      .select(['item', 'made'])
      .where('owner', '=', owner)
      .where('parent', '=', id)
      .orderBy('place')
      .execute()
    return turnOf(row, items)
  }

  async chain(owner: string, id: string): Promise<Chain | undefined> {
    const turns = await this.walk(owner, id)
    const first = turns.at(-1)
    if (first === undefined) return undefined
    const rows = await this.itemsOf(
      owner,
      turns.map(({ id }) => id),
    )
    const byTurn = Map.groupBy(rows, ({ parent }) => parent)
    const links = turns.toReversed().map(
      ({ id, channel }): Link => ({
        items: (byTurn.get(id) ?? []).map(({ item }) => JSON.parse(item) as JsonObject),
        ...(channel === null ? {} : { channel }),
      }),
    )
    return { links, ...(first.previous === null ? {} : { before: first.previous }) }
  }

  /**
   * Returns the turn and all turns before it, newest first. Includes an expired turn if a later turn continues it.
   */
  private async walk(owner: string, id: string) {
    const { rows } = await sql<Pick<TurnRow, 'id' | 'previous' | 'channel'> & { readonly size: number }>`
      with recursive walk(id, previous, channel, depth) as (
        select id, previous, channel, 0 from turns
          where owner = ${owner} and id = ${id} and gone = 0 and expires_at > ${this.now()}
        union all
        select turns.id, turns.previous, turns.channel, walk.depth + 1 from turns
          join walk on turns.owner = ${owner} and turns.id = walk.previous and turns.gone = 0
          where walk.depth < ${MAX_CHAIN.turns}
      )
      select id, previous, channel, (
        select coalesce(sum(length(item)), 0) from items where owner = ${owner} and parent = walk.id
      ) as size from walk order by depth`.execute(this.database)
    const size = rows.reduce((sum, row) => sum + Number(row.size), 0)
    if (rows.length <= MAX_CHAIN.turns && size <= MAX_CHAIN.characters) return rows
    throw tooLarge('The response continues a conversation that has grown too long.', 'previous_response_id')
  }

  private async itemsOf(owner: string, ids: readonly string[]) {
    const rows: Pick<ItemRow, 'parent' | 'item'>[] = []
    for (let at = 0; at < ids.length; at += ROWS_PER_STATEMENT)
      append(
        rows,
        await this.database
          .selectFrom('items')
          .select(['parent', 'item'])
          .where('owner', '=', owner)
          .where('parent', 'in', ids.slice(at, at + ROWS_PER_STATEMENT))
          .orderBy('parent')
          .orderBy('place')
          .execute(),
      )
    return rows
  }

  async items(owner: string, wanted: readonly string[]): Promise<ReadonlyMap<string, FoundItem>> {
    const ids = searchableIds(wanted)
    const found = new Map<string, FoundItem>()
    for (let at = 0; at < ids.length; at += ROWS_PER_STATEMENT) {
      const rows = await this.database
        .selectFrom('items')
        .select(['id', 'channel', 'remembered', 'made', 'item'])
        .where('id', 'in', ids.slice(at, at + ROWS_PER_STATEMENT))
        .where('owner', '=', owner)
        .orderBy('kept_at')
        .execute()
      const modelItems = new Set<string>()
      for (const row of rows) {
        // An item that the caller sends again does not replace the model's item of the same id.
        if (row.made === 0 && modelItems.has(row.id)) continue
        if (row.made === 1) modelItems.add(row.id)
        const one = foundOf(row)
        // The id in the JSON is exact. The column may lack characters that the engine rejects.
        found.set(typeof one.item['id'] === 'string' ? one.item['id'] : row.id, one)
      }
    }
    return found
  }

  async isForbidden(owner: string, wanted: readonly string[]): Promise<boolean> {
    const ids = searchableIds(wanted)
    for (let at = 0; at < ids.length; at += ROWS_PER_STATEMENT) {
      const batch = ids.slice(at, at + ROWS_PER_STATEMENT)
      const turns = await this.database
        .selectFrom('turns')
        .select(['id', 'owner', 'gone'])
        .where('id', 'in', batch)
        .execute()
      const items = await this.database.selectFrom('items').select(['id', 'owner']).where('id', 'in', batch).execute()
      const ownedIds = new Set(items.filter(row => row.owner === owner).map(({ id }) => id))
      if (turns.some(row => row.owner !== owner || row.gone === 1)) return true
      if (items.some(({ id }) => !ownedIds.has(id))) return true
    }
    return false
  }

  async put(turn: Turn, events?: NewEvents, addition?: Addition): Promise<void> {
    await this.write(turn, true, itemRowsOf(turn, this.now()), events, addition)
  }

  advance(turn: Turn, events?: NewEvents, addition?: Addition): Promise<boolean> {
    return this.write(turn, false, outputRowsOf(turn, this.now()), events, addition)
  }

  private write(
    turn: Turn,
    isNew: boolean,
    items: readonly ItemRow[],
    events: NewEvents | undefined,
    addition: Addition | undefined,
  ): Promise<boolean> {
    const { owner, id, expiresAt } = turn
    return this.writes.add({
      ...{ owner, id, isNew, row: rowOf(turn), items },
      events: events && eventsRow(owner, id, events),
      addition: addition && { owner, id: addition.conversation, items: addition.items, expiresAt, now: this.now() },
    })
  }

  async unfinished(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const found = new Set<string>()
    for (let at = 0; at < ids.length; at += ROWS_PER_STATEMENT) {
      const rows = await this.database
        .selectFrom('turns')
        .select('id')
        .where('id', 'in', ids.slice(at, at + ROWS_PER_STATEMENT))
        .where('lease', 'is not', null)
        .execute()
      for (const { id } of rows) found.add(id)
    }
    return found
  }

  async renew(owner: string, id: string, lease: number): Promise<boolean> {
    const { numUpdatedRows } = await this.database
      .updateTable('turns')
      .set({ lease })
      .where('owner', '=', owner)
      .where('id', '=', id)
      .where('lease', 'is not', null)
      .executeTakeFirst()
    return numUpdatedRows > 0n
  }

  async drop(owner: string, id: string): Promise<boolean> {
    return this.database.transaction().execute(async database => {
      const { numUpdatedRows } = await database
        .updateTable('turns')
        .set({ response: '{}', copy: null, previous: null, lease: null, worker: null, gone: 1 })
        .where('owner', '=', owner)
        .where('id', '=', id)
        .where('gone', '=', 0)
        .executeTakeFirst()
      await dropItems(database, owner, id)
      await dropEvents(database, owner, id)
      return numUpdatedRows > 0n
    })
  }
}

/** Builds the row of a turn. Drops a `previous` that refers to the turn itself, because the chain would be endless. */
const rowOf = ({
  owner,
  id,
  response,
  previous,
  channel,
  remembered,
  copy,
  createdAt,
  expiresAt,
  lease,
  worker,
}: Turn): TurnRow => {
  return {
    owner,
    id,
    previous: previous === undefined || previous === id ? null : previous,
    ...upstreamColumns({ channel, remembered }),
    copy: copy ?? null,
    // Keep the items as an empty list, so that the field order of the response survives.
    response: JSON.stringify(
      outputFieldOf(response) in response ? { ...response, [outputFieldOf(response)]: [] } : response,
    ),
    created_at: createdAt,
    expires_at: expiresAt,
    lease: lease ?? null,
    worker: worker ?? null,
    gone: 0,
  }
}

const foundOf = ({ item, channel, remembered }: Pick<ItemRow, 'item' | 'channel' | 'remembered'>): FoundItem => ({
  item: JSON.parse(item) as JsonObject,
  ...(channel === null ? {} : { channel }),
  ...(remembered === 1 ? { remembered: true } : {}),
})

const itemRow = (turn: Turn, item: JsonObject, made: number, position: number, now: number): ItemRow => ({
  ...{ owner: turn.owner, parent: turn.id, place: position, made, kept_at: now, item: JSON.stringify(item) },
  id: typeof item['id'] === 'string' && outputFieldOf(turn.response) === 'output' ? item['id'] : '',
  ...(made === 1 ? upstreamColumns(turn) : NO_UPSTREAM),
})

const itemRowsOf = (turn: Turn, now: number): ItemRow[] => [
  ...turn.input.map((item, index) => itemRow(turn, item, 0, index, now)),
  ...outputRowsOf(turn, now),
]

const outputRowsOf = (turn: Turn, now: number): ItemRow[] =>
  outputOf(turn).map((item, index) => itemRow(turn, item, 1, turn.input.length + index, now))

function turnOf(row: TurnRow, items: readonly Pick<ItemRow, 'item' | 'made'>[]): Turn {
  const itemsWhere = (made: number): JsonObject[] =>
    items.filter(item => item.made === made).map(({ item }) => JSON.parse(item) as JsonObject)
  const { owner, id, previous, channel, copy, lease, worker } = row
  const response = JSON.parse(row.response) as JsonObject
  return {
    ...{ owner, id, input: itemsWhere(0), createdAt: Number(row.created_at), expiresAt: Number(row.expires_at) },
    response: { ...response, [outputFieldOf(response)]: itemsWhere(1) },
    ...(previous === null ? {} : { previous }),
    ...(channel === null ? {} : { channel }),
    ...(row.remembered === 1 ? { remembered: true } : {}),
    ...(copy === null ? {} : { copy }),
    ...(lease === null ? {} : { lease: Number(lease) }),
    ...(worker === null ? {} : { worker }),
  }
}
