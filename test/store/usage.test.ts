import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { requestId } from '../../src/store/usage/request-id.ts'
import type { UsageRow } from '../../src/store/usage/row.ts'
import { isFailed } from '../../src/store/usage/row.ts'
import type { UsageField, UsageGroup } from '../../src/store/usage-records.ts'
import { DAY, HOUR } from '../builders/units.ts'
import { traffic } from '../builders/usage.ts'
import { ENGINES, type UsageStore } from './usage-stores.ts'

const NOW = Date.UTC(2026, 10, 22, 12)
const SINCE = NOW - 3 * DAY

/** Returns the id of a request one second ago, derived from a name. */
const idOf = (name: string): string => requestId(NOW - 1000, Buffer.from(name).toString('hex').padStart(32, '0'))

const row = (name: string, more: Partial<UsageRow> = {}): UsageRow => ({
  ...{
    id: idOf(name),
    at: NOW - 1000,
    door: '/v1/chat/completions',
    format: 'chat',
    stream: false,
    attempts: 1,
    status: 200,
  },
  ...{ losses: 0, duration: 100, ...more },
})

const FIELDS: { readonly [F in UsageField]: (row: UsageRow) => string | undefined } = {
  key: ({ key }) => key,
  model: ({ model, channel }) => (channel === undefined ? undefined : model),
  channel: ({ channel }) => channel,
  format: ({ format }) => format,
  upstreamFormat: ({ upstreamFormat }) => upstreamFormat,
  door: ({ door }) => door,
  group: ({ group }) => group,
  status: ({ status }) => String(status),
}

const UNITS = { minute: 60_000, hour: HOUR, day: DAY }

const COUNTS = [
  'input',
  'output',
  'cacheRead',
  'cacheWrite',
  'reasoning',
  'inputAudio',
  'outputAudio',
  'losses',
] as const

const KINDS = ['dropped', 'changed', 'moved'] as const

/** Computes the same sums row by row. */
function summed(rows: readonly UsageRow[], by: readonly UsageField[], unit: number | undefined) {
  const groups = new Map<string, { [name: string]: unknown; requests: number }>()
  for (const one of rows) {
    const values = Object.fromEntries(
      by.flatMap(field => (FIELDS[field](one) === undefined ? [] : [[field, FIELDS[field](one)]])),
    )
    const at = unit === undefined ? undefined : one.at - (one.at % unit)
    const name = JSON.stringify([at, values])
    const group = groups.get(name) ?? {
      by: values,
      requests: 0,
      errors: 0,
      cost: 0,
      unpriced: 0,
      ...(at === undefined ? {} : { at }),
    }
    groups.set(name, group)
    const add = (field: string, count: number) => {
      group[field] = ((group[field] as number | undefined) ?? 0) + count
    }
    add('requests', 1)
    add('errors', isFailed(one) ? 1 : 0)
    add('cancelled', one.status === 499 ? 1 : 0)
    add('estimated', one.estimated === true ? 1 : 0)
    add('cost', one.cost ?? 0)
    add('unpriced', one.cost === undefined ? 1 : 0)
    for (const field of COUNTS) add(field, one[field] ?? 0)
    for (const kind of KINDS) add(kind, one.lossKinds?.[kind] ?? 0)
  }
  const kindsIn = ({ dropped, changed, moved, ...group }: { readonly [name: string]: unknown }) => ({
    ...group,
    lossKinds: { dropped, changed, moved },
  })
  return inOrder([...groups.values()].map(kindsIn) as { readonly by?: unknown }[])
}

const inOrder = <T extends { readonly by?: unknown; readonly at?: unknown }>(groups: readonly T[]): T[] =>
  [...groups].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
const keyOf = ({ by, at }: { readonly by?: unknown; readonly at?: unknown }) =>
  JSON.stringify([at ?? 0, Object.entries((by ?? {}) as object).sort()])

const bare = ({ keyName: _, firstByte: _f, duration: _d, ...group }: UsageGroup) => group

