import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Kysely, sql } from 'kysely'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { JsonObject } from '../../src/canonical/node.ts'
import type { Background } from '../../src/gateway/stored/background.ts'
import type { Copies } from '../../src/gateway/stored/copies.ts'
import { ResponsesApi } from '../../src/gateway/stored/responses-api.ts'
import { RESPONSES } from '../../src/gateway/stored/responses-format.ts'
import { SILENT } from '../../src/log.ts'
import { copyStore } from '../../src/store/copy.ts'
import { LazyStore } from '../../src/store/lazy-store.ts'
import { openEngine } from '../../src/store/open-engine.ts'
import { openSqlite, openStore, type Store } from '../../src/store/store.ts'
import type { StoredTask } from '../../src/store/tasks.ts'
import type { Turn } from '../../src/store/turns.ts'
import { requestId } from '../../src/store/usage/request-id.ts'
import { closingAfterEach } from '../builders/closing.ts'
import { createKey } from '../builders/keys.ts'
import { freshDatabase, noPostgres } from '../builders/postgres.ts'
import { TIMED } from '../builders/time.ts'
import { DAY, HOUR, MIB } from '../builders/units.ts'

/* A PostgreSQL that instances with wrong clocks share, and whose rows somebody damaged or made very large. */

const closing = closingAfterEach()
afterEach(() => vi.useRealTimers())

const skipped = noPostgres !== undefined

const REQUEST = requestId(Date.now() - DAY)
const OLD_REQUEST = requestId(Date.now() - 90 * DAY)

// biome-ignore lint/suspicious/noExplicitAny: tests look into tables of any kind
type Database = Kysely<any>

async function place() {
  const database = await freshDatabase()
  closing.push(() => database.drop())
  const config = { engine: 'postgres', url: database.url } as const
  return {
    config,
    async open(now?: () => number): Promise<Store> {
      const store = await openStore(config, now)
      closing.push(() => store.close())
      return store
    },
    lazy(): LazyStore {
      const lazy = new LazyStore(config, tmpdir(), SILENT)
      closing.push(() => lazy.close())
      return lazy
    },
    async tables(): Promise<Database> {
      const engine = await openEngine(config)
      const tables: Database = new Kysely({ dialect: engine.dialect })
      closing.push(() => tables.destroy())
      return tables
    },
  }
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

/** Sets the clock of this machine, but not that of the database server. */
const setClock = (difference: number): void => {
  vi.useRealTimers()
  if (difference !== 0) vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + difference })
}

