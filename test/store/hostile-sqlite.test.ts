import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { Access } from '../../src/accounts/index.ts'
import { hashOf } from '../../src/config/hash.ts'
import { StoredFiles } from '../../src/gateway/tasks/stored-files.ts'
import { SILENT } from '../../src/log.ts'
import type { AuditEntry } from '../../src/store/audit-records.ts'
import { LazyStore } from '../../src/store/lazy-store.ts'
import { LockedFiles } from '../../src/store/locked-files.ts'
import { openSqlite, type Store } from '../../src/store/store.ts'
import type { StoredTask } from '../../src/store/tasks.ts'
import type { Turn } from '../../src/store/turns.ts'
import { requestId } from '../../src/store/usage/request-id.ts'
import type { UsageRow } from '../../src/store/usage/row.ts'
import { closingAfterEach } from '../builders/closing.ts'
import { configOf } from '../builders/config.ts'
import { createKey } from '../builders/keys.ts'
import { watchStatements } from '../builders/statements.ts'
import { TIMED } from '../builders/time.ts'
import { DAY, HOUR } from '../builders/units.ts'

/*
 * A SQLite file under attack: clocks of the machine that jump across the expiry of stored data, two processes whose
 * changes arrive in another order, and statements that read whole tables.
 */

const closing = closingAfterEach()
afterEach(() => vi.useRealTimers())

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'hostile-sqlite-'))
  closing.push(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** A file that several processes open. */
function place() {
  const path = join(folder(), 'x.sqlite')
  return {
    path,
    async open(now?: () => number): Promise<Store> {
      const store = await openSqlite(path, now)
      closing.push(() => store.close())
      return store
    },
  }
}

/** Sets the clock of the machine, but no timers. 0 is the right time. */
const setClock = (difference: number): void => {
  vi.useRealTimers()
  if (difference !== 0) vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + difference })
}

const turn = (id: string, more: Partial<Turn> = {}): Turn => ({
  ...{ owner: 'me', id, response: { id, output: [] }, input: [] },
  ...{ createdAt: Date.now(), expiresAt: Date.now() + HOUR, ...more },
})

const task = (id: string, more: Partial<StoredTask> = {}): StoredTask =>
  ({
    ...{ owner: 'me', id, model: 'm', channel: 'c', format: 'videos', upstreamModel: 'm', from: 'text', worker: 'w' },
    ...{ state: 'queued', output: {}, result: { candidates: [] }, misses: 0, createdAt: Date.now(), polledAt: 0 },
    ...{ expiresAt: Date.now() + HOUR, upstreamId: `u-${id}`, ...more },
  }) as StoredTask

let count = 0
const usageRow = (at: number, more: Partial<UsageRow> = {}): UsageRow => ({
  ...{ id: requestId(at, (count++).toString(16).padStart(32, '0')), at, key: 'k', model: 'm', channel: 'c' },
  ...{ door: '/', format: 'chat', stream: false, attempts: 1, status: 200, losses: 0, duration: 1, ...more },
})

const NOTES = { perOwner: 2, total: 9 }
const secret = (name: string, expiresAt: number) =>
  ({ kind: 'client-secret', name, owner: 'me', text: name, expiresAt }) as const

const picture = (id: string, expiresAt: number) => ({
  ...{ id, mediaType: 'image/png', expiresAt },
  read: async function* () {
    yield Buffer.from('x')
  },
})

const AUDITED: AuditEntry = {
  ...{ id: 'e', at: 1, actor: 'a', actorKind: 'user', action: 'x', kind: 'key', target: 't', name: 'n', changes: [] },
}

/** Stores one thing of each kind that expires in an hour. */
async function fill(store: Store): Promise<void> {
  const expiresAt = Date.now() + HOUR
  await store.turns.put(turn('r', { input: [{ id: 'i' }] }))
  await store.conversations.create({ owner: 'me', id: 'conv', metadata: {}, createdAt: Date.now(), expiresAt }, [])
  await store.tasks.begin(task('t'))
  await store.shared.addNote(secret('n', expiresAt), NOTES)
  await store.shared.putImage(picture('p', expiresAt), { count: 9, size: 1e9 })
  await store.shared.putSignatures([{ hash: 'h', issuer: 'i', expiresAt }])
  await store.shared.changeReasoning([{ names: [['a']], reasoning: { id: 'th', text: 'x', expiresAt } }])
  await store.captures.add([{ id: 'c', at: Date.now(), key: 'k', expiresAt, data: Buffer.from('x') }], 1e9)
  await store.console.addUser({ name: 'ada', role: 'admin', source: 'password', enabled: true, createdAt: 1 } as never)
  const session = { hash: 's', user: 'ada', createdAt: Date.now(), usedAt: Date.now(), expiresAt }
  await store.console.openSignInSession(session, undefined, 9)
}

/** Names of the things of `fill` that are found. */
async function foundIn(store: Store): Promise<string[]> {
  const { turns, conversations, tasks, shared, captures, console: users } = store
  const found: readonly (readonly [string, unknown])[] = [
    ['turn', await turns.find('me', 'r')],
    ['item', (await turns.items('me', ['i'])).get('i')],
    ['conversation', await conversations.find('me', 'conv')],
    ['task', await tasks.find('me', 't')],
    ['note', await shared.note('client-secret', 'n')],
    ['image', await shared.image('p')],
    ['signature', (await shared.signatures(['h'])).get('h')],
    ['reasoning', (await shared.reasoning(['a']))[0]],
    ['capture', await captures.find('c')],
    ['session', await users.signInSession('s')],
  ]
  return found.flatMap(([name, one]) => (one === undefined ? [] : [name]))
}

