import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { AccessRecords, StoredKey } from '../../src/store/access-records.ts'
import { openSqlite } from '../../src/store/store.ts'
import { scratch } from '../gateway/stored/test-server.ts'
import { type Change, Follower, groupOf, keyOf, make, secretOf } from './access-follower.ts'
import { ENGINES, type Opened } from './connections.ts'

const data = scratch()
afterAll(() => data.drop())

const few = (prefix: string) => fc.constantFrom(...['1', '2', '3', '4'].map(number => prefix + number))
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ do: fc.constant('create' as const), id: few('k'), name: few('n'), hash: few('h') }),
  fc.record({
    do: fc.constant('change' as const),
    id: few('k'),
    change: fc.record(
      {
        ...{ name: few('n'), group: few('g'), enabled: fc.boolean() },
        note: fc.option(fc.string({ unit: 'binary' }), { nil: undefined }),
        limits: fc.constantFrom({}, { rpm: 1, budget: { day: 0.5 } }),
        expiresAt: fc.option(fc.nat(), { nil: undefined }),
      },
      { requiredKeys: [] },
    ),
  }),
  fc.record({ do: fc.constant('revoke' as const), id: few('k') }),
  fc.record({ do: fc.constant('rotate' as const), id: few('k'), hash: few('h'), until: fc.nat() }),
  fc.record({ do: fc.constantFrom('keep' as const, 'drop' as const), group: few('g'), models: fc.array(few('m')) }),
  fc.record({ do: fc.constant('drain' as const), channel: few('c'), drained: fc.boolean() }),
  fc.record({ do: fc.constant('use' as const), id: few('k'), at: fc.nat() }),
)

