import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PostgresDriver, SqliteDriver } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hashOf } from '../../src/config/hash.ts'
import type { StoreConfig } from '../../src/config/types.ts'
import { openStore, type Store } from '../../src/store/store.ts'
import type { StoredTask } from '../../src/store/tasks.ts'
import type { Turn } from '../../src/store/turns.ts'
import { closingAfterEach } from '../builders/closing.ts'
import { freshDatabase, noPostgres } from '../builders/postgres.ts'
import { AT, EXPIRES } from './crash/operation.ts'

/*
 * A change of another process between any two statements of a call. The answer of the call, and what is stored
 * afterwards, are as if one of the two had come first.
 */

const closing = closingAfterEach()

/** Runs a change when a call takes a connection for a statement or a transaction for the nth time. */
class Interleaving {
  private rest = 0
  private change: () => Promise<unknown> = async () => {}
  private readonly drivers = [SqliteDriver.prototype, PostgresDriver.prototype] as const
  private readonly acquire = this.drivers.map(({ acquireConnection }) => acquireConnection)

  constructor() {
    const next = () => this.next()
    for (const [at, driver] of this.drivers.entries()) {
      const acquire = this.acquire[at]! as (this: unknown) => Promise<never>
      driver.acquireConnection = async function () {
        await next()
        return acquire.call(this)
      }
    }
  }

  /** Runs a change before the nth statement of a call, counted from 1. Returns its answer, and whether there was one. */
  async run(number: number, call: () => Promise<unknown>, change: () => Promise<unknown>) {
    this.rest = number
    this.change = change
    const answer = await answerOf(call)
    const isReached = this.rest <= 0
    this.rest = 0
    return { answer, isReached }
  }

  end(): void {
    for (const [at, driver] of this.drivers.entries()) driver.acquireConnection = this.acquire[at]! as never
  }

  private async next(): Promise<void> {
    if (this.rest > 0 && --this.rest === 0) await this.change()
  }
}

const answerOf = (call: () => Promise<unknown>): Promise<unknown> =>
  call().then(
    answer => (answer instanceof Map ? [...answer].sort() : answer),
    thrown => `${thrown}`,
  )

let interleaving: Interleaving
beforeAll(() => {
  interleaving = new Interleaving()
})
afterAll(() => interleaving.end())

const ENGINES: readonly (readonly [name: string, open: () => Promise<StoreConfig>])[] = [
  [
    'SQLite',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'interleaved-'))
      closing.push(() => rmSync(folder, { recursive: true, force: true }))
      return { engine: 'sqlite', path: join(folder, 'x.sqlite') }
    },
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
        ],
      ] as const)
    : []),
]

/** A call of a store on behalf of an owner, with the name of the call. */
type Call = readonly [name: string, run: (store: Store, owner: string) => Promise<unknown>]

const itemOf = (id: string) => ({ type: 'message', id })
const turnOf = (owner: string, id: string, more: Partial<Turn> = {}): Turn => ({
  ...{ owner, id, response: { id, output: [itemOf(`${id}-out`)] }, input: [itemOf(`${id}-in`)] },
  ...{ createdAt: AT, expiresAt: EXPIRES, ...more },
})
const unfinished = (owner: string) => turnOf(owner, 'r3', { response: { id: 'r3', output: [] }, lease: EXPIRES })
const taskOf = (owner: string, id: string): StoredTask => ({
  ...{ owner, id, model: 'm', channel: 'c', format: 'videos', upstreamModel: 'm', state: 'submitting', from: 'text' },
  ...{ output: { modalities: ['video'] }, result: { candidates: [] }, worker: 'w', misses: 0 },
  ...{ createdAt: AT, polledAt: AT, expiresAt: EXPIRES },
})
const secretOf = (text: string) => ({ hash: hashOf(text), prefix: 'p', lastFour: 'last', createdAt: AT })
const sessionOf = (owner: string) =>
  ({ hash: `s-${owner}`, user: owner, createdAt: AT, usedAt: AT, expiresAt: EXPIRES }) as const
const namesOf = (owner: string) => [[`a-${owner}`], [`b-${owner}`]]
const reasoningOf = (id: string) => ({ id, text: id, expiresAt: EXPIRES })

/** Data of one kind: what is there at first, calls that only read, and changes. */
interface Kind {
  readonly kind: string
  prepare(store: Store, owner: string): Promise<unknown>
  readonly reads: readonly Call[]
  readonly changes: readonly Call[]
  /** Changes of several calls, which another process makes. */
  readonly others?: readonly Call[]
}

