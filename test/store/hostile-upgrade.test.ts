import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Kysely, sql } from 'kysely'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { StoreConfig } from '../../src/config/index.ts'
import { MIGRATIONS_TABLE } from '../../src/store/applied.ts'
import { NewerStore, storeFault } from '../../src/store/fault.ts'
import { LazyStore } from '../../src/store/lazy-store.ts'
import { migrate } from '../../src/store/migrate.ts'
import { MIGRATIONS, type Migration } from '../../src/store/migrations.ts'
import { openEngine } from '../../src/store/open-engine.ts'
import { openStore } from '../../src/store/store.ts'
import { closingAfterEach } from '../builders/closing.ts'
import { freshDatabase, noPostgres, postgres, startPostgres } from '../builders/postgres.ts'
import { TIMED } from '../builders/time.ts'
import { MIB } from '../builders/units.ts'

/* Upgrades that a full disk, a lost server, a wrong clock, a foreign file or another version disturbs. */

const closing = closingAfterEach()
afterEach(() => vi.useRealTimers())

// biome-ignore lint/suspicious/noExplicitAny: tests look into tables of any kind
type Database = Kysely<any>

function file(): StoreConfig & { readonly engine: 'sqlite' } {
  const folder = mkdtempSync(join(tmpdir(), 'hostile-upgrade-'))
  closing.push(() => rmSync(folder, { recursive: true, force: true }))
  return { engine: 'sqlite', path: join(folder, 'x.sqlite') }
}

async function server(): Promise<StoreConfig> {
  const database = await freshDatabase()
  closing.push(() => database.drop())
  return { engine: 'postgres', url: database.url }
}

async function open(config: StoreConfig) {
  const engine = await openEngine(config)
  const database: Database = new Kysely({ dialect: engine.dialect })
  closing.push(() => database.destroy())
  return { database, go: (migrations: readonly Migration[]) => migrate(database, engine, migrations) }
}

const migration = (name: string, ...statements: string[]): Migration => ({ name, statements: () => statements })

/** The migrations of a version that was released before the newest ones. */
const OLD = MIGRATIONS.slice(0, -3)
const NAMES = MIGRATIONS.map(({ name }) => name)

const recordsOf = async (database: Database): Promise<string[]> =>
  (await database.selectFrom(MIGRATIONS_TABLE).select('name').orderBy('name').execute()).map(({ name }) => name)

const ENGINES: [string, () => Promise<StoreConfig>][] = [['SQLite', async () => file()]]
if (noPostgres === undefined) ENGINES.push(['PostgreSQL', server])

const TURN = { owner: 'me', id: 'r', response: { output: [] }, input: [], createdAt: 0, expiresAt: 9e15 }

/** Makes a file of an old version with a response. */
async function oldFile(size = 1): Promise<StoreConfig & { readonly engine: 'sqlite' }> {
  const config = file()
  const { database, go } = await open(config)
  await go(OLD)
  await sql`insert into turns values ('me', 'r', null, null, 0, null, ${JSON.stringify({ id: 'r', output: [], text: 'x'.repeat(size) })}, 0, 9000000000000000, null, null, 0)`.execute(
    database,
  )
  await database.destroy()
  return config
}

describe('a disk that is full in the middle of an upgrade', () => {
  test('leaves the old store whole, wherever it was full, and the upgrade succeeds with room', async () => {
    const config = await oldFile(10_000)
    const { database, go } = await open(config)
    const pages = Number((await sql<{ page_count: number }>`pragma page_count`.execute(database)).rows[0]!.page_count)
    let failures = 0
    for (let most = pages; ; most++) {
      await sql`pragma max_page_count = ${sql.lit(most)}`.execute(database)
      const thrown = await go(MIGRATIONS).then(
        () => undefined,
        (fault: unknown) => fault,
      )
      if (thrown === undefined) break
      failures++
      expect(storeFault(thrown)).toBe('full')
      expect(await recordsOf(database)).toEqual(OLD.map(({ name }) => name))
      expect((await sql`pragma integrity_check`.execute(database)).rows).toEqual([{ integrity_check: 'ok' }])
      await expect(sql`select * from stored_config`.execute(database)).rejects.toThrow('no such table')
    }
    expect(failures).toBeGreaterThan(1)
    expect(await recordsOf(database)).toEqual(NAMES)
    await database.destroy()
    const store = await openStore(config)
    closing.push(() => store.close())
    expect(await store.turns.find('me', 'r')).toMatchObject({ response: { text: 'x'.repeat(10_000) } })
  })

  test('of a first start leaves a file that the next start completes', () => {
    const { path } = file()
    const program = `
      const { openStore } = await import(${JSON.stringify(join(process.cwd(), 'src/store/store.ts'))})
      const store = await openStore({ engine: 'sqlite', path: ${JSON.stringify(path)} })
      await store.turns.put(${JSON.stringify(TURN)})
      await store.close()`
    const start = (limit: string) =>
      spawnSync(
        'sh',
        [
          '-c',
          `trap "" XFSZ; ulimit -f ${limit}; exec "$@"`,
          'sh',
          process.execPath,
          '--input-type=module',
          '-e',
          program,
        ],
        {
          encoding: 'utf8',
        },
      )
    // 16 KiB are enough for some of the tables.
    const first = start('32')
    expect([first.status, first.stderr]).toEqual([1, expect.stringMatching(/disk I\/O error|full/)])
    expect(start('unlimited').stderr).toBe('')
    const database = new DatabaseSync(path)
    closing.push(() => database.close())
    expect(database.prepare('select count(*) as n from turns').get()).toEqual({ n: 1 })
    expect(database.prepare(`select count(*) as n from ${MIGRATIONS_TABLE}`).get()).toEqual({ n: NAMES.length })
  })
})

