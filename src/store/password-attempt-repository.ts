import type { LockRules, PasswordAttempt } from './console-records.ts'
import { CLOCK_DIFFERENCE } from './store-clock.ts'
import type { ConsoleAttemptRow, Database } from './tables.ts'

/** Maximum number of rows. While the table is full, attempts that would add a row are allowed without being counted. */
const MAX_ATTEMPT_ROWS = 50_000
/** Age after which an attempt is deleted, whatever the rules, in milliseconds. */
const MAX_AGE_MS = 86_400_000
/** Time for which a network counts as trusted after a right password, in milliseconds. */
const TRUST_MS = 90 * MAX_AGE_MS

/**
 * Counts wrong passwords: per name in total, and per name and network. Updating the row of the name first serialises
 * attempts for that name.
 */
export class PasswordAttemptRepository {
  private readonly database: Database
  private readonly now: () => number

  constructor(database: Database, now: () => number) {
    this.database = database
    this.now = now
  }

  /**
   * Counts an attempt before the password is checked, so that concurrent attempts cannot exceed the limit. Returns the
   * time until which the name is locked, or undefined.
   */
  count(attempt: PasswordAttempt, rules: LockRules): Promise<number | undefined> {
    return this.database.transaction().execute(async transaction => {
      const now = this.now()
      const rows = await this.lockRows(transaction, attempt)
      const until = lockedUntil(rows, rules, now)
      if (until > now) return until
      const isNew = Object.values(rows).some(row => row !== undefined && row.attempts === 0 && row.right_at === 0)
      if (isNew && (await this.isFull(transaction, now - rules.within))) {
        await this.write(transaction, [rows.total])
        return undefined
      }
      await this.write(transaction, incremented(rows, rules, now))
      return undefined
    })
  }

  /**
   * Undoes the attempt after a right password: resets the count of that network and marks the network as trusted.
   */
  forgive(attempt: PasswordAttempt): Promise<void> {
    return this.database.transaction().execute(async transaction => {
      const now = this.now()
      const { total, perNetwork, widerNetwork } = await this.lockRows(transaction, attempt)
      const withOneLess = (row: ConsoleAttemptRow) => ({ ...row, attempts: Math.max(0, row.attempts - 1) })
      const right = { ...perNetwork, attempts: 0, since: now, locked_until: 0, right_at: now }
      await this.write(transaction, [
        withOneLess(total),
        right,
        ...(widerNetwork === undefined ? [] : [withOneLess(widerNetwork)]),
      ])
    })
  }

  /** Deletes all counted attempts of a name. */
  async unlock(account: string): Promise<void> {
    await this.database
      .deleteFrom('console_attempts')
      // A range, because engines compare patterns in different ways: `/` follows the dot in front of a network.
      .where(row =>
        row.or([
          row('subject', '=', account),
          row.and([row('subject', '>', `${account}.`), row('subject', '<', `${account}/`)]),
        ]),
      )
      .execute()
  }

  /** Deletes attempts that no longer matter at a time, in Unix milliseconds. */
  async sweep(now: number): Promise<void> {
    await this.dropOld(this.database, now - MAX_AGE_MS, now)
  }

  /**
   * Reads the rows of an attempt. Locks the row of the name first, so that no other transaction changes any of them.
   */
  private async lockRows(
    transaction: Database,
    { account, network, widerNetwork }: PasswordAttempt,
  ): Promise<AttemptRows> {
    const row = await transaction
      .insertInto('console_attempts')
      .values(newRow(account, this.now()))
      .onConflict(conflict => conflict.column('subject').doUpdateSet({ subject: account }))
      .returningAll()
      .executeTakeFirstOrThrow()
    const find = async (networkHash: string): Promise<ConsoleAttemptRow> => {
      const subject = `${account}.${networkHash}`
      const found = await transaction
        .selectFrom('console_attempts')
        .selectAll()
        .where('subject', '=', subject)
        .executeTakeFirst()
      return found === undefined ? newRow(subject, this.now()) : inNumbers(found)
    }
    return {
      total: inNumbers(row),
      perNetwork: await find(network),
      widerNetwork: widerNetwork === undefined ? undefined : await find(widerNetwork),
    }
  }

