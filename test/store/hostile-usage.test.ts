import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { sql } from 'kysely'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { UsageQueue } from '../../src/accounts/usage/queue.ts'
import { SILENT } from '../../src/log.ts'
import type { AuditEntry } from '../../src/store/audit-records.ts'
import { storeFault, UNAVAILABLE } from '../../src/store/fault.ts'
import { LazyStore } from '../../src/store/lazy-store.ts'
import { openEngine } from '../../src/store/open-engine.ts'
import { openDatabase, openSqlite } from '../../src/store/store.ts'
import type { Database } from '../../src/store/tables.ts'
import { requestId } from '../../src/store/usage/request-id.ts'
import type { UsageRow } from '../../src/store/usage/row.ts'
import type { RowPage, UsageRecords } from '../../src/store/usage-records.ts'
import { UsageRepository } from '../../src/store/usage-repository.ts'
import { closingAfterEach } from '../builders/closing.ts'
import { random } from '../builders/random.ts'
import { fillDisk, watchStatements } from '../builders/statements.ts'
import { SOON, TIMED } from '../builders/time.ts'
import { DAY, HOUR } from '../builders/units.ts'
import { traffic } from '../builders/usage.ts'
import { ENGINES, type UsageStore } from './usage-stores.ts'

/*
 * Usage under attack: a disk that is full at each statement, clocks that jump by days and months, rows in any order, and
 * work that grows faster than its data.
 */

const closing = closingAfterEach()
afterEach(() => vi.useRealTimers())

const NOW = Date.UTC(2026, 10, 22, 12)
const MONTH = 31 * DAY

const TRAFFIC = { keys: 6, models: 5, channels: 3 }
const rowsOver = (count: number, since: number, until: number, seed = 1): UsageRow[] => [
  ...traffic(count, { ...TRAFFIC, since, until }, seed),
]

let rowCount = 0
/** A row of a key that costs one dollar. */
const row = (at: number, more: Partial<UsageRow> = {}): UsageRow => ({
  ...{ id: requestId(at, (rowCount++).toString(16).padStart(32, '0')), at, key: 'k', keyName: 'k', model: 'm' },
  ...{ channel: 'c', door: '/v1/chat/completions', format: 'chat', stream: false, attempts: 1, status: 200 },
  ...{ cost: 1e9, losses: 0, duration: 1, ...more },
})

const shuffled = <T>(list: readonly T[], seed = 7): T[] => {
  const next = random(seed)
  return list
    .map(one => [next(), one] as const)
    .sort(([a], [b]) => a - b)
    .map(([, one]) => one)
}

const EVER = { since: 0, until: 8.64e15 }

/** Number of requests and cost in the rows, and in the sums by no interval, by hour and by day. */
async function totals(usage: UsageRecords, { since, until } = EVER) {
  const rows: UsageRow[] = []
  for (let after: string | undefined, more = true; more; more = after !== undefined) {
    const page = await usage.rows({ since, until, limit: 700, ...(after === undefined ? {} : { after }) })
    rows.push(...page.rows)
    after = page.next
  }
  const sumsBy = async (every?: 'hour' | 'day') => {
    const sums = await usage.sums({ since, until, by: ['key'], limit: 1e6, ...(every === undefined ? {} : { every }) })
    return [sums.reduce((sum, { requests }) => sum + requests, 0), sums.reduce((sum, { cost }) => sum + cost, 0)]
  }
  const counted = [rows.length, rows.reduce((sum, { cost = 0 }) => sum + cost, 0)]
  return { rows: counted, all: await sumsBy(), hours: await sumsBy('hour'), days: await sumsBy('day') }
}