describe.skipIf(skipped)('instances whose clocks differ', () => {
  test('one that is a year ahead deletes nothing that the others use, and finds it', async () => {
    const at = await place()
    const one = await at.open()
    const expiresAt = Date.now() + HOUR
    await one.turns.put(turn('r'))
    await one.conversations.create({ owner: 'me', id: 'conv', metadata: {}, createdAt: Date.now(), expiresAt }, [])
    await one.tasks.begin(task('t'))
    await one.shared.addNote(
      { kind: 'client-secret', name: 'n', owner: 'me', text: 'x', expiresAt },
      { perOwner: 9, total: 9 },
    )
    await one.shared.putSignatures([{ hash: 'h', issuer: 'i', expiresAt }])
    await one.captures.add([{ id: 'c', at: Date.now(), key: 'k', expiresAt, data: Buffer.from('x') }], 1e9)
    await one.usage.add([
      ...[
        {
          id: REQUEST,
          at: Date.now() - DAY,
          door: '/',
          format: 'chat',
          stream: false,
          attempts: 1,
          status: 200,
          losses: 0,
          duration: 1,
        },
      ],
    ])
    setClock(400 * DAY)
    const ahead = await at.open()
    await ahead.sweep()
    await ahead.usage.sweep(Date.now() - 30 * DAY, Date.now())
    const found = await Promise.all([
      ...[ahead.turns.find('me', 'r'), ahead.conversations.find('me', 'conv'), ahead.tasks.find('me', 't')],
      ...[ahead.shared.note('client-secret', 'n'), ahead.captures.find('c'), ahead.usage.row(REQUEST)],
    ])
    expect(found).not.toContain(undefined)
    expect([...(await ahead.shared.signatures(['h']))]).toEqual([['h', 'i']])
    setClock(0)
    expect(await one.turns.find('me', 'r')).toMatchObject({ id: 'r' })
    expect(
      (await one.usage.sums({ since: Date.now() - 2 * DAY, until: Date.now(), by: [], limit: 10 }))[0]?.requests,
    ).toBe(1)
  })

  test('one that is a year behind keeps what has expired for nobody else', async () => {
    const at = await place()
    const one = await at.open()
    await one.turns.put(turn('r', { expiresAt: Date.now() - 1 }))
    setClock(-400 * DAY)
    const behind = await at.open()
    await behind.sweep()
    setClock(0)
    expect(await one.turns.find('me', 'r')).toBeUndefined()
    await one.sweep()
    await one.turns.put(turn('r'))
    expect(await one.turns.find('me', 'r')).toMatchObject({ id: 'r' })
  })

  test.each([0, 10 * 60_000, 400 * DAY])(
    'one that is %d ms ahead fails no response that another instance still works on',
    async difference => {
      const at = await place()
      const [working, asked] = [at.lazy(), at.lazy()]
      await working.liveness.open()
      const id = `resp_${'0'.repeat(40)}`
      expect(RESPONSES.isId(id)).toBe(true)
      const response: JsonObject = { id, object: 'response', status: 'in_progress', background: true, output: [] }
      await working.turns.put(
        turn(id, { response, lease: Date.now() + 120_000, worker: working.liveness.id, expiresAt: 9e15 }),
      )
      setClock(difference)
      const background = { find: () => undefined, cancel: async () => {} } as unknown as Background
      const api = new ResponsesApi(RESPONSES, asked, background, {} as Copies)
      expect(await api.response('me', id)).toMatchObject({ status: 'in_progress' })
      setClock(0)
      expect(
        await working.turns.advance(turn(id, { response: { ...response, status: 'completed' }, expiresAt: 9e15 })),
      ).toBe(true)
      await working.liveness.close()
    },
  )

  test('a poll by an instance a year ahead holds up the polls of the others no longer than its own', async () => {
    const at = await place()
    const store = await at.open()
    await store.tasks.begin(task('t'))
    const now = Date.now()
    expect(await store.tasks.claim('me', 't', now + 365 * DAY, now + 365 * DAY - 5000)).toBe(true)
    expect(await store.tasks.due(now, 5000, 10, ['c'])).toHaveLength(1)
    expect(await store.tasks.claim('me', 't', now, now - 5000)).toBe(true)
    expect(await store.tasks.claim('me', 't', now, now - 5000)).toBe(false)
    expect(await store.tasks.due(now, 5000, 10, ['c'])).toEqual([])
  })

  test('a lease for deleting usage that was taken a year ahead ends', async () => {
    const at = await place()
    const ahead = await at.open(() => Date.now() + 365 * DAY)
    await ahead.usage.sweep(0)
    const one = await at.open()
    const row = { door: '/', format: 'chat', stream: false, attempts: 1, status: 200, losses: 0, duration: 1 } as const
    await one.usage.add([{ ...row, id: OLD_REQUEST, at: Date.now() - 90 * DAY }])
    await one.usage.sweep(Date.now() - 30 * DAY, Date.now())
    expect(await one.usage.row(OLD_REQUEST)).toBeUndefined()
  })

  test('keys that expire end by the clock of each instance, and versions of changes never go back', async () => {
    const at = await place()
    const [one, behind] = [await at.open(), await at.open(() => Date.now() - 400 * DAY)]
    await createKey(behind.access, 'a')
    const first = await one.access.changes(0)
    await createKey(one.access, 'b')
    const second = await behind.access.changes(first.version)
    expect(second.keys.map(({ name }) => name)).toEqual(['b'])
    await createKey(behind.access, 'c')
    const third = await one.access.changes(second.version)
    expect(third.keys.map(({ name }) => name)).toEqual(['c'])
    expect(third.version).toBeGreaterThan(second.version)
  })
})