describe.each(ENGINES)('usage on %s', (engine, open) => {
  let store: UsageStore
  let now: number
  beforeEach(async () => {
    now = NOW
    store = await open(() => now)
  })
  afterEach(() => store.close())

  test('adds up to what its rows are, by whatever it is summed up', async () => {
    const rows = [...traffic(600, { since: SINCE, until: NOW, keys: 4, models: 5, channels: 3 })].map((one, at) =>
      at % 50 === 0
        ? { ...one, channel: undefined!, key: undefined!, keyName: undefined! }
        : at % 23 === 0
          ? { ...one, status: 499, error: 'cancelled', estimated: true }
          : one,
    )
    const plain = JSON.parse(JSON.stringify(rows)) as UsageRow[]
    for (let at = 0; at < plain.length; at += 97) await store.usage.add(plain.slice(at, at + 97))
    const field = fc.constantFrom(...(Object.keys(FIELDS) as UsageField[]))
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(field, { maxLength: 3 }),
        fc.constantFrom(undefined, 'minute' as const, 'hour' as const, 'day' as const),
        fc.boolean(),
        fc.option(fc.tuple(field, fc.nat(plain.length - 1)), { nil: undefined }),
        fc.integer({ min: 0, max: 71 }),
        fc.integer({ min: 1, max: 72 }),
        async (by, every, exact, filter, from, hours) => {
          const unit = UNITS[every ?? 'hour']
          const since = Math.floor((SINCE + from * HOUR) / unit) * unit
          const until = Math.ceil((since + hours * HOUR) / unit) * unit
          const value = filter && (FIELDS[filter[0]](plain[filter[1]]!) ?? '')
          const where = filter === undefined ? {} : { [filter[0]]: value }
          const meant = plain.filter(
            one =>
              one.at >= since && one.at < until && (filter === undefined || (FIELDS[filter[0]](one) ?? '') === value),
          )
          const query = { since, until, by, where, exact, limit: 100_000, ...(every === undefined ? {} : { every }) }
          const groups = (await store.usage.sums(query)).map(bare)
          expect(inOrder(groups)).toEqual(summed(meant, by, every === undefined ? undefined : unit))
        },
      ),
      { numRuns: 60 },
    )
  })

  test('counts the requests themselves to the millisecond', async () => {
    const rows = [...traffic(2500, { since: NOW - HOUR, until: NOW, keys: 3, models: 3, channels: 2 })]
    await store.usage.add(rows)
    for (const at of [0, 700, 1999]) {
      const [since, until] = [rows[at]!.at, rows[at + 499]!.at]
      const [all] = await store.usage.sums({ since, until, by: [], exact: true, percentiles: true, limit: 1 })
      const meant = rows.filter(one => one.at >= since && one.at < until)
      expect(all!.requests).toBe(meant.length)
      const [kept] = await store.usage.sums({ since, until, by: [], limit: 1 })
      expect(kept!.requests).toBeGreaterThan(all!.requests)
      expect(all!.duration!.p50).toBeGreaterThan(0)
    }
    const [all] = await store.usage.sums({ since: 0, until: NOW, by: [], percentiles: true, limit: 1 })
    const [exact] = await store.usage.sums({ since: 0, until: NOW, by: [], percentiles: true, exact: true, limit: 1 })
    expect(exact).toEqual(all)
  })

  test('gives the top groups, and all others as one', async () => {
    const rows = [...traffic(900, { since: SINCE, until: NOW, keys: 6, models: 9, channels: 3 })]
    await store.usage.add(rows)
    const query = { since: SINCE, until: NOW, by: ['model'] as const, limit: 10_000 }
    const all = await store.usage.sums(query)
    for (const rank of ['requests', 'errors', 'cost'] as const)
      for (const every of [undefined, 'hour', 'day', 'minute'] as const) {
        const top = await store.usage.sums({ ...query, top: { count: 3, rank }, ...(every && { every }) })
        const most = all.toSorted((a, b) => b[rank] - a[rank]).slice(0, 3)
        const least = Math.min(...most.map(one => one[rank]))
        const named = [...new Set(top.filter(one => one.others === undefined).map(one => one.by.model))]
        expect(named).toHaveLength(3)
        for (const name of named) expect(all.find(one => one.by.model === name)![rank]).toBeGreaterThanOrEqual(least)
        const total = (groups: readonly UsageGroup[]) => groups.reduce((sum, one) => sum + one.requests, 0)
        expect(total(top)).toBe(rows.length)
        const others = top.filter(one => one.others)
        expect(others.every(one => Object.keys(one.by).length === 0)).toBe(true)
        expect(total(others)).toBe(total(all.filter(one => !named.includes(one.by.model))))
      }
  })

  test('gives the groups with the most requests first, and a key under the last of its names', async () => {
    await store.usage.add([
      ...['a', 'b', 'c', 'd', 'e'].map(name =>
        row(name, { channel: name < 'c' ? 'few' : 'many', key: 'k', keyName: name === 'd' ? 'zoe' : 'adam' }),
      ),
      row('f', { channel: 'one' }),
    ])
    const query = { since: NOW - HOUR, until: NOW, limit: 9 }
    const byChannel = await store.usage.sums({ ...query, by: ['channel'] })
    expect(byChannel.map(({ by, requests }) => [by.channel, requests])).toEqual([
      ['many', 3],
      ['few', 2],
      ['one', 1],
    ])
    const byKey = await store.usage.sums({ ...query, by: ['key'] })
    expect(byKey.map(({ by, keyName, requests }) => [by.key, keyName, requests])).toEqual([
      ['k', 'zoe', 5],
      [undefined, undefined, 1],
    ])
    expect(await store.usage.rows({ ...query, where: { channel: 'nowhere' } })).toEqual({ rows: [] })
  })

  test('makes many parts of sums one, and loses nothing where two instances do', async () => {
    const other = await store.other()
    const rows = [...traffic(800, { since: SINCE, until: NOW, keys: 3, models: 3, channels: 2 })]
    for (let at = 0; at < rows.length; at += 20) {
      now = NOW + at * 60_000
      const first = store.usage.add(rows.slice(at, at + 10))
      // A process would wait forever for its own other connection to a SQLite file.
      if (engine === 'SQLite') await first
      await Promise.all([first, other.add(rows.slice(at + 10, at + 20))])
    }
    for (const every of ['hour', 'day'] as const) {
      const groups = (await other.sums({ since: SINCE, until: NOW, by: ['key'], every, limit: 10_000 })).map(bare)
      expect(inOrder(groups)).toEqual(summed(rows, ['key'], every === 'hour' ? HOUR : DAY))
    }
  })

  test('tells percentiles within the intervals they were counted in', async () => {
    const rows = [...traffic(500, { since: NOW - HOUR, until: NOW, keys: 2, models: 2, channels: 2 })]
    await store.usage.add(rows)
    const [all] = await store.usage.sums({ since: NOW - HOUR, until: NOW, by: [], percentiles: true, limit: 1 })
    const durations = rows.map(({ duration }) => duration).sort((a, b) => a - b)
    for (const [share, told] of [
      [0.5, all!.duration!.p50],
      [0.95, all!.duration!.p95],
      [0.99, all!.duration!.p99],
    ] as const) {
      const exact = durations[Math.ceil(durations.length * share) - 1]!
      expect(told / exact).toBeGreaterThan(1 / 1.61)
      expect(told / exact).toBeLessThan(1.61)
    }
    expect(all!.firstByte!.p50).toBeLessThan(all!.duration!.p50)
  })

  test('gives rows back as they were taken, page by page, the latest first', async () => {
    const rows = [...traffic(300, { since: SINCE, until: NOW, keys: 4, models: 5, channels: 3 })]
    await store.usage.add(rows)
    const read: UsageRow[] = []
    for (let after: string | undefined, first = true; first || after !== undefined; first = false) {
      const page = await store.usage.rows({
        since: SINCE,
        until: NOW,
        limit: 70,
        ...(after === undefined ? {} : { after }),
      })
      read.push(...page.rows)
      after = page.next
    }
    const rounded = (one: UsageRow) =>
      JSON.parse(JSON.stringify(one, (_, value) => (typeof value === 'number' ? Math.round(value * 10) / 10 : value)))
    expect(read).toEqual(rows.map(rounded).reverse())
    expect(await store.usage.row(rows[7]!.id)).toEqual(rounded(rows[7]!))
    for (const unknown of ['nobody', idOf('nobody')]) expect(await store.usage.row(unknown)).toBeUndefined()
    const [key] = rows.map(one => one.key!)
    const kept = await store.usage.rows({ since: SINCE, until: NOW, limit: 500, where: { key: key! }, only: 'errors' })
    expect(kept.rows.map(({ id }) => id)).toEqual(
      rows
        .filter(one => one.key === key && isFailed(one))
        .map(({ id }) => id)
        .reverse(),
    )
    const lossy = await store.usage.rows({ since: SINCE, until: NOW, limit: 500, only: 'losses' })
    expect(lossy.rows.map(({ id }) => id)).toEqual(
      rows
        .filter(one => one.losses > 0)
        .map(({ id }) => id)
        .reverse(),
    )
  })

  test('gives the rows of some series page by page, over many hours, however long pages are', async () => {
    const rows = [...traffic(400, { since: SINCE, until: NOW, keys: 3, models: 3, channels: 2 })]
    await store.usage.add(rows)
    const { channel } = rows[0]!
    for (const limit of [1, 7, 60]) {
      const read: string[] = []
      let after: string | undefined
      do {
        const where = { channel: channel! }
        const page = await store.usage.rows({ since: SINCE, until: NOW, limit, where, ...(after && { after }) })
        expect(page.rows.length).toBe(page.next === undefined ? page.rows.length : limit)
        read.push(...page.rows.map(({ id }) => id))
        after = page.next
      } while (after !== undefined && read.length < 80)
      const meant = rows.filter(one => one.channel === channel).map(({ id }) => id)
      expect(read).toEqual(meant.toReversed().slice(0, read.length))
      expect(read.length).toBeGreaterThanOrEqual(80)
    }
  })

  test('takes whatever callers and upstreams put into a row', async () => {
    const odd = '\0a\ud800"\\\u2028'.repeat(100)
    const rows = [
      row('odd', {
        model: odd,
        keyName: odd,
        upstreamId: odd,
        error: odd,
        status: 500,
        tries: [{ channel: odd, upstreamModel: odd, sentAfter: 0, endedAfter: 1 }],
      }),
      row('vast', {
        input: 1e300,
        output: Number.NaN,
        cacheRead: -5,
        cost: 1e300,
        duration: Number.POSITIVE_INFINITY,
        ...{ channel: 'c', model: 'm' },
      }),
    ]
    await store.usage.add(rows)
    await store.usage.add([row('vast2', { input: 1e300, cost: 1e300, channel: 'c', model: 'm' })])
    expect(await store.usage.row(idOf('odd'))).toMatchObject({ status: 500, model: expect.stringMatching(/^a/) })
    const [all] = await store.usage.sums({ since: NOW - HOUR, until: NOW, by: [], limit: 9 })
    expect(all).toMatchObject({ requests: 3, errors: 1, input: 2e11 })
    expect((await store.usage.row(idOf('odd')))!.model!.length).toBeLessThanOrEqual(200)
  })

  test('finds rows by names that were shortened, or have characters that no engine stores', async () => {
    const names = ['n'.repeat(300), 'a\0b', 'x\ud800y', `${'m'.repeat(199)}\ud83d\ude00`]
    for (const [index, name] of names.entries())
      await store.usage.add([row(`odd${index}`, { channel: name, model: name, keyName: name })])
    for (const name of names)
      for (const field of ['channel', 'model'] as const) {
        const where = { [field]: name }
        const page = await store.usage.rows({ since: NOW - HOUR, until: NOW, limit: 9, where })
        expect(page.rows).toHaveLength(1)
        const sums = await store.usage.sums({ since: NOW - HOUR, until: NOW, by: [], limit: 9, where })
        expect(sums).toMatchObject([{ requests: 1 }])
      }
  })

  test('counts a batch once that is written again, and leaves nothing of one that fails', async () => {
    const rows = [row('a', { cost: 5, key: 'k' }), row('b', { cost: 7, key: 'k' })]
    await store.usage.add(rows)
    await store.usage.add(rows)
    await expect(
      store.usage.add([row('c'), row('d', { attempts: 'x' as never, losses: null as never })]),
    ).rejects.toThrow()
    const query = { since: NOW - HOUR, until: NOW, by: [], limit: 9 }
    expect(await store.usage.sums(query)).toMatchObject([{ requests: 2, cost: 12 }])
    expect(await store.usage.row(idOf('c'))).toBeUndefined()
  })

  test('counts the answer of a background response that began in the millisecond of its start', async () => {
    await store.usage.add([row('a', { key: 'k', cost: 0, attempts: 0 })])
    await store.usage.add([row('a', { key: 'k', cost: 7, attempts: 1 }), row('b', { key: 'k', cost: 5 })])
    const query = { since: NOW - HOUR, until: NOW, by: [], limit: 9 }
    expect(await store.usage.sums(query)).toMatchObject([{ requests: 3, cost: 12 }])
    expect(await store.usage.spent('k', NOW)).toMatchObject({ day: 12 })
  })

  test('knows what a key has spent in the day and the month, whichever instance wrote it', async () => {
    const other = await store.other()
    for (const [usage, rows] of [
      [store.usage, [row('1', { key: 'k', cost: 1 }), row('2', { key: 'k', at: NOW - 2 * DAY, cost: 10 })]],
      [
        other,
        [row('3', { key: 'k', cost: 100, keyName: 'renamed' }), row('4', { key: 'k', at: NOW - 40 * DAY, cost: 1000 })],
      ],
      [other, [row('5', { key: 'other', cost: 5000 })]],
    ] as const)
      await usage.add(rows)
    expect(await store.usage.spent('k', NOW)).toEqual({ day: 101, month: 111 })
    expect(await other.spent('nobody', NOW)).toEqual({ day: 0, month: 0 })
  })

  test('deletes rows that are no longer kept, and keeps their sums by day', async () => {
    const old = NOW - 90 * DAY
    await store.usage.add([
      row('new', { cost: 1 }),
      ...Array.from({ length: 1200 }, (_, at) => row(`old${at}`, { at: old + at, cost: 1 })),
    ])
    await store.usage.sweep(NOW - 30 * DAY)
    expect((await store.usage.rows({ since: 0, until: NOW, limit: 10 })).rows.map(({ id }) => id)).toEqual([
      idOf('new'),
    ])
    expect(await store.usage.sums({ since: old, until: NOW, by: [], limit: 9 })).toMatchObject([{ requests: 1201 }])
    expect(await store.usage.sums({ since: old, until: old + DAY, by: [], every: 'hour', limit: 9 })).toEqual([])
  })

  test('has one instance delete at a time', async () => {
    const other = await store.other()
    const rows = Array.from({ length: 3000 }, (_, at) => row(`old${at}`, { at: NOW - 90 * DAY + at }))
    await store.usage.add(rows)
    await Promise.all([store.usage.sweep(NOW - DAY), other.sweep(NOW - DAY)])
    expect((await store.usage.rows({ since: 0, until: NOW, limit: 10 })).rows).toEqual([])
  })

  test('groups equal failures, latest first, with their number and times', async () => {
    const failed = (name: string, at: number, said: string, more: Partial<UsageRow> = {}): UsageRow =>
      row(name, {
        ...{ at, id: requestId(at, Buffer.from(name).toString('hex').padStart(32, '0')), status: 503 },
        ...{
          error: 'overloaded',
          channel: 'one',
          model: 'm',
          failure: { reason: 'status', status: 503, said },
          ...more,
        },
      })
    const rows = [
      failed('a', NOW - 3000, 'Busy, request req_1a'),
      failed('b', NOW - 2000, 'Busy, request req_2b'),
      failed('c', NOW - 1000, 'Out of luck.', { channel: 'two' }),
      row('d'),
    ]
    await store.usage.add(rows)
    const { groups, isComplete } = await store.usage.failures({ since: NOW - HOUR, until: NOW })
    expect(isComplete).toBe(true)
    expect(groups).toMatchObject([
      { channel: 'two', count: 1, firstAt: NOW - 1000, lastAt: NOW - 1000, failure: { said: 'Out of luck.' } },
      { channel: 'one', count: 2, firstAt: NOW - 3000, lastAt: NOW - 2000, request: rows[1]!.id, error: 'overloaded' },
    ])
    const { groups: some } = await store.usage.failures({ since: NOW - HOUR, until: NOW, where: { channel: 'two' } })
    expect(some).toHaveLength(1)
    expect((await store.usage.row(rows[1]!.id))?.failure).toEqual(rows[1]!.failure)
    expect((await store.usage.row(rows[3]!.id))?.failure).toBeUndefined()
  })

  test('sums what each key spent in the day and the month', async () => {
    await store.usage.add([
      row('a', { key: 'k', cost: 5 }),
      row('b', { key: 'k', cost: 7, at: NOW - 2 * DAY }),
      row('c', { key: 'other', cost: 1 }),
    ])
    const spent = await store.usage.spentByKey(['k', 'other', 'nobody'], NOW)
    expect([...spent].sort()).toEqual([
      ['k', { day: 5, month: 12 }],
      ['other', { day: 1, month: 1 }],
    ])
    expect(spent.get('k')).toEqual(await store.usage.spent('k', NOW))
  })
})