describe('a write lock of another process', () => {
  test('delays an upgrade, and is no outage', TIMED, async () => {
    const config = await oldFile()
    const lines: string[] = []
    const note = (_: object, message: string) => void lines.push(message)
    const store = new LazyStore(config, tmpdir(), { info: note, warn: note, error: note })
    closing.push(() => store.close())
    const blocker = new DatabaseSync(config.path)
    blocker.exec('begin immediate')
    const waiting = store.turns.find('me', 'r')
    setTimeout(() => blocker.exec('rollback'), 100)
    expect(await waiting).toMatchObject({ id: 'r' })
    blocker.close()
    expect(lines).toEqual([])
  })
})

describe.skipIf(noPostgres !== undefined)('a server that is lost in the middle of an upgrade', () => {
  const SLOW = migration(
    '900-slow',
    'create table slow (x text not null)',
    `insert into slow values ('1')`,
    'select pg_sleep(20)',
  )
  const FAST = migration('900-slow', 'create table slow (x text not null)', `insert into slow values ('1')`)

  test('has nothing of it when its connection was cut, and is upgraded at the next start', async () => {
    const config = await server()
    const { go } = await open(config)
    await go(OLD)
    const admin = await open(config)
    const going = go([...OLD, SLOW]).catch((thrown: unknown) => thrown)
    const others = sql`select pg_terminate_backend(pid) as ended from pg_stat_activity
      where datname = current_database() and query like 'select pg_sleep(20)%'`
    await vi.waitFor(async () => expect((await others.execute(admin.database)).rows).toEqual([{ ended: true }]), 10_000)
    expect(storeFault(await going)).toBe('unreachable')
    await expect(sql`select * from slow`.execute(admin.database)).rejects.toThrow('does not exist')
    expect(await recordsOf(admin.database)).toEqual(OLD.map(({ name }) => name))
    await go([...OLD, FAST])
    expect((await sql`select * from slow`.execute(admin.database)).rows).toEqual([{ x: '1' }])
  })

  test('has nothing of it after its crash, and others that waited for the lock upgrade it once', TIMED, async () => {
    const own = await startPostgres()
    closing.push(() => own.close())
    const { url } = await own.database('crashed')
    const config: StoreConfig = { engine: 'postgres', url }
    const { database, go } = await open(config)
    await go(OLD)
    const others = await Promise.all([open(config), open(config)])
    const going = [go([...OLD, SLOW]), ...others.map(other => other.go([...OLD, SLOW]))].map(one =>
      one.catch((thrown: unknown) => thrown),
    )
    await vi.waitFor(
      async () =>
        expect(
          (await sql`select 1 as one from pg_stat_activity where query like 'select pg_sleep(20)%'`.execute(database))
            .rows,
        ).toHaveLength(1),
      10_000,
    )
    await own.crash()
    for (const thrown of await Promise.all(going)) expect(storeFault(thrown)).toBe('unreachable')
    await own.start()
    const again = await Promise.all([open(config), open(config), open(config)])
    await Promise.all(again.map(one => one.go([...OLD, FAST])))
    expect((await sql`select * from slow`.execute(again[0]!.database)).rows).toEqual([{ x: '1' }])
  })

  test('with fewer connections than starting instances is upgraded once, and refuses the rest as unreachable', async () => {
    const admin = await postgres()
    const database = await freshDatabase()
    const url = new URL(database.url)
    const name = url.pathname.slice(1)
    await admin.run('create role upgrader login connection limit 2')
    closing.push(() => admin.run('drop role upgrader'))
    closing.push(() => database.drop())
    await admin.run(`alter database ${name} owner to upgrader`)
    url.username = 'upgrader'
    const starts = await Promise.allSettled(
      Array.from({ length: 8 }, async () => {
        const store = await openStore({ engine: 'postgres', url: url.href })
        await store.close()
      }),
    )
    for (const start of starts)
      if (start.status === 'rejected') expect(storeFault(start.reason)).toMatch(/^(unreachable|locked)$/)
    const { database: one } = await open({ engine: 'postgres', url: database.url })
    expect(await recordsOf(one)).toEqual(NAMES)
    await one.destroy()
  })
})

