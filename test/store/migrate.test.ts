import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { Kysely, sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import type { StoreConfig } from '../../src/config/index.ts'
import { NewerStore } from '../../src/store/fault.ts'
import { LazyStore } from '../../src/store/lazy-store.ts'
import { migrate } from '../../src/store/migrate.ts'
import type { Migration } from '../../src/store/migrations.ts'
import { MIGRATIONS } from '../../src/store/migrations.ts'
import { openEngine } from '../../src/store/open-engine.ts'
import { openSqlite, openStore } from '../../src/store/store.ts'
import { version } from '../../src/version.ts'
import { closingAfterEach } from '../builders/closing.ts'
import { freshDatabase, noPostgres } from '../builders/postgres.ts'

const closing = closingAfterEach()

function file(): StoreConfig & { readonly engine: 'sqlite' } {
  const folder = mkdtempSync(join(tmpdir(), 'interlingua-migrations-'))
  closing.push(() => rmSync(folder, { recursive: true, force: true }))
  return { engine: 'sqlite', path: join(folder, 'x.sqlite') }
}

async function server(): Promise<StoreConfig> {
  const database = await freshDatabase()
  closing.push(() => database.drop())
  return { engine: 'postgres', url: database.url }
}

const open = async (
  config: StoreConfig,
  // biome-ignore lint/suspicious/noExplicitAny: tests look into tables of any kind
): Promise<{ database: Kysely<any>; go(migrations: Migration[]): Promise<void> }> => {
  const engine = await openEngine(config)
  const database = new Kysely({ dialect: engine.dialect })
  closing.push(() => database.destroy())
  return { database, go: migrations => migrate(database, engine, migrations) }
}

const migration = (name: string, ...statements: string[]): Migration => ({ name, statements: () => statements })
const FIRST = migration('001-a', 'create table a (x text not null)', `insert into a values ('1')`)
const SECOND = migration('002-b', 'create table b (x text not null)', `insert into a values ('2')`)

const ENGINES: [string, () => Promise<StoreConfig>][] = [['SQLite', async () => file()]]
if (noPostgres === undefined) ENGINES.push(['PostgreSQL', server])

describe.each(ENGINES)('migrations of %s', (_, config) => {
  test('are applied once each, in order, by however many connections at once', async () => {
    const at = await config()
    const several = await Promise.all(Array.from({ length: 4 }, () => open(at)))
    await Promise.all(several.map(({ go }) => go([FIRST])))
    await Promise.all(several.map(({ go }) => go([FIRST, SECOND])))
    const { database } = several[0]!
    expect((await database.selectFrom('a').selectAll().orderBy('x').execute()).map(({ x }) => x)).toEqual(['1', '2'])
    const records = await database.selectFrom('interlingua_migrations').selectAll().orderBy('name').execute()
    expect(records).toMatchObject(['001-a', '002-b'].map(name => ({ name, program: version() })))
  })

  test('that fail leave nothing, and are applied whole when they can be', async () => {
    const { database, go } = await open(await config())
    await expect(go([FIRST, migration('002-b', 'create table b (x text)', 'this is no statement')])).rejects.toThrow()
    await expect(sql`select * from a`.execute(database)).rejects.toThrow()
    await expect(sql`select * from b`.execute(database)).rejects.toThrow()
    await go([FIRST, SECOND])
    expect(await database.selectFrom('a').selectAll().execute()).toHaveLength(2)
  })

  test.each(['conversations', 'events', 'captures'])('leave alone a table %s of another program', async name => {
    const { database, go } = await open(await config())
    await sql.raw(`create table ${name} (id text, at bigint, size bigint, expires_at bigint)`).execute(database)
    await sql.raw(`insert into ${name} values ('theirs', 1, 1, 1)`).execute(database)
    await expect(go([...MIGRATIONS])).rejects.toThrow(`the table ${name} belongs to another program`)
    expect(await database.selectFrom(name).select('id').execute()).toEqual([{ id: 'theirs' }])
    await expect(database.selectFrom('turns').selectAll().execute()).rejects.toThrow()
    await expect(database.selectFrom('interlingua_migrations').selectAll().execute()).rejects.toThrow()
  })

  test('of a newer version are refused, by name', async () => {
    const at = await config()
    const { database, go } = await open(at)
    await go([FIRST, SECOND])
    await sql`update interlingua_migrations set program = '99.1.0' where name = '002-b'`.execute(database)
    await expect(go([FIRST])).rejects.toThrow(NewerStore)
    await expect(go([FIRST])).rejects.toThrow(
      `Interlingua 99.1.0 (migration 002-b), which is newer than this Interlingua ${version()}`,
    )
  })

  test('of a newer version keep a gateway from starting', async () => {
    const at = await config()
    const store = await openStore(at)
    await store.close()
    const { database } = await open(at)
    await sql`insert into interlingua_migrations values ('999-later', '99.1.0', 0)`.execute(database)
    const log = { info: () => {}, warn: () => {}, error: () => {} }
    const lazy = new LazyStore(at, tmpdir(), log)
    closing.push(() => lazy.close())
    await expect(lazy.start()).rejects.toThrow('99.1.0')
  })

  test('are applied by several processes that start at once', async () => {
    const at = await config()
    const program = `
      const { openStore } = await import(${JSON.stringify(join(process.cwd(), 'src/store/store.ts'))})
      const store = await openStore(${JSON.stringify(at)})
      await store.turns.put({ owner: 'me', id: String(process.pid), response: { output: [] }, input: [], createdAt: 0, expiresAt: 9e15 })
      await store.close()`
    const starts = Array.from({ length: 4 }, () =>
      promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]),
    )
    await Promise.all(starts)
    const { database } = await open(at)
    expect(await database.selectFrom('turns').selectAll().execute()).toHaveLength(4)
    const records = await database.selectFrom('interlingua_migrations').select('name').orderBy('name').execute()
    expect(records.map(({ name }) => name)).toEqual(MIGRATIONS.map(({ name }) => name))
  })
})

test('a store of before is given what it lacks, by however many at once', async () => {
  const { path } = file()
  const before = new DatabaseSync(path)
  before.exec(`create table turns (owner text not null, id text not null, previous text, channel text,
    remembered integer not null, response text not null, tape text, created_at bigint not null,
    expires_at bigint not null, lease bigint, gone integer not null, primary key (owner, id))`)
  before.exec(`insert into turns values ('me', 'a', null, null, 0, '{"id":"a"}', '["{}"]', 0, 9e15, null, 0)`)
  before.close()
  const [one, other] = await Promise.all([openSqlite(path), openSqlite(path)])
  expect(await one.turns.find('me', 'a')).toMatchObject({ id: 'a', response: { id: 'a', output: [] } })
  await other.turns.put({ ...(await one.turns.find('me', 'a'))!, lease: 1, worker: 'w', copy: 'c' })
  expect(await one.turns.find('me', 'a')).toMatchObject({ worker: 'w', copy: 'c' })
  await one.close()
  await other.close()
})
