import type { Events, NewEvents } from './events.ts'
import { dropEvents } from './items.ts'
import type { Database, EventsRow } from './tables.ts'
import type { TurnWrites } from './turn-writes.ts'

/** The repository of stream events. Each row holds a batch of events. */
export class EventRepository implements Events {
  private readonly database: Database
  private readonly writes: TurnWrites

  /** @param writes shared with the repository of turns. */
  constructor(database: Database, writes: TurnWrites) {
    this.database = database
    this.writes = writes
  }

  add(owner: string, id: string, events: NewEvents): Promise<boolean> {
    return this.writes.add({ owner, id, isNew: false, items: [], events: eventsRow(owner, id, events) })
  }

  async from(owner: string, id: string, number: number): Promise<readonly string[]> {
    const batches = this.database.selectFrom('events').where('owner', '=', owner).where('parent', '=', id)
    // The index has only the beginnings of batches. A search by their ends would read all earlier batches.
    const latest = batches
      .select(({ fn, lit }) => fn.coalesce(fn.max('first'), lit(0)).as('first'))
      .where('first', '<=', number)
    const row = await batches
      .select(['first', 'texts'])
      .where('first', '>=', latest)
      .where(({ eb, ref }) => eb(eb(ref('first'), '+', ref('count')), '>', number))
      .orderBy('first')
      .limit(1)
      .executeTakeFirst()
    if (row === undefined) return []
    return (JSON.parse(row.texts) as string[]).slice(Math.max(0, number - Number(row.first)))
  }

  async count(owner: string, id: string): Promise<number> {
    const row = await this.database
      .selectFrom('events')
      .select(['first', 'count'])
      .where('owner', '=', owner)
      .where('parent', '=', id)
      .orderBy('first', 'desc')
      .limit(1)
      .executeTakeFirst()
    return row === undefined ? 0 : Number(row.first) + Number(row.count)
  }

  async drop(owner: string, id: string): Promise<void> {
    await dropEvents(this.database, owner, id)
  }
}

/** Builds the row of a batch of events, or returns undefined for an empty batch. */
export const eventsRow = (owner: string, parent: string, { first, texts }: NewEvents): EventsRow | undefined =>
  texts.length === 0 ? undefined : { owner, parent, first, count: texts.length, texts: JSON.stringify(texts) }