/** Expects that the rows and all sums have the same requests. */
async function expectWhole(usage: UsageRecords, expected: readonly UsageRow[], period = EVER): Promise<void> {
  const counted = [expected.length, expected.reduce((sum, { cost = 0 }) => sum + cost, 0)]
  expect(await totals(usage, period)).toEqual({ rows: counted, all: counted, hours: counted, days: counted })
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'hostile-usage-'))
  closing.push(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** Usage in a file whose number of pages can be limited. */
async function limitable(now: () => number) {
  const database = await openDatabase(await openEngine({ engine: 'sqlite', path: join(folder(), 'x.sqlite') }))
  closing.push(() => database.destroy())
  const numberIn = async (pragma: string): Promise<number> =>
    Number(Object.values((await sql.raw<object>(`pragma ${pragma}`).execute(database)).rows[0]!)[0])
  return {
    database,
    usage: new UsageRepository(database, now),
    pages: () => numberIn('page_count'),
    limit: (pages: number) => numberIn(`max_page_count = ${pages}`),
    check: async () => (await sql<object>`pragma integrity_check`.execute(database)).rows,
  }
}

const faultOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (thrown: unknown) => storeFault(thrown) ?? thrown,
  )

const countOf = async (database: Database, table: 'usage_rows' | 'usage_hours' | 'usage_days'): Promise<number> =>
  Number(
    (
      await database
        .selectFrom(table)
        .select(({ fn }) => fn.countAll().as('count'))
        .executeTakeFirstOrThrow()
    ).count,
  )

describe('a full disk', () => {
  test('leaves nothing of a batch, at whichever page it is full, and takes it whole with room', async () => {
    const { database, usage, pages, limit, check } = await limitable(() => NOW)
    const before = rowsOver(50, NOW - HOUR, NOW)
    await usage.add(before)
    const batch = rowsOver(900, NOW - 2 * DAY, NOW, 2).map(one => ({ ...one, upstreamId: 'u'.repeat(150) }))
    const first = await pages()
    let failures = 0
    for (let most = first; ; most++) {
      await limit(most)
      const fault = await faultOf(usage.add(batch))
      if (fault === undefined) break
      failures++
      expect(fault).toBe('full')
      expect(await countOf(database, 'usage_rows')).toBe(before.length)
      if (failures % 10 === 1) await expectWhole(usage, before)
    }
    expect(failures).toBeGreaterThan(40)
    expect(await check()).toEqual([{ integrity_check: 'ok' }])
    await expectWhole(usage, [...before, ...batch])
  })

  test('counts nothing twice and loses nothing when it is full while sums are merged', async () => {
    let now = NOW
    const { database, usage, pages, limit, check } = await limitable(() => now)
    await sql.raw(`insert into probes values ('${'x'.repeat(300_000)}')`).execute(database)
    await sql.raw('delete from probes').execute(database)
    await limit(await pages())
    const stored: UsageRow[] = []
    for (let batch = 0; ; batch++) {
      // Each batch is followed by a merge, also of the latest parts.
      now += 61_000
      const rows = rowsOver(20, now - 60_000, now, batch)
      const fault = await faultOf(usage.add(rows))
      if (fault !== undefined) {
        expect(fault).toBe('full')
        break
      }
      stored.push(...rows)
    }
    expect(stored.length).toBeGreaterThan(200)
    await expectWhole(usage, stored)
    // Deleting needs no room, and makes some.
    await usage.sweep(now + 1, now)
    expect(await countOf(database, 'usage_rows')).toBe(0)
    const late = rowsOver(20, now, now + 1000)
    await usage.add(late)
    expect(await countOf(database, 'usage_rows')).toBe(late.length)
    const [sum] = await usage.sums({ ...EVER, by: [], limit: 1, every: 'day' })
    expect(sum!.requests).toBe(stored.length + late.length)
    expect(await check()).toEqual([{ integrity_check: 'ok' }])
  })

  test('keeps rows in the queue until there is room, each stored once; an audited change is refused or recorded', async () => {
    const place = folder()
    const watched = watchStatements()
    closing.push(() => watched.end())
    const store = new LazyStore({ engine: 'sqlite', path: join(place, 'interlingua.sqlite') }, place, SILENT)
    closing.push(() => store.close())
    const queue = new UsageQueue({
      ...{ records: store.usage, log: SILENT, retention: 30 * DAY },
      isFault: thrown => thrown === UNAVAILABLE,
    })
    const rows = rowsOver(12_000, Date.now() - HOUR, Date.now())
    for (const one of rows.slice(0, 100)) queue.add(one)
    expect(await queue.flush()).toBe(true)
    const entry = (id: string): AuditEntry => ({
      ...{ id, at: Date.now(), actor: 'a', actorKind: 'user', action: 'x', kind: 'key', target: id, name: id },
      changes: [{ field: 'note', to: 'y'.repeat(50_000) }],
    })
    await store.audit.add(entry('before'))
    const makeRoom = fillDisk(watched)
    for (const one of rows.slice(100)) queue.add(one)
    expect(await queue.flush()).toBe(false)
    await expect(store.audit.add(entry('full'))).rejects.toBe(UNAVAILABLE)
    expect([queue.queued, queue.dropped, queue.storedCount]).toEqual([rows.length - 100, 0, 100])
    await expectWhole(store.usage, rows.slice(0, 100))
    makeRoom()
    await vi.waitFor(async () => expect(await queue.flush()).toBe(true), SOON)
    await store.audit.add(entry('after'))
    await queue.close()
    expect([queue.queued, queue.dropped, queue.storedCount]).toEqual([0, 0, rows.length])
    await expectWhole(store.usage, rows)
    const { entries } = await store.audit.list({ since: 0, until: Date.now() + 1, limit: 9 })
    expect(entries.map(({ id }) => id).sort()).toEqual(['after', 'before'])
  })
})

