import { existsSync } from 'node:fs'
import { GatewayError } from '../canonical/error.ts'
import type { Config, GroupConfig, KeyConfig } from '../config/index.ts'
import type { FallbackModel } from '../formats/model-facts.ts'
import type { AccessChanges, AccessRecords, StoredGroup } from '../store/access-records.ts'
import { type Bus, LOCAL_BUS } from '../store/cluster/bus.ts'
import type { StoredEntry } from '../store/config-records.ts'
import { storeFailure } from '../store/fault.ts'
import { Follower } from './follower.ts'
import { importKeys } from './import-keys.ts'
import { keyFile } from './key-file.ts'
import { KeyLookups } from './key-lookups.ts'
import {
  type ActiveKey,
  type Caller,
  type Credentials,
  credentialOf,
  KeyRing,
  REVOKED,
  unauthenticated,
  WrongKey,
} from './key-ring.ts'
import { Limits } from './limits/index.ts'
import type { Reservation } from './limits/reservation.ts'

export type { Caller } from './key-ring.ts'
export { type Credentials, credentialOf } from './key-ring.ts'
export type { ExpectedTokens, MaybePromise, Reservation, SpentTokens } from './limits/reservation.ts'
export type { Permissions } from './permissions.ts'
export { checkFormat } from './permissions.ts'

/** Interval between reads of the store, in milliseconds. A revoked key is refused within a second. */
const READ_INTERVAL_MS = 500
/** Interval between writes of last-use times, in milliseconds. */
const LAST_USE_INTERVAL_MS = 60_000

/** Dependencies of `Access`. All have defaults. */
export interface AccessOptions {
  /** Repository of keys and groups that administrators create at runtime. None by default. */
  readonly records?: AccessRecords
  /** Returns the Unix time in milliseconds. */
  readonly now?: () => number
  /** Notifies other processes of changed keys or groups. */
  readonly bus?: Bus
  readonly onFault?: (thrown: unknown) => void
  /** Receives all stored channels and settings of models whenever any of them changed. */
  readonly onConfig?: (entries: readonly StoredEntry[]) => void
  /** Limits of the keys. Usage is counted only in this process by default. */
  readonly limits?: Limits
}

/**
 * Authenticates callers and decides what they may do. Combines keys and groups from the config and the store.
 */
export class Access {
  private readonly ring = new KeyRing()
  private readonly limits: Limits
  private readonly lookups = new KeyLookups({ refresh: () => this.refresh() })
  private readonly now: () => number
  private readonly records: AccessRecords | undefined
  private readonly follower: Follower | undefined
  private readonly endListeners: (() => void)[] = []
  private readonly onFault: (thrown: unknown) => void
  private readonly onConfig: AccessOptions['onConfig']
  private readonly bus: Bus
  private readonly storedGroups = new Map<string, StoredGroup>()
  private readonly storeLocation: Pick<Config, 'dataDir' | 'store'>
  private drained: ReadonlySet<string> = new Set()
  private config: Pick<Config, 'keys' | 'groups'>
  private timers: readonly NodeJS.Timeout[] = []
  private unsubscribe: (() => void) | undefined
  /** Time at which the next secret expires, in Unix milliseconds. */
  private nextExpiry = Number.POSITIVE_INFINITY
  /** Time of the last check for expired secrets, in Unix milliseconds. */
  private checkedAt = 0
  private usesStoredAt = 0

  constructor(config: Config, options: AccessOptions = {}) {
    const { records, now = Date.now, bus = LOCAL_BUS, onFault = () => {} } = options
    this.limits = options.limits ?? new Limits({ now })
    this.config = config
    this.storeLocation = config
    this.now = now
    this.records = records
    this.onFault = onFault
    this.onConfig = options.onConfig
    this.bus = bus
    this.follower =
      records &&
      new Follower({
        ...{ records, onFault, mayHaveKeys: () => this.mayHold, apply: changes => this.apply(changes) },
        prepare: () => importKeys(config.dataDir, records),
      })
    this.arrange()
  }

