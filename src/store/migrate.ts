import { type Kysely, sql } from 'kysely'
import { version } from '../version.ts'
import { type Applied, checkKnown, RECORDS } from './applied.ts'
import type { Engine } from './engine.ts'
import { MIGRATIONS } from './migrations/index.ts'
import type { Migration } from './migrations/migration.ts'

/** The table of the migrations that were applied. */
interface Records {
  readonly interlingua_migrations: Applied & { readonly applied_at: number }
}

const TABLE = `create table if not exists ${RECORDS} (name text not null primary key, program text not null, applied_at bigint not null)`

/**
 * Brings a database to the newest structure. Several processes may do so at once: one of them does it, in a transaction,
 * so that a migration is applied wholly or not at all.
 *
 * @throws NewerStore where a newer version of the program has been here.
 */
export async function migrate<Tables>(
  database: Kysely<Tables>,
  engine: Engine,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<void> {
  const records = database as unknown as Kysely<Records>
  // Looked at without a lock first: there is rarely anything to do.
  if (missing(await appliedSoFar(records), migrations).length === 0) return
  await engine.exclusively(records, async one => {
    await sql.raw(engine.ddl(TABLE)).execute(one)
    for (const migration of missing(await appliedTo(one), migrations)) {
      await apply(one, engine, migration)
      const record = { name: migration.name, program: version(), applied_at: Date.now() }
      await one.insertInto(RECORDS).values(record).execute()
    }
  })
}

const appliedTo = (database: Kysely<Records>): Promise<readonly Applied[]> =>
  database.selectFrom(RECORDS).select(['name', 'program']).orderBy('name').execute()

/** The same, before anything is known of the database: without the table, there is none. */
const appliedSoFar = (database: Kysely<Records>): Promise<readonly Applied[]> =>
  appliedTo(database).catch(thrown => {
    if (isMissingTable(thrown)) return []
    throw thrown
  })

const isMissingTable = (thrown: unknown): boolean =>
  thrown instanceof Error && ((thrown as { code?: string }).code === '42P01' || /^no such table/.test(thrown.message))

/** The migrations that are still to be applied. Throws NewerStore. */
function missing(applied: readonly Applied[], migrations: readonly Migration[]): readonly Migration[] {
  checkKnown(
    applied,
    migrations.map(({ name }) => name),
  )
  const names = new Set(applied.map(({ name }) => name))
  return migrations.filter(({ name }) => !names.has(name))
}

/** Applies one migration; tables of files from before there were migrations are given the columns they lack. */
async function apply(database: Kysely<Records>, engine: Engine, migration: Migration): Promise<void> {
  for (const statement of migration.statements(engine.types)) await sql.raw(engine.ddl(statement)).execute(database)
  if (engine.name !== 'sqlite') return
  for (const [table, columns] of Object.entries(migration.later ?? {}))
    for (const [column, type] of await lacking(database, table, columns))
      await sql.raw(`alter table ${table} add column ${column} ${type}`).execute(database)
}

async function lacking(
  database: Kysely<Records>,
  table: string,
  columns: NonNullable<Migration['later']>[string],
): Promise<readonly [column: string, type: string][]> {
  const tables = await database.introspection.getTables()
  const known = new Set(tables.find(({ name }) => name === table)?.columns.map(({ name }) => name))
  return Object.entries(columns).filter(([column]) => !known.has(column))
}