const ALL = ['turn', 'item', 'conversation', 'task', 'note', 'image', 'signature', 'reasoning', 'capture', 'session']
/** Things that are found until they are deleted. */
const FOUND_TO_THE_END = ['item', 'task']

describe('a process that starts while the clock is ahead', () => {
  /** A file in which a process has deleted what had expired, and then stored one thing of each kind. */
  async function filled() {
    const at = place()
    const store = await at.open()
    await store.sweep()
    await store.sweep()
    await fill(store)
    await store.usage.add([usageRow(Date.now())])
    await store.audit.add({ ...AUDITED, at: Date.now() })
    await store.close()
    return at
  }

  const countsIn = (path: string) => {
    const file = new DatabaseSync(path, { readOnly: true })
    const count = (table: string) => file.prepare(`select count(*) as count from ${table}`).get()!['count']
    const counts = [count('usage_rows'), count('usage_hours'), count('audit_log')]
    file.close()
    return counts
  }

  test.each([2 * HOUR, 31 * DAY, 400 * DAY])('by %d ms deletes nothing before it is set right', async difference => {
    const at = await filled()
    for (let starts = 0; starts < 3; starts++) {
      setClock(difference)
      const store = await at.open()
      await store.sweep()
      await store.usage.sweep(Date.now() - 30 * DAY, Date.now())
      setClock(0)
      expect(await foundIn(store)).toEqual(ALL)
      await store.sweep()
      expect(await foundIn(store)).toEqual(ALL)
      await store.close()
    }
    expect(countsIn(at.path)).toEqual([1, 1, 1])
  })

  test('for good deletes what has expired at the second deletion, and the next process at its first', async () => {
    const at = await filled()
    setClock(400 * DAY)
    const store = await at.open()
    await store.sweep()
    await store.sweep()
    await store.usage.sweep(Date.now() - 30 * DAY, Date.now())
    expect(await foundIn(store)).toEqual([])
    expect(countsIn(at.path)).toEqual([0, 0, 0])
    await store.turns.put(turn('late', { expiresAt: Date.now() - 1 }))
    await store.close()
    const next = await at.open()
    await next.sweep()
    await next.close()
    const file = new DatabaseSync(at.path, { readOnly: true })
    expect(file.prepare('select count(*) as count from turns').get()).toEqual({ count: 0 })
    file.close()
  })

  test('deletes nothing of a file of an earlier version, which does not say up to when data was deleted', async () => {
    const at = await filled()
    const file = new DatabaseSync(at.path)
    file.exec('delete from usage_sweeps')
    file.close()
    setClock(400 * DAY)
    const store = await at.open()
    await store.sweep()
    setClock(0)
    expect(await foundIn(store)).toEqual(ALL)
  })
})

describe('usage', () => {
  const EVER = { since: 0, until: Date.now() + DAY }

  test('that is recorded after a backup was restored in place is shown', async () => {
    const at = place()
    const store = await at.open()
    const copy = join(folder(), 'backup.sqlite')
    const live = new DatabaseSync(at.path)
    closing.push(() => live.close())
    await backup(live, copy)
    await store.usage.add([usageRow(Date.now())])
    const stored = new DatabaseSync(copy)
    closing.push(() => stored.close())
    await backup(stored, at.path)
    const row = usageRow(Date.now())
    await store.usage.add([row])
    expect((await store.usage.rows({ ...EVER, limit: 9 })).rows.map(({ id }) => id)).toEqual([row.id])
    expect((await store.usage.sums({ ...EVER, by: ['key'], limit: 9 })).map(sum => [sum.by.key, sum.requests])).toEqual(
      [['k', 1]],
    )
  })

  test('is written without a lock that outlasts a turn of the event loop', async () => {
    const at = place()
    const store = await at.open()
    const other = new DatabaseSync(at.path, { timeout: 0 })
    closing.push(() => other.close())
    let isOver = false
    let turns = 0
    const write = async (): Promise<void> => {
      for (; !isOver; turns++) {
        other.exec('begin immediate')
        other.exec('rollback')
        await yieldToEventLoop()
      }
    }
    const rows = Array.from({ length: 5000 }, () => usageRow(Date.now()))
    const added = store.usage.add(rows).finally(() => (isOver = true))
    await Promise.all([added, write()])
    expect(turns).toBeGreaterThan(2)
    await store.usage.add(rows)
    expect((await store.usage.sums({ ...EVER, by: [], limit: 9 })).map(({ requests }) => requests)).toEqual([5000])
  })
})

test('a transaction of another process is no fault of the store, unless it lasts', async () => {
  const dir = folder()
  const path = join(dir, 'x.sqlite')
  const store = new LazyStore({ engine: 'sqlite', path }, dir, SILENT)
  closing.push(() => store.close())
  expect(await store.check()).toBeUndefined()
  const other = new DatabaseSync(path)
  closing.push(() => other.close())
  // The check tests the store, because nothing was written lately.
  const later = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + HOUR)
  closing.push(() => later.mockRestore())
  other.exec('begin immediate')
  const checked = store.check()
  await yieldToEventLoop()
  other.exec('rollback')
  expect(await checked).toBeUndefined()
  later.mockReturnValue(performance.now() + HOUR)
  other.exec('begin immediate')
  expect(await store.check()).toBe('locked')
  other.exec('rollback')
})

