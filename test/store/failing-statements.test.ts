import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Kysely, sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hashOf } from '../../src/config/hash.ts'
import type { StoreConfig } from '../../src/config/types.ts'
import type { AuditEntry } from '../../src/store/audit-records.ts'
import type { StoredEntry } from '../../src/store/config-records.ts'
import { TABLES } from '../../src/store/migrate.ts'
import { openEngine } from '../../src/store/open-engine.ts'
import { openStore, type Store } from '../../src/store/store.ts'
import { closingAfterEach } from '../builders/closing.ts'
import { freshDatabase, noPostgres } from '../builders/postgres.ts'
import { HOUR } from '../builders/units.ts'
import { FailingStatements, type How } from './crash/failing-statements.ts'
import { AT, EXPIRES } from './crash/operation.ts'
import { workload } from './crash/workload.ts'

/*
 * Each statement of each change fails once, in each engine. A change that is acknowledged is there as a whole, one that
 * is refused is not there at all, and either way the store goes on: the same change succeeds when nothing fails, once.
 */

const closing = closingAfterEach()

let statements: FailingStatements
beforeAll(() => {
  statements = new FailingStatements()
})
afterAll(() => statements.end())

const ENGINES: readonly (readonly [name: string, open: () => Promise<StoreConfig>, ways: readonly How[]])[] = [
  [
    'SQLite',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'failing-statements-'))
      closing.push(() => rmSync(folder, { recursive: true, force: true }))
      return { engine: 'sqlite', path: join(folder, 'x.sqlite') }
    },
    ['refused', 'rolled back'],
  ],
  ...(noPostgres === undefined
    ? ([
        [
          'PostgreSQL',
          async () => {
            const { url, drop } = await freshDatabase()
            closing.push(drop)
            return { engine: 'postgres', url } as const
          },
          ['refused', 'lost', 'lost afterwards'],
        ],
      ] as const)
    : []),
]

const CASES = ENGINES.flatMap(([name, open, ways]) => ways.map(how => ({ name, open, how })))

/** Changes of the other kinds, in an order in which each one changes something. */
const CHANGES: readonly (readonly [name: string, run: (store: Store) => Promise<unknown>])[] = [
  ['a group', ({ access }) => access.changeGroup('g', () => GROUP)],
  ['a key in the group', ({ access }) => access.createKey(keyOf('k'), true)],
  ['a changed key', ({ access }) => access.changeKey('k', ({ note }) => ({ name: 'renamed', note: `${note}` }))],
  ['uses of keys', ({ access }) => access.recordUses(new Map([['k', AT + 1]]))],
  ['a drained channel', ({ access }) => access.drain('c', true)],
  ['a token', ({ access }) => access.addToken(tokenOf('t0'))],
  ['a second token', ({ access }) => access.addToken(tokenOf('t1'))],
  ['a deleted token', ({ access }) => access.dropToken('t0', false)],
  ['a stored channel', ({ config }) => config.changeEntry('channel', 'c', () => ENTRY)],
  ['a credential that is encrypted again', ({ config }) => config.encryptAgain(async () => ENCRYPTION)],
  ['a deleted channel', ({ config }) => config.dropEntry('channel', 'c')],
  ['a first user', ({ console }) => console.addUser(userOf('ada'), true)],
  ['a second user', ({ console }) => console.addUser(userOf('bob'))],
  ['a session', ({ console }) => console.openSignInSession(sessionOf('bob'), undefined, 9)],
  ['a new password', ({ console }) => console.changeUser('bob', { password: 'x' })],
  ['a wrong password', ({ console }) => console.attempt(ATTEMPT, RULES)],
  ['a right password', ({ console }) => console.forgive(ATTEMPT)],
  ['a deleted user', ({ console }) => console.dropUser('bob')],
  ['a note', ({ shared }) => shared.addNote(NOTE, { perOwner: 2, total: 9 })],
  ['a taken note', ({ shared }) => shared.takeNote('client-secret', 'n')],
  ['reasoning', ({ shared }) => shared.changeReasoning([{ names: [['a', 'b'], ['c']], reasoning: REASONING }])],
  ['replaced reasoning', ({ shared }) => shared.changeReasoning([{ names: [['a']] }])],
  ['signatures', ({ shared }) => shared.putSignatures([{ hash: 'h', issuer: 'i', expiresAt: EXPIRES }])],
  ['a conversation', ({ conversations }) => conversations.create(CONVERSATION, [{ id: 'i' }])],
  ['another item', ({ conversations }) => conversations.add('me', 'conv', [{ id: 'j' }], EXPIRES + 1)],
  ['metadata', ({ conversations }) => conversations.describe('me', 'conv', { a: 'b' })],
  ['a deleted item', ({ conversations }) => conversations.dropItem('me', 'conv', 'i')],
  ['a deleted conversation', ({ conversations }) => conversations.drop('me', 'conv')],
  ['captures beyond the limit', ({ captures }) => captures.add(['a', 'b', 'c'].map(captureOf), 1000)],
  ['an entry of the audit log', ({ audit }) => audit.add(AUDITED)],
  ['a deleted group', ({ access }) => access.dropGroup('g')],
]

