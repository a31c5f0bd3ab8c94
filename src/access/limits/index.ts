import { randomBytes } from 'node:crypto'
import type { RedisLink } from '../../cluster/redis-link.ts'
import type { LimitSettings } from '../../config/index.ts'
import { type Log, LogOnce } from '../../log/index.ts'
import { Allowance, KeyUse, type Limiter } from './allowance.ts'
import { type InitialSpend, type LimitEngine, type LimitState, type LimitStep, MemoryEngine } from './engine.ts'
import { type PlaceKind, takePlace } from './places.ts'
import { RedisCounts } from './redis-counts.ts'
import { type AskSteps, RemoteCounts, takeSteps } from './remote-engine.ts'
import { SharedEngine } from './shared-engine.ts'
import { type ReadSpent, SpentBefore } from './spent-before.ts'

export type { LimitState, LimitStep } from './engine.ts'
export type { AskSteps } from './remote-engine.ts'
export type { ReadSpent } from './spent-before.ts'

export interface LimitsOptions {
  /** Unix time in milliseconds. */
  readonly now?: () => number
  readonly log?: Log
  /** Where instances count together. */
  readonly redis?: RedisLink | undefined
  /** Has steps counted by the primary process, where there is no Redis. */
  readonly ask?: AskSteps | undefined
  /** Names this process among those that count together; no dots. By default something random. */
  readonly owner?: string
  /** What keys spent before; by default nothing. */
  readonly spent?: ReadSpent
}

/** Keys of which is remembered what is left of their limits. */
const MOST_KEYS = 10_000

/** What keys use of their limits. */
export class Limits implements Limiter {
  readonly engine: LimitEngine
  readonly now: () => number
  private readonly keys = new Map<string, KeyUse>()
  private readonly owner: string
  private readonly shared: SharedEngine | undefined
  private readonly spent: SpentBefore
  private places = 0

  constructor(options: LimitsOptions = {}) {
    const { now = Date.now, log = SILENT, owner = randomBytes(6).toString('hex') } = options
    const { spent = async () => NOTHING } = options
    this.now = now
    this.owner = owner
    this.shared = sharedEngine(options, now, log)
    this.engine = this.shared ?? new MemoryEngine(now)
    this.spent = spentBefore(spent, now, log)
  }

  /** The share of a request in a key's limits; nothing is counted yet. */
  of(key: string, settings: LimitSettings): Allowance {
    let use = this.keys.get(key)
    if (use === undefined) {
      if (this.keys.size >= MOST_KEYS) this.keys.delete(this.keys.keys().next().value!)
      this.keys.set(key, (use = new KeyUse()))
    }
    use.limit(settings)
    return new Allowance(key, use, this)
  }

  placeName(): string {
    return `${this.owner}.${(this.places++).toString(36)}`
  }

  /** Takes one of so many places that a key has in all processes; the result gives it back, undefined: none is free. */
  place(kind: PlaceKind, key: string, most: number): Promise<(() => void) | undefined> {
    return takePlace(this.engine, kind, key, most, this.placeName())
  }

  spentBefore(key: string): Promise<InitialSpend | undefined> {
    return this.spent.of(key)
  }

  /** Whether this process counts for itself although it should not. */
  get isAlone(): boolean {
    return this.shared?.isShared === false
  }

  /** Steps that were counted for this process alone although they should not have been. */
  get missed(): number {
    return this.shared?.missed ?? 0
  }

  /** Counts steps of a worker, in their order. */
  take(steps: readonly LimitStep[]): Promise<LimitState[]> {
    return takeSteps(this.engine, steps)
  }

  /** Gives back the places of a worker that is no more. */
  leaveAll(owner: string): void {
    this.engine.leaveAll(owner)
  }

  close(): void {
    this.engine.close()
  }
}

const NOTHING = { day: 0, month: 0 }
const SILENT: Log = { info() {}, warn() {}, error() {} }

function sharedEngine({ redis, ask }: LimitsOptions, now: () => number, log: Log): SharedEngine | undefined {
  const counts =
    redis !== undefined ? new RedisCounts(redis, now) : ask === undefined ? undefined : new RemoteCounts(ask)
  if (counts === undefined) return undefined
  const where = redis === undefined ? 'primary' : 'redis'
  const write = (err: unknown) => log.error({ limits: where, err }, 'limits count for this process alone')
  const faults = new LogOnce(write, { lasting: true, interval: 0 })
  return new SharedEngine(counts, {
    local: new MemoryEngine(now),
    onFault: thrown => faults.log(thrown, where),
    onRecovery() {
      if (faults.recovered()) log.info({ limits: where }, 'limits are shared again')
    },
  })
}

function spentBefore(read: ReadSpent, now: () => number, log: Log): SpentBefore {
  const write = (err: unknown) => log.error({ err }, 'budgets are not enforced: what keys have spent cannot be read')
  const faults = new LogOnce(write, { lasting: true, interval: 0 })
  return new SpentBefore({
    ...{ read, now },
    onFault: thrown => faults.log(thrown, 'spent'),
    onRecovery() {
      if (faults.recovered()) log.info({}, 'budgets are enforced again')
    },
  })
}