describe('the deletion of what has expired', () => {
  /** Statements that store one expired row, with its number, and the most rows that may be deleted at once. */
  const EXPIRED: { readonly [table: string]: { readonly most: number; readonly statements: readonly string[] } } = {
    signatures: { most: 500, statements: [`insert into signatures values ('h' || $n, 'i', $n)`] },
    captures: {
      most: 5,
      statements: [`insert into captures (id, at, size, expires_at, data) values ('c' || $n, 1, 9, $n, zeroblob(9))`],
    },
    thoughts: {
      most: 50,
      statements: [
        `insert into thoughts (id, text, expires_at) values ('t' || $n, 'x', $n)`,
        `insert into thought_names (name, thought, step) values ('n' || $n, 't' || $n, 0)`,
      ],
    },
    pictures: {
      most: 5,
      statements: [
        `insert into pictures (id, media_type, size, place, expires_at) values ('p' || $n, 'x', 9, $n, $n)`,
        `insert into picture_bytes (picture, number, bytes) values ('p' || $n, 0, zeroblob(9))`,
      ],
    },
    tasks: {
      most: 200,
      statements: [
        `insert into tasks (owner, id, model, channel, format, upstream_model, made_from, state, rank, output, result,
          worker, misses, created_at, polled_at, expires_at)
          values ('o', 't' || $n, 'm', 'c', 'videos', 'm', 'text', 'completed', 9, '{}', '{}', 'w', 0, 1, 1, $n)`,
      ],
    },
  }

  test.each(Object.entries(EXPIRED))('of %s lets other work run in between', async (table, { most, statements }) => {
    const at = place()
    const store = await at.open(Date.now)
    const file = new DatabaseSync(at.path)
    closing.push(() => file.close())
    const total = 6 * most
    file.exec('begin')
    for (const statement of statements) {
      const prepared = file.prepare(statement)
      for (let number = 1; number <= total; number++) prepared.run({ $n: number })
    }
    file.exec('commit')
    const left = () => Number(file.prepare(`select count(*) as count from ${table}`).get()!['count'])
    let before = left()
    let isOver = false
    const sweeping = store.sweep().finally(() => (isOver = true))
    while (!isOver) {
      await yieldToEventLoop()
      const now = left()
      expect(before - now).toBeLessThanOrEqual(most)
      before = now
    }
    await sweeping
    expect(before).toBe(0)
    for (const { statements: all } of [EXPIRED[table]!])
      for (const name of all.map(one => /into (\w+)/.exec(one)![1]!))
        expect(file.prepare(`select count(*) as count from ${name}`).get()!['count']).toBe(0)
  })
})

describe('usage of which some is stored already', () => {
  test('is completed, and counted once', async () => {
    const store = await place().open()
    const rows = Array.from({ length: 40 }, () => usageRow(Date.now()))
    for (const end of [10, 25, 40, 40]) {
      await store.usage.add(rows.slice(0, end))
      const [sum] = await store.usage.sums({ since: 0, until: Date.now() + DAY, by: [], limit: 9 })
      expect(sum?.requests).toBe(end)
    }
    const { rows: shown } = await store.usage.rows({ since: 0, until: Date.now() + DAY, limit: 99 })
    expect(shown.length).toBe(40)
  })
})

