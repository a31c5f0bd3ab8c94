import { putNewest } from '../canonical/bounded-map.ts'
import { rateLimited } from '../canonical/error.ts'
import { networkOf } from './network.ts'

/** Options: the clock and the limits. All have defaults. */
export interface WrongKeysOptions {
  /** Returns the time on a monotonic clock, in milliseconds. */
  readonly now?: () => number
  /** Maximum number of remembered networks. The least recently active network is evicted. */
  readonly addresses?: number
  /** Maximum number of delayed answers: per network, and in total. */
  readonly waiting?: { readonly address: number; readonly all: number }
}

/** Number of distinct wrong keys remembered per network. Clients repeat the same key. */
const KEYS = 8
/**
 * Number of wrong keys per network that are answered without delay, and time without a wrong key after which the count
 * restarts, in milliseconds.
 */
const FREE = 5
const MEMORY = 60_000
/** First and longest delay, in milliseconds. The delay doubles with every further wrong key. */
const FIRST = 100
const LONGEST = 5000

/** Wrong keys of one network. */
interface Attempts {
  count: number
  at: number
  waiting: number
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
  private readonly byNetwork = new Map<string, Attempts>()
  private readonly timers = new Set<NodeJS.Timeout>()
  private readonly now: () => number
  private readonly addresses: number
  private readonly most: { readonly address: number; readonly all: number }

  constructor({ now = () => performance.now(), addresses = 10_000, waiting = MOST_WAITING }: WrongKeysOptions = {}) {
    this.now = now
    this.addresses = addresses
    this.most = waiting
  }

  /** Number of remembered networks. */
  get size(): number {
    return this.byNetwork.size
  }

  /**
   * Counts a wrong key. Resolves when the answer may be sent, later for a network that sent more distinct wrong keys.
   *
   * @param address IP address. All addresses of an IPv6 /64 count as one network.
   * @param mark identifies the wrong key (`WrongKey`). Undefined to count every attempt.
   * @throws GatewayError `rate-limited` immediately if too many answers are already delayed.
   */
  async slow(address: string, mark?: string): Promise<void> {
    this.count++
    const network = networkOf(address)
    if (mark !== undefined && this.isRepeated(network, mark)) return
    const attempts = this.attemptsOf(network)
    if (mark !== undefined && attempts.keys.push(mark) > KEYS) attempts.keys.shift()
    const delay = attempts.count <= FREE ? 0 : Math.min(LONGEST, FIRST * 2 ** (attempts.count - FREE - 1))
    if (delay === 0) return
    if (attempts.waiting >= this.most.address || this.timers.size >= this.most.all) throw TOO_MANY
    attempts.waiting++
    await new Promise<void>(resolve => {
      const timer = setTimeout(() => {
        this.timers.delete(timer)
        resolve()
      }, delay).unref()
      this.timers.add(timer)
    })
    attempts.waiting--
  }

  private isRepeated(network: string, mark: string): boolean {
    return this.byNetwork.get(network)?.keys.includes(mark) === true
  }

  private attemptsOf(network: string): Attempts {
    const now = this.now()
    const { byNetwork } = this
    const attempts = byNetwork.get(network) ?? { count: 0, at: now, waiting: 0, keys: [] }
    if (now - attempts.at > MEMORY) attempts.count = 0
    attempts.count++
    attempts.at = now
    putNewest(byNetwork, network, attempts, this.addresses)
    return attempts
  }
}

/** Default maximum number of delayed answers. */
const MOST_WAITING = { address: 20, all: 1000 }

const TOO_MANY = rateLimited('Too many wrong API keys came from this address.', LONGEST / 1000, 'too_many_wrong_keys')
