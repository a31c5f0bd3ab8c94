import { lock } from './locks.ts'
import type { Note, NoteKind, NoteLimits } from './shared-records.ts'
import type { Database } from './tables.ts'

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
        .where('expires_at', '>', this.now())
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
      .where('expires_at', '>', this.now())
      .executeTakeFirst()
    return row?.text
  }

  /** Finds and deletes a note atomically. */
  async take(kind: NoteKind, name: string): Promise<string | undefined> {
    const row = await this.database
      .deleteFrom('notes')
      .where('kind', '=', kind)
      .where('name', '=', name)
      .where('expires_at', '>', this.now())
      .returning('text')
      .executeTakeFirst()
    return row?.text
  }

  /** Deletes expired notes. */
  async sweep(): Promise<void> {
    await this.database.deleteFrom('notes').where('expires_at', '<=', this.now()).execute()
  }
}