describe.each(ENGINES)('access records in $name', ({ name, open, skipped }) => {
  let opened: Opened
  let records: AccessRecords
  beforeEach(async context => {
    context.skip(skipped !== undefined)
    // Two connections of one thread to a SQLite file would block each other.
    opened = await open(name === 'SQLite' ? 1 : 2)
    records = opened.connections[0]!
  })
  afterEach(() => opened?.close())

  test('a key is found as it was stored, by id and by name', async () => {
    const key = keyOf('k', {
      ...{ note: 'nul \0 and half \ud83d', models: ['a*'], doors: ['chat'], onLoss: 'refuse', enabled: false },
      ...{ limits: { rpm: 1, tpm: 2, concurrent: 3, budget: { day: 0.25, month: 1 } }, expiresAt: 1e13 },
      secrets: [secretOf('b', 9), { ...secretOf('a', 2), expiresAt: 3 }],
    })
    expect(await records.createKey(key)).toBe(true)
    expect(await records.key('k')).toEqual(key)
    expect(await records.keyNamed('k')).toEqual(key)
    expect(await records.key('l')).toBeUndefined()
  })

  test('names are unique among keys that are not revoked, secrets among all', async () => {
    await records.createKey(keyOf('a'))
    expect(await records.createKey(keyOf('b', { name: 'a' }))).toBe(false)
    expect(await records.createKey(keyOf('b', { secrets: [secretOf('hash of a')] }))).toBe(false)
    expect(await records.revokeKey('a', 9)).toBe(true)
    expect(await records.revokeKey('a', 10)).toBe(false)
    expect(await records.keyNamed('a')).toBeUndefined()
    expect(await records.key('a')).toMatchObject({ revokedAt: 9 })
    expect(await records.createKey(keyOf('b', { secrets: [secretOf('hash of a')] }))).toBe(false)
    expect(await records.createKey(keyOf('b', { name: 'a' }))).toBe(true)
    expect(await records.keyNamed('a')).toMatchObject({ id: 'b' })
  })

  test('names that no engine stores are stored as what can be', async () => {
    await records.createKey(keyOf('k', { name: 'a\0b\ud800' }))
    expect(await records.keyNamed('ab\ufffd')).toMatchObject({ id: 'k' })
    expect(await records.createKey(keyOf('l', { name: 'ab\ud801' }))).toBe(false)
  })

  test('a key is changed field by field; undefined removes one', async () => {
    await records.createKey(keyOf('a', { note: 'x', models: ['m'] }))
    await records.createKey(keyOf('b'))
    expect(await records.changeKey('a', { note: undefined, limits: { rpm: 5 } })).toEqual(
      keyOf('a', { models: ['m'], limits: { rpm: 5 } }),
    )
    expect(await records.changeKey('a', { name: 'b' })).toBe('taken')
    expect(await records.changeKey('a', { name: 'c', group: 'g' })).toMatchObject({ id: 'a', name: 'c', group: 'g' })
    expect(await records.changeKey('x', { name: 'd' })).toBeUndefined()
    await records.revokeKey('a', 1)
    expect(await records.changeKey('a', { name: 'd' })).toBeUndefined()
  })

  test('rotation adds a secret, and ends the others then or before', async () => {
    await records.createKey(keyOf('a', { secrets: [{ ...secretOf('old', 1), expiresAt: 50 }, secretOf('older', 0)] }))
    const rotated = await records.rotateKey('a', secretOf('new', 2), 100)
    expect(rotated?.secrets).toEqual([
      secretOf('new', 2),
      { ...secretOf('old', 1), expiresAt: 50 },
      { ...secretOf('older', 0), expiresAt: 100 },
    ])
    expect(await records.rotateKey('a', secretOf('old', 3), 1)).toBeUndefined()
    expect(await records.key('a')).toEqual(rotated)
    await records.revokeKey('a', 1)
    expect(await records.rotateKey('a', secretOf('newer', 3), 1)).toBeUndefined()
  })

  test('pages go through all keys in order, whoever shares a name', async () => {
    for (const name of ['b', 'a', 'É', 'B', 'c']) {
      for (const id of [`1${name}`, `2${name}`]) {
        await records.createKey(keyOf(id, { name, group: name === 'a' ? 'g' : 'default' }))
        if (id.startsWith('1')) await records.revokeKey(id, 1)
      }
    }
    const seen: string[] = []
    for (let after: StoredKey | undefined; ; ) {
      const page = await records.keys({ limit: 3, revoked: true, ...(after === undefined ? {} : { after }) })
      seen.push(...page.slice(0, 3).map(({ id }) => id))
      if (page.length <= 3) break
      after = page[2]!
    }
    expect([...seen].sort()).toEqual([...new Set(seen)].sort())
    expect(seen).toHaveLength(10)
    expect((await records.keys({ limit: 9 })).map(({ id }) => id).sort()).toEqual(['2B', '2a', '2b', '2c', '2É'])
    expect((await records.keys({ limit: 9, group: 'g' })).map(({ id }) => id)).toEqual(['2a'])
    expect(await records.keys({ limit: 9, after: { id: 'gone', name: 'É' } })).toEqual([])
  })

  test('when keys were last used only grows, and is no change', async () => {
    await records.createKey(keyOf('a'))
    const { version } = await records.changes(0)
    await records.recordUses(
      new Map([
        ['a', 8],
        ['gone', 9],
      ]),
    )
    await records.recordUses(new Map([['a', 4]]))
    expect(await records.key('a')).toMatchObject({ lastUsedAt: 8 })
    expect(await records.changes(version)).toEqual({ version, keys: [], groups: [], droppedGroups: [] })
  })

  test('of changes at once, none is lost', async () => {
    await records.createKey(keyOf('a'))
    await records.putGroup(groupOf('g'))
    const names = ['rpm', 'tpm', 'concurrent'] as const
    const sides = [records, opened.connections[1] ?? records]
    await Promise.all(
      names.flatMap((limit, at) => [
        sides[at % 2]!.changeKey('a', ({ limits }) => ({ limits: { ...limits, [limit]: at } })),
        sides[at % 2]!.changeGroup('g', group => ({ ...group!, limits: { ...group!.limits, [limit]: at } })),
      ]),
    )
    const limits = { rpm: 0, tpm: 1, concurrent: 2 }
    expect(await records.key('a')).toMatchObject({ limits })
    expect(await records.groups()).toMatchObject([{ limits }])
  })

  test('of groups made at once under one name, there is one', async () => {
    const makes = Array.from({ length: 8 }, (_, at) =>
      records.changeGroup('g', known => (known === undefined ? groupOf('g', { models: [String(at)] }) : undefined)),
    )
    const made = (await Promise.all(makes)).filter(group => group !== undefined)
    expect(made).toHaveLength(1)
    expect(await records.groups()).toEqual(made)
    const { version } = await records.changes(0)
    expect(await records.changeGroup('other', () => undefined)).toBeUndefined()
    expect((await records.changes(0)).version).toBe(version)
  })

  test('groups and drained channels are kept and dropped', async () => {
    const group = groupOf('g', {
      models: ['x'],
      doors: ['chat'],
      channels: ['c*'],
      limits: { rpm: 1 },
      onLoss: 'refuse',
    })
    await records.putGroup(groupOf('g'))
    await records.putGroup(group)
    expect(await records.groups()).toEqual([group])
    expect(await records.drain('c', true)).toBe(true)
    expect(await records.drain('c', true)).toBe(false)
    expect(await records.drain('d', false)).toBe(false)
    const { version, drained, groups } = await records.changes(0)
    expect({ drained, groups }).toEqual({ drained: ['c'], groups: [group] })
    expect(await records.dropGroup('g')).toBe(true)
    expect(await records.dropGroup('g')).toBe(false)
    expect(await records.groups()).toEqual([])
    expect(await records.changes(version)).toEqual({
      ...{ version: version + 1, keys: [], groups: [], droppedGroups: ['g'] },
    })
    await records.putGroup(group)
    expect(await records.groups()).toEqual([group])
  })

  test('a group that is deleted only while unused, and keys that need their group, agree at every moment', async () => {
    const [one, other] = [records, opened.connections.at(-1)!]
    expect(await one.createKey(keyOf('k0', { group: 'g' }), true)).toBe(false)
    await one.createKey(keyOf('k0'))
    expect(await one.changeKey('k0', { group: 'g' }, true)).toBeUndefined()
    for (let round = 1; round <= 8; round++) {
      await one.putGroup(groupOf('g'))
      const [isMade, moved, isDropped] = await Promise.all([
        one.createKey(keyOf(`k${round}`, { group: 'g' }), true),
        one.changeKey('k0', { group: 'g' }, true),
        other.dropGroup('g', true),
      ])
      expect([isMade, moved !== undefined]).toEqual([!isDropped, !isDropped])
      expect((await one.groups()).length).toBe(isDropped ? 0 : 1)
      if (isMade) await one.revokeKey(`k${round}`, 9)
      await one.changeKey('k0', { group: 'default' })
      expect(await one.dropGroup('g', true)).toBe(!isDropped)
    }
  })

  test('a change that changes nothing takes no version', async () => {
    await records.createKey(keyOf('a'))
    const { version } = await records.changes(0)
    await records.createKey(keyOf('b', { name: 'a' }))
    await records.revokeKey('x', 1)
    await records.dropGroup('x')
    expect((await records.changes(0)).version).toBe(version)
  })

  test('a follower of another database learns everything, and that the rest is gone', async () => {
    const other = new Follower()
    other.version = 3
    other.keys.set('z', keyOf('z'))
    await other.follow(records)
    expect(other.state.keys).toEqual([])
    await records.createKey(keyOf('a'))
    for (const version of [3, 2 ** 50]) {
      other.version = version
      await other.follow(records)
      expect(other.state.keys).toEqual([keyOf('a')])
    }
  })

  test('tokens of administrators are found by hash', async () => {
    const token = { id: 't', name: 'me', hash: 'h', prefix: 'iladm-ab', lastFour: 'wxyz', createdAt: 1 }
    await records.addToken(token)
    await records.addToken({ ...token, id: 'u', hash: 'i', createdAt: 2, expiresAt: 3 })
    expect(await records.token('h')).toEqual(token)
    expect(await records.token('j')).toBeUndefined()
    expect((await records.tokens()).map(({ id }) => id)).toEqual(['t', 'u'])
    expect(await records.dropToken('t', true)).toBe('done')
    expect(await records.dropToken('t', true)).toBe('unknown')
    expect(await records.token('h')).toBeUndefined()
  })

  test('of tokens that are dropped at the same time one is left that is good, unless that is forced', async () => {
    const [one, other = one] = opened.connections as [AccessRecords, AccessRecords?]
    const token = { name: 'me', prefix: 'iladm-ab', lastFour: 'wxyz', createdAt: 1 }
    await one.addToken({ ...token, id: 'expired', hash: 'e', expiresAt: 2 })
    for (let round = 0; round < 20; round++) {
      const [left, right] = [`left-${round}`, `right-${round}`]
      for (const id of [left, right]) await one.addToken({ ...token, id, hash: id })
      // One token of the previous round is left.
      for (const { id } of await one.tokens())
        if (![left, right, 'expired'].includes(id)) expect(await one.dropToken(id, false)).toBe('done')
      const dropped = await Promise.all([one.dropToken(left, false), other.dropToken(right, false)])
      expect(dropped.toSorted()).toEqual(['done', 'last'])
      expect((await one.tokens()).length).toBe(2)
    }
    const [, last] = await one.tokens()
    expect(await one.dropToken('nothing', false)).toBe('unknown')
    expect(await one.dropToken(last!.id, false)).toBe('last')
    expect(await one.dropToken(last!.id, true)).toBe('done')
  })
})

