import { GatewayError } from '../../canonical/error.ts'
import { LogOnce } from '../../log.ts'
import type { FoundThoughts, SharedRecords } from '../../store/shared-records.ts'
import { decrypted, type GatewaySecret } from '../gateway-secret.ts'
import { isPlaceKey } from './call-keys.ts'
import { aboutOf, nameOf, ThoughtJournal } from './journal.ts'
import type { CallKeys, KeptThoughts } from './store.ts'

/** Milliseconds a request waits for thoughts of other instances before it does without. */
const PATIENCE = 500

export interface SharedThoughtsOptions {
  readonly records: Pick<SharedRecords, 'changeThoughts' | 'thoughts'>
  readonly secret: GatewaySecret
  /** Called once a kind of fault that kept something from being stored. */
  readonly onFault: (thrown: unknown) => void
  readonly now?: () => number
}

/** Thoughts that another instance made. */
export interface Fetched {
  /** Of each call, in the order of the steps. */
  readonly keys: readonly CallKeys[]
  readonly thoughts: KeptThoughts
}

/**
 * Thoughts in the store, for the other instances: encrypted with the secret of the gateway and found by hashes of the
 * names of their calls.
 */
export class SharedThoughts {
  readonly journal: ThoughtJournal
  private readonly options: SharedThoughtsOptions
  private readonly now: () => number
  private readonly absent: AbsentNames
  private readonly fault: (thrown: unknown) => void

  constructor(options: SharedThoughtsOptions) {
    this.options = options
    this.now = options.now ?? Date.now
    this.absent = new AbsentNames(this.now)
    const faults = new LogOnce(options.onFault)
    this.fault = thrown => {
      // The store reports its own faults.
      if (!(thrown instanceof GatewayError)) faults.log(thrown)
    }
    this.journal = new ThoughtJournal(options.records, options.secret, this.fault)
  }

  /** @param keep milliseconds. */
  keep(owner: string, keys: readonly CallKeys[], thoughts: KeptThoughts, keep: number): void {
    this.journal.keep(owner, keys, thoughts, this.now() + keep)
  }

  /** Calls under these keys were made without a thought. What no other call can have needs no look at the store. */
  forget(owner: string, keys: readonly CallKeys[]): void {
    const places = keys.map(some => some.filter(isPlaceKey)).filter(some => some.length > 0)
    if (places.length > 0) this.journal.forget(owner, places)
    for (const key of keys.flat()) this.absent.add(nameOf(owner, key), !isPlaceKey(key))
  }

  /** Whether the store may have the key. */
  mayHave(owner: string, key: string): boolean {
    return !this.absent.has(nameOf(owner, key))
  }

  /** What is stored under some of the keys; nothing where the store does not answer in time. Never rejects. */
  async find(owner: string, keys: readonly string[]): Promise<readonly Fetched[]> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<readonly Fetched[]>(resolve => {
      timer = setTimeout(resolve, PATIENCE, NOTHING)
    })
    try {
      return await Promise.race([this.stored(owner, keys), late])
    } finally {
      clearTimeout(timer)
    }
  }

  private async stored(owner: string, keys: readonly string[]): Promise<readonly Fetched[]> {
    const names = keys.map(key => nameOf(owner, key))
    try {
      const rows = await this.options.records.thoughts(names)
      const there = new Set(rows.flatMap(row => row.names.map(({ name }) => name)))
      for (const name of names) if (!there.has(name)) this.absent.add(name, false)
      if (rows.length === 0) return NOTHING
      const secret = await this.options.secret.load()
      return rows.flatMap(row => fetched(row, owner, secret))
    } catch (thrown) {
      this.fault(thrown)
      return NOTHING
    }
  }
}

const NOTHING: readonly Fetched[] = []

/** Names that were forgotten since, or are those of another answer by now, are no keys any more. */
function fetched({ text, names }: FoundThoughts, owner: string, secret: Buffer): readonly Fetched[] {
  const plain = decrypted(secret, Buffer.from(text, 'base64'), aboutOf(owner))
  if (plain === undefined) return NOTHING
  const { keys, thoughts } = JSON.parse(plain) as Fetched
  const valid = new Set(names.map(({ name }) => name))
  return [{ keys: keys.map(some => some.filter(key => valid.has(nameOf(owner, key)))), thoughts }]
}

/** Milliseconds for which a name that was not found counts as absent: another instance may store it late. */
const LASTS = 60_000
/** Names that are remembered; the oldest are forgotten for new ones. */
const MOST = 50_000

/** Names that are not in the store, so that they are not looked up again with every request of a conversation. */
class AbsentNames {
  private readonly now: () => number
  /** Until when each is known to be absent, in the order they were added. */
  private readonly names = new Map<string, number>()

  constructor(now: () => number) {
    this.now = now
  }

  /** @param isOwn the call was made here, without a thought: nobody else will store any. */
  add(name: string, isOwn: boolean): void {
    this.names.delete(name)
    this.names.set(name, isOwn ? Number.POSITIVE_INFINITY : this.now() + LASTS)
    if (this.names.size > MOST) this.names.delete(this.names.keys().next().value!)
  }

  has(name: string): boolean {
    return (this.names.get(name) ?? 0) > this.now()
  }
}
