import fc from 'fast-check'
import { expect } from 'vitest'
import { Access, type Caller } from '../../../src/accounts/index.ts'
import { freshSecret } from '../../../src/accounts/secret.ts'
import { GatewayError } from '../../../src/canonical/error.ts'
import type { AccessRecords } from '../../../src/store/access-records.ts'
import { openSqlite, type Store } from '../../../src/store/store.ts'
import { configOf } from '../../builders/config.ts'
import { createKey } from '../../builders/keys.ts'
import { Gate, settled } from '../gate.ts'
import { decisionOf, FOREVER, type Key, type KeysModel } from './model.ts'

/** One process: what it decides, and the reads of the store that are still on their way to it. */
export interface Process {
  readonly access: Access
  readonly reads: Gate
  /** The first caller that each secret authenticated, whose request still runs. */
  readonly running: Map<string, Caller>
}

/** Processes that share a store. */
export class World {
  readonly store: Store
  readonly processes: readonly Process[]

  private constructor(store: Store, processes: readonly Process[]) {
    this.store = store
    this.processes = processes
  }

  static async open(model: KeysModel): Promise<World> {
    const now = () => model.now
    const store = await openSqlite(':memory:', now)
    const processes = model.known.map((): Process => {
      const reads = new Gate()
      const records: AccessRecords = {
        ...bound(store.access),
        changes: since => reads.hold(store.access.changes(since)),
      }
      const engine = { engine: 'postgres', url: 'postgres://127.0.0.1:1/x' } as const
      return {
        access: new Access({ ...configOf([]), keys: [], store: engine }, { records, now }),
        reads,
        running: new Map(),
      }
    })
    return new World(store, processes)
  }

  async close(): Promise<void> {
    for (const { reads, access } of this.processes) {
      await reads.releaseAll()
      await access.close()
    }
    await this.store.close()
  }
}

/** Copies the methods of a repository, which are on its prototype. */
function bound(records: AccessRecords): AccessRecords {
  const names = Object.getOwnPropertyNames(Object.getPrototypeOf(records)) as (keyof AccessRecords)[]
  return Object.fromEntries(names.map(name => [name, (records[name] as () => unknown).bind(records)])) as never
}

const REFUSALS: { readonly [message: string]: string } = {
  'The API key is not valid.': 'unknown',
  'The API key has expired.': 'expired',
  'The API key is disabled.': 'disabled',
  'The group of this API key no longer exists.': 'no group',
  'API keys are temporarily unavailable.': 'unknown',
}

/** What a process decides about a secret now. Running requests end when no new one would be admitted. */
function decided({ access, running }: Process, text: string): string {
  const decision = admitted({ access, running }, text)
  const caller = running.get(text)
  if (caller !== undefined) expect(access.endOf(caller) === undefined, decision).toBe(decision.includes(' in '))
  return decision
}

function admitted({ access, running }: Pick<Process, 'access' | 'running'>, text: string): string {
  try {
    const caller = access.identify({ headers: { 'x-api-key': text } })
    if (!running.has(text)) running.set(text, caller)
    const { id, group, permissions } = caller
    return `${id} in ${group}: ${['m', 'n'].filter(model => permissions.allowsModel(model)).join()}`
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(GatewayError)
    const { message } = thrown as GatewayError
    return REFUSALS[message] ?? message
  }
}

type Command = fc.AsyncCommand<KeysModel, World>

/** A command after which every process decides as the model allows. */
abstract class Checked implements Command {
  abstract readonly check: (model: Readonly<KeysModel>) => boolean
  protected abstract act(model: KeysModel, world: World): Promise<void>

  async run(model: KeysModel, world: World): Promise<void> {
    await this.act(model, world)
    for (const [index, process] of world.processes.entries()) {
      const decisions = model.texts.map(text => decided(process, text))
      const wanted = model.texts.map(text => decisionOf(model.states[model.known[index]!]!, text, model.now))
      expect(model.allows(index, decisions), `${decisions} instead of ${wanted} or later`).toBe(true)
    }
  }
}

class Create extends Checked {
  private readonly group: string

  constructor(group: string) {
    super()
    this.group = group
  }

  check = (): boolean => true

  protected async act(model: KeysModel, { store }: World): Promise<void> {
    const id = `key${model.count++}`
    const text = await createKey(store.access, id, { id, group: this.group })
    const secrets = [{ text, until: FOREVER }]
    model.putKey({ id, group: this.group, isEnabled: true, until: FOREVER, isRevoked: false, secrets })
  }

  toString = (): string => `Create(${this.group})`
}

type Change = { readonly name: string; act(key: Key, model: KeysModel, store: Store): Promise<Key> }