describe.skipIf(skipped)('rows that somebody damaged', () => {
  const DAMAGES = ['', '{', 'null', '7', '[]', '"x"', '{"limits":7,"models":7,"fallbacks":7,"output":7}']

  test('settings of a key and a group: the other keys work, and the damaged ones permit nothing', async () => {
    const at = await place()
    const store = at.lazy()
    await createKey(store.access, 'bad')
    await createKey(store.access, 'good')
    for (const name of ['bad', 'good'])
      await store.access.putGroup({ name, models: ['*'], limits: {}, onLoss: 'show', createdAt: 1 })
    const tables = await at.tables()
    for (const damage of DAMAGES) {
      await sql`update access_keys set settings = ${damage} where name = 'bad'`.execute(tables)
      await sql`update access_groups set settings = ${damage} where name = 'bad'`.execute(tables)
      const { keys, groups } = await store.access.changes(0)
      expect(keys.find(({ name }) => name === 'good')).toMatchObject({ enabled: true, limits: {} })
      expect(keys.find(({ name }) => name === 'bad')).toMatchObject({ enabled: false, limits: {} })
      expect(groups.find(({ name }) => name === 'good')).toMatchObject({ models: ['*'] })
      expect(groups.find(({ name }) => name === 'bad')).toMatchObject({ models: [], limits: {} })
      expect((await store.access.keys({ limit: 10 })).map(({ name }) => name)).toEqual(['bad', 'good'])
      expect((await store.access.groups()).map(({ name }) => name)).toEqual(['bad', 'good'])
    }
    const { id } = (await store.access.keyNamed('bad'))!
    expect(await store.access.changeKey(id, { enabled: true, note: 'mended' })).toMatchObject({ enabled: true })
    expect(await store.check()).toBeUndefined()
  })

  test('the text of a turn, a conversation and a task damages only that row', async () => {
    const at = await place()
    const store = at.lazy()
    const expiresAt = Date.now() + HOUR
    for (const id of ['bad', 'good']) {
      await store.turns.put(turn(id, { input: [{ id: `i-${id}`, type: 'message' }] }))
      const conversation = { owner: 'me', id: `c-${id}`, metadata: {}, createdAt: 1, expiresAt }
      await store.conversations.create(conversation, [{ id: `item-${id}` }])
      await store.tasks.begin(task(id))
    }
    const tables = await at.tables()
    for (const damage of DAMAGES) {
      await sql`update turns set response = ${damage} where id = 'bad'`.execute(tables)
      await sql`update items set item = ${damage} where parent like '%bad'`.execute(tables)
      await sql`update conversations set metadata = ${damage} where id = 'c-bad'`.execute(tables)
      await sql`update tasks set output = ${damage}, result = ${damage}, state = 'x' where id = 'bad'`.execute(tables)
      await Promise.allSettled([
        ...[
          store.turns.find('me', 'bad'),
          store.turns.chain('me', 'bad'),
          store.turns.items('me', ['i-bad', 'i-good']),
        ],
        ...[store.conversations.items('me', 'c-bad'), store.conversations.find('me', 'c-bad')],
        store.tasks.find('me', 'bad'),
      ])
      expect(await store.turns.find('me', 'good')).toMatchObject({ input: [{ id: 'i-good' }] })
      expect(await store.conversations.items('me', 'c-good')).toEqual([{ id: 'item-good' }])
      expect(await store.tasks.find('me', 'good')).toMatchObject({ id: 'good' })
      expect(await store.check()).toBeUndefined()
    }
    expect(await store.turns.drop('me', 'bad')).toBe(true)
  })

  test('times and counts beyond every number end nothing but their row', async () => {
    const at = await place()
    const store = at.lazy()
    await store.turns.put(turn('bad'))
    await store.turns.put(turn('good'))
    await createKey(store.access, 'bad')
    const tables = await at.tables()
    const most = sql.lit('9223372036854775807')
    await sql`update turns set created_at = ${most}::bigint, expires_at = ${most}::bigint, lease = -${most}::bigint where id = 'bad'`.execute(
      tables,
    )
    await sql`update access_keys set created_at = -${most}::bigint, last_used_at = ${most}::bigint`.execute(tables)
    expect(await store.turns.find('me', 'bad')).toMatchObject({ id: 'bad' })
    expect(await store.turns.find('me', 'good')).toMatchObject({ id: 'good' })
    expect((await store.access.changes(0)).keys).toHaveLength(1)
    expect(await store.check()).toBeUndefined()
  })
})

