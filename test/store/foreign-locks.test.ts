import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { durably } from '../../src/store/durable.ts'
import { storeFault } from '../../src/store/fault.ts'
import { openEngine } from '../../src/store/open-engine.ts'
import { openDatabase, openStore } from '../../src/store/store.ts'
import type { Turn } from '../../src/store/turns.ts'
import { closingAfterEach } from '../builders/closing.ts'
import { TIMED } from '../builders/time.ts'
import { keyOf } from './access-follower.ts'

/* Locks that another program holds, such as a shell with a transaction, `vacuum`, a migration, or a backup. */

const closing = closingAfterEach()

function file(): string {
  const folder = mkdtempSync(join(tmpdir(), 'foreign-locks-'))
  closing.push(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'x.sqlite')
}

/** Opens the file as another program, and takes the write lock. Returns the function that releases it. */
function locked(path: string): () => void {
  const other = new DatabaseSync(path)
  other.exec('begin immediate')
  return () => {
    other.exec('rollback')
    other.close()
  }
}

/** Returns the longest time for which the event loop stood still, in milliseconds. */
function watchEventLoop(): () => number {
  let [last, longest] = [performance.now(), 0]
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last)
    last = performance.now()
  }, 5)
  return () => {
    clearInterval(timer)
    return Math.max(longest, performance.now() - last)
  }
}

const MOST_MS = 300

/** Maximum size of the log that no program reads, in bytes. */
const LOG_SIZE = 16 * 1024 * 1024

const turn = (id: string): Turn => ({
  ...{ owner: 'me', id, response: { id, output: [] }, input: [] },
  ...{ createdAt: Date.now(), expiresAt: Date.now() + 60_000 },
})

test('do not stop the event loop or reads, and writes wait for their end', TIMED, async () => {
  const path = file()
  const store = await openStore({ engine: 'sqlite', path })
  closing.push(() => store.close())
  const release = locked(path)
  const longest = watchEventLoop()
  const writes = ['a', 'b', 'c'].map(id => store.turns.put(turn(id)))
  const began = performance.now()
  await store.turns.find('me', 'none')
  expect(performance.now() - began).toBeLessThan(MOST_MS)
  await sleep(1000)
  expect(longest()).toBeLessThan(MOST_MS)
  release()
  await Promise.all(writes)
  expect(await store.turns.find('me', 'c')).toMatchObject({ id: 'c' })
})

test('refuse a write after two seconds, as a fault of the store', TIMED, async () => {
  const path = file()
  const store = await openStore({ engine: 'sqlite', path })
  closing.push(() => store.close())
  const release = locked(path)
  const longest = watchEventLoop()
  const thrown: unknown = await store.access.createKey({ ...keyOf('a'), id: 'a', name: 'a' }).catch(thrown => thrown)
  expect(storeFault(thrown)).toBe('locked')
  expect(longest()).toBeLessThan(MOST_MS)
  release()
  await store.access.createKey({ ...keyOf('a'), id: 'a', name: 'a' })
})

test('leave transactions that must survive a power loss as they are', TIMED, async () => {
  const path = file()
  const database = await openDatabase(await openEngine({ engine: 'sqlite', path }))
  closing.push(() => database.destroy())
  const levels: number[] = []
  for (let round = 0; round < 5; round++) {
    const release = locked(path)
    const transactions = Array.from({ length: 4 }, (_, at) =>
      durably(database, async transaction => {
        await sql`insert into probes (sample) values (${`${round} ${at}`})`.execute(transaction)
        const { rows } = await sql<{ synchronous: number }>`pragma synchronous`.execute(transaction)
        levels.push(rows[0]!.synchronous)
      }),
    )
    const others = Array.from({ length: 4 }, () =>
      database.transaction().execute(one => sql`insert into probes (sample) values ('x')`.execute(one)),
    )
    await sleep(round * 10)
    release()
    await Promise.all([...transactions, ...others])
  }
  expect(levels).toEqual(Array.from({ length: 20 }, () => 2))
  const { rows } = await sql<{ count: number }>`select count(*) as count from probes`.execute(database)
  expect(rows[0]!.count).toBe(40)
})

test('of a long read leave no large log behind', TIMED, async () => {
  const path = file()
  const store = await openStore({ engine: 'sqlite', path })
  closing.push(() => store.close())
  const other = new DatabaseSync(path)
  other.exec('begin; select count(*) from turns')
  const long = { ...turn('long'), response: { id: 'long', output: [], text: 'x'.repeat(LOG_SIZE / 4) } }
  for (let at = 0; at < 8; at++) await store.turns.put({ ...long, id: `long ${at}` })
  expect(statSync(`${path}-wal`).size).toBeGreaterThan(2 * LOG_SIZE)
  other.exec('rollback')
  other.close()
  // The first write copies the log into the database, the second begins the log anew.
  for (const id of ['a', 'b']) await store.turns.put(turn(id))
  expect(statSync(`${path}-wal`).size).toBeLessThanOrEqual(LOG_SIZE)
})
