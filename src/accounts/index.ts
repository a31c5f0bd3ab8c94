import { existsSync } from 'node:fs'
import { GatewayError } from '../canonical/error.ts'
import type { Config, GroupConfig, KeyConfig } from '../config/index.ts'
import type { AccessChanges, AccessRecords, StoredGroup } from '../store/access-records.ts'
import { type Bus, LONE_BUS } from '../store/cluster/bus.ts'
import { storeFailure } from '../store/fault.ts'
import { Follower } from './follower.ts'
import { importKeys } from './import-keys.ts'
import { keyFile } from './key-file.ts'
import { KeyLookups } from './key-lookups.ts'
import {
  type Caller,
  type Credentials,
  credentialOf,
  ENDED,
  type HeldKey,
  KeyRing,
  unauthenticated,
  WrongKey,
} from './key-ring.ts'
import type { Allowance } from './limits/allowance.ts'
import { Limits } from './limits/index.ts'

export type { Caller } from './key-ring.ts'
export { type Credentials, credentialOf } from './key-ring.ts'
export type { Allowance, ExpectedTokens, MaybePromise, SpentTokens } from './limits/allowance.ts'
export type { Permissions } from './permissions.ts'
export { checkDoor } from './permissions.ts'

/** Milliseconds between two looks at what changed in the store: a revoked key is refused within a second. */
const EVERY = 500
/** Milliseconds after which the times of last uses are stored. */
const USES = 60_000

export interface AccessOptions {
  /** Keys and groups that administrators create while the gateway runs; none by default. */
  readonly records?: AccessRecords
  /** Unix time in milliseconds. */
  readonly now?: () => number
  /** Where processes notify each other that keys or groups changed. */
  readonly bus?: Bus
  readonly onFault?: (thrown: unknown) => void
  /** What keys use of their limits; by default counted in this process alone. */
  readonly limits?: Limits
}

/** Who may do what: the keys and groups of the config, and those of the store as they change. */
export class Access {
  private readonly ring = new KeyRing()
  private readonly limits: Limits
  private readonly lookups = new KeyLookups({ refresh: () => this.refresh() })
  private readonly now: () => number
  private readonly records: AccessRecords | undefined
  private readonly follower: Follower | undefined
  private readonly ended: (() => void)[] = []
  private readonly onFault: (thrown: unknown) => void
  private readonly bus: Bus
  private readonly storedGroups = new Map<string, StoredGroup>()
  private readonly home: Pick<Config, 'dataDir' | 'store'>
  private drained: ReadonlySet<string> = new Set()
  private config: Pick<Config, 'keys' | 'groups'>
  private timers: readonly NodeJS.Timeout[] = []
  private unsubscribe: (() => void) | undefined
  /** When the next secret ends by itself. */
  private nextEnd = Number.POSITIVE_INFINITY
  private usesStoredAt = 0

  constructor(config: Config, options: AccessOptions = {}) {
    const { records, now = Date.now, bus = LONE_BUS, onFault = () => {} } = options
    this.limits = options.limits ?? new Limits({ now })
    this.config = config
    this.home = config
    this.now = now
    this.records = records
    this.onFault = onFault
    this.bus = bus
    this.follower =
      records &&
      new Follower({
        ...{ records, onFault, mayHold: () => this.mayHold, apply: changes => this.apply(changes) },
        prepare: () => importKeys(config.dataDir, records),
      })
    this.arrange()
  }

  /**
   * Reads the stored keys and groups, and follows their changes from now on.
   *
   * @throws KeyError for a key file of an earlier version that cannot be read; what the store cannot recover from.
   */
  async open(): Promise<void> {
    if (this.follower === undefined) return
    await this.follower.open()
    this.unsubscribe = this.bus.subscribe('access', () => void this.refresh())
    this.timers = [setInterval(this.look, EVERY).unref(), setInterval(() => void this.storeUses(), USES).unref()]
  }

  /**
   * Finds the owner of a key.
   *
   * @throws GatewayError `unauthenticated` without a key or with one that is unknown or revoked, `forbidden` where the
   * key's group does not exist any more, `overloaded` for an unknown one while the stored keys cannot be read.
   */
  identify(credentials: Credentials): Caller {
    const credential = credentialOf(credentials)
    if (credential === undefined) throw MISSING
    const now = this.now()
    const found = this.ring.find(credential, now)
    if (found === undefined) throw this.isBlind ? UNREAD : new WrongKey(credential)
    if (found.validUntil <= now) throw found.refusal
    return found.caller!
  }

  /**
   * Finds the owner of a key as `identify` does; one that is unknown is looked for in the store before it is refused.
   *
   * @param addressOf the IP address it came from.
   */
  find(credentials: Credentials, addressOf: () => string): Caller | Promise<Caller> {
    try {
      return this.identify(credentials)
    } catch (thrown) {
      const isUnknown = thrown instanceof WrongKey || thrown === UNREAD
      const looked = isUnknown ? this.lookUp(new WrongKey(credentialOf(credentials)!), addressOf()) : undefined
      if (looked === undefined) throw thrown
      return looked.then(() => this.identifyAgain(credentials))
    }
  }

  /** The caller of that id as its key is now; one that is unknown is looked for in the store. */
  async ownerOf(id: string): Promise<Caller> {
    if (this.follower !== undefined && this.ring.ownedBy(id) === undefined) await this.lookups.refreshed()
    return this.renewed({ id })
  }