describe.skipIf(skipped)('very large values', () => {
  /** Parameters that a statement may have in PostgreSQL. Each item has nine. */
  const PARAMETERS = 65_535
  const ITEMS = 8000

  test('lists with more values than a statement may have parameters are stored and found', TIMED, async () => {
    const store = await (await place()).open()
    const names = Array.from({ length: PARAMETERS + 1 }, (_, at) => `n${at}`)
    const some = names.slice(0, ITEMS)
    const input = some.map(id => ({ id, type: 'message' }))
    await store.turns.put(turn('r', { input }))
    expect((await store.turns.find('me', 'r'))!.input).toHaveLength(ITEMS)
    expect((await store.turns.items('me', names)).size).toBe(ITEMS)
    expect(await store.turns.isForbidden('other', names.toReversed())).toBe(true)
    expect((await store.turns.unfinished(names)).size).toBe(0)
    await store.conversations.create({ owner: 'me', id: 'c', metadata: {}, createdAt: 1, expiresAt: 9e15 }, input)
    expect(await store.conversations.items('me', 'c')).toHaveLength(ITEMS)
    const expiresAt = 9e15
    await store.shared.putSignatures(some.map(hash => ({ hash, issuer: 'i', expiresAt })))
    expect((await store.shared.signatures(some)).size).toBe(ITEMS)
    await store.shared.changeReasoning([{ names: [some], reasoning: { id: 't', text: 'x', expiresAt } }])
    expect(await store.shared.reasoning(some)).toMatchObject([{ id: 't' }])
  })

  test('items with ids that are too long for an index are stored, and copied from a file', async () => {
    const store = await (await place()).open()
    // Random, because the server compresses long values.
    const id = randomBytes(6000).toString('base64')
    await store.turns.put(turn('r', { input: [{ id, type: 'message' }, { id: 'short' }] }))
    expect((await store.turns.find('me', 'r'))!.input).toMatchObject([{ id }, { id: 'short' }])
    expect([...(await store.turns.items('me', [id, 'short'])).keys()]).toEqual(['short'])
    await store.conversations.create({ owner: 'me', id: 'c', metadata: {}, createdAt: 1, expiresAt: 9e15 }, [])
    expect(await store.conversations.add('me', 'c', [{ id }], 9e15)).toBe(true)
    expect(await store.conversations.dropItem('me', 'c', id)).toBe(true)
    const folder = mkdtempSync(join(tmpdir(), 'interlingua-long-'))
    closing.push(() => rmSync(folder, { recursive: true }))
    const path = join(folder, 'x.sqlite')
    const file = await openSqlite(path)
    await file.turns.put(turn('r', { input: [{ id, type: 'message' }] }))
    await file.close()
    const { config, lazy } = await place()
    await copyStore({ engine: 'sqlite', path }, config)
    expect((await lazy().turns.find('me', 'r'))!.input).toMatchObject([{ id }])
  })

  test('a response that continues one with a very long id is stored, and copied from a file', async () => {
    const store = await (await place()).open()
    const long = randomBytes(6000).toString('base64')
    await store.turns.put(turn('r', { previous: long }))
    expect(await store.turns.find('me', 'r')).toMatchObject({ id: 'r' })
    expect((await store.turns.chain('me', 'r'))!.links).toHaveLength(1)
    const folder = mkdtempSync(join(tmpdir(), 'interlingua-long-'))
    closing.push(() => rmSync(folder, { recursive: true }))
    const path = join(folder, 'x.sqlite')
    const file = await openSqlite(path)
    await file.turns.put(turn('r', { input: [{ id: 'item' }], previous: 'q' }))
    await file.close()
    const earlier = new DatabaseSync(path)
    earlier.prepare("update turns set previous = ? where id = 'r'").run(long)
    earlier.prepare('update items set id = ?').run(long)
    earlier.close()
    const { config, lazy } = await place()
    await copyStore({ engine: 'sqlite', path }, config)
    expect(await lazy().turns.find('me', 'r')).toMatchObject({ id: 'r', input: [{ id: 'item' }] })
  })

  test('a response whose own id is very long is not stored, and keeps no other from being stored', async () => {
    const store = await (await place()).open()
    const long = randomBytes(6000).toString('base64')
    await Promise.all([store.turns.put(turn(long)), store.turns.put(turn('r'))])
    expect(await store.turns.find('me', long)).toBeUndefined()
    expect(await store.turns.find('me', 'r')).toMatchObject({ id: 'r' })
  })

  test('the same name twice in one change is stored once', async () => {
    const store = await (await place()).open()
    const expiresAt = 9e15
    await store.shared.putSignatures([
      { hash: 'h', issuer: 'first', expiresAt },
      { hash: 'g', issuer: 'other', expiresAt },
      { hash: 'h', issuer: 'last', expiresAt },
    ])
    expect((await store.shared.signatures(['h', 'g'])).get('h')).toBe('last')
    await store.shared.changeReasoning([
      {
        names: [
          ['a', 'a'],
          ['a', 'b'],
        ],
        reasoning: { id: 't', text: 'x', expiresAt },
      },
    ])
    expect(await store.shared.reasoning(['a'])).toMatchObject([{ id: 't' }])
    await store.turns.put(turn('r', { input: [{ id: 'x' }, { id: 'x' }, { id: 'x\u0000' }, { id: 'x\ufffd' }] }))
    expect((await store.turns.find('me', 'r'))!.input).toHaveLength(4)
  })

  test(
    'a turn of many megabytes is stored; names beyond an index are refused, and the store still works',
    TIMED,
    async () => {
      const store = (await place()).lazy()
      const text = 'x\u0000é'.repeat(2 * MIB)
      await store.turns.put(turn('r', { response: { id: 'r', output: [], text } }))
      expect(((await store.turns.find('me', 'r'))!.response['text'] as string).length).toBe(text.length)
      const long = Array.from({ length: 20_000 }, (_, at) => at.toString(36)).join('')
      await Promise.allSettled([
        ...[
          store.turns.put(turn(long)),
          store.turns.put(turn('s', { input: [{ id: long }] })),
          store.turns.find('me', long),
        ],
        ...[store.conversations.items(long, long), store.tasks.begin(task('t', { idempotencyKey: long }))],
      ])
      expect(await store.turns.find('me', 'r')).toMatchObject({ id: 'r' })
      expect(await store.check()).toBeUndefined()
    },
  )
})