describe('the clock of the machine', () => {
  test.each([2 * HOUR, 31 * DAY, 400 * DAY])(
    'set forward by %d ms hides what has expired; set right before the next sweep, it has deleted nothing',
    async difference => {
      const store = await place().open()
      await store.sweep()
      await fill(store)
      expect(await foundIn(store)).toEqual(ALL)
      setClock(difference)
      await store.sweep()
      expect(await foundIn(store)).toEqual(FOUND_TO_THE_END)
      setClock(0)
      expect(await foundIn(store)).toEqual(ALL)
      await store.sweep()
      expect(await foundIn(store)).toEqual(ALL)
    },
  )

  test('set forward deletes no stored video, until it still is ahead at the second sweep', async () => {
    const store = await place().open()
    await store.sweep()
    await store.tasks.begin(task('video', { state: 'completed', fileSize: 1 }))
    const videos = folder()
    writeFileSync(join(videos, 'video'), 'x')
    const files = new StoredFiles({
      ...{ store: () => store.tasks, now: store.now, deletionTime: store.deletionTime, poll: () => 1 },
      ...{ limits: () => ({ retention: DAY, limit: 1e9 }), folder: () => videos, worker: async () => 'w' },
      ...{ isAlive: async () => true, open: () => undefined, onFault() {} },
    })
    setClock(400 * DAY)
    await store.sweep()
    await files.maintain()
    expect([readdirSync(videos), (await store.tasks.find('me', 'video'))?.fileSize]).toEqual([['video'], 1])
    await store.sweep()
    await files.maintain()
    expect(readdirSync(videos)).toEqual([])
  })

  test('that stays ahead is believed at the second sweep, so that a machine which slept deletes what has expired', async () => {
    const store = await place().open()
    await store.sweep()
    await fill(store)
    setClock(2 * HOUR)
    await store.sweep()
    await store.sweep()
    setClock(0)
    expect(await foundIn(store)).toEqual([])
  })

  test('set back by a year deletes nothing, and the sweep after it is set right does', async () => {
    const store = await place().open()
    await fill(store)
    setClock(-365 * DAY)
    await store.sweep()
    setClock(HOUR / 2)
    expect(await foundIn(store)).toEqual(ALL)
    setClock(2 * HOUR)
    await store.sweep()
    await store.sweep()
    expect(await foundIn(store)).toEqual([])
  })

  test('that was ahead makes no client secret that is valid for longer, and none that takes the place of others', async () => {
    const store = await place().open()
    setClock(300 * DAY)
    for (const name of ['a', 'b'])
      expect(await store.shared.addNote(secret(name, Date.now() + 60_000), NOTES)).toBe(true)
    expect(await store.shared.note('client-secret', 'a')).toBe('a')
    setClock(0)
    expect(await store.shared.note('client-secret', 'a')).toBeUndefined()
    expect(await store.shared.takeNote('client-secret', 'b')).toBeUndefined()
    for (const name of ['c', 'd'])
      expect(await store.shared.addNote(secret(name, Date.now() + 60_000), NOTES)).toBe(true)
    expect(await store.shared.addNote(secret('e', Date.now() + 60_000), NOTES)).toBe(false)
    expect(await store.shared.takeNote('client-secret', 'd')).toBe('d')
  })

  test('that was ahead hides no later use of a key', async () => {
    const { open } = place()
    const store = await open()
    await createKey(store.access, 'k')
    const { id } = (await store.access.keyNamed('k'))!
    const used = async () => (await store.access.key(id))!.lastUsedAt!
    await store.access.recordUses(new Map([[id, Date.now() + 365 * DAY]]))
    const now = Date.now()
    await store.access.recordUses(new Map([[id, now]]))
    expect(await used()).toBe(now)
    await store.access.recordUses(new Map([[id, now - 1000]]))
    expect(await used()).toBe(now)
  })

  test('that was ahead while uses of keys were written does not keep later uses from being written', async () => {
    const at = place()
    const store = await at.open()
    const text = await createKey(store.access, 'k')
    const { id } = (await store.access.keyNamed('k'))!
    let now = Date.now() + 365 * DAY
    const config = configOf([], { config: { store: { engine: 'sqlite', path: at.path } } })
    const use = async () => {
      access.identify({ headers: { authorization: `Bearer ${text}` } })
      // Closing writes the uses.
      await access.close()
    }
    const access = new Access(config, { records: store.access, now: () => now })
    await access.open()
    await use()
    now = Date.now()
    await use()
    expect((await store.access.key(id))!.lastUsedAt).toBe(now)
  })

  test('in every direction keeps versions of changes in order, so that no process misses a change', async () => {
    const { open } = place()
    const times = [0, -400 * DAY, 400 * DAY, -DAY]
    const stores = await Promise.all(times.map(difference => open(() => Date.now() + difference)))
    let version = 0
    for (const [number, store] of stores.entries()) {
      await createKey(store.access, `k${number}`)
      const changes = await stores[(number + 1) % stores.length]!.access.changes(version)
      expect(changes.keys.map(({ name }) => name)).toEqual([`k${number}`])
      expect(changes.version).toBeGreaterThan(version)
      version = changes.version
    }
  })

  test('ahead by a year lets no process delete the lock of a live one', async () => {
    const path = folder()
    const [live, dead, late] = [new LockedFiles(path), new LockedFiles(path), new LockedFiles(path)]
    await live.open()
    await dead.open()
    // A process that is killed leaves its file without a lock.
    ;(dead as unknown as { lock: DatabaseSync }).lock.close()
    setClock(365 * DAY)
    await late.open()
    setClock(0)
    expect([await late.isAlive(live.id), await late.isAlive(dead.id)]).toEqual([true, false])
    expect([existsSync(join(path, live.id)), existsSync(join(path, dead.id))]).toEqual([true, false])
    await live.close()
    await late.close()
  })

  test('behind keeps the file of a process that has just begun', async () => {
    const path = folder()
    const [early, late] = [new LockedFiles(path), new LockedFiles(path)]
    await early.open()
    setClock(-365 * DAY)
    await late.open()
    expect(await late.isAlive(early.id)).toBe(true)
    await early.close()
    await late.close()
  })

  test('that moves between the polls of a video holds up none for longer than one interval', async () => {
    const store = await place().open()
    await store.tasks.begin(task('t'))
    const now = Date.now()
    for (const at of [now + 365 * DAY, now, now - 365 * DAY, now, now + DAY]) {
      expect(await store.tasks.due(at, 5000, 10, ['c'])).toHaveLength(1)
      expect(await store.tasks.claim('me', 't', at, at - 5000)).toBe(true)
      expect(await store.tasks.claim('me', 't', at, at - 5000)).toBe(false)
    }
  })
})