const KINDS: readonly Kind[] = [
  {
    kind: 'responses and conversations',
    async prepare({ turns, conversations }, owner) {
      const conversation = { owner, id: 'conv', metadata: {}, createdAt: AT, expiresAt: EXPIRES }
      await Promise.all([
        turns.put(turnOf(owner, 'r1')),
        turns.put(turnOf(owner, 'r2', { previous: 'r1' })),
        turns.put(unfinished(owner), { first: 0, texts: ['a', 'b'] }),
        conversations.create(conversation, ['i1', 'i2', 'i3'].map(itemOf)),
      ])
    },
    reads: [
      ['a response', ({ turns }, owner) => turns.find(owner, 'r2')],
      ['an unfinished response', ({ turns }, owner) => turns.find(owner, 'r3')],
      ['a history', ({ turns }, owner) => turns.chain(owner, 'r2')],
      ['items', ({ turns }, owner) => turns.items(owner, ['r1-in', 'r2-out', 'i3'])],
      ['a conversation', ({ conversations }, owner) => conversations.find(owner, 'conv')],
      ['the items of a conversation', ({ conversations }, owner) => conversations.items(owner, 'conv')],
    ],
    changes: [
      ['the first response is deleted', ({ turns }, owner) => turns.drop(owner, 'r1')],
      ['the second response is deleted', ({ turns }, owner) => turns.drop(owner, 'r2')],
      ['a response is replaced', ({ turns }, owner) => turns.put(turnOf(owner, 'r2', { input: [] }))],
      [
        'the third response ends',
        ({ turns }, owner) =>
          turns.advance(
            turnOf(owner, 'r3'),
            { first: 2, texts: ['c'] },
            { conversation: 'conv', items: [itemOf('i4')] },
          ),
      ],
      ['an item is added', ({ conversations }, owner) => conversations.add(owner, 'conv', [itemOf('i5')], EXPIRES)],
      ['an item is deleted', ({ conversations }, owner) => conversations.dropItem(owner, 'conv', 'i3')],
      ['the conversation is deleted', ({ conversations }, owner) => conversations.drop(owner, 'conv')],
    ],
    others: [
      [
        'an item takes the place of another',
        async ({ conversations }, owner) => [
          await conversations.dropItem(owner, 'conv', 'i3'),
          await conversations.add(owner, 'conv', [itemOf('i6')], EXPIRES),
        ],
      ],
    ],
  },
  {
    kind: 'tasks',
    prepare: async ({ tasks }, owner) => {
      for (const id of ['t1', 't2']) await tasks.begin(taskOf(owner, id))
    },
    reads: [['tasks', ({ tasks }, owner) => tasks.list(owner, { limit: 9, order: 'asc', after: 't1' })]],
    changes: [['a task is deleted', ({ tasks }, owner) => tasks.drop(owner, 't1')]],
  },
  {
    kind: 'keys',
    prepare: ({ access }, owner) =>
      access.createKey({
        ...{ id: owner, name: owner, group: owner, limits: {}, enabled: true, createdAt: AT },
        secrets: [secretOf(owner)],
      }),
    reads: [
      ['a key', ({ access }, owner) => access.key(owner)],
      ['a key by its name', ({ access }, owner) => access.keyNamed(owner)],
      ['keys', ({ access }, owner) => access.keys({ limit: 9, group: owner, revoked: true })],
    ],
    changes: [
      ['the key is renamed', ({ access }, owner) => access.changeKey(owner, { name: `${owner} 2` })],
      ['the key is revoked', ({ access }, owner) => access.revokeKey(owner, AT)],
    ],
  },
  {
    kind: 'sign-ins',
    async prepare({ console }, owner) {
      await console.addUser({ name: owner, role: 'admin', source: 'password', enabled: true, createdAt: AT })
      await console.openSignInSession(sessionOf(owner), undefined, 9)
    },
    reads: [['a sign-in', ({ console }, owner) => console.signInSession(`s-${owner}`)]],
    changes: [
      ['the user is deleted', ({ console }, owner) => console.dropUser(owner)],
      ['the user is disabled', ({ console }, owner) => console.changeUser(owner, { enabled: false })],
      ['the sign-in ends', ({ console }, owner) => console.endSignInSession(`s-${owner}`)],
    ],
  },
  {
    kind: 'reasoning',
    prepare: ({ shared }, owner) => shared.changeReasoning([{ names: namesOf(owner), reasoning: reasoningOf(owner) }]),
    reads: [['reasoning', ({ shared }, owner) => shared.reasoning(namesOf(owner).flat())]],
    changes: [
      [
        'reasoning of a call is replaced',
        ({ shared }, owner) =>
          shared.changeReasoning([{ names: [namesOf(owner)[0]!], reasoning: reasoningOf(`${owner} 2`) }]),
      ],
      ['reasoning is forgotten', ({ shared }, owner) => shared.changeReasoning([{ names: namesOf(owner) }])],
    ],
  },
]

const CASES = ENGINES.flatMap(([engine, open]) => KINDS.map(kind => ({ engine, open, ...kind })))

test.each(CASES)('$kind in $engine', { timeout: 60_000 }, async ({ open, prepare, reads, changes, others = [] }) => {
  const config = await open()
  const [store, other] = [await openStore(config, () => AT), await openStore(config, () => AT)]
  closing.push(() => Promise.all([store.close(), other.close()]))
  let count = 0
  const freshOwner = async (): Promise<string> => {
    const owner = `owner${count++}.`
    await prepare(store, owner)
    return owner
  }
  /** The answer of a call and what is stored after it, as texts that are equal for all owners. */
  const outcomeOf = async (owner: string, answer: unknown): Promise<string> => {
    const stored: unknown[] = []
    for (const [, read] of reads) stored.push(await answerOf(() => read(store, owner)))
    return JSON.stringify([answer, stored]).replaceAll(owner, 'owner').replaceAll(hashOf(owner), 'hash')
  }
  for (const [call, run] of [...reads, ...changes])
    for (const [change, apply] of [...changes, ...others]) {
      const [first, second] = [await freshOwner(), await freshOwner()]
      await answerOf(() => apply(other, first))
      const after = await outcomeOf(first, await answerOf(() => run(store, first)))
      const answer = await answerOf(() => run(store, second))
      await answerOf(() => apply(other, second))
      const before = await outcomeOf(second, answer)
      for (let number = 2; ; number++) {
        const owner = await freshOwner()
        const interleaved = await interleaving.run(
          number,
          () => run(store, owner),
          () => answerOf(() => apply(other, owner)),
        )
        if (!interleaved.isReached) break
        const outcome = await outcomeOf(owner, interleaved.answer)
        expect([after, before], `${call}, before statement ${number}: ${change}`).toContain(outcome)
      }
    }
})
