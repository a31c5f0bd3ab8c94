import type { JsonObject } from '../../../src/canonical/node.ts'
import { Background } from '../../../src/gateway/stored/background.ts'
import type { BackgroundRun } from '../../../src/gateway/stored/background-run.ts'
import type { Copies } from '../../../src/gateway/stored/copies.ts'
import { ResponseSaver } from '../../../src/gateway/stored/response-saver.ts'
import { ResponsesApi } from '../../../src/gateway/stored/responses-api.ts'
import { RESPONSES } from '../../../src/gateway/stored/responses-format.ts'
import { UNAVAILABLE } from '../../../src/store/fault.ts'
import type { StoreView } from '../../../src/store/lazy-store.ts'
import { openSqlite, type Store } from '../../../src/store/store.ts'
import { REQUEST } from '../../builders/requests.ts'
import { type Failure, failing } from '../failing.ts'
import type { Response, Shown } from './model.ts'

/** Time for which responses are stored, in milliseconds. */
export const LIFETIME = 3_600_000
/** The conversation of each owner. */
export const CONVERSATION = 'conv'
export const OWNERS = ['a', 'b'] as const

/** Work on one background response. */
interface Work {
  readonly run: BackgroundRun
  readonly answered: () => void
}

/** One process with its background work. */
class Process {
  readonly api: ResponsesApi
  readonly background: Background
  /** How its next calls of the store fail, by method. */
  readonly failures = new Map<string, Failure>()
  readonly view: StoreView
  isDead = false

  constructor(store: Store, number: number, isAlive: (id: string) => boolean) {
    const id = `process${number}`
    const next = (method: string): Failure | undefined => {
      if (this.isDead) return 'before'
      const failure = this.failures.get(method)
      this.failures.delete(method)
      return failure
    }
    const wrapped = <R extends object>(repository: R): R => failing(repository, next, () => UNAVAILABLE)
    this.view = {
      ...{ turns: wrapped(store.turns), events: wrapped(store.events), conversations: wrapped(store.conversations) },
      liveness: { id, open: async () => {}, isAlive: async (other: string) => isAlive(other), close: async () => {} },
    } as unknown as StoreView
    const copies = { remove: async () => {}, cancel: async () => {} } as unknown as Copies
    this.background = new Background(copies, async () => () => {})
    this.api = new ResponsesApi(RESPONSES, this.view, this.background, copies)
  }
}

/** Two processes that share a store. */
export class World {
  readonly store: Store
  readonly processes: readonly Process[]
  readonly work = new Map<Response, Work>()
  /** Time that the store is ahead, in milliseconds. */
  private readonly clock: { ahead: number }

  private constructor(store: Store, clock: { ahead: number }) {
    this.store = store
    this.clock = clock
    const isAlive = (id: string): boolean => this.processes.some(one => one.view.liveness.id === id && !one.isDead)
    this.processes = [0, 1].map(number => new Process(store, number, isAlive))
  }

  static async open(): Promise<World> {
    const clock = { ahead: 0 }
    const store = await openSqlite(':memory:', () => Date.now() + clock.ahead)
    for (const owner of OWNERS) {
      const now = Date.now()
      await store.conversations.create(
        { owner, id: CONVERSATION, metadata: {}, createdAt: now, expiresAt: now + LIFETIME },
        [],
      )
    }
    return new World(store, clock)
  }

  saver({ owner, process, previous, isInConversation, input }: Omit<Response, 'id'>): ResponseSaver {
    const { view } = this.processes[process]!
    return new ResponseSaver(
      {
        ...{ format: RESPONSES, owner, input: [itemOf(input)], request: REQUEST, previous: previous?.id },
        conversation: isInConversation ? CONVERSATION : undefined,
      },
      { turns: [view.turns], store: view, lifetime: LIFETIME, log: { info() {}, warn() {}, error() {} } },
    )
  }

  /** What an owner is shown of a response at a process: undefined if it is unknown, `fault` if the store failed. */
  async shown(process: number, owner: string, id: string): Promise<Shown | undefined | 'fault'> {
    return orUnknown(async () => shownOf(await this.processes[process]!.api.response(owner, id)))
  }

  /** Lets everything expire, and deletes it. */
  async expire(): Promise<void> {
    this.clock.ahead = 2 * LIFETIME
    await this.store.sweep()
  }

  async close(): Promise<void> {
    // A killed process would retry for an hour.
    for (const process of this.processes) process.isDead = false
    for (const { answered } of this.work.values()) answered()
    for (const { background } of this.processes) await background.close()
    await this.store.close()
  }
}

/** Returns what work returns; undefined if it says that something is unknown, `fault` if the store failed. */
export async function orUnknown<T>(work: () => Promise<T>): Promise<T | undefined | 'fault'> {
  try {
    return await work()
  } catch (thrown) {
    if (thrown === UNAVAILABLE) return 'fault'
    if ((thrown as { readonly error?: { readonly kind?: string } }).error?.kind === 'not-found') return undefined
    throw thrown
  }
}

export const itemOf = (id: string): JsonObject => ({ type: 'message', id, role: 'user', content: [] })

/** The answer as its upstream would send it whole. */
export const answerOf = (id: string, output: readonly string[]): JsonObject => ({
  ...{ id, object: 'response', status: 'completed', output: output.map(itemOf) },
})

export function shownOf({ status, output }: JsonObject): Shown {
  return { status: String(status), output: (output as readonly JsonObject[]).map(({ id }) => String(id)) }
}
