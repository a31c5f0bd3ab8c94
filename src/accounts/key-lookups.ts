import { putNewest } from '../canonical/bounded-map.ts'
import { Bucket } from './limits/bucket.ts'
import { networkOf } from './network.ts'

/** Options of the lookups: how to read the store, the clock and the limits. */
export interface KeyLookupsOptions {
  /** Reads the changes in the store. Never rejects. Concurrent callers share one read. */
  readonly refresh: () => Promise<void>
  /** Returns the time on a monotonic clock, in milliseconds. */
  readonly now?: () => number
  /** Maximum number of lookups per minute: per address, and in total. */
  readonly limits?: { readonly address: number; readonly all: number }
}

/** Maximum wait for the store before a key is refused, in milliseconds. */
const TIMEOUT_MS = 2000
/** Time for which a key missing from the store is refused without another lookup, in milliseconds. */
const MISS_LIFETIME_MS = 60_000
/** Maximum number of remembered wrong keys and networks. The oldest entry is evicted. */
const MAX_ENTRIES = 10_000

/**
 * Looks up unknown keys in the store before they are refused, so that every process accepts a key as soon as it is
 * created. Lookups are cheap for the database: each wrong key causes at most one per minute, they are rate limited per
 * address and in total, and waiting requests share one read.
 */
export class KeyLookups {
  private readonly options: KeyLookupsOptions
  private readonly now: () => number
  private readonly limits: { readonly address: number; readonly all: number }
  private readonly all: Bucket
  private readonly byNetwork = new Map<string, Bucket>()
  /** Time of the last failed lookup, by mark of the key. */
  private readonly misses = new Map<string, number>()

  constructor(options: KeyLookupsOptions) {
    const { now = () => performance.now(), limits = DEFAULT_LIMITS } = options
    this.options = options
    this.now = now
    this.limits = limits
    this.all = new Bucket(limits.all, now())
  }

  /**
   * Looks up a key that is unknown in this process.
   *
   * @param mark identifies the key (`WrongKey`).
   * @param address the caller's IP address.
   * @returns a promise that resolves when the store has been read or the timeout has passed, or undefined if the lookup
   * is not allowed.
   */
  lookUp(mark: string, address: string): Promise<void> | undefined {
    const now = this.now()
    const lastMissAt = this.misses.get(mark)
    if (lastMissAt !== undefined && now - lastMissAt < MISS_LIFETIME_MS) return undefined
    const bucket = this.bucketOf(networkOf(address), now)
    if (bucket.level(now) < 1 || this.all.level(now) < 1) return undefined
    bucket.take(1, now)
    this.all.take(1, now)
    return this.refresh()
  }

  /** Remembers that the store does not have the key. */
  rememberWrong(mark: string): void {
    putNewest(this.misses, mark, this.now(), MAX_ENTRIES)
  }

  /** Reads the changes in the store. Resolves after the timeout at the latest. */
  async refresh(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, TIMEOUT_MS)
    await Promise.race([this.options.refresh(), promise])
    clearTimeout(timer)
  }

  private bucketOf(network: string, now: number): Bucket {
    const bucket = this.byNetwork.get(network) ?? new Bucket(this.limits.address, now)
    putNewest(this.byNetwork, network, bucket, MAX_ENTRIES)
    return bucket
  }
}

/** Default number of lookups per minute. */
const DEFAULT_LIMITS = { address: 60, all: 600 }
