import { sql } from 'kysely'
import { tooLarge } from '../canonical/error.ts'
import type { JsonObject } from '../canonical/node.ts'
import { eventsRow } from './event-repository.ts'
import type { NewEvents } from './events.ts'
import {
  dropEvents,
  dropItems,
  isIndexable,
  NO_UPSTREAM,
  parseItem,
  ROWS_PER_STATEMENT,
  searchableIds,
  upstreamColumns,
} from './items.ts'
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

  /** Reads the turn and its items in one statement, because another process may end or delete the turn in between. */
  async find(owner: string, id: string): Promise<Turn | undefined> {
    const { rows } = await sql<FoundRow>`
      select response as text, ${sql.lit(TURN_PLACE)} as place, 0 as made,
        previous, channel, remembered, copy, created_at, expires_at, lease, worker from turns
        where owner = ${owner} and id = ${id} and gone = 0 and expires_at > ${this.now()}
      union all
      select item, place, made, null, null, 0, null, 0, 0, null, null from items
        where owner = ${owner} and parent = ${id}
      order by place`.execute(this.database)
    const [turn, ...items] = rows
    if (turn?.place !== TURN_PLACE) return undefined
    return turnOf(
      { ...turn, owner, id, response: turn.text },
      items.map(({ text, made }) => ({ item: text, made })),
    )
  }

  async chain(owner: string, id: string): Promise<Chain | undefined> {
    const turns = this.walk(owner, id)
    await this.checkSize(owner, turns)
    // The items are read with their turns, because another process may delete a turn in between.
    const { rows } = await sql<ChainRow>`${turns}
      select walk.id, walk.previous, walk.channel, walk.depth, items.place, items.item from walk
        left join items on items.owner = ${owner} and items.parent = walk.id`.execute(this.database)
    if (rows.length === 0) return undefined
    const sorted = rows.toSorted((a, b) => b.depth - a.depth || Number(a.place) - Number(b.place))
    const links = [...Map.groupBy(sorted, row => row.id).values()].map(linkOf)
    const { previous } = sorted[0]!
    return { links, ...(previous === null ? {} : { before: previous }) }
  }

  /**
   * SQL that finds the turn and all turns before it, the newest with depth 0. Includes an expired turn if a later turn
   * continues it.
   */
  private walk(owner: string, id: string) {
    return sql`
      with recursive walk(id, previous, channel, depth) as (
        select id, previous, channel, 0 from turns
          where owner = ${owner} and id = ${id} and gone = 0 and expires_at > ${this.now()}
        union all
        select turns.id, turns.previous, turns.channel, walk.depth + 1 from turns
          join walk on turns.owner = ${owner} and turns.id = walk.previous and turns.gone = 0
          where walk.depth < ${MAX_CHAIN.turns}
      )`
  }

  /** @throws GatewayError `too-large` if the items of the turns must not be read, because they are too many. */
  private async checkSize(owner: string, turns: ReturnType<TurnRepository['walk']>): Promise<void> {
    const { rows } = await sql<{ readonly size: number }>`${turns}
      select (select coalesce(sum(length(item)), 0) from items where owner = ${owner} and parent = walk.id) as size
        from walk`.execute(this.database)
    const size = rows.reduce((sum, row) => sum + Number(row.size), 0)
    if (rows.length <= MAX_CHAIN.turns && size <= MAX_CHAIN.characters) return
    throw tooLarge('The response continues a conversation that has grown too long.', 'previous_response_id')
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
        // Items of the same millisecond have an order of their own, so that every engine finds the same one.
        .orderBy('parent')
        .orderBy('place')
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
    // No engine could find the turn again.
    if (!isIndexable(id)) return Promise.resolve(false)
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

/** Place of the turn itself among the rows of its items. */
const TURN_PLACE = -1

/** Row of a turn, or of one of its items, whose other columns mean nothing. */
type FoundRow = Omit<TurnRow, 'owner' | 'id' | 'response' | 'gone'> &
  Pick<ItemRow, 'place' | 'made'> & {
    /** The response of the turn, or the item. */
    readonly text: string
  }

/** One item of a turn of a chain, or a turn without items. */
type ChainRow = Pick<TurnRow, 'id' | 'previous' | 'channel'> & {
  readonly depth: number
  readonly place: number | null
  readonly item: string | null
}

/** Builds a link from the rows of one turn. */
const linkOf = (rows: readonly ChainRow[]): Link => ({
  items: rows.flatMap(({ item }) => (item === null ? [] : [parseItem(item)])),
  ...(rows[0]!.channel === null ? {} : { channel: rows[0]!.channel }),
})

/**
 * Builds the row of a turn. Drops a `previous` that refers to the turn itself, because the chain would be endless, and
 * one that is too long for an index, which no stored turn has as its id.
 */
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
    previous: previous === undefined || previous === id || !isIndexable(previous) ? null : previous,
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
  item: parseItem(item),
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

function turnOf(row: Omit<TurnRow, 'gone'>, items: readonly Pick<ItemRow, 'item' | 'made'>[]): Turn {
  const itemsWhere = (made: number): JsonObject[] =>
    items.filter(item => item.made === made).map(({ item }) => parseItem(item))
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