  /** Writes rows. Rows with nothing to remember are deleted. */
  private async write(transaction: Database, rows: readonly ConsoleAttemptRow[]): Promise<void> {
    for (const { subject, ...row } of rows)
      if (row.attempts === 0 && row.right_at === 0)
        await transaction.deleteFrom('console_attempts').where('subject', '=', subject).execute()
      else
        await transaction
          .insertInto('console_attempts')
          .values({ subject, ...row })
          .onConflict(conflict => conflict.column('subject').doUpdateSet(row))
          .execute()
  }

  /** @param old Unix milliseconds. Counts that started before this time no longer matter. */
  private async isFull(transaction: Database, old: number): Promise<boolean> {
    if ((await countOf(transaction)) <= MAX_ATTEMPT_ROWS) return false
    await this.dropOld(transaction, old)
    return (await countOf(transaction)) > MAX_ATTEMPT_ROWS
  }

  private async dropOld(database: Database, since: number, now = this.now()): Promise<void> {
    await database
      .deleteFrom('console_attempts')
      .where('since', '<=', since)
      .where('locked_until', '<=', now)
      .where('right_at', '<=', now - TRUST_MS)
      .execute()
  }
}

/** The counts that an attempt affects: of the name in total, of its network, and of the wider network. */
interface AttemptRows {
  readonly total: ConsoleAttemptRow
  readonly perNetwork: ConsoleAttemptRow
  readonly widerNetwork: ConsoleAttemptRow | undefined
}

const newRow = (subject: string, since: number): ConsoleAttemptRow => ({
  ...{ subject, attempts: 0, since, locked_until: 0, right_at: 0 },
})

/** PostgreSQL's driver returns some numbers as strings. */
const inNumbers = (row: ConsoleAttemptRow): ConsoleAttemptRow => ({
  subject: row.subject,
  attempts: Number(row.attempts),
  since: Number(row.since),
  locked_until: Number(row.locked_until),
  right_at: Number(row.right_at),
})

/** Returns how many wrong passwords of a row still count. */
const countingAttempts = (
  { attempts, since, locked_until }: ConsoleAttemptRow,
  { within }: LockRules,
  now: number,
): number =>
  (locked_until > 0 && locked_until <= now) || since + within <= now || since > now + CLOCK_DIFFERENCE ? 0 : attempts

/** Returns the time until which an attempt is refused, or 0 if it is allowed. */
function lockedUntil({ total, perNetwork, widerNetwork }: AttemptRows, rules: LockRules, now: number): number {
  const until = perNetwork.locked_until
  // A longer lock means that the clock was set back.
  if (until > now && until <= now + rules.lockedFor + CLOCK_DIFFERENCE) return until
  if (perNetwork.right_at > 0 || countingAttempts(total, rules, now) < rules.total) return 0
  const wrong = [perNetwork, ...(widerNetwork === undefined ? [] : [widerNetwork])].filter(
    row => countingAttempts(row, rules, now) > 0,
  )
  return Math.max(0, ...wrong.map(({ since }) => since + rules.within))
}

/** Returns the rows with one more attempt. */
function incremented(
  { total, perNetwork, widerNetwork }: AttemptRows,
  rules: LockRules,
  now: number,
): ConsoleAttemptRow[] {
  const withOneMore = (row: ConsoleAttemptRow): ConsoleAttemptRow => {
    const before = countingAttempts(row, rules, now)
    return { ...row, attempts: before + 1, since: before === 0 ? now : row.since, locked_until: 0 }
  }
  const next = withOneMore(perNetwork)
  const lockedRow = { ...next, locked_until: next.attempts >= rules.perNetwork ? now + rules.lockedFor : 0 }
  return [withOneMore(total), lockedRow, ...(widerNetwork === undefined ? [] : [withOneMore(widerNetwork)])]
}

async function countOf(database: Database): Promise<number> {
  const { count } = await database
    .selectFrom('console_attempts')
    .select(({ fn }) => fn.countAll().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}