/** Changes of a key that is not revoked. Each returns the key as it is then. */
const changes = {
  rotate: (grace: number): Change => ({
    name: `rotate ${grace}`,
    async act(key, { now }, { access }) {
      const { text, secret } = freshSecret('il', now)
      await access.rotateKey(key.id, secret, now + grace)
      const older = key.secrets.map(one => ({ ...one, until: Math.min(one.until, now + grace) }))
      return { ...key, secrets: [{ text, until: FOREVER }, ...older] }
    },
  }),
  enable: (enabled: boolean): Change => ({
    name: `enable ${enabled}`,
    async act(key, _, { access }) {
      await access.changeKey(key.id, { enabled })
      return { ...key, isEnabled: enabled }
    },
  }),
  expire: (after: number | undefined): Change => ({
    name: `expire ${after}`,
    async act(key, { now }, { access }) {
      const until = after === undefined ? undefined : now + after
      await access.changeKey(key.id, { expiresAt: until })
      return { ...key, until: until ?? FOREVER }
    },
  }),
  move: (group: string): Change => ({
    name: `move ${group}`,
    async act(key, _, { access }) {
      await access.changeKey(key.id, { group })
      return { ...key, group }
    },
  }),
  revoke: (): Change => ({
    name: 'revoke',
    async act(key, { now }, { access }) {
      await access.revokeKey(key.id, now)
      return { ...key, isRevoked: true }
    },
  }),
}

class ChangeKey extends Checked {
  private readonly which: number
  private readonly change: Change

  constructor(which: number, change: Change) {
    super()
    this.which = which
    this.change = change
  }

  check = (model: Readonly<KeysModel>): boolean => (model as KeysModel).chosen(this.which) !== undefined

  protected async act(model: KeysModel, { store }: World): Promise<void> {
    model.putKey(await this.change.act(model.chosen(this.which)!, model, store))
  }

  toString = (): string => `ChangeKey(${this.which}, ${this.change.name})`
}

/** An administrator creates, changes or deletes a group. */
class ChangeGroup extends Checked {
  private readonly group: string
  private readonly models: readonly string[] | undefined

  constructor(group: string, models: readonly string[] | undefined) {
    super()
    this.group = group
    this.models = models
  }

  check = (): boolean => true

  protected async act(model: KeysModel, { store }: World): Promise<void> {
    const { group: name, models } = this
    if (models === undefined) await store.access.dropGroup(name)
    else await store.access.putGroup({ name, models, limits: {}, onLoss: 'show', createdAt: model.now })
    model.putGroup(name, models)
  }

  toString = (): string => `ChangeGroup(${this.group}, ${this.models})`
}

/** A process begins to read the store. Once it has, it knows every change that was made before. */
class Refresh extends Checked {
  private readonly process: number

  constructor(process: number) {
    super()
    this.process = process
  }

  check = (): boolean => true

  protected async act(model: KeysModel, { processes }: World): Promise<void> {
    const { process } = this
    const atLeast = model.states.length - 1
    void processes[process]!.access.refresh().then(() => {
      model.known[process] = Math.max(model.known[process]!, atLeast)
    })
    await settled()
  }

  toString = (): string => `Refresh(${this.process})`
}

/** What a process read of the store arrives. */
class Arrive extends Checked {
  private readonly process: number

  constructor(process: number) {
    super()
    this.process = process
  }

  check = (): boolean => true

  protected async act(_: KeysModel, { processes }: World): Promise<void> {
    await processes[this.process]!.reads.release(0)
  }

  toString = (): string => `Arrive(${this.process})`
}

class Wait extends Checked {
  private readonly milliseconds: number

  constructor(milliseconds: number) {
    super()
    this.milliseconds = milliseconds
  }

  check = (): boolean => true

  protected async act(model: KeysModel): Promise<void> {
    model.now += this.milliseconds
  }

  toString = (): string => `Wait(${this.milliseconds})`
}

const GROUPS = ['default', 'a', 'b']
const group = fc.constantFrom(...GROUPS)

const change: fc.Arbitrary<Change> = fc.oneof(
  fc.constantFrom(0, 1, 100).map(changes.rotate),
  fc.boolean().map(changes.enable),
  fc.constantFrom(undefined, 0, 100).map(changes.expire),
  group.map(changes.move),
  fc.constant(changes.revoke()),
)

/** @param processes number of processes. */
export const commands = (processes: number): fc.Arbitrary<Command>[] => [
  group.map(one => new Create(one)),
  fc.tuple(fc.nat(9), change).map(given => new ChangeKey(...given)),
  fc.tuple(fc.constantFrom('a', 'b'), fc.constantFrom(undefined, ['m'], ['n'])).map(given => new ChangeGroup(...given)),
  fc.nat(processes - 1).map(one => new Refresh(one)),
  fc.nat(processes - 1).map(one => new Arrive(one)),
  fc.constantFrom(1, 99).map(milliseconds => new Wait(milliseconds)),
]