describe.each(ENGINES)('clocks that jump (%s)', (_, open) => {
  async function opened(now: () => number): Promise<UsageStore> {
    const store = await open(now)
    closing.push(() => store.close())
    return store
  }

  test('rows of the future and of 1970 count in their own days, and in no budget of today', async () => {
    const { usage } = await opened(() => NOW)
    const rows = [row(NOW), row(NOW + 400 * DAY), row(NOW + MONTH), row(5), row(NOW - 1)]
    await usage.add(rows)
    await expectWhole(usage, rows)
    const today = { since: NOW - HOUR, until: NOW + HOUR }
    await expectWhole(usage, [rows[0]!, rows[4]!], today)
    expect(await usage.spent('k', NOW)).toEqual({ day: 2e9, month: 2e9 })
    expect(await usage.spent('k', NOW + 400 * DAY)).toEqual({ day: 1e9, month: 1e9 })
    expect((await usage.spentByKey(['k'], NOW)).get('k')).toEqual({ day: 2e9, month: 2e9 })
    for (const { id } of rows) expect((await usage.row(id))?.id).toBe(id)
  })

  test('a day that the clock repeats has the sums of both times, and the day between keeps its own', async () => {
    let now = NOW
    const { usage } = await opened(() => now)
    const times = [0, DAY, 0, -DAY, MONTH, 0]
    const rows = times.flatMap((jump, number) => {
      const at = NOW + jump
      return [row(at + number), row(at + HOUR + number, { status: 500, error: 'internal' })]
    })
    for (let at = 0; at < rows.length; at += 2) {
      now = rows[at]!.at
      await usage.add(rows.slice(at, at + 2))
    }
    now = NOW + DAY
    const days = await usage.sums({ ...EVER, by: [], every: 'day', limit: 99 })
    const start = NOW - (NOW % DAY)
    expect(days.map(({ at, requests, errors, cost }) => [(at! - start) / DAY, requests, errors, cost])).toEqual([
      [-1, 2, 1, 2e9],
      [0, 6, 3, 6e9],
      [1, 2, 1, 2e9],
      [31, 2, 1, 2e9],
    ])
    expect(await usage.spent('k', NOW)).toEqual({ day: 6e9, month: 8e9 })
    await expectWhole(usage, rows)
  })

  test('merges under a clock that swings by a month neither lose nor repeat anything', async () => {
    let now = NOW
    const { usage, other } = await opened(() => now)
    const second = await other()
    const rows = rowsOver(1500, NOW - 3 * DAY, NOW + 3 * DAY)
    const swings = [0, -DAY, MONTH, 0, DAY, -MONTH, 1]
    for (let at = 0; at < rows.length; at += 20) {
      now = NOW + swings[(at / 20) % swings.length]! + at * 50
      await (at % 40 === 0 ? usage : second).add(rows.slice(at, at + 20))
    }
    await expectWhole(usage, rows)
    now = NOW + 4 * DAY
    for (let more = 0; more < 3; more++) {
      now += 61_000
      await usage.add([row(now)])
    }
    const sums = await second.sums({ since: NOW - 4 * DAY, until: NOW + 3 * DAY, by: [], limit: 1 })
    expect(sums[0]!.requests).toBe(rows.length)
  })

  test('pages of rows go on where they were while the clock jumps, and show each row once', async () => {
    let now = NOW
    const { usage } = await opened(() => now)
    const rows = rowsOver(200, NOW - 2 * DAY, NOW)
    await usage.add(rows)
    const filters: readonly [Partial<RowPage>, (one: UsageRow) => boolean][] = [
      [{}, () => true],
      [{ where: { channel: 'channel-0' } }, ({ channel }) => channel === 'channel-0'],
      [{ only: 'losses' }, ({ losses }) => losses > 0],
    ]
    for (const [filter, fits] of filters) {
      const seen: string[] = []
      for (let after: string | undefined, more = true; more; more = after !== undefined) {
        now = NOW + [0, MONTH, -DAY, 100 * DAY][seen.length % 4]!
        const page = { since: NOW - 3 * DAY, until: NOW + 1, limit: 7, ...filter }
        const { rows: some, next } = await usage.rows(after === undefined ? page : { ...page, after })
        seen.push(...some.map(({ id }) => id))
        after = next
      }
      expect(seen).toEqual(
        rows
          .filter(fits)
          .map(({ id }) => id)
          .toReversed(),
      )
    }
  })

  test('a lease for deleting that was taken a year ahead ends, and rows of the future stay', async () => {
    let now = NOW + 400 * DAY
    const { usage, other } = await opened(() => now)
    await usage.sweep(0)
    now = NOW
    const second = await other()
    const [old, kept, future] = [row(NOW - 90 * DAY), row(NOW - DAY), row(NOW + 300 * DAY)]
    await second.add([old, kept, future])
    await second.sweep(NOW - 30 * DAY, NOW)
    expect(await second.row(old.id)).toBeUndefined()
    expect([(await second.row(kept.id))?.id, (await second.row(future.id))?.id]).toEqual([kept.id, future.id])
    const days = await second.sums({ ...EVER, by: [], every: 'day', limit: 9 })
    expect(days.map(({ requests }) => requests)).toEqual([1, 1, 1])
  })
})