describe.each(ENGINES)('changes in $name', ({ name, open, skipped }) => {
  test.skipIf(skipped)('a follower ends with what is there, whoever changes it when', async () => {
    const law = fc.asyncProperty(
      fc.array(fc.array(change, { maxLength: 12 }), { minLength: 2, maxLength: 3 }),
      async writers => {
        const { connections, close } = await open(writers.length + 1)
        const reader = connections.at(-1)!
        const follower = new Follower()
        try {
          // A SQLite process blocks as a whole while it waits for a lock, so these connections take turns.
          if (name === 'SQLite') {
            for (let turn = 0; writers.some(changes => turn < changes.length); turn++)
              for (const [index, changes] of writers.entries()) {
                if (turn < changes.length) await make(connections[index]!, changes[turn]!)
                if ((turn + index) % 3 === 0) await follower.follow(reader)
              }
          } else {
            let done = false
            const following = (async () => {
              while (!done) await follower.follow(reader)
            })()
            const writing = Promise.all(
              writers.map(async (changes, index) => {
                for (const one of changes) await make(connections[index]!, one)
              }),
            ).finally(() => (done = true))
            await Promise.all([writing, following])
          }
          await follower.follow(reader)
          const fresh = new Follower()
          await fresh.follow(reader)
          expect(follower.state).toEqual(fresh.state)
          const valid = [...fresh.keys.values()].filter(({ revokedAt }) => revokedAt === undefined)
          expect(new Set(valid.map(key => key.name)).size).toBe(valid.length)
          const hashes = [...fresh.keys.values()].flatMap(({ secrets }) => secrets.map(({ hash }) => hash))
          expect(new Set(hashes).size).toBe(hashes.length)
        } finally {
          await close()
        }
      },
    )
    await fc.assert(law, { numRuns: name === 'SQLite' ? 60 : 10 })
  })
})