describe.each(ENGINES)('two versions at one store of %s', (_, config) => {
  const NEWER = [...MIGRATIONS, migration('999-newer', 'create table newer (x text not null)')]

  test('the older one goes on, and is refused by name when it starts again', async () => {
    const at = await config()
    const older = await openStore(at)
    closing.push(() => older.close())
    await older.turns.put(TURN)
    const { database, go } = await open(at)
    await go(NEWER)
    await older.turns.put({ ...TURN, id: 's' })
    expect(await older.turns.find('me', 'r')).toMatchObject({ id: 'r' })
    await expect(openStore(at)).rejects.toThrow(NewerStore)
    expect((await recordsOf(database)).at(-1)).toBe('999-newer')
    expect((await database.selectFrom('turns').selectAll().execute()).length).toBe(2)
  })

  test('one that loses its connection serves no stored data of a newer store, and says why', async () => {
    const at = await config()
    await (await openStore(at)).close()
    const { go } = await open(at)
    await go(NEWER)
    const lines: object[] = []
    const note = (fields: object) => void lines.push(fields)
    const lazy = new LazyStore(at, tmpdir(), { info: note, warn: note, error: note })
    closing.push(() => lazy.close())
    await expect(lazy.turns.find('me', 'r')).rejects.toThrow('temporarily unavailable')
    expect(JSON.stringify(lines)).toContain('newer')
    await expect(lazy.start()).rejects.toThrow(NewerStore)
  })

  test('that start at the same time never both migrate, and neither half', async () => {
    const at = await config()
    const starts = await Promise.all(Array.from({ length: 6 }, () => open(at)))
    const results = await Promise.allSettled(starts.map(({ go }, index) => go(index % 2 === 0 ? MIGRATIONS : NEWER)))
    for (const [index, result] of results.entries())
      if (result.status === 'rejected') expect([index % 2, result.reason]).toEqual([0, expect.any(NewerStore)])
    expect(await recordsOf(starts[0]!.database)).toEqual([...NAMES, '999-newer'])
  })
})

describe.each(ENGINES)('records of migrations of %s', (_, config) => {
  test('twice in a list change nothing', async () => {
    const { database, go } = await open(await config())
    await go(OLD)
    const twice = migration('950-twice', 'create table if not exists twice (x text)')
    await expect(go([...OLD, twice, twice])).rejects.toThrow(/unique|UNIQUE/)
    expect(await recordsOf(database)).toEqual(OLD.map(({ name }) => name))
    await expect(sql`select * from twice`.execute(database)).rejects.toThrow()
  })

  test.each(['', ' 001-responses', '001-RESPONSES', '999-\u0000', `9${'x'.repeat(100_000)}`, '__proto__'])(
    'with the unknown name %j are of a newer version',
    async name => {
      const { database, go } = await open(await config())
      await go(MIGRATIONS)
      await database.insertInto(MIGRATIONS_TABLE).values({ name, program: '\u001b[2J', applied_at: 0 }).execute()
      await expect(go(MIGRATIONS)).rejects.toThrow(NewerStore)
    },
  )

  test('of a hundred thousand unknown names are refused in a moment', TIMED, async () => {
    const { database, go } = await open(await config())
    await go(MIGRATIONS)
    for (let from = 0; from < 100_000; from += 5000) {
      const rows = Array.from({ length: 5000 }, (_, at) => ({ name: `n${from + at}`, program: '9', applied_at: 0 }))
      await database.insertInto(MIGRATIONS_TABLE).values(rows).execute()
    }
    const began = performance.now()
    await expect(go(MIGRATIONS)).rejects.toThrow(NewerStore)
    expect(performance.now() - began).toBeLessThan(2000)
  })

  test.each([0, -1, 8.64e15, 1e12])('are written at the time %d as at any other', async time => {
    vi.useFakeTimers({ toFake: ['Date'], now: time })
    const { database, go } = await open(await config())
    await go(OLD)
    vi.setSystemTime(time === 0 ? 5 : 0)
    await go(MIGRATIONS)
    await go(MIGRATIONS)
    expect(await recordsOf(database)).toEqual(NAMES)
  })
})

