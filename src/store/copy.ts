import { existsSync, realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Kysely, sql, type Transaction } from 'kysely'
import { rowOf } from '../canonical/maps.ts'
import type { StoreConfig } from '../config/types.ts'
import { MIGRATIONS_TABLE } from './applied.ts'
import type { Engine, Row } from './engine.ts'
import { namingStore } from './fault.ts'
import { isIndexable, NO_ID } from './items.ts'
import { isInUse, openEngine } from './open-engine.ts'
import { openDatabase } from './store.ts'

/** Number of rows that one read returns. */
const ROWS_PER_READ = 100
/** Maximum number of parameter values per insert statement, because databases limit them. */
const VALUES_PER_INSERT = 10_000

/** Tables with state of one database and its processes, which are never copied. */
const PROCESS_TABLES: ReadonlySet<string> = new Set([MIGRATIONS_TABLE, 'processes', 'probes'])

/**
 * Ids for which the indexes of PostgreSQL may have no room, with the value that replaces them. Files of earlier versions
 * have such ids.
 */
const LONG_IDS: { readonly [table: string]: { readonly column: string; readonly replacement: string | null } } = {
  turns: { column: 'previous', replacement: null },
  items: { column: 'id', replacement: NO_ID },
}

/** Number of rows copied from one table. */
export interface CopiedTable {
  readonly table: string
  readonly rows: number
}

/** Thrown if a copy cannot be made. The message is for the operator. */
export class CopyError extends Error {
  override readonly name = 'CopyError'
}

// biome-ignore lint/suspicious/noExplicitAny: tables are read from the database at runtime
type AnyTables = any

interface OpenStore {
  readonly engine: Engine
  readonly database: Kysely<AnyTables>
}

/**
 * Copies all tables of one store to another, with one transaction on each side. A failed copy leaves both stores
 * unchanged.
 *
 * @throws CopyError if a process uses the source, the target has rows, or both are the same store.
 */
export async function copyStore(from: StoreConfig, to: StoreConfig): Promise<readonly CopiedTable[]> {
  // Copying a store onto itself would deadlock.
  if (locationOf(from) === locationOf(to)) throw new CopyError('the source and the target are the same store')
  if (await isInUse(from).catch(withStoreName(from)))
    throw new CopyError('a running process uses the source store: stop it first')
  await using source = await openMigrated(from)
  await using target = await openMigrated(to)
  // A shared database may have tables of other applications, so copy only tables that both stores have.
  const known = new Set(await tablesOf(target))
  const tables = (await tablesOf(source)).filter(table => known.has(table))
  const copied: CopiedTable[] = []
  await source.database.transaction().execute(reading =>
    target.engine.exclusively(target.database, async writing => {
      copied.length = 0
      for (const table of tables)
        if ((await countOf(writing, table)) > 0) throw new CopyError(`the target is not empty: it has rows in ${table}`)
      for (const table of tables) {
        const rows = await copyTable(source.engine.rows(reading, table, ROWS_PER_READ), writing, table)
        const [sourceRows, copiedRows] = [await countOf(reading, table), await countOf(writing, table)]
        if (rows !== sourceRows || rows !== copiedRows)
          throw new CopyError(
            `${table}: ${sourceRows} rows in the source, ${copiedRows} in the copy; nothing was copied`,
          )
        copied.push({ table, rows })
      }
    }),
  )
  return copied
}

/** Normalised location of a store, equal for different spellings of the same address. */
function locationOf(config: StoreConfig): string {
  if (config.engine === 'sqlite') return existsSync(config.path) ? realpathSync(config.path) : resolve(config.path)
  const { hostname, port, pathname, searchParams } = new URL(config.url)
  // The options may select a schema.
  return `${hostname.toLowerCase()}:${port || PORT}${pathname} ${searchParams.get('options') ?? ''}`
}

/** PostgreSQL's default port. */
const PORT = '5432'

/** Adds the store's name to an error, because a copy involves two stores. */
const withStoreName = (config: StoreConfig) => (thrown: unknown) => Promise.reject(namingStore(config, thrown))

/** Opens a store and migrates it to the newest schema, as a normal start does. */
async function openMigrated(config: StoreConfig): Promise<OpenStore & AsyncDisposable> {
  const engine = await openEngine(config)
  const database = (await openDatabase(engine).catch(withStoreName(config))) as Kysely<AnyTables>
  return { engine, database, [Symbol.asyncDispose]: () => database.destroy() }
}

async function tablesOf({ database, engine }: OpenStore): Promise<readonly string[]> {
  const statement =
    engine.name === 'sqlite'
      ? sql<{ name: string }>`select name from sqlite_master where type = 'table' and name not like 'sqlite_%'`
      : sql<{ name: string }>`select tablename as name from pg_tables where schemaname = current_schema()`
  const { rows } = await statement.execute(database)
  return rows
    .map(({ name }) => name)
    .filter(name => !PROCESS_TABLES.has(name))
    .sort()
}

async function copyTable(
  batches: AsyncIterable<readonly Row[]>,
  writing: Transaction<AnyTables>,
  table: string,
): Promise<number> {
  let count = 0
  for await (const batch of batches) {
    const size = Math.max(1, Math.floor(VALUES_PER_INSERT / Object.keys(batch[0]!).length))
    for (let at = 0; at < batch.length; at += size)
      await writing
        .insertInto(table)
        .values(batch.slice(at, at + size).map(row => withShortIds(table, row)))
        .execute()
    count += batch.length
  }
  return count
}

/** Returns the row with ids that every engine can index. */
function withShortIds(table: string, row: Row): Row {
  const long = rowOf(LONG_IDS, table)
  const id = long && row[long.column]
  return typeof id !== 'string' || isIndexable(id) ? row : { ...row, [long!.column]: long!.replacement }
}

async function countOf(one: Transaction<AnyTables>, table: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`.execute(one)
  return Number(rows[0]!.count)
}