test('processes that share a file change it at once, and no change is missed', async () => {
  const path = join(data.path, 'shared.sqlite')
  const store = await openSqlite(path)
  const source = `
    const { workerData: { path, name } } = require('node:worker_threads')
    import(${JSON.stringify(join(import.meta.dirname, '../../src/store/store.ts'))}).then(async ({ openSqlite }) => {
      const { access, close } = await openSqlite(path)
      const key = id => ({ id, name: id, group: 'g', createdAt: 0, limits: {}, enabled: true, secrets: [] })
      for (let n = 0; n < 60; n++) {
        await access.createKey(key(name + n))
        if (n % 3 === 0) await access.revokeKey(name + n, 1)
        await access.drain('c' + (n % 5), n % 2 === 0)
      }
      await close()
    })`
  const workers = ['a', 'b'].map(name => new Worker(source, { eval: true, workerData: { path, name } }))
  let running = workers.length
  const ended = workers.map(
    worker => new Promise((resolve, reject) => worker.once('error', reject).once('exit', resolve)),
  )
  for (const one of ended) void one.finally(() => running--).catch(() => {})
  const follower = new Follower()
  while (running > 0) {
    await follower.follow(store.access)
    await new Promise(resolve => setTimeout(resolve, 1))
  }
  await Promise.all(ended)
  await follower.follow(store.access)
  const fresh = new Follower()
  await fresh.follow(store.access)
  expect(fresh.keys.size).toBe(120)
  expect(follower.state).toEqual(fresh.state)
  await store.close()
})