  /**
   * Reads the stored keys and groups, and starts following their changes.
   *
   * @throws KeyError if the key file of an earlier version cannot be read, and errors of the store that no retry can
   * fix.
   */
  async open(): Promise<void> {
    if (this.follower === undefined) return
    await this.follower.open()
    this.unsubscribe = this.bus.subscribe('access', () => void this.refresh())
    this.timers = [
      setInterval(this.poll, READ_INTERVAL_MS).unref(),
      setInterval(() => void this.storeUses(), LAST_USE_INTERVAL_MS).unref(),
    ]
  }

  /**
   * Authenticates a request.
   *
   * @throws GatewayError `unauthenticated` if the key is missing, unknown or revoked, `forbidden` if its group no
   * longer exists, `overloaded` for an unknown key while the stored keys cannot be read.
   */
  identify(credentials: Credentials): Caller {
    const credential = credentialOf(credentials)
    if (credential === undefined) throw MISSING_KEY
    const now = this.now()
    const found = this.ring.find(credential, now)
    if (found === undefined) throw this.mayLackStoredKeys ? STORE_UNAVAILABLE : new WrongKey(credential)
    if (found.validUntil <= now) throw found.refusal
    return found.caller!
  }

  /**
   * Authenticates a request like `identify`, but looks up an unknown key in the store before refusing the request.
   *
   * @param addressOf returns the caller's IP address.
   */
  find(credentials: Credentials, addressOf: () => string): Caller | Promise<Caller> {
    try {
      return this.identify(credentials)
    } catch (thrown) {
      const isUnknown = thrown instanceof WrongKey || thrown === STORE_UNAVAILABLE
      const lookup = isUnknown ? this.lookUp(new WrongKey(credentialOf(credentials)!), addressOf()) : undefined
      if (lookup === undefined) throw thrown
      return lookup.then(() => this.identifyAgain(credentials))
    }
  }

  /** Returns the caller that owns a key id, with the key's current settings. Looks up an unknown id in the store. */
  async ownerOf(id: string): Promise<Caller> {
    if (this.follower !== undefined && this.ring.findById(id) === undefined) await this.lookups.refresh()
    return this.renewed({ id })
  }

  /**
   * Returns the caller that owns a key id, with the key's current settings.
   *
   * @throws GatewayError like `identify`, for example if the key was revoked in the meantime.
   */
  renewed({ id, secret }: Pick<Caller, 'id'> & Partial<Pick<Caller, 'secret'>>): Caller {
    const found = this.ring.findById(id)
    const now = this.now()
    if (secret !== undefined && secret.validUntil <= now) throw secret.refusal
    if (found === undefined) throw this.mayLackStoredKeys ? STORE_UNAVAILABLE : REVOKED
    if (found.validUntil <= now) throw found.refusal
    return found.caller!
  }

  /** Returns the reason why a caller's running requests must stop, or undefined if they may continue. */
  endOf({ secret }: Pick<Caller, 'secret'>): GatewayError | undefined {
    return secret === undefined || secret.validUntil > this.now() ? undefined : secret.refusal
  }

  /**
   * Returns the reason why all work of a key must stop, whichever secret started it, or undefined if the work may
   * continue.
   */
  endOfOwner(id: string): GatewayError | undefined {
    const found = this.ring.findById(id)
    if (found === undefined) return this.mayLackStoredKeys ? undefined : REVOKED
    return found.validUntil > this.now() ? undefined : found.refusal
  }

  /** Returns true if the error refuses an unknown key. */
  isWrongKey(thrown: unknown): thrown is WrongKey {
    return thrown instanceof WrongKey
  }

  /** Adds a listener for secrets that may have been revoked, disabled or expired. */
  onEnded(listener: () => void): void {
    this.endListeners.push(listener)
  }

  /** Returns true if an administrator drained the channel. A drained channel gets no requests. */
  isDrained(channel: string): boolean {
    return this.drained.has(channel)
  }

  /** All groups of the store and the config. A group in the config replaces a stored group of the same name. */
  get groups(): ReadonlyMap<string, GroupConfig> {
    const groups = new Map<string, GroupConfig>(this.storedGroups)
    for (const [name, group] of this.config.groups)
      if (group.implied !== true || !groups.has(name)) groups.set(name, group)
    return groups
  }

  /** Returns the fallback models of a group, with the same precedence as `groups`. */
  fallbacksOf(group: string): readonly FallbackModel[] | undefined {
    const fixed = this.config.groups.get(group)
    const stored = fixed === undefined || fixed.implied === true ? this.storedGroups.get(group) : undefined
    return (stored ?? fixed)?.fallbacks
  }