describe('files that are no store', () => {
  const withDatabase = (path: string, ...statements: string[]): void => {
    const database = new DatabaseSync(path)
    for (const statement of statements) database.exec(statement)
    database.close()
  }
  const records = `create table ${MIGRATIONS_TABLE} (name text not null primary key, program text not null, applied_at bigint not null)`

  test.each<[string, (path: string) => void]>([
    ['a text', path => writeFileSync(path, 'store: sqlite\n'.repeat(1000))],
    ['a file that was cut', path => writeFileSync(path, 'SQLite format 3\u0000\u0010\u0000\u0001\u0001')],
    [
      'another program’s items',
      path => withDatabase(path, 'create table items (name text)', `insert into items values ('theirs')`),
    ],
    [
      'turns that are a view',
      path => withDatabase(path, 'create table t (x text)', 'create view turns as select x as owner from t'),
    ],
    [
      'records that are a view',
      path =>
        withDatabase(
          path,
          'create table t (x text)',
          `create view ${MIGRATIONS_TABLE} as select x as name, x as program from t`,
        ),
    ],
    ['records of other columns', path => withDatabase(path, `create table ${MIGRATIONS_TABLE} (id integer)`)],
    [
      'records that are numbers',
      path =>
        withDatabase(
          path,
          records.replace('name text', 'name integer'),
          `insert into ${MIGRATIONS_TABLE} values (1, 2, 3)`,
        ),
    ],
    [
      'bytes as names',
      path =>
        withDatabase(
          path,
          `create table ${MIGRATIONS_TABLE} (name blob, program blob, applied_at blob)`,
          `insert into ${MIGRATIONS_TABLE} values (x'00', x'ff', x'')`,
        ),
    ],
  ])('%s are refused as a fault of the store, and stay as they are', async (_, make) => {
    const { path } = file()
    make(path)
    const before = dumpOf(path)
    const thrown = await openStore({ engine: 'sqlite', path }).then(
      async store => store.close(),
      (fault: unknown) => fault,
    )
    expect(thrown instanceof NewerStore || storeFault(thrown) !== undefined, String(thrown)).toBe(true)
    expect(dumpOf(path)).toEqual(before)
  })

  /** Returns the schema and rows of a file, or its size if it is no database. */
  function dumpOf(path: string): unknown {
    const database = new DatabaseSync(path)
    try {
      const tables = database.prepare('select name, sql from sqlite_master order by name').all() as {
        name: string
        sql: string
      }[]
      return tables.map(({ name, sql }) => [
        name,
        sql,
        sql?.startsWith('create table') ? database.prepare(`select * from "${name}"`).all() : [],
      ])
    } catch {
      return statSync(path).size
    } finally {
      database.close()
    }
  }
})

describe('large stores', () => {
  test('of an old version are upgraded in time that grows with their size, with every row', TIMED, async () => {
    const timeOf = async (count: number): Promise<number> => {
      const config = file()
      const { database, go } = await open(config)
      await go(MIGRATIONS.slice(0, 3))
      await sql
        .raw(`insert into usage_rows (at, id, series, stream, attempts, losses, duration)
        with recursive n(i) as (select 0 union all select i + 1 from n where i < ${count - 1})
        select i, 'req_' || i, i % 1000, 0, 1, 0, 1 from n`)
        .execute(database)
      await sql
        .raw(`insert into usage_series (id, format, door, status, failed)
        with recursive n(i) as (select 0 union all select i + 1 from n where i < ${count / 100})
        select i, 'chat', 'chat', case when i % 2 = 0 then 499 else 200 end, 1 from n`)
        .execute(database)
      const began = performance.now()
      await go(MIGRATIONS)
      const took = performance.now() - began
      const { rows } = await sql<{
        n: number
        e: number
      }>`select count(*) as n, sum(estimated) as e from usage_rows`.execute(database)
      expect(rows).toEqual([{ n: count, e: 0 }])
      const failed = await sql<{ n: number }>`select count(*) as n from usage_series where failed = 1`.execute(database)
      expect(failed.rows[0]!.n).toBe(count / 200)
      await database.destroy()
      return took
    }
    await timeOf(2000)
    const [small, large] = [await timeOf(20_000), await timeOf(160_000)]
    expect(large).toBeLessThan(16 * Math.max(small, 20))
  })

  test('keep a row of many megabytes', async () => {
    const config = await oldFile(16 * MIB)
    const store = await openStore(config)
    closing.push(() => store.close())
    const { text } = (await store.turns.find('me', 'r'))!.response as { text: string }
    expect(text.length).toBe(16 * MIB)
  })

  test('that twenty starts upgrade at once are upgraded once', async () => {
    const config = await oldFile(MIB)
    const starts = await Promise.all(Array.from({ length: 20 }, () => open(config)))
    await Promise.all(starts.map(({ go }) => go(MIGRATIONS)))
    expect(await recordsOf(starts[0]!.database)).toEqual(NAMES)
  })
})