describe('changes of two processes that arrive in another order', () => {
  test('neither bring back what was deleted nor open what has ended', async () => {
    const { open } = place()
    const [one, other] = [await open(), await open()]
    const running = turn('r', { lease: 9e15, worker: 'w' })
    const ended = turn('r', { response: { id: 'r', output: [], status: 'completed' } })
    expect(await one.turns.advance(running)).toBe(false)
    expect(await one.events.add('me', 'r', { first: 0, texts: ['x'] })).toBe(false)
    await one.turns.put(running)
    await one.turns.advance(ended)
    expect(await other.turns.advance(running)).toBe(false)
    expect(await other.turns.renew('me', 'r', 9e15)).toBe(false)
    expect(await other.events.add('me', 'r', { first: 0, texts: ['late'] })).toBe(false)
    expect((await other.turns.find('me', 'r'))!.response['status']).toBe('completed')
    expect(await one.turns.drop('me', 'r')).toBe(true)
    expect(await one.turns.advance(ended)).toBe(false)
    expect(await other.turns.advance(running)).toBe(false)
    expect(await other.turns.drop('me', 'r')).toBe(false)
    expect(await other.turns.find('me', 'r')).toBeUndefined()
    expect(await one.turns.isForbidden('me', ['r'])).toBe(true)
  })

  test('turns that are stored before those that they continue form the same chain', async () => {
    const { open } = place()
    const [one, other] = [await open(), await open()]
    const turnAt = (at: number) =>
      turn(`r${at}`, { input: [{ id: `i${at}` }], ...(at === 0 ? {} : { previous: `r${at - 1}` }) })
    for (const at of [3, 1, 4, 0, 2]) await (at % 2 === 0 ? one : other).turns.put(turnAt(at))
    const { links, before } = (await one.turns.chain('me', 'r4'))!
    expect([links.map(({ items }) => items[0]!['id']), before]).toEqual([['i0', 'i1', 'i2', 'i3', 'i4'], undefined])
  })

  test('items of many processes get places of their own, in the order of their transactions', async () => {
    const { open } = place()
    const stores = [await open(), await open(), await open()]
    const expiresAt = Date.now() + HOUR
    await stores[0]!.conversations.create({ owner: 'me', id: 'c', metadata: {}, createdAt: 1, expiresAt }, [
      { id: '0' },
    ])
    const add = (store: Store, at: number) =>
      at % 2 === 0
        ? store.conversations.add('me', 'c', [{ id: `a${at}` }, { id: `b${at}` }], expiresAt)
        : store.turns
            .put(turn(`r${at}`), undefined, { conversation: 'c', items: [{ id: `a${at}` }, { id: `b${at}` }] })
            .then(() => true)
    for (let at = 0; at < 60; at += 10) {
      // Connections of one thread would wait for each other, so that only writes of the same one are at once.
      const store = stores[(at / 10) % 3]!
      const added = await Promise.all(Array.from({ length: 10 }, (_, more) => add(store, at + more)))
      expect(added).not.toContain(false)
    }
    const ids = (await stores[1]!.conversations.items('me', 'c'))!.map(({ id }) => id as string)
    expect(ids).toHaveLength(121)
    expect(new Set(ids).size).toBe(121)
    for (let at = 1; at < ids.length; at += 2) expect(ids[at + 1]).toBe(ids[at]!.replace('a', 'b'))
  })

  test('events that are stored late and twice are told once, in the order of their numbers', async () => {
    const { open } = place()
    const [one, other] = [await open(), await open()]
    await one.turns.put(turn('r', { lease: 9e15, worker: 'w' }))
    for (const first of [4, 0, 2, 0, 4])
      await other.events.add('me', 'r', { first, texts: [`${first}`, `${first + 1}`] })
    const told: string[] = []
    for (
      let more = await one.events.from('me', 'r', 0);
      more.length > 0;
      more = await one.events.from('me', 'r', told.length)
    )
      told.push(...more)
    expect(told).toEqual(['0', '1', '2', '3', '4', '5'])
    expect(await one.events.count('me', 'r')).toBe(6)
  })

  test('of a key: a revocation beats every change and rotation that comes later or at once', async () => {
    const { open } = place()
    const [one, other] = [await open(), await open()]
    const fresh = (name: string, letter: string) => ({
      ...{ hash: hashOf(`${name} ${letter}`), prefix: 'il', lastFour: 'abcd', createdAt: 1 },
    })
    const changes = {
      revoke: (id: string) => one.access.revokeKey(id, Date.now()),
      change: (id: string) => other.access.changeKey(id, { note: 'late' }),
      rotate: (id: string, name: string) => other.access.rotateKey(id, fresh(name, 'first'), Date.now()),
    }
    const names = Object.keys(changes) as (keyof typeof changes)[]
    for (const order of names.flatMap(first => names.map(second => [...new Set([first, second, ...names])]))) {
      const name = order.join()
      if ((await one.access.keyNamed(name)) !== undefined) continue
      await createKey(one.access, name)
      const { id } = (await one.access.keyNamed(name))!
      for (const change of order) await changes[change](id, name)
      expect(await other.access.changeKey(id, { enabled: true })).toBeUndefined()
      expect(await other.access.rotateKey(id, fresh(name, 'second'), 0)).toBeUndefined()
    }
    const { keys } = await other.access.changes(0)
    expect(keys.length).toBeGreaterThanOrEqual(6)
    expect(keys.every(({ revokedAt }) => revokedAt !== undefined)).toBe(true)
  })

  test('of a task: states never go back, whichever process writes last', async () => {
    const { open } = place()
    const [one, other] = [await open(), await open()]
    await one.tasks.begin(task('t'))
    const news = (state: 'queued' | 'in-progress' | 'completed' | 'failed') => ({ state, result: { candidates: [] } })
    await other.tasks.advance('me', 't', news('failed'))
    await one.tasks.advance('me', 't', news('completed'))
    const { state } = (await one.tasks.find('me', 't'))!
    for (const later of ['queued', 'in-progress', 'completed', 'failed'] as const)
      expect(await other.tasks.advance('me', 't', news(later))).toBe(false)
    expect((await other.tasks.find('me', 't'))!.state).toBe(state)
  })

  test('a sweep deletes no turn that another process continues at that moment, and nothing before it', async () => {
    const { open } = place()
    const [one, other] = [await open(), await open()]
    const past = Date.now() - 1
    for (let chain = 0; chain < 20; chain++)
      for (let at = 0; at < 5; at++)
        await one.turns.put(
          turn(`r${chain}.${at}`, { expiresAt: past, ...(at === 0 ? {} : { previous: `r${chain}.${at - 1}` }) }),
        )
    await one.turns.put(turn('r0.5', { previous: 'r0.4' }))
    const continued = Array.from({ length: 10 }, (_, at) =>
      one.turns.put(turn(`r${at + 1}.5`, { previous: `r${at + 1}.4` })),
    )
    await Promise.all([one.sweep(), ...continued])
    await other.sweep()
    expect((await one.turns.chain('me', 'r0.5'))!.links).toHaveLength(6)
    for (let chain = 1; chain <= 10; chain++) {
      const { links, before } = (await one.turns.chain('me', `r${chain}.5`))!
      expect([1, 6]).toContain(links.length)
      expect(before === undefined).toBe(links.length === 6)
    }
    await one.sweep()
    for (let chain = 11; chain < 20; chain++) expect(await one.turns.isForbidden('you', [`r${chain}.0`])).toBe(false)
  })
})

