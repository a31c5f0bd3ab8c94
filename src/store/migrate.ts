import { type Kysely, sql } from 'kysely'
import { version } from '../version.ts'
import { type AppliedMigration, checkKnown, MIGRATIONS_TABLE } from './applied.ts'
import type { Engine } from './engine.ts'
import { ForeignTables } from './fault.ts'
import type { Migration } from './migrations.ts'
import { MIGRATIONS } from './migrations.ts'

/** Table of the applied migrations. */
interface MigrationTables {
  readonly interlingua_migrations: AppliedMigration & { readonly applied_at: number }
}

const CREATE_TABLE = `create table if not exists ${MIGRATIONS_TABLE} (name text not null primary key, program text not null, applied_at bigint not null)`

/**
 * Migrates a database to the newest schema. If several processes start at once, one of them migrates, in a single
 * transaction.
 *
 * @throws NewerStore if a newer version of the program migrated the database; ForeignTables if another program has tables
 * of the same names there.
 */
export async function migrate<Tables>(
  database: Kysely<Tables>,
  engine: Engine,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<void> {
  const records = database as unknown as Kysely<MigrationTables>
  // Check without the lock first, because usually no migration is pending.
  const applied = await appliedOrNone(records)
  if (pending(applied, migrations).length === 0) return
  if (applied.length === 0) await engine.checkEncoding(database)
  await engine.exclusively(records, async one => {
    await sql.raw(engine.ddl(CREATE_TABLE)).execute(one)
    const done = await appliedTo(one)
    if (done.length === 0) await checkOwner(one, engine)
    for (const migration of pending(done, migrations)) {
      await apply(one, engine, migration)
      const record = { name: migration.name, program: version(), applied_at: Date.now() }
      await one.insertInto(MIGRATIONS_TABLE).values(record).execute()
    }
  })
}

/**
 * Checks that the tables of a database without a record of migrations are those of an older file. The program would use
 * and clean up tables of another program.
 */
async function checkOwner(database: Kysely<MigrationTables>, engine: Engine): Promise<void> {
  const { rows } = await sql.raw<{ readonly name: string }>(TABLE_NAMES[engine.name]).execute(database)
  const found = new Set(rows.map(({ name }) => name))
  const foreign = found.has(OLDEST_TABLE) ? undefined : TABLES.find(name => found.has(name))
  if (foreign !== undefined) throw new ForeignTables(foreign)
}

/** A table that every file has which is older than the migrations. */
const OLDEST_TABLE = 'turns'

/** Statements that return the names of all tables that a statement without a schema finds. */
const TABLE_NAMES: { readonly [engine in Engine['name']]: string } = {
  sqlite: 'select name from sqlite_master',
  postgres: 'select relname as name from pg_class where pg_table_is_visible(oid)',
}

/** Returns the applied migrations, sorted by name. */
const appliedTo = (database: Kysely<MigrationTables>): Promise<readonly AppliedMigration[]> =>
  database.selectFrom(MIGRATIONS_TABLE).select(['name', 'program']).orderBy('name').execute()

/** Returns the applied migrations, or an empty list if the table does not exist. */
const appliedOrNone = (database: Kysely<MigrationTables>): Promise<readonly AppliedMigration[]> =>
  appliedTo(database).catch(thrown => {
    if (isMissingTable(thrown)) return []
    throw thrown
  })

const isMissingTable = (thrown: unknown): boolean =>
  thrown instanceof Error && ((thrown as { code?: string }).code === '42P01' || /^no such table/.test(thrown.message))

/**
 * Returns the migrations that have not been applied yet.
 *
 * @throws NewerStore if an applied migration is unknown.
 */
function pending(applied: readonly AppliedMigration[], migrations: readonly Migration[]): readonly Migration[] {
  checkKnown(
    applied,
    migrations.map(({ name }) => name),
  )
  const names = new Set(applied.map(({ name }) => name))
  return migrations.filter(({ name }) => !names.has(name))
}

/** Applies one migration. Adds missing columns to the tables of SQLite files that are older than the migrations. */
async function apply(database: Kysely<MigrationTables>, engine: Engine, migration: Migration): Promise<void> {
  for (const statement of migration.statements(engine.types)) await sql.raw(engine.ddl(statement)).execute(database)
  if (engine.name !== 'sqlite') return
  for (const [table, columns] of Object.entries(migration.later ?? {}))
    for (const [column, type] of await missingColumns(database, table, columns))
      await sql.raw(`alter table ${table} add column ${column} ${type}`).execute(database)
}

/** Returns the columns that are missing from an existing table. */
async function missingColumns(
  database: Kysely<MigrationTables>,
  table: string,
  columns: NonNullable<Migration['later']>[string],
): Promise<readonly [column: string, type: string][]> {
  const tables = await database.introspection.getTables()
  const known = new Set(tables.find(({ name }) => name === table)?.columns.map(({ name }) => name))
  return Object.entries(columns).filter(([column]) => !known.has(column))
}

/** Matches a `create table` statement and its table name. */
const CREATED_TABLE = /^\s*create table (?:if not exists )?(\w+)/i

/** Names of all tables that the migrations create. */
export const TABLES: readonly string[] = MIGRATIONS.flatMap(({ statements }) => statements({ bytes: 'blob' })).flatMap(
  statement => CREATED_TABLE.exec(statement)?.[1] ?? [],
)

/** A statement that touches every table and returns no row. */
const READ_TABLES = TABLES.map(table => `select 1 from ${table} where 1 = 0`).join(' union all ')

/** Checks that every table can be read. Rejects with the database's error. */
export async function checkTables<Tables>(database: Kysely<Tables>): Promise<void> {
  await sql.raw(READ_TABLES).execute(database)
}
