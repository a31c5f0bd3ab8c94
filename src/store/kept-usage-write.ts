import { CompiledQuery, PostgresAdapter } from 'kysely'
import type { Database } from './tables.ts'
import { type Batch, ROW_COLUMNS, type Values } from './usage-batch.ts'
import { SUM_COLUMNS, TIMING_COLUMNS } from './usage-tables.ts'

const SERIES_COLUMNS = [
  ...['id', 'key_id', 'key_name', 'group_name', 'model', 'channel', 'format', 'upstream_format', 'door'],
  ...['status', 'failed'],
]

/** Types of columns that hold no whole number. */
const TYPES: { readonly [column: string]: string } = {
  ...Object.fromEntries(
    ['key_id', 'key_name', 'group_name', 'model', 'channel', 'format', 'upstream_format', 'door'].map(one => [
      one,
      'text',
    ]),
  ),
  ...Object.fromEntries(['upstream_model', 'error', 'finish', 'upstream_id', 'tries'].map(one => [one, 'text'])),
  ...Object.fromEntries(
    ['read_after', 'sent_after', 'answered_after', 'first_byte_after', 'duration'].map(one => [
      one,
      'double precision',
    ]),
  ),
}

/** `id` is text in rows and a number in series. */
const typeIn = (table: string, column: string): string =>
  table === 'usage_rows' && column === 'id' ? 'text' : (TYPES[column] ?? 'bigint')

/** Inserts the elements of a JSON list of lists: one parameter, however many rows. */
function insertText(engine: Engine, table: string, columns: readonly string[], conflict: string): string {
  const values = columns.map((column, at) => `cast(value ->> ${at} as ${typeIn(table, column)})`)
  return `insert into ${table} (${columns.join(', ')}) select ${values.join(', ')} from ${ELEMENTS[engine]} where true ${conflict}`
}

type Engine = 'sqlite' | 'postgres'

/** The elements of the JSON list that is the first parameter, as rows of a column `value`. */
const ELEMENTS: { readonly [engine in Engine]: string } = {
  sqlite: 'json_each(?)',
  postgres: 'jsonb_array_elements($1::jsonb) as elements(value)',
}

const addedUp = (table: string): string =>
  [
    ...SUM_COLUMNS.map(one => `${one} = ${table}.${one} + excluded.${one}`),
    ...TIMING_COLUMNS.map(
      one =>
        `${one} = case when excluded.${one} is null then ${table}.${one} else coalesce(${table}.${one}, 0) + excluded.${one} end`,
    ),
  ].join(', ')

interface Statements {
  readonly series: string
  readonly rows: string
  readonly hours: string
  readonly days: string
}

const statementsFor = (engine: Engine): Statements => {
  const sums = (table: string): string =>
    insertText(
      engine,
      table,
      ['at', 'series', ...SUM_COLUMNS, ...TIMING_COLUMNS],
      `on conflict (at, series) do update set ${addedUp(table)}`,
    )
  return {
    series: insertText(engine, 'usage_series', SERIES_COLUMNS, 'on conflict do nothing'),
    rows: insertText(engine, 'usage_rows', ROW_COLUMNS, 'on conflict do nothing'),
    hours: sums('usage_hours'),
    days: sums('usage_days'),
  }
}

/** Writes batches in one transaction each, as one statement for each table. */
export class UsageWriter {
  private readonly database: Database
  private readonly statements: Statements
  /** Series that are stored; those of batches whose transaction failed are not among them. */
  private readonly stored = new Set<number>()

  constructor(database: Database) {
    this.database = database
    const postgres = database.getExecutor().adapter instanceof PostgresAdapter
    this.statements = statementsFor(postgres ? 'postgres' : 'sqlite')
  }

  async write({ series, rows, hours, days }: Batch): Promise<void> {
    const unknown = [...series.values()].filter(({ id }) => !this.stored.has(id))
    await this.database.transaction().execute(async database => {
      const insert = async (statement: string, values: readonly Values[]): Promise<bigint> => {
        if (values.length === 0) return 0n
        const query = CompiledQuery.raw(statement, [JSON.stringify(values)])
        return (await database.executeQuery(query)).numAffectedRows ?? 0n
      }
      await insert(this.statements.series, unknown.map(one => Object.values(one)).sort(byId))
      // All of them are there where the batch is written again, as its acknowledgement was lost: it counts once.
      if ((await insert(this.statements.rows, rows)) === 0n) return
      await insert(this.statements.hours, hours)
      await insert(this.statements.days, days)
    })
    if (this.stored.size > MOST) this.stored.clear()
    for (const { id } of unknown) this.stored.add(id)
  }
}

const byId = ([id]: Values, [other]: Values): number => Number(id) - Number(other)

const MOST = 50_000