describe.skipIf(skipped)('changes that arrive in another order', () => {
  test('neither bring back what was deleted nor open what has ended', async () => {
    const at = await place()
    const [one, other] = [await at.open(), await at.open()]
    const open = turn('r', { lease: 9e15, worker: 'w' })
    const ended = turn('r', { response: { id: 'r', output: [], status: 'completed' } })
    expect(await one.turns.advance(open)).toBe(false)
    expect(await one.events.add('me', 'r', { first: 0, texts: ['x'] })).toBe(false)
    await one.turns.put(open)
    await Promise.all([one.turns.advance(ended), other.turns.renew('me', 'r', 9e15)])
    expect(
      await other.turns.advance(
        turn('r', { lease: 9e15, worker: 'w', response: { id: 'r', output: [], status: 'queued' } }),
      ),
    ).toBe(false)
    expect(await other.turns.renew('me', 'r', 9e15)).toBe(false)
    expect((await other.turns.find('me', 'r'))!.response['status']).toBe('completed')
    expect(await one.turns.drop('me', 'r')).toBe(true)
    expect(
      await Promise.all([one.turns.advance(ended), other.turns.advance(open), other.turns.drop('me', 'r')]),
    ).toEqual([false, false, false])
    expect(await other.turns.find('me', 'r')).toBeUndefined()
    expect(await one.turns.isForbidden('me', ['r'])).toBe(true)
  })

  test('of a key: a revocation beats every change and rotation that comes later or at once', async () => {
    const at = await place()
    const [one, other] = [await at.open(), await at.open()]
    await createKey(one.access, 'k')
    const { id } = (await one.access.keyNamed('k'))!
    const secret = { hash: 'f'.repeat(64), prefix: 'il', lastFour: 'abcd', createdAt: 1 }
    await Promise.all([
      one.access.revokeKey(id, Date.now()),
      other.access.changeKey(id, { note: 'late' }),
      other.access.rotateKey(id, secret, Date.now()),
    ])
    expect(await other.access.changeKey(id, { enabled: true })).toBeUndefined()
    expect(await other.access.rotateKey(id, { ...secret, hash: 'e'.repeat(64) }, 0)).toBeUndefined()
    const { keys } = await other.access.changes(0)
    expect(keys.every(({ revokedAt }) => revokedAt !== undefined)).toBe(true)
  })

  test('of a task: states never go back, whichever instance writes last', async () => {
    const at = await place()
    const [one, other] = [await at.open(), await at.open()]
    await one.tasks.begin(task('t'))
    const news = (state: 'queued' | 'in-progress' | 'completed' | 'failed') => ({ state, result: { candidates: [] } })
    await Promise.all([one.tasks.advance('me', 't', news('completed')), other.tasks.advance('me', 't', news('failed'))])
    const { state } = (await one.tasks.find('me', 't'))!
    for (const later of ['queued', 'in-progress', 'completed', 'failed'] as const)
      expect(await other.tasks.advance('me', 't', news(later))).toBe(false)
    expect((await other.tasks.find('me', 't'))!.state).toBe(state)
  })
})