  /** Creates the reservation for one request in the limits of its key. Does not count anything yet. */
  reservation({ id, permissions }: Caller): Reservation {
    return this.limits.of(id, permissions.limits)
  }

  /** Applies the keys and groups of a reloaded config. Usage counts stay unchanged. */
  reload(config: Config): void {
    this.config = config
    this.arrange()
    this.notify()
  }

  /** Reads the changes in the store. Never rejects. */
  async refresh(): Promise<void> {
    await this.follower?.refresh()
    this.endDue()
  }

  /** Applies a change that this process made in the store, and notifies other processes. Never rejects. */
  changed(): Promise<void> {
    this.bus.publish('access', {})
    return this.refresh()
  }

  /** Stops following the store, and writes the times of last use. */
  async close(): Promise<void> {
    for (const timer of this.timers) clearInterval(timer)
    this.unsubscribe?.()
    this.limits.close()
    await this.storeUses()
  }

  private lookUp({ mark }: WrongKey, address: string): Promise<void> | undefined {
    return this.follower === undefined ? undefined : this.lookups.lookUp(mark, address)
  }

  private identifyAgain(credentials: Credentials): Caller {
    try {
      return this.identify(credentials)
    } catch (thrown) {
      // Only a successful read proves that the store does not have the key.
      if (thrown instanceof WrongKey && this.follower?.isCurrent === true) this.lookups.rememberWrong(thrown.mark)
      throw thrown
    }
  }

  private get mayHold(): boolean {
    const { store } = this.storeLocation
    return store.engine !== 'sqlite' || existsSync(store.path)
  }

  /** True if there may be stored keys that were never read. */
  private get mayLackStoredKeys(): boolean {
    return this.follower?.isRead === false && (this.mayHold || existsSync(keyFile(this.storeLocation.dataDir)))
  }

  private arrange(): void {
    this.ring.configure(this.config.keys.map(activeKeyOf), this.groups)
    this.nextExpiry = this.ring.nextExpiry(this.now())
  }

  private apply({ keys, groups, droppedGroups, drained, config, whole }: AccessChanges): void {
    if (whole === true) {
      const present = new Set(keys.map(({ id }) => id))
      for (const id of this.ring.storedIds) if (!present.has(id)) this.ring.removeStored(id)
      this.storedGroups.clear()
    }
    for (const group of groups) this.storedGroups.set(group.name, group)
    for (const name of droppedGroups) this.storedGroups.delete(name)
    if (whole === true || groups.length + droppedGroups.length > 0) this.arrange()
    for (const key of keys)
      if (key.revokedAt === undefined) this.ring.putStored(key)
      else this.ring.removeStored(key.id)
    if (drained !== undefined) this.drained = new Set(drained)
    if (config !== undefined) this.onConfig?.(config)
    this.notify()
  }

  private readonly poll = (): void => {
    // Expiry must not wait for a slow store.
    this.endDue()
    void this.refresh()
  }

  private endDue(): void {
    const now = this.now()
    // A clock that was set back may have made expired secrets valid again.
    if (now >= this.nextExpiry || now < this.checkedAt) this.notify()
    this.checkedAt = now
  }

  private notify(): void {
    this.nextExpiry = this.ring.nextExpiry(this.now())
    for (const listener of this.endListeners) listener()
  }

  private async storeUses(): Promise<void> {
    const at = this.now()
    // A later time means that the clock was set back.
    const used = this.ring.lastUsesSince(this.usesStoredAt <= at ? this.usesStoredAt : 0)
    if (used.size === 0) return
    try {
      await this.records?.recordUses(used)
      this.usesStoredAt = at
    } catch (thrown) {
      // The next run writes the times. The store logs its own faults.
      if (!(thrown instanceof GatewayError)) this.onFault(thrown)
    }
  }
}

/** Converts a key of the config. Half of the hash serves as its id, which is unique but not enough to authenticate. */
const activeKeyOf = (key: KeyConfig): ActiveKey => ({
  ...key,
  id: key.hash.slice(0, 32),
  secrets: [{ hash: key.hash }],
})

const MISSING_KEY = unauthenticated('No API key was given.', 'missing_api_key')
const STORE_UNAVAILABLE = storeFailure('API keys are temporarily unavailable.')
