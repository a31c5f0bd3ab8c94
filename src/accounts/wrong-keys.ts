import { rateLimited } from '../canonical/error.ts'
import { networkOf } from './network.ts'

export interface WrongKeysOptions {
  /** Milliseconds, monotonic. */
  readonly now?: () => number
  /** Addresses that are remembered; the one silent for longest is forgotten for a new one. */
  readonly addresses?: number
  /** Answers that wait at once: of one address, and all. */
  readonly waiting?: { readonly address: number; readonly all: number }
}

/** Different wrong keys of an address that are remembered: clients come with the same one again and again. */
const KEYS = 8
/** Wrong keys of an address that are answered at once, and the milliseconds after which it has them again. */
const FREE = 5
const MEMORY = 60_000
/** Milliseconds by which the next answer is held back; each one doubles them up to the longest. */
const FIRST = 100
const LONGEST = 5000

interface Attempts {
  count: number
  at: number
  waiting: number
  /** The marks of the latest wrong keys. */
  readonly keys: string[]
}

/**
 * Slows down addresses that guess keys: the answers to wrong ones come ever later, at a bounded cost. The same key again is
 * no guess: a program whose key was revoked does not slow down others that share its address, and nobody can tell a key that
 * was revoked from one that never was.
 */
export class WrongKeys {
  /** Wrong keys so far. */
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

  /** How many addresses are remembered. */
  get size(): number {
    return this.byNetwork.size
  }

  /**
   * Notes a wrong key. Settles when it may be answered: at once, or later the more different ones came from the address.
   *
   * @param address an IP address; those of one IPv6 network of 64 bits are one.
   * @param mark identifies what was tried (`WrongKey`); undefined for what counts each time.
   * @throws GatewayError `rate-limited`, at once, where too many answers wait already.
   */
  async slow(address: string, mark?: string): Promise<void> {
    this.count++
    const network = networkOf(address)
    if (mark !== undefined && this.isRepeated(network, mark)) return
    const attempts = this.noted(network)
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

  private noted(network: string): Attempts {
    const now = this.now()
    const { byNetwork } = this
    const known = byNetwork.get(network)
    const attempts = known ?? { count: 0, at: now, waiting: 0, keys: [] }
    if (now - attempts.at > MEMORY) attempts.count = 0
    attempts.count++
    attempts.at = now
    // The latest stand last.
    if (known !== undefined) byNetwork.delete(network)
    else if (byNetwork.size >= this.addresses) byNetwork.delete(byNetwork.keys().next().value!)
    byNetwork.set(network, attempts)
    return attempts
  }
}

const MOST_WAITING = { address: 20, all: 1000 }

const TOO_MANY = rateLimited('Too many wrong API keys came from this address.', LONGEST / 1000, 'too_many_wrong_keys')