describe.skipIf(skipped)('twice the rows take about twice the time', TIMED, () => {
  test.each<[string, (store: Store, count: number) => Promise<unknown>]>([
    [
      'a chain of turns',
      async (store, count) => {
        for (let at = 0; at < count; at++)
          await store.turns.put(turn(`r${at}`, at === 0 ? {} : { previous: `r${at - 1}` }))
        expect((await store.turns.chain('me', `r${count - 1}`))!.links).toHaveLength(count)
      },
    ],
    [
      'items added to a conversation one by one',
      async (store, count) => {
        await store.conversations.create({ owner: 'me', id: 'c', metadata: {}, createdAt: 1, expiresAt: 9e15 }, [])
        for (let at = 0; at < count; at++) await store.conversations.add('me', 'c', [{ id: `i${at}` }], 9e15)
        expect(await store.conversations.items('me', 'c')).toHaveLength(count)
      },
    ],
    [
      'keys',
      async (store, count) => {
        let version = 0
        for (let at = 0; at < count; at++) {
          await createKey(store.access, `k${at}`)
          version = (await store.access.changes(version)).version
        }
      },
    ],
    [
      'events of a response',
      async (store, count) => {
        await store.turns.put(turn('r', { lease: 9e15, worker: 'w' }))
        for (let at = 0; at < count; at++) await store.events.add('me', 'r', { first: at, texts: [`${at}`] })
        expect(await store.events.count('me', 'r')).toBe(count)
      },
    ],
  ])('%s', async (_, work) => {
    const at = await place()
    const store = await at.open()
    const timeOf = async (count: number): Promise<number> => {
      const tables = await at.tables()
      await sql`truncate turns, items, events, conversations, access_keys, access_secrets, access_versions`.execute(
        tables,
      )
      const began = performance.now()
      await work(store, count)
      return performance.now() - began
    }
    await timeOf(20)
    const [small, large] = [await timeOf(40), await timeOf(240)]
    expect(large).toBeLessThan(14 * Math.max(small, 30))
  })
})