describe('an id that thousands of items have', () => {
  const COUNT = 5000
  const same = (more: (at: number) => object) =>
    Array.from({ length: COUNT }, (_, at) => ({ id: 'x', type: 'message', ...more(at) }))

  test('is looked up in one row of each turn and conversation, which all keep their items', async () => {
    const at = place()
    const store = await at.open()
    const input = same(n => ({ n }))
    await store.turns.put(
      turn('r', { input, response: { id: 'r', output: [...same(n => ({ made: n })), { id: 'y' }] } }),
    )
    const expiresAt = Date.now() + HOUR
    await store.conversations.create({ owner: 'me', id: 'c', metadata: {}, createdAt: 1, expiresAt }, [{ id: 'y' }])
    await store.conversations.add('me', 'c', [...input, { id: 'z' }], expiresAt)
    const found = (await store.turns.find('me', 'r'))!
    expect([found.input, (found.response['output'] as unknown[]).length]).toEqual([input, COUNT + 1])
    const database = new DatabaseSync(at.path)
    closing.push(() => database.close())
    expect(database.prepare("select parent, count(*) as n from items where id = 'x' group by parent").all()).toEqual([
      { parent: 'c', n: 1 },
      { parent: 'r', n: 1 },
    ])
    expect([...(await store.turns.items('me', ['x', 'y', ''])).keys()].sort()).toEqual(['x', 'y'])
    expect((await store.turns.items('me', ['x'])).get('x')!.item).toMatchObject({ made: COUNT - 1 })
    expect([await store.turns.isForbidden('you', ['']), await store.turns.isForbidden('you', ['x'])]).toEqual([
      false,
      true,
    ])
    expect(await store.conversations.dropItem('me', 'c', 'x')).toBe(true)
    expect((await store.conversations.items('me', 'c'))!.map(({ id }) => id)).toEqual(['y', 'z'])
    expect(await store.conversations.dropItem('me', 'c', 'x')).toBe(false)
  })
})

/** Tables that hold few rows, or whose rows are read together. */
const SMALL =
  /\b(access_groups|access_channels|access_versions|admin_tokens|console_users|stored_config|locks|probes)\b/
/** Sums over all rows of an index, which has a bounded number of rows or is read for a page of the console. */
const SUMMED = /sum\("size"\)|count\(\*\)|from "usage_series"/

