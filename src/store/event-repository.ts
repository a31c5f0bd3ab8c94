import { dropEvents } from './items.ts'
import type { Database } from './tables.ts'

/** Stream events of unfinished responses, stored so that any process can resume the stream. */
export interface Events {
  /**
   * Appends events, the first with number `first`. Returns false and stores nothing if the response has ended or was
   * deleted.
   */
  add(owner: string, id: string, first: number, texts: readonly string[]): Promise<boolean>
  /** Returns the next batch of events from `number` on; empty if there are none yet. */
  from(owner: string, id: string, number: number): Promise<readonly string[]>
  /** Returns the number of stored events. */
  count(owner: string, id: string): Promise<number>
  /** Deletes all events of a response. */
  drop(owner: string, id: string): Promise<void>
}

/** The repository of stream events. Each row holds a batch of events. */
export class EventRepository implements Events {
  private readonly database: Database

  constructor(database: Database) {
    this.database = database
  }

  async add(owner: string, id: string, first: number, texts: readonly string[]): Promise<boolean> {
    return this.database.transaction().execute(async database => {
      // Lock the turn first, so that no other process ends the response in between.
      const { numUpdatedRows } = await database
        .updateTable('turns')
        .set(({ ref }) => ({ lease: ref('lease') }))
        .where('owner', '=', owner)
        .where('id', '=', id)
        .where('lease', 'is not', null)
        .executeTakeFirst()
      if (numUpdatedRows === 0n) return false
      await database
        .insertInto('events')
        .values({ owner, parent: id, first, count: texts.length, texts: JSON.stringify(texts) })
        .execute()
      return true
    })
  }

  async from(owner: string, id: string, number: number): Promise<readonly string[]> {
    const row = await this.database
      .selectFrom('events')
      .select(['first', 'texts'])
      .where('owner', '=', owner)
      .where('parent', '=', id)
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