const GROUP = { name: 'g', models: ['*'], limits: {}, onLoss: 'show', createdAt: AT } as const
const keyOf = (id: string) => ({
  ...{ id, name: id, group: 'g', limits: {}, enabled: true, createdAt: AT },
  secrets: [{ hash: hashOf(id), prefix: 'p', lastFour: 'last', createdAt: AT }],
})
const tokenOf = (id: string) => ({ id, name: id, hash: hashOf(id), prefix: 'p', lastFour: 'last', createdAt: AT })
const ENTRY: StoredEntry = {
  ...{ kind: 'channel', name: 'c', settings: {}, createdAt: AT, updatedAt: AT, secrets: { keyId: 'k', data: 'x' } },
}
const ENCRYPTION = {
  ...{ change: () => ({ keyId: 'l', data: 'y' }), secrets: [{ name: 'credentials', value: Buffer.from('z') }] },
}
const userOf = (name: string) => ({ name, role: 'admin', source: 'password', enabled: true, createdAt: AT }) as const
const sessionOf = (user: string) => ({ hash: 's', user, createdAt: AT, usedAt: AT, expiresAt: EXPIRES })
const ATTEMPT = { account: 'a', network: 'n', widerNetwork: 'w' }
const RULES = { perNetwork: 3, total: 9, within: 1e9, lockedFor: 1e9 }
const NOTE = { kind: 'client-secret', name: 'n', owner: 'me', text: 'x', expiresAt: Date.now() + HOUR } as const
const REASONING = { id: 'r', text: 'x', expiresAt: EXPIRES }
const CONVERSATION = { owner: 'me', id: 'conv', metadata: {}, createdAt: AT, expiresAt: EXPIRES }
const captureOf = (id: string) => ({ id, at: AT, expiresAt: EXPIRES, data: Buffer.alloc(500) })
const AUDITED: AuditEntry = {
  ...{ id: 'e', at: AT, actor: 'a', actorKind: 'user', action: 'x', kind: 'key', target: 't', name: 'n', changes: [] },
}

/** Returns a function that reads all rows of a store over a connection of its own. */
async function reader(config: StoreConfig): Promise<() => Promise<string>> {
  const engine = await openEngine(config)
  const tables = new Kysely({ dialect: engine.dialect })
  closing.push(() => tables.destroy())
  return async () => {
    const all: unknown[] = []
    for (const table of TABLES) {
      const { rows } = await sql`select * from ${sql.table(table)}`.execute(tables)
      all.push([table, rows.map(row => JSON.stringify(row)).sort()])
    }
    return JSON.stringify(all)
  }
}

describe.each(CASES)('a statement of $name that is $how', ({ open, how }) => {
  test('leaves the whole of a change or nothing, and the change succeeds afterwards', {
    timeout: 120_000,
  }, async () => {
    const store = await openStore(await open())
    closing.push(() => store.close())
    let failures = 0
    for (const { name, run, visible } of workload(1)) {
      let isDone = false
      for (let number = 1; !isDone; number++) {
        statements.failAt(number, how)
        const isAcknowledged = await run(store).then(
          () => true,
          () => false,
        )
        const hasFailed = statements.disarm()
        if (hasFailed) failures++
        const seen = await visible(store)
        const where = `${name}, statement ${number}`
        if (isAcknowledged) expect([where, seen]).toEqual([where, 'all'])
        else if (how === 'lost afterwards') expect(['all', 'nothing'], where).toContain(seen)
        else expect([where, seen]).toEqual([where, 'nothing'])
        isDone = seen === 'all'
        if (number > 60) throw new Error(`${where} never succeeds`)
      }
      // The acknowledgement may have been lost, so that the caller repeats the change.
      await run(store).catch(() => {})
      expect([name, await visible(store)]).toEqual([name, 'all'])
    }
    expect(failures).toBeGreaterThan(60)
  })

  test('leaves every table as it was, or has changed them all', { timeout: 120_000 }, async () => {
    const config = await open()
    const store = await openStore(config)
    closing.push(() => store.close())
    const read = await reader(config)
    for (const [name, run] of CHANGES) {
      const before = await read()
      for (let number = 1; ; number++) {
        statements.failAt(number, how)
        const isAcknowledged = await run(store).then(
          () => true,
          () => false,
        )
        const hasFailed = statements.disarm()
        const isChanged = (await read()) !== before
        if (isAcknowledged || how !== 'lost afterwards')
          expect([name, number, isChanged]).toEqual([name, number, isAcknowledged])
        if (isChanged) break
        expect([name, number, hasFailed]).toEqual([name, number, true])
      }
    }
  })
})
