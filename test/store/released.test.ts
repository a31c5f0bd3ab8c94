import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Kysely, sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import type { StoreConfig } from '../../src/config/index.ts'
import { MIGRATIONS_TABLE } from '../../src/store/applied.ts'
import type { Engine } from '../../src/store/engine.ts'
import { migrate, TABLES } from '../../src/store/migrate.ts'
import { MIGRATIONS } from '../../src/store/migrations.ts'
import { openEngine } from '../../src/store/open-engine.ts'
import { openStore } from '../../src/store/store.ts'
import { closingAfterEach } from '../builders/closing.ts'
import { freshDatabase, noPostgres } from '../builders/postgres.ts'

/*
 * Stores of every released schema, in `released`: the statements of each migration as they were released, and rows of
 * a store at that time. They migrate to the schema of a new store, and keep their rows.
 */

const FOLDER = join(import.meta.dirname, 'released')
const FILES = readdirSync(FOLDER).sort()

/** Statements of a file. `{bytes}` stands for the type of bytes, `{bytes:00ff}` for bytes. */
const statementsIn = (file: string): readonly string[] =>
  readFileSync(join(FOLDER, file), 'utf8')
    .replace(/^--.*\n/gm, '')
    .split(/;\n/)
    .filter(one => one.trim() !== '')

const closing = closingAfterEach()

// biome-ignore lint/suspicious/noExplicitAny: tests look into tables of any kind
type Database = Kysely<any>

const CONFIGS: { [engine: string]: () => Promise<StoreConfig> } = {
  SQLite: async () => {
    const folder = mkdtempSync(join(tmpdir(), 'interlingua-released-'))
    closing.push(() => rmSync(folder, { recursive: true, force: true }))
    return { engine: 'sqlite', path: join(folder, 'x.sqlite') }
  },
}
if (noPostgres === undefined)
  CONFIGS['PostgreSQL'] = async () => {
    const database = await freshDatabase()
    closing.push(() => database.drop())
    return { engine: 'postgres', url: database.url }
  }

async function open(config: StoreConfig): Promise<{ readonly database: Database; readonly engine: Engine }> {
  const engine = await openEngine(config)
  const database: Database = new Kysely({ dialect: engine.dialect })
  closing.push(() => database.destroy())
  return { database, engine }
}

/** Makes a store of a released schema: the first migrations, each with its rows. */
async function release(config: StoreConfig, files: readonly string[]): Promise<void> {
  const { database, engine } = await open(config)
  const own = (text: string): string =>
    text
      .replace(/\{bytes:(\w+)\}/g, (_, hex) => (engine.name === 'sqlite' ? `x'${hex}'` : `decode('${hex}', 'hex')`))
      .replaceAll('{bytes}', engine.types.bytes)
  await sql
    .raw(
      `create table ${MIGRATIONS_TABLE} (name text not null primary key, program text not null, applied_at bigint not null)`,
    )
    .execute(database)
  for (const file of files) {
    for (const statement of statementsIn(file)) await sql.raw(engine.ddl(own(statement))).execute(database)
    await database
      .insertInto(MIGRATIONS_TABLE)
      .values({ name: file.replace('.sql', ''), program: '0.1.0', applied_at: 1 })
      .execute()
  }
  await database.destroy()
}

/** Tables with their columns, and indexes. */
async function schemaOf({
  database,
  engine,
}: {
  readonly database: Database
  readonly engine: Engine
}): Promise<object> {
  const tables = await database.introspection.getTables()
  const indexes =
    engine.name === 'sqlite'
      ? sql<{
          text: string
        }>`select name || ' ' || sql as text from sqlite_master where type = 'index' and sql is not null order by name`
      : sql<{
          text: string
        }>`select replace(indexdef, schemaname || '.', '') as text from pg_indexes where schemaname = current_schema() order by indexname`
  return {
    tables: Object.fromEntries(
      tables.map(({ name, columns }) => [
        name,
        columns.map(one => [one.name, one.dataType, one.isNullable, one.hasDefaultValue]),
      ]),
    ),
    indexes: (await indexes.execute(database)).rows.map(({ text }) => text.replaceAll(/\s+/g, ' ')),
  }
}

/** The schema of a new store. */
async function newestOf(configOf: () => Promise<StoreConfig>): ReturnType<typeof schemaOf> {
  const fresh = await open(await configOf())
  await migrate(fresh.database, fresh.engine)
  return schemaOf(fresh)
}

/** Rows by table; rows of equal tables in one order. */
async function rowsOf(database: Database): Promise<{ readonly [table: string]: readonly string[] }> {
  const rows: { [table: string]: readonly string[] } = {}
  const tables = new Set((await database.introspection.getTables()).map(({ name }) => name))
  for (const table of TABLES.filter(name => tables.has(name))) {
    const found = await database.selectFrom(table).selectAll().execute()
    rows[table] = found
      .map(row => JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? Number(value) : value)))
      .sort()
  }
  return rows
}

/** Changes of rows by migrations: new columns with their default, and requests that callers cancelled. */
const migrated = (table: string, row: string): object => ({
  ...(table === 'console_attempts' ? { right_at: 0 } : {}),
  ...(table === 'usage_rows' ? { estimated: 0, failure: null, loss_kinds: null } : {}),
  ...JSON.parse(row),
  ...(table === 'usage_series' && JSON.parse(row).status === 499 ? { failed: 0 } : {}),
})

test('a migration never changes after its release', () => {
  const written = MIGRATIONS.map(({ name, statements }) => [
    `${name}.sql`,
    statements({ bytes: '{bytes}' }).map(one => one.replaceAll(/\s+/g, ' ').trim()),
  ])
  const released = FILES.map(file => [file, statementsIn(file).filter(one => !/^insert /.test(one))])
  expect(written).toEqual(released)
})

test('every table has rows', () => {
  const text = FILES.flatMap(statementsIn).join('\n')
  expect(TABLES.filter(table => table !== 'probes' && !text.includes(`insert into ${table} `))).toEqual([])
})

describe.each(Object.entries(CONFIGS))('a store of %s', (_, configOf) => {
  let newest: ReturnType<typeof schemaOf> | undefined
  const steps = FILES.map((file, index) => [file.replace('.sql', ''), FILES.slice(0, index + 1)] as const)

  test.each(steps)('of schema %s migrates to the newest and keeps its rows', async (_step, files) => {
    const config = await configOf()
    await release(config, files)
    const { database, engine } = await open(config)
    const before = await rowsOf(database)
    await migrate(database, engine)
    newest ??= newestOf(configOf)
    expect(await schemaOf({ database, engine })).toEqual(await newest)
    const after = await rowsOf(database)
    for (const [table, rows] of Object.entries(before))
      expect(
        after[table]!.map(row => JSON.parse(row)),
        table,
      ).toEqual(expect.arrayContaining(rows.map(row => migrated(table, row))))
    expect(Object.values(before).flat().length).toBeGreaterThan(0)
  })

  test('of the first schema is read', async () => {
    const config = await configOf()
    await release(config, FILES.slice(0, 3))
    const store = await openStore(config)
    try {
      expect(await store.turns.find('key-1', 'resp_1')).toMatchObject({ response: { output: [{ id: 'msg_1' }] } })
      expect(await store.turns.find('key-1', 'resp_2')).toMatchObject({ previous: 'resp_1', worker: 'worker-1' })
    } finally {
      await store.close()
    }
  })
})
