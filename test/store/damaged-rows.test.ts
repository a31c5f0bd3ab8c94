import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Kysely, sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import type { StoreConfig } from '../../src/config/types.ts'
import { SILENT } from '../../src/log.ts'
import type { AuditEntry } from '../../src/store/audit-records.ts'
import { LazyStore } from '../../src/store/lazy-store.ts'
import { openEngine } from '../../src/store/open-engine.ts'
import type { StoredTask } from '../../src/store/tasks.ts'
import { requestId } from '../../src/store/usage/request-id.ts'
import type { UsageRow } from '../../src/store/usage/row.ts'
import { closingAfterEach } from '../builders/closing.ts'
import { createKey } from '../builders/keys.ts'
import { freshDatabase, noPostgres } from '../builders/postgres.ts'
import { DAY, HOUR } from '../builders/units.ts'

/* One row whose JSON is damaged, beside a good one: every list shows the good one. */

const DAMAGES = ['', '{', '[{"field":"x', 'null', '7', '[]', '[7]', '"x"', '{"limits":7}']
const AT = Date.now() - HOUR

const closing = closingAfterEach()

const ENGINES: { readonly [name: string]: () => Promise<StoreConfig> } = {
  SQLite: async () => {
    const folder = mkdtempSync(join(tmpdir(), 'damaged-rows-'))
    closing.push(() => rmSync(folder, { recursive: true, force: true }))
    return { engine: 'sqlite', path: join(folder, 'x.sqlite') }
  },
  ...(noPostgres === undefined
    ? {
        PostgreSQL: async () => {
          const database = await freshDatabase()
          closing.push(() => database.drop())
          return { engine: 'postgres', url: database.url }
        },
      }
    : {}),
}

const row = (name: string): UsageRow => ({
  ...{ id: requestId(AT), at: AT, key: name, keyName: name, model: 'm', channel: name, door: '/', format: 'chat' },
  ...{ stream: false, attempts: 2, status: 500, error: 'x', losses: 0, duration: 1 },
  failure: { reason: 'status', status: 500, said: name },
  tries: [{ channel: name, upstreamModel: 'm', sentAfter: 1, endedAfter: 2 }],
})

const entry = (name: string): AuditEntry => ({
  ...{ id: name, at: AT, actor: 'a', actorKind: 'user', action: 'changeKey', kind: 'key', target: name, name },
  changes: [{ field: 'note', to: name }],
})

const task = (id: string): StoredTask =>
  ({
    ...{ owner: 'me', id, model: 'm', channel: 'c', format: 'videos', upstreamModel: 'm', from: 'text', worker: 'w' },
    ...{ state: 'queued', output: {}, result: { candidates: [] }, misses: 0, createdAt: AT, polledAt: 0 },
    ...{ expiresAt: Date.now() + DAY, upstreamId: `u-${id}` },
  }) as StoredTask

const PERIOD = { since: AT - DAY, until: AT + DAY }

/** The columns with JSON of each list, how a row is found by a name, and the names of what the list shows. */
const LISTS: {
  readonly [table: string]: {
    readonly columns: readonly string[]
    readonly nameColumn: string
    readonly names: (store: LazyStore) => Promise<readonly unknown[]>
  }
} = {
  audit_log: {
    ...{ columns: ['changes'], nameColumn: 'name' },
    names: async store => (await store.audit.list({ ...PERIOD, limit: 9 })).entries.map(({ name }) => name),
  },
  usage_rows: {
    ...{ columns: ['failure', 'tries'], nameColumn: 'upstream_id' },
    names: async store => [
      ...(await store.usage.rows({ ...PERIOD, limit: 9 })).rows.map(({ keyName }) => keyName),
      ...(await store.usage.failures(PERIOD)).groups.map(({ channel }) => channel),
    ],
  },
  tasks: {
    ...{ columns: ['output', 'result'], nameColumn: 'id' },
    names: async store => [
      ...(await store.tasks.due(Date.now(), 1, 9, ['c'])).map(({ id }) => id),
      ...(await store.tasks.list('me', { order: 'desc', limit: 9, after: undefined }))!.tasks.map(({ id }) => id),
    ],
  },
  stored_config: {
    ...{ columns: ['settings'], nameColumn: 'name' },
    names: async store => [
      ...(await store.stored.entries()).map(({ name }) => name),
      ...((await store.access.changes(0)).config ?? []).map(({ name }) => name),
    ],
  },
}

async function fill(store: LazyStore): Promise<void> {
  await createKey(store.access, 'k')
  for (const name of ['bad', 'good']) {
    await store.audit.add(entry(name))
    await store.usage.add([{ ...row(name), upstreamId: name }])
    await store.tasks.begin(task(name))
    const times = { createdAt: 1, updatedAt: 1 }
    await store.stored.changeEntry('channel', name, () => ({ kind: 'channel', name, settings: { name }, ...times }))
  }
}

describe.each(Object.entries(ENGINES))('rows that somebody damaged in %s', (_, open) => {
  test('do not keep the rows beside them from being listed', async () => {
    const config = await open()
    const store = new LazyStore(config, tmpdir(), SILENT)
    closing.push(() => store.close())
    await fill(store)
    const engine = await openEngine(config)
    const tables = new Kysely({ dialect: engine.dialect })
    closing.push(() => tables.destroy())
    for (const [table, { columns, nameColumn, names }] of Object.entries(LISTS)) {
      const whole = await names(store)
      for (const damage of DAMAGES)
        for (const column of columns) {
          await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${damage} where ${sql.ref(nameColumn)} = 'bad'`.execute(
            tables,
          )
          const shown = await names(store).catch(thrown => [String(thrown)])
          expect([table, column, damage, shown.filter(name => name === 'good').length]).toEqual([
            ...[table, column, damage],
            whole.filter(name => name === 'good').length,
          ])
        }
    }
    expect(await store.check()).toBeUndefined()
  })
})