  /**
   * The caller of that id as its key is now.
   *
   * @throws GatewayError as `identify` does, where the key was revoked meanwhile.
   */
  renewed({ id, secret }: Pick<Caller, 'id'> & Partial<Pick<Caller, 'secret'>>): Caller {
    const found = this.ring.ownedBy(id)
    const now = this.now()
    if (secret !== undefined && secret.validUntil <= now) throw secret.refusal
    if (found === undefined) throw this.isBlind ? UNREAD : ENDED
    if (found.validUntil <= now) throw found.refusal
    return found.caller!
  }

  /** Why a caller's requests may not go on; undefined where they may. */
  endOf({ secret }: Pick<Caller, 'secret'>): GatewayError | undefined {
    return secret === undefined || secret.validUntil > this.now() ? undefined : secret.refusal
  }

  /** The same for what belongs to a key, whichever of its secrets it was begun with. */
  endOfOwner(id: string): GatewayError | undefined {
    const found = this.ring.ownedBy(id)
    if (found === undefined) return this.isBlind ? undefined : ENDED
    return found.validUntil > this.now() ? undefined : found.refusal
  }

  /** Whether what was refused is a key that nobody has. */
  isWrongKey(thrown: unknown): thrown is WrongKey {
    return thrown instanceof WrongKey
  }

  /** Calls the listener when the secrets of some callers may have ended: revoked, expired, or disabled. */
  onEnded(listener: () => void): void {
    this.ended.push(listener)
  }

  /** Whether an administrator keeps requests from the channel. */
  isDrained(channel: string): boolean {
    return this.drained.has(channel)
  }

  /** All groups: those of the store, and those of the config, which come first. */
  get groups(): ReadonlyMap<string, GroupConfig> {
    const groups = new Map<string, GroupConfig>(this.storedGroups)
    for (const [name, group] of this.config.groups)
      if (group.implied !== true || !groups.has(name)) groups.set(name, group)
    return groups
  }

  /** The share of one request in its key's limits; nothing is counted yet. */
  allowance({ id, permissions }: Caller): Allowance {
    return this.limits.of(id, permissions.limits)
  }

  /** Takes the groups and fixed keys of another config; counts stay. */
  reload(config: Config): void {
    this.config = config
    this.arrange()
    this.notify()
  }

  /** Reads what changed in the store. Never rejects. */
  async refresh(): Promise<void> {
    await this.follower?.refresh()
    this.endDue()
  }

  /** What this process changed in the store counts here and, by a notice, elsewhere. Never rejects. */
  changed(): Promise<void> {
    this.bus.publish('access', {})
    return this.refresh()
  }

  /** Stops following, and stores when keys were last used. */
  async close(): Promise<void> {
    for (const timer of this.timers) clearInterval(timer)
    this.unsubscribe?.()
    this.limits.close()
    await this.storeUses()
  }

  private lookUp({ mark }: WrongKey, address: string): Promise<void> | undefined {
    return this.follower === undefined ? undefined : this.lookups.look(mark, address)
  }

  private identifyAgain(credentials: Credentials): Caller {
    try {
      return this.identify(credentials)
    } catch (thrown) {
      // A reading that failed shows nothing.
      if (thrown instanceof WrongKey && this.follower?.isCurrent === true) this.lookups.isWrong(thrown.mark)
      throw thrown
    }
  }

  private get mayHold(): boolean {
    const { store } = this.home
    return store.engine !== 'sqlite' || existsSync(store.path)
  }

  /** There may be keys that are not known here yet. */
  private get isBlind(): boolean {
    return this.follower?.isRead === false && (this.mayHold || existsSync(keyFile(this.home.dataDir)))
  }

  private arrange(): void {
    this.ring.configure(this.config.keys.map(heldOf), this.groups)
  }

  private apply({ keys, groups, droppedGroups, drained, whole }: AccessChanges): void {
    if (whole === true) {
      const present = new Set(keys.map(({ id }) => id))
      for (const id of this.ring.storedIds) if (!present.has(id)) this.ring.forget(id)
      this.storedGroups.clear()
    }
    for (const group of groups) this.storedGroups.set(group.name, group)
    for (const name of droppedGroups) this.storedGroups.delete(name)
    if (whole === true || groups.length + droppedGroups.length > 0) this.arrange()
    for (const key of keys)
      if (key.revokedAt === undefined) this.ring.keep(key)
      else this.ring.forget(key.id)
    if (drained !== undefined) this.drained = new Set(drained)
    this.notify()
  }

  private readonly look = (): void => {
    // What ends by itself does not wait for a store that is slow to answer.
    this.endDue()
    void this.refresh()
  }

  private endDue(): void {
    if (this.now() >= this.nextEnd) this.notify()
  }

  private notify(): void {
    this.nextEnd = this.ring.nextEnd(this.now())
    for (const listener of this.ended) listener()
  }

  private async storeUses(): Promise<void> {
    const at = this.now()
    const used = this.ring.usedSince(this.usesStoredAt)
    if (used.size === 0) return
    try {
      await this.records?.used(used)
      this.usesStoredAt = at
    } catch (thrown) {
      // They are stored the next time; a store at fault is logged where it is met.
      if (!(thrown instanceof GatewayError)) this.onFault(thrown)
    }
  }
}

/** A key of the config; half of a hash is unique, but too short to verify keys with. */
const heldOf = (key: KeyConfig): HeldKey => ({ ...key, id: key.hash.slice(0, 32), secrets: [{ hash: key.hash }] })

const MISSING = unauthenticated('No API key was given.', 'missing_api_key')
const UNREAD = storeFailure('API keys cannot be read just now.')
