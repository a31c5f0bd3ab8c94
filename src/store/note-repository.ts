import type { ExpressionBuilder } from 'kysely'
import { deleteExpired } from './expired-rows.ts'
import { lock } from './locks.ts'
import { MAX_NOTE_LIFETIME_MS, type Note, type NoteKind, type NoteLimits } from './shared-records.ts'
import { CLOCK_DIFFERENCE } from './store-clock.ts'
import type { Database, Tables } from './tables.ts'

/** The repository of notes: short-lived texts found by name. */
export class NoteRepository {
  private readonly database: Database
  private readonly now: () => number

  constructor(database: Database, now: () => number) {
    this.database = database
    this.now = now
  }

  /** Stores a note. Returns false if the owner, or all owners together, have too many notes of that kind. */
  add({ kind, name, owner, text, expiresAt }: Note, { perOwner, total }: NoteLimits): Promise<boolean> {
    return this.database.transaction().execute(async transaction => {
      await lock(transaction, kind)
      const { mine, every } = await transaction
        .selectFrom('notes')
        .select(({ fn, eb }) => [
          fn.countAll().as('every'),
          fn.count(eb.case().when('owner', '=', owner).then(1).end()).as('mine'),
        ])
        .where('kind', '=', kind)
        .where(isValid(this.now()))
        .executeTakeFirstOrThrow()
      if (Number(mine) >= perOwner || Number(every) >= total) return false
      await transaction.insertInto('notes').values({ kind, name, owner, text, expires_at: expiresAt }).execute()
      return true
    })
  }

  async find(kind: NoteKind, name: string): Promise<string | undefined> {
    const row = await this.database
      .selectFrom('notes')
      .select('text')
      .where('kind', '=', kind)
      .where('name', '=', name)
      .where(isValid(this.now()))
      .executeTakeFirst()
    return row?.text
  }

  /** Finds and deletes a note atomically. */
  async take(kind: NoteKind, name: string): Promise<string | undefined> {
    const row = await this.database
      .deleteFrom('notes')
      .where('kind', '=', kind)
      .where('name', '=', name)
      .where(isValid(this.now()))
      .returning('text')
      .executeTakeFirst()
    return row?.text
  }

  /** Deletes notes that expired before a time in Unix milliseconds. */
  async sweep(before: number): Promise<void> {
    await deleteExpired(this.database, 'notes', before)
  }
}

/** Selects notes that have not expired. A note that would last longer than any was stored by a wrong clock. */
const isValid =
  (now: number) =>
  ({ and, eb }: ExpressionBuilder<Tables, 'notes'>) =>
    and([eb('expires_at', '>', now), eb('expires_at', '<=', now + MAX_NOTE_LIFETIME_MS + CLOCK_DIFFERENCE)])