describe('a clock of this machine that is set forward', () => {
  test('deletes no rows, sums and audit entries if it is set right within an hour, and what has expired otherwise', async () => {
    const store = await openSqlite(join(folder(), 'x.sqlite'))
    closing.push(() => store.close())
    const at = Date.now() - DAY
    const [recent, old] = [row(at), row(Date.now() - 45 * DAY)]
    await store.usage.add([recent, old])
    const entry = {
      actor: 'a',
      actorKind: 'user',
      action: 'x',
      kind: 'key',
      target: 't',
      name: 'n',
      changes: [],
    } as const
    await store.audit.add({ ...entry, id: 'e', at })
    const sweep = async () => {
      await store.sweep()
      await store.usage.sweep(Date.now() - 30 * DAY, Date.now())
    }
    // The clock was right at the deletion before.
    await store.sweep()
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 400 * DAY })
    await sweep()
    vi.useRealTimers()
    const audited = async () => (await store.audit.list({ since: 0, until: 8e15, limit: 9 })).entries.length
    expect([(await store.usage.row(recent.id))?.id, await store.usage.row(old.id), await audited()]).toEqual([
      recent.id,
      undefined,
      1,
    ])
    expect((await store.usage.sums({ ...EVER, by: [], every: 'hour', limit: 9 })).length).toBe(2)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 400 * DAY })
    await sweep()
    await sweep()
    expect([await store.usage.row(recent.id), await audited()]).toEqual([undefined, 0])
  })
})