describe('statements', () => {
  test('find rows by an index, whatever is asked for', async () => {
    const at = place()
    const store = await at.open()
    const watched = watchStatements()
    closing.push(() => watched.end())
    await fill(store)
    await exercise(store)
    await store.sweep()
    const database = new DatabaseSync(at.path)
    closing.push(() => database.close())
    const scans: string[] = []
    for (const statement of watched.statements) {
      if (!/^\s*(select|update|delete|with)/i.test(statement) || /sqlite_|interlingua_migrations/.test(statement))
        continue
      if (SMALL.test(statement) || SUMMED.test(statement) || / 1 = 0/.test(statement)) continue
      const plan = database.prepare(`explain query plan ${statement}`).all() as { detail: string }[]
      for (const { detail } of plan)
        if (/^SCAN (?!walk|part|CONSTANT)/.test(detail) && !/USING (COVERING )?INDEX/.test(detail))
          scans.push(`${detail}: ${statement.slice(0, 200)}`)
    }
    expect(scans).toEqual([])
    expect(watched.statements.size).toBeGreaterThan(80)
  })

  /** Calls the methods that requests, pollers and pages of the console call. */
  async function exercise(store: Store): Promise<void> {
    const { turns, conversations, events, tasks, access, usage, shared, captures, audit } = store
    const now = Date.now()
    const period = { since: now - DAY, until: now + 1 }
    await turns.put(turn('s', { previous: 'r', lease: now + HOUR, worker: 'w' }), { first: 0, texts: ['x'] })
    await turns.advance(turn('s', { previous: 'r' }))
    await turns.chain('me', 's')
    await turns.isForbidden('me', ['s', 'i'])
    await turns.unfinished(['s'])
    await turns.renew('me', 's', now)
    await turns.drop('me', 's')
    await conversations.add('me', 'conv', [{ id: 'x' }], now + HOUR)
    await conversations.items('me', 'conv')
    await conversations.describe('me', 'conv', {})
    await conversations.isForbidden('me', 'conv')
    await conversations.dropItem('me', 'conv', 'x')
    await events.from('me', 'r', 0)
    await events.count('me', 'r')
    await tasks.findByKey('me', 'key')
    await tasks.list('me', { limit: 5, order: 'desc', after: 't' })
    await tasks.due(now, 1, 5, ['c'])
    await tasks.submitting()
    await tasks.advance('me', 't', { state: 'completed', result: { candidates: [] } })
    await tasks.setFileSize('me', 't', 5)
    await createKey(access, 'k')
    const { id } = (await access.keyNamed('k'))!
    await access.changes(1)
    await access.changeKey(id, { note: 'x' })
    await access.keys({ limit: 5, after: { id, name: 'n' }, group: 'default' })
    await access.recordUses(new Map([[id, now]]))
    await access.rotateKey(id, { hash: 'f'.repeat(64), prefix: 'il', lastFour: 'abcd', createdAt: 1 }, now)
    await access.revokeKey(id, now)
    const rows = [usageRow(now - 1000), usageRow(now - 500, { losses: 1, failure: { reason: 'status' }, status: 500 })]
    await usage.add(rows)
    await usage.row(rows[0]!.id)
    for (const more of [{}, { where: { model: 'm' } }, { only: 'losses' }, { only: 'errors' }] as const)
      await usage.rows({ ...period, limit: 1, after: `${now}.x`, ...more })
    for (const more of [{}, { every: 'hour' }, { every: 'minute' }, { exact: true }] as const)
      await usage.sums({ ...period, by: ['model'], limit: 5, where: { key: 'k' }, ...more })
    await usage.failures({ ...period, where: { model: 'm' } })
    await usage.spent('k', now)
    await usage.spentByKey(['k', 'other'], now)
    await usage.sweep(now - DAY, now)
    await shared.takeNote('client-secret', 'n')
    await shared.hasSignatures()
    for await (const _ of (await shared.image('p'))!.read());
    await captures.existing(['c'])
    await captures.list({ ...period, limit: 5, key: 'k', after: `${now}.x` })
    await audit.add(AUDITED)
    await audit.list({ ...period, limit: 5, kind: 'key', target: 't', after: `${now}.x` })
  }
})

