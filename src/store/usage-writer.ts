import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { CompiledQuery, PostgresAdapter } from 'kysely'
import type { Database } from './tables.ts'
import type { UsageRow } from './usage/row.ts'
import { BatchSums, ROW_COLUMNS, storedDuration, type Values } from './usage-batch.ts'
import { addPart } from './usage-part-rows.ts'
import { plainText, type SeriesIndex } from './usage-series.ts'

const SERIES_COLUMNS = [
  ...['id', 'key_id', 'key_name', 'group_name', 'model', 'channel', 'format', 'upstream_format', 'door'],
  ...['status', 'failed'],
]

/** SQL types of columns that are not integers. */
const TYPES: { readonly [column: string]: string } = {
  ...Object.fromEntries(
    ['key_id', 'key_name', 'group_name', 'model', 'channel', 'format', 'upstream_format', 'door'].map(one => [
      one,
      'text',
    ]),
  ),
  ...Object.fromEntries(
    ['upstream_model', 'error', 'finish', 'upstream_id', 'tries', 'failure', 'loss_kinds'].map(one => [one, 'text']),
  ),
  ...Object.fromEntries(
    ['read_after', 'sent_after', 'answered_after', 'first_byte_after', 'duration'].map(one => [
      one,
      'double precision',
    ]),
  ),
}

/** SQL type of a column. `id` is text in `usage_rows` and a number in `usage_series`. */
const typeIn = (table: string, column: string): string =>
  table === 'usage_rows' && column === 'id' ? 'text' : (TYPES[column] ?? 'bigint')

type Engine = 'sqlite' | 'postgres'

/**
 * Returns SQL that inserts many rows. PostgreSQL gets all rows as one JSON parameter. SQLite runs the statement once
 * per row, which is ten times faster than its JSON functions.
 */
function insertText(engine: Engine, table: string, columns: readonly string[], conflict: string): string {
  const into = `insert into ${table} (${columns.join(', ')})`
  if (engine === 'sqlite') return `${into} values (${columns.map(() => '?').join(', ')}) ${conflict}`
  const values = columns.map((column, at) => `cast(value ->> ${at} as ${typeIn(table, column)})`)
  return `${into} select ${values.join(', ')} from jsonb_array_elements($1::jsonb) as elements(value) ${conflict}`
}

interface Statements {
  readonly series: string
  readonly rows: string
  readonly spent: string
}

const statementsFor = (engine: Engine): Statements => ({
  series: insertText(engine, 'usage_series', SERIES_COLUMNS, 'on conflict do nothing'),
  rows: insertText(engine, 'usage_rows', ROW_COLUMNS, ''),
  spent: insertText(
    engine,
    'usage_spent',
    ['key_id', 'day', 'cost'],
    'on conflict (key_id, day) do update set cost = usage_spent.cost + excluded.cost',
  ),
})

/** Number of rows per statement. */
const ROWS_PER_STATEMENT: { readonly [engine in Engine]: number } = { sqlite: 200, postgres: 2000 }

/**
 * Number of rows per transaction. Other processes wait for a transaction of SQLite with all of their requests, so that
 * the event loop runs only between two of them.
 */
const ROWS_PER_TRANSACTION: { readonly [engine in Engine]: number } = { sqlite: 1000, postgres: 100_000 }

/** Writes batches of usage rows and their sums. */
export class UsageWriter {
  private readonly database: Database
  private readonly index: SeriesIndex
  private readonly engine: Engine
  private readonly statements: Statements

  constructor(database: Database, index: SeriesIndex) {
    this.database = database
    this.index = index
    this.engine = database.getExecutor().adapter instanceof PostgresAdapter ? 'postgres' : 'sqlite'
    this.statements = statementsFor(this.engine)
  }

  /** Writes a batch. If it fails, some of its transactions may be stored, and are not stored again with the batch. */
  async write(rows: readonly UsageRow[]): Promise<void> {
    const size = ROWS_PER_TRANSACTION[this.engine]
    for (let at = 0; at < rows.length; at += size) {
      if (at > 0) await yieldToEventLoop()
      await this.writeOnce(rows.slice(at, at + size))
    }
  }

  /** Writes rows and their sums in one transaction, without those that are stored already. */
  private async writeOnce(rows: readonly UsageRow[]): Promise<void> {
    await this.database.transaction().execute(async database => {
      const newRows = await unstored(database, rows)
      if (newRows.length === 0) return
      const sums = await this.insertRows(database, newRows)
      // Series of earlier batches are written again, because a backup may have been restored meanwhile.
      const series = [...sums.series.values()].map(one => Object.values(one)).sort(byId)
      await this.insert(database, this.statements.series, series)
      await this.insert(database, this.statements.spent, sums.spent)
      const { hours, days } = sums.parts
      for (const [at, data] of hours) await addPart(database, 'usage_hours', at, data)
      for (const [at, data] of days) await addPart(database, 'usage_days', at, data)
    })
  }

  /**
   * Inserts the rows in small slices. If an entire batch were converted at once, its rows would survive into the old
   * generation of the garbage collector.
   */
  private async insertRows(database: Database, rows: readonly UsageRow[]): Promise<BatchSums> {
    const sums = new BatchSums(this.index)
    for (let at = 0; at < rows.length; at += ROWS_PER_STATEMENT[this.engine]) {
      const slice = rows.slice(at, at + ROWS_PER_STATEMENT[this.engine]).map(row => sums.add(row))
      await this.insert(database, this.statements.rows, slice)
    }
    return sums
  }

  private async insert(database: Database, statement: string, values: readonly Values[]): Promise<void> {
    if (values.length === 0) return
    const parameter = this.engine === 'sqlite' ? values : JSON.stringify(values)
    await database.executeQuery(CompiledQuery.raw(statement, [parameter]))
  }
}

/**
 * Returns the rows that are not stored yet. Rows are written again if the acknowledgement of their commit was lost, or
 * if a later row of their batch cannot be stored. Those that are stored come first.
 */
async function unstored(database: Database, rows: readonly UsageRow[]): Promise<readonly UsageRow[]> {
  let count = 0
  if (await isStored(database, rows[0]!))
    if (await isStored(database, rows.at(-1)!)) count = rows.length
    else while (await isStored(database, rows[count]!)) count++
  return count === 0 ? rows : rows.slice(count)
}

/**
 * Returns true if a row is stored. Compares attempts and duration, too, because a background response has two rows of
 * one id: one for its start, and one for its answer.
 */
async function isStored(database: Database, { at, id, attempts, duration }: UsageRow): Promise<boolean> {
  const row = await database
    .selectFrom('usage_rows')
    .select('at')
    .where('at', '=', at)
    .where('id', '=', plainText(id))
    .where('attempts', '=', attempts)
    .where('duration', '=', storedDuration(duration))
    .executeTakeFirst()
  return row !== undefined
}

const byId = ([id]: Values, [other]: Values): number => Number(id) - Number(other)