test.each(ENGINES)('a budget can be read however absurd the costs are (%s)', async (_, open) => {
  const { usage, close } = await open(() => NOW)
  closing.push(close)
  await usage.add(Array.from({ length: 100 }, () => row(NOW, { cost: 1e300 })))
  expect(await usage.spent('k', NOW)).toEqual({ day: 1e16, month: 1e16 })
})

describe.each(ENGINES)('rows in another order (%s)', (_, open) => {
  test('than they happened, from two instances, give the same answers to every question', async () => {
    let now = NOW
    const questions = async (usage: UsageRecords) => ({
      whole: await totals(usage),
      byDay: await usage.sums({ ...EVER, by: ['model', 'status'], every: 'day', percentiles: true, limit: 1e5 }),
      byHour: await usage.sums({ ...EVER, by: ['key'], every: 'hour', limit: 1e5 }),
      exact: await usage.sums({ since: NOW - DAY + 5, until: NOW - 7, by: ['channel'], exact: true, limit: 99 }),
      failures: await usage.failures(EVER),
      spent: [...(await usage.spentByKey([...new Set(rows.map(({ key }) => key!))], NOW))].sort(([a], [b]) =>
        a < b ? -1 : 1,
      ),
      page: await usage.rows({ ...EVER, limit: 50, where: { model: 'model-1' } }),
    })
    const rows = rowsOver(1000, NOW - 3 * DAY, NOW).map(one =>
      one.error === undefined
        ? one
        : { ...one, failure: { reason: 'status' as const, status: 502, said: `bad ${one.id}` } },
    )
    const [straight, mixed] = [await open(() => now), await open(() => now)]
    closing.push(
      () => straight.close(),
      () => mixed.close(),
    )
    await straight.usage.add(rows)
    const instances = [mixed.usage, await mixed.other()]
    const disordered = shuffled(rows)
    const batches: UsageRow[][] = []
    const next = random(3)
    while (disordered.length > 0) batches.push(disordered.splice(0, 1 + Math.floor(60 * next())))
    for (const [number, batch] of batches.entries()) {
      now += 20_000
      await instances[number % 2]!.add(batch)
      // A batch whose acknowledgement was lost comes again, after later ones.
      if (number % 5 === 4) await instances[(number + 1) % 2]!.add(batches[number - 3]!)
      if (number % 9 === 8) await instances[0]!.sweep(NOW - 30 * DAY, now)
    }
    expect(await questions(instances[1]!)).toEqual(await questions(straight.usage))
  })

  test('that come after their hours and rows were deleted count in their day, and are deleted in turn', async () => {
    const { usage, close } = await open(() => NOW)
    closing.push(close)
    const early = row(NOW - 200 * DAY)
    await usage.add([early])
    await usage.sweep(NOW - 30 * DAY, NOW)
    const late = row(NOW - 200 * DAY + 5)
    await usage.add([late, row(NOW)])
    await usage.sweep(NOW - 30 * DAY, NOW)
    expect([await usage.row(early.id), await usage.row(late.id)]).toEqual([undefined, undefined])
    const days = await usage.sums({ ...EVER, by: [], every: 'day', limit: 9 })
    expect(days.map(({ requests }) => requests)).toEqual([2, 1])
  })
})

