import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { sql } from 'kysely'
import { CLOCK_DIFFERENCE } from './store-clock.ts'
import type { Database } from './tables.ts'
import type { UsageRow } from './usage/row.ts'
import { DAY } from './usage-batch.ts'
import { failuresOf } from './usage-failures.ts'
import { mergeParts } from './usage-part-rows.ts'
import type { RowPage, Spent, UsageFilter, UsageQuery, UsageRecords } from './usage-records.ts'
import { rowOf, rowsOf } from './usage-rows.ts'
import { plainText, SeriesIndex } from './usage-series.ts'
import { HOURS_RETENTION, sumsOf } from './usage-sums.ts'
import { UsageWriter } from './usage-writer.ts'

/** Approximate number of rows per delete statement. Other work runs between the statements. */
const ROWS_PER_DELETE = 500
/** Lease of the process that deletes expired rows, in milliseconds. It is renewed before each delete statement. */
const LEASE_MS = 60_000

/** Number of keys per statement, because engines limit the number of parameters. */
const KEYS_PER_STATEMENT = 500

/** The cost of a day as a float, because SQLite returns no integer above 2^53: such a sum could not be read. */
const COST = sql`cast(cost as double precision)`

/** Minimum interval between two merges of stored parts, in milliseconds. */
const MERGE_INTERVAL_MS = 60_000

/** Usage records: one row per request, and hourly and daily sums. */
export class UsageRepository implements UsageRecords {
  private readonly database: Database
  private readonly now: () => number
  private readonly deletionTime: () => number
  private readonly writer: UsageWriter
  private mergedAt = Number.NEGATIVE_INFINITY
  /** End of this process's lease for deleting, in Unix milliseconds. */
  private sweepsUntil = -1

  /** @param deletionTime returns the time before which expired data may be deleted. */
  constructor(database: Database, now: () => number, deletionTime = now) {
    this.database = database
    this.now = now
    this.deletionTime = deletionTime
    this.writer = new UsageWriter(database, new SeriesIndex())
  }

  async add(rows: readonly UsageRow[]): Promise<void> {
    if (rows.length === 0) return
    await this.writer.write(rows)
    const sinceMerge = this.now() - this.mergedAt
    // A negative time means that the clock was set back.
    if (sinceMerge >= 0 && sinceMerge < MERGE_INTERVAL_MS) return
    this.mergedAt = this.now()
    // The rows are already stored, and the next merge makes up for a failed one.
    await mergeParts(this.database, this.now()).catch(() => {})
  }

  sums(query: UsageQuery) {
    return sumsOf(this.database, query, this.now())
  }

  rows(page: RowPage) {
    return rowsOf(this.database, page, this.now())
  }

  row(id: string) {
    return rowOf(this.database, id)
  }

  failures(filter: UsageFilter) {
    return failuresOf(this.database, filter)
  }

  async spent(key: string, at: number): Promise<Spent> {
    return (await this.spentByKey([key], at)).get(plainText(key)!) ?? { day: 0, month: 0 }
  }

  async spentByKey(keys: readonly string[], at: number): Promise<ReadonlyMap<string, Spent>> {
    const found = new Map<string, Spent>()
    for (let from = 0; from < keys.length; from += KEYS_PER_STATEMENT) {
      // SQLite answers without yielding.
      if (from > 0) await yieldToEventLoop()
      const ids = keys.slice(from, from + KEYS_PER_STATEMENT).map(key => plainText(key)!)
      for (const { key_id, day, month } of await this.spentBy(ids, at)) found.set(key_id, { day, month })
    }
    return found
  }

  /** Finds the rows by their keys, because the table has rows of all days. */
  private spentBy(ids: readonly string[], at: number) {
    const date = new Date(at)
    const day = at - (at % DAY)
    return this.database
      .selectFrom('usage_spent')
      .select(['key_id'])
      .select(sql<number>`sum(${COST})`.as('month'))
      .select(sql<number>`sum(case when day = ${day} then ${COST} else 0 end)`.as('day'))
      .where('key_id', 'in', ids)
      .where('day', '>=', Date.UTC(date.getUTCFullYear(), date.getUTCMonth()))
      .where('day', '<=', day)
      .groupBy('key_id')
      .execute()
  }

  async sweep(before: number, at?: number): Promise<void> {
    const now = this.deletionTime()
    const hoursBefore = now - HOURS_RETENTION - DAY
    const rowsBefore = before - Math.max(0, (at ?? now) - now)
    const tables = [
      ['usage_rows', rowsBefore],
      ['usage_hours', hoursBefore],
      // The audit log has the same retention as usage.
      ['audit_log', rowsBefore],
    ] as const
    for (const [table, limit] of tables)
      while ((await this.maySweep()) && (await this.sweepSome(table, limit))) await yieldToEventLoop()
  }

  /** Acquires or renews the lease for deleting. Returns false if another process holds the lease. */
  private async maySweep(): Promise<boolean> {
    const now = this.now()
    const until = now + LEASE_MS
    await this.database
      .insertInto('usage_sweeps')
      .values({ name: 'rows', until: 0 })
      .onConflict(conflict => conflict.doNothing())
      .execute()
    const { numUpdatedRows } = await this.database
      .updateTable('usage_sweeps')
      .set({ until })
      .where('name', '=', 'rows')
      .where(row =>
        row.or([
          row('until', '<=', now),
          row('until', '=', this.sweepsUntil),
          // No process takes so long a lease, so that its clock was wrong.
          row('until', '>', until + CLOCK_DIFFERENCE),
        ]),
      )
      .executeTakeFirst()
    if (numUpdatedRows === 1n) this.sweepsUntil = until
    return numUpdatedRows === 1n
  }

  /**
   * Deletes about `ROWS_PER_DELETE` of the oldest expired rows. The number varies, because rows of the same time are
   * deleted together. Returns true if expired rows remain.
   */
  private async sweepSome(table: 'usage_rows' | 'usage_hours' | 'audit_log', before: number): Promise<boolean> {
    const old = this.database.selectFrom(table).select('at').where('at', '<', before).orderBy('at')
    const last = await old.limit(1).offset(ROWS_PER_DELETE).executeTakeFirst()
    const until = last === undefined ? before : Number(last.at) + 1
    await this.database.deleteFrom(table).where('at', '<', until).execute()
    return last !== undefined
  }
}
