import { putNewest } from '../canonical/bounded-map.ts'
import { rateLimited } from '../canonical/error.ts'
import { networkOf } from './network.ts'

/** Options: the clock and the limits. All have defaults. */
export interface WrongKeysOptions {
  /** Returns the time on a monotonic clock, in milliseconds. */
  readonly now?: () => number
  /** Maximum number of remembered networks. The least recently active network is evicted. */
  readonly maxNetworks?: number
  /** Maximum number of delayed answers: per network, and in total. */
  readonly delays?: { readonly address: number; readonly all: number }
}

/** Number of distinct wrong keys remembered per network. Clients repeat the same key. */
const KEYS_PER_NETWORK = 8
/** Number of wrong keys per network that are answered without delay. */
const UNDELAYED_ATTEMPTS = 5
/** Time without a wrong key after which the count restarts, in milliseconds. */
const RESET_AFTER_MS = 60_000
/** Delay of the first answer that is delayed, in milliseconds. Every further wrong key doubles it. */
const FIRST_DELAY_MS = 100
/** Longest delay, in milliseconds. */
const MAX_DELAY_MS = 5000

/** Wrong keys of one network. */
interface NetworkAttempts {
  count: number
  lastAttemptAt: number
  delayedAnswers: number
  /** Marks of the latest wrong keys. */
  readonly keys: string[]
}

/**
 * Delays the answers to networks that guess keys, longer with every distinct wrong key and at a bounded cost. Repeating
 * the same key does not count as a guess, so that a program with a revoked key does not slow down others behind its
 * address. Callers cannot tell a revoked key from an unknown one.
 */
export class WrongKeys {
  /** Number of wrong keys so far. */
  count = 0
  private readonly byNetwork = new Map<string, NetworkAttempts>()
  private readonly timers = new Set<NodeJS.Timeout>()
  private readonly now: () => number
  private readonly maxNetworks: number
  private readonly limits: { readonly address: number; readonly all: number }

  constructor({ now = () => performance.now(), maxNetworks = 10_000, delays = DEFAULT_LIMITS }: WrongKeysOptions = {}) {
    this.now = now
    this.maxNetworks = maxNetworks
    this.limits = delays
  }

  /** Number of remembered networks. */
  get size(): number {
    return this.byNetwork.size
  }

  /**
   * Counts a wrong key. Resolves when the answer may be sent, later for a network that sent more distinct wrong keys.
   *
   * @param address IP address. All addresses of an IPv6 /64 count as one network.
   * @param mark identifies the wrong key (`WrongKey`). If undefined, every attempt counts.
   * @throws GatewayError `rate-limited` immediately if too many answers are already delayed.
   */
  async slow(address: string, mark?: string): Promise<void> {
    this.count++
    const network = networkOf(address)
    if (mark !== undefined && this.isRepeated(network, mark)) return
    const attempts = this.attemptsOf(network)
    if (mark !== undefined && attempts.keys.push(mark) > KEYS_PER_NETWORK) attempts.keys.shift()
    const delay =
      attempts.count <= UNDELAYED_ATTEMPTS
        ? 0
        : Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempts.count - UNDELAYED_ATTEMPTS - 1))
    if (delay === 0) return
    if (attempts.delayedAnswers >= this.limits.address || this.timers.size >= this.limits.all) throw TOO_MANY_ATTEMPTS
    attempts.delayedAnswers++
    await new Promise<void>(resolve => {
      const timer = setTimeout(() => {
        this.timers.delete(timer)
        resolve()
      }, delay).unref()
      this.timers.add(timer)
    })
    attempts.delayedAnswers--
  }

  private isRepeated(network: string, mark: string): boolean {
    return this.byNetwork.get(network)?.keys.includes(mark) === true
  }

  private attemptsOf(network: string): NetworkAttempts {
    const now = this.now()
    const { byNetwork } = this
    const attempts = byNetwork.get(network) ?? { count: 0, lastAttemptAt: now, delayedAnswers: 0, keys: [] }
    if (now - attempts.lastAttemptAt > RESET_AFTER_MS) attempts.count = 0
    attempts.count++
    attempts.lastAttemptAt = now
    putNewest(byNetwork, network, attempts, this.maxNetworks)
    return attempts
  }
}

/** Default maximum number of delayed answers. */
const DEFAULT_LIMITS = { address: 20, all: 1000 }

const TOO_MANY_ATTEMPTS = rateLimited(
  'Too many wrong API keys came from this address.',
  MAX_DELAY_MS / 1000,
  'too_many_wrong_keys',
)
