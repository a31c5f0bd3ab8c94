import type { LockRules } from './console-records.ts'
import type { Database } from './tables.ts'

/** Subjects that are remembered; one more is let through unnoted. */
const MOST = 20_000
/** Milliseconds after which what was noted counts no more, whatever the rules. */
const STALE = 86_400_000

/** Passwords that were tried without success, by whose they were to be. */
export class KeptPasswordTries {
  private readonly database: Database
  private readonly now: () => number

  constructor(database: Database, now: () => number) {
    this.database = database
    this.now = now
  }

  /** Counted before the password is checked: of any number that are tried at once, no more than the rules allow are. */
  note(subject: string, { most, within, lockedFor }: LockRules): Promise<number | undefined> {
    return this.database.transaction().execute(async one => {
      const now = this.now()
      const before = await one
        .insertInto('console_attempts')
        .values({ subject, attempts: 0, since: now, locked_until: 0 })
        // Nothing changes, but whoever tries the same subject waits here.
        .onConflict(conflict => conflict.column('subject').doUpdateSet({ subject }))
        .returning(['attempts', 'since', 'locked_until'])
        .executeTakeFirstOrThrow()
      const lockedUntil = Number(before.locked_until)
      if (lockedUntil > now) return lockedUntil
      const isNew = before.attempts === 0
      if (isNew && (await this.isFull(one))) {
        await one.deleteFrom('console_attempts').where('subject', '=', subject).execute()
        return undefined
      }
      const isOver = lockedUntil > 0 || Number(before.since) + within <= now
      const attempts = isOver ? 1 : before.attempts + 1
      const next = {
        attempts,
        since: isOver ? now : before.since,
        locked_until: attempts >= most ? now + lockedFor : 0,
      }
      await one.updateTable('console_attempts').set(next).where('subject', '=', subject).execute()
      return undefined
    })
  }

  async forgive(subject: string): Promise<void> {
    await this.database.deleteFrom('console_attempts').where('subject', '=', subject).execute()
  }

  async sweep(): Promise<void> {
    await this.database
      .deleteFrom('console_attempts')
      .where('since', '<=', this.now() - STALE)
      .where('locked_until', '<=', this.now())
      .execute()
  }

  private async isFull(database: Database): Promise<boolean> {
    const { count } = await database
      .selectFrom('console_attempts')
      .select(({ fn }) => fn.countAll().as('count'))
      .executeTakeFirstOrThrow()
    return Number(count) > MOST
  }
}
