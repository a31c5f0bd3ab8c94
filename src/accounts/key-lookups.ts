import { Bucket } from './limits/bucket.ts'
import { networkOf } from './network.ts'

export interface KeyLookupsOptions {
  /** Reads what changed in the store; never rejects. Those who wait at once share a reading. */
  readonly refresh: () => Promise<void>
  /** Milliseconds, monotonic. */
  readonly now?: () => number
  /** Lookups a minute: of one address, and all. */
  readonly most?: { readonly address: number; readonly all: number }
}

/** Milliseconds for which a refusal waits for the store. */
const PATIENCE = 2000
/** Milliseconds for which a key that the store does not have is not looked up again. */
const MEMORY = 60_000
/** Wrong keys and networks that are remembered; the first of them is forgotten for a new one. */
const MOST = 10_000

/**
 * Looks unknown keys up in the store before they are refused: a key that was just created is accepted by every process.
 * Wrong keys cost the database little: each is looked up once a minute, an address and all of them together have a rate,
 * and one reading at a time serves all who wait.
 */
export class KeyLookups {
  private readonly options: KeyLookupsOptions
  private readonly now: () => number
  private readonly most: { readonly address: number; readonly all: number }
  private readonly all: Bucket
  private readonly byNetwork = new Map<string, Bucket>()
  /** When keys were found to be wrong, by their marks. */
  private readonly wrong = new Map<string, number>()

  constructor(options: KeyLookupsOptions) {
    const { now = () => performance.now(), most = MOST_LOOKUPS } = options
    this.options = options
    this.now = now
    this.most = most
    this.all = new Bucket(most.all, now())
  }

  /**
   * Reads the store for a key that is unknown here.
   *
   * @param mark identifies the key (`WrongKey`).
   * @param address the IP address that it came from.
   * @returns settles when it was read or takes too long; undefined where it is not read for this key.
   */
  look(mark: string, address: string): Promise<void> | undefined {
    const now = this.now()
    const before = this.wrong.get(mark)
    if (before !== undefined && now - before < MEMORY) return undefined
    const bucket = this.bucketOf(networkOf(address), now)
    if (bucket.level(now) < 1 || this.all.level(now) < 1) return undefined
    bucket.take(1, now)
    this.all.take(1, now)
    return this.refreshed()
  }

  /** The store does not have the key. */
  isWrong(mark: string): void {
    put(this.wrong, mark, this.now())
  }

  /** Reads what changed; settles when that is done, or takes too long. */
  async refreshed(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, PATIENCE)
    await Promise.race([this.options.refresh(), promise])
    clearTimeout(timer)
  }

  private bucketOf(network: string, now: number): Bucket {
    const bucket = this.byNetwork.get(network) ?? new Bucket(this.most.address, now)
    put(this.byNetwork, network, bucket)
    return bucket
  }
}

const MOST_LOOKUPS = { address: 60, all: 600 }

/** The latest stand last. */
function put<T>(map: Map<string, T>, name: string, value: T): void {
  map.delete(name)
  if (map.size >= MOST) map.delete(map.keys().next().value!)
  map.set(name, value)
}