describe('twice the rows take about twice the time', TIMED, () => {
  const NUMBERS = 'with recursive n(i) as (select 0 union all select i + 1 from n where i + 1 < ?)'

  const numbered = (id: string) => ({ id, name: `k${Number.parseInt(id, 16)}` })

  /** Statements that insert rows, and the pages through all of them. Each page continues after the last row. */
  const PAGES: readonly [string, string, (store: Store, after: string | undefined) => Promise<readonly string[]>][] = [
    [
      'keys',
      `insert into access_keys ${NUMBERS} select printf('%032x', i), 'k' || i, 'g', '{"limits":{},"enabled":true}', 1, null, null, 1 from n`,
      async (store, after) =>
        (await store.access.keys({ limit: 20, ...(after === undefined ? {} : { after: numbered(after) }) }))
          .slice(0, 20)
          .map(({ id }) => id),
    ],
    [
      'videos',
      `insert into tasks ${NUMBERS} select 'me', printf('%032x', i), 'm', 'c', 'videos', 'm', null, 'text', 'queued', 1, '{}',
        '{"candidates":[]}', null, null, null, null, 'w', 0, i / 3, 0, 9000000000000000, null from n`,
      async (store, after) => {
        const page = await store.tasks.list('me', { limit: 20, order: 'desc', after })
        return page!.tasks.map(({ id }) => id)
      },
    ],
    [
      'captures',
      `insert into captures (id, at, key_id, size, expires_at, data) ${NUMBERS} select printf('%032x', i), i / 3, 'k', 1, 9000000000000000, x'00' from n`,
      async (store, after) => {
        const page = {
          since: 0,
          until: 9e15,
          limit: 20,
          ...(after === undefined ? {} : { after: `${at(after)}.${after}` }),
        }
        return (await store.captures.list(page)).found.map(({ id }) => id)
      },
    ],
    [
      'audit entries',
      `insert into audit_log ${NUMBERS} select i / 3, printf('%032x', i), 'me', 'admin', 'key.create', 'key', 't', 'n', '{}' from n`,
      async (store, after) => {
        const page = { since: 0, until: 9e15, limit: 20 }
        const position = after === undefined ? {} : { after: `${at(after)}.${after}` }
        return (await store.audit.list({ ...page, ...position })).entries.map(({ id }) => id)
      },
    ],
  ]
  const at = (id: string): number => Math.floor(Number.parseInt(id, 16) / 3)

  test('what keys spent this month is found as fast after years', async () => {
    const keys = Array.from({ length: 300 }, (_, key) => key.toString(16).padStart(32, '0'))
    const now = Date.UTC(2026, 10, 29, 12)
    const openWith = async (days: number): Promise<Store> => {
      const path = join(folder(), 'x.sqlite')
      const store = await openSqlite(path)
      closing.push(() => store.close())
      const database = new DatabaseSync(path)
      const rows = `select printf('%032x', i % 300), ${now - (now % DAY)} - ${DAY} * (i / 300), 1 from n`
      database.prepare(`insert into usage_spent ${NUMBERS} ${rows}`).run(300 * days)
      database.close()
      return store
    }
    const stores = [await openWith(29), await openWith(1000)]
    const best = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
    for (let run = 0; run < 20; run++)
      for (const [index, { usage }] of stores.entries()) {
        const began = performance.now()
        const spent = await usage.spentByKey(keys, now)
        best[index] = Math.min(best[index]!, performance.now() - began)
        expect([spent.size, spent.get(keys[299]!)]).toEqual([300, { day: 1, month: 29 }])
      }
    expect(best[1]).toBeLessThan(4 * Math.max(best[0]!, 0.5))
  })

  test.each(PAGES)('pages of %s', async (name, insert, pageAfter) => {
    const openWith = async (rows: number): Promise<Store> => {
      const path = join(folder(), 'x.sqlite')
      const store = await openSqlite(path)
      closing.push(() => store.close())
      const database = new DatabaseSync(path)
      database.prepare(insert).run(rows)
      database.close()
      return store
    }
    const few = await openWith(1000)
    const seen = new Set<string>()
    for (let page = await pageAfter(few, undefined); page.length > 0; page = await pageAfter(few, page.at(-1)!))
      for (const id of page) seen.add(id)
    expect(seen.size).toBe(1000)

    const many = await openWith(100_000)
    const nearEnd = (name === 'keys' ? 99_900 : 100).toString(16).padStart(32, '0')
    const best = { first: Number.POSITIVE_INFINITY, last: Number.POSITIVE_INFINITY }
    for (let run = 0; run < 30; run++)
      for (const which of ['first', 'last'] as const) {
        const began = performance.now()
        expect(await pageAfter(many, which === 'first' ? undefined : nearEnd)).toHaveLength(20)
        best[which] = Math.min(best[which], performance.now() - began)
      }
    expect(best.last).toBeLessThan(6 * Math.max(best.first, 0.5))
  })

  type Prepare = (store: Store, count: number) => Promise<() => Promise<unknown>>

  test.each<readonly [string, readonly [small: number, large: number, most: number], Prepare]>([
    [
      'the sweep of one expired chain of turns',
      [200, 4000, 1.8],
      async (store, count) => {
        for (let at = 0; at < count; at++)
          await store.turns.put(turn(`r${at}`, { expiresAt: 1, ...(at === 0 ? {} : { previous: `r${at - 1}` }) }))
        return () => store.sweep()
      },
    ],
    [
      'the sweep of expired turns behind others that living ones continue',
      [100, 1000, 3],
      async (store, count) => {
        await Promise.all(
          Array.from({ length: count }, async (_, at) => {
            await store.turns.put(turn(`a${at}`, { expiresAt: 1 }))
            await store.turns.put(turn(`b${at}`, { previous: `a${at}` }))
            await store.turns.put(turn(`c${at}`, { expiresAt: 2 }))
          }),
        )
        return () => store.sweep()
      },
    ],
    [
      'a chain of turns',
      [100, 1000, 3],
      async (store, count) => {
        for (let at = 0; at < count; at++)
          await store.turns.put(turn(`r${at}`, at === 0 ? {} : { previous: `r${at - 1}` }))
        return async () => expect((await store.turns.chain('me', `r${count - 1}`))!.links).toHaveLength(count)
      },
    ],
    [
      'items added to a conversation one by one',
      [100, 1000, 3],
      async (store, count) => async () => {
        await store.conversations.create({ owner: 'me', id: 'c', metadata: {}, createdAt: 1, expiresAt: 9e15 }, [])
        for (let at = 0; at < count; at++) await store.conversations.add('me', 'c', [{ id: `i${at}` }], 9e15)
        expect(await store.conversations.items('me', 'c')).toHaveLength(count)
      },
    ],
    [
      'events of a response',
      [200, 3000, 2.5],
      async (store, count) => async () => {
        await store.turns.put(turn('r', { lease: 9e15, worker: 'w' }))
        for (let at = 0; at < count; at++) await store.events.add('me', 'r', { first: at, texts: [`${at}`] })
        for (let at = 0; at < count; at++) expect(await store.events.from('me', 'r', at)).toEqual([`${at}`])
      },
    ],
    [
      'notes, until there are as many as there may be',
      [100, 1000, 3],
      async (store, count) => async () => {
        for (let at = 0; at < count; at++)
          await store.shared.addNote(secret(`n${at}`, Date.now() + HOUR), { perOwner: 1e9, total: 1e9 })
        for (let at = 0; at < count; at++) expect(await store.shared.takeNote('client-secret', `n${at}`)).toBeDefined()
      },
    ],
  ])('%s', async (_, [few, many, most], prepare) => {
    const timeOf = async (count: number): Promise<number> => {
      const store = await openSqlite(join(folder(), 'x.sqlite'))
      const work = await prepare(store, count)
      const began = performance.now()
      await work()
      const time = performance.now() - began
      await store.close()
      return time
    }
    await timeOf(20)
    const [small, large] = [await timeOf(few), await timeOf(many)]
    expect(large).toBeLessThan(most * (many / few) * Math.max(small, 5))
  })
})