describe('twice the rows take about twice the time', TIMED, () => {
  const FAILED = { status: 502, error: 'upstream-failed' } as const

  /** Returns the time of a piece of work, in milliseconds: the best of three. */
  async function timeOf(work: () => Promise<unknown>): Promise<number> {
    let best = Number.POSITIVE_INFINITY
    for (let run = 0; run < 3; run++) {
      const began = performance.now()
      await work()
      best = Math.min(best, performance.now() - began)
    }
    return best
  }

  /** Pieces of work on a number of rows. */
  const WORKS: readonly [
    name: string,
    rows: (count: number) => readonly UsageRow[],
    work: (usage: UsageRecords, count: number) => Promise<unknown>,
  ][] = [
    [
      'failures whose messages are one long word',
      count =>
        Array.from({ length: 60 }, (_, at) =>
          row(NOW - at, { ...FAILED, failure: { reason: 'status', status: 502, said: 'a'.repeat(count / 4) } }),
        ),
      usage => usage.failures(EVER),
    ],
    [
      'sums by minute of as many models as minutes',
      count => Array.from({ length: count }, (_, at) => row(NOW - at * 60_000, { model: `m${at}` })),
      async (usage, count) => {
        const query = { ...EVER, by: ['model'], every: 'minute', limit: 1e6 } as const
        expect(await usage.sums(query)).toHaveLength(count)
      },
    ],
    [
      'sums by hour of as many keys as hours',
      count => Array.from({ length: count }, (_, at) => row(NOW - (at % 1000) * HOUR, { key: `k${at}` })),
      usage => usage.sums({ ...EVER, by: ['key'], every: 'hour', top: { count: 3, rank: 'cost' }, limit: 1e6 }),
    ],
    [
      'a page of rows of one series among many',
      count =>
        Array.from({ length: count }, (_, at) => row(NOW - at * 1000, { model: at % 50 === 0 ? 'rare' : `m${at}` })),
      usage => usage.rows({ ...EVER, limit: 20, where: { model: 'rare' } }),
    ],
  ]

  test.each(WORKS)('%s', async (_, rows, work) => {
    const times: number[] = []
    for (const count of [700, 8400]) {
      const path = join(folder(), 'x.sqlite')
      const store = await openSqlite(path, () => NOW)
      for (let all = rows(count), at = 0; at < all.length; at += 2000) await store.usage.add(all.slice(at, at + 2000))
      times.push(await timeOf(() => work(store.usage, count)))
      await store.close()
    }
    const [small, large] = times as [number, number]
    expect(large).toBeLessThan(36 * Math.max(small, 3))
  })

  test('the first page of rows and one after 100,000 rows', async () => {
    const path = join(folder(), 'x.sqlite')
    const store = await openSqlite(path, () => NOW)
    closing.push(() => store.close())
    await store.usage.add([row(NOW)])
    const database = new DatabaseSync(path)
    const columns = 'series, model, stream, attempts, losses, duration, estimated'
    database.exec(`insert into usage_rows (at, id, ${columns})
      with recursive n(i) as (select 0 union all select i + 1 from n where i < 100000)
      select ${NOW} - 1 - i / 3, printf('%032x', i), ${columns} from n join (select * from usage_rows limit 1)`)
    database.close()
    const pages = { first: {}, late: { after: `${NOW - 33_300}.x` } }
    const best = { first: Number.POSITIVE_INFINITY, late: Number.POSITIVE_INFINITY }
    for (let run = 0; run < 30; run++)
      for (const which of ['first', 'late'] as const) {
        const began = performance.now()
        expect((await store.usage.rows({ ...EVER, limit: 20, ...pages[which] })).rows).toHaveLength(20)
        best[which] = Math.min(best[which], performance.now() - began)
      }
    expect(best.late).toBeLessThan(6 * Math.max(best.first, 0.5))
  })

  test('batches, merged again and again', async () => {
    const timeFor = async (count: number): Promise<number> => {
      let now = NOW
      const store = await openSqlite(join(folder(), 'x.sqlite'), () => now)
      const began = performance.now()
      for (let batch = 0; batch < count; batch++) {
        now += 61_000
        await store.usage.add([row(now)])
      }
      const time = performance.now() - began
      await store.close()
      return time
    }
    await timeFor(50)
    const [small, large] = [await timeFor(100), await timeFor(800)]
    expect(large).toBeLessThan(24 * Math.max(small, 20))
  })
})
