import { randomBytes } from 'node:crypto'
import { putNewest } from '../../canonical/bounded-map.ts'
import type { LimitSettings } from '../../config/index.ts'
import { type Log, SILENT } from '../../log.ts'
import { Outage } from '../../outage.ts'
import type { RedisLink } from '../../store/cluster/redis.ts'
import { EarlierSpend, type ReadSpent } from './earlier-spend.ts'
import { EarlyEngine } from './early-engine.ts'
import { type InitialSpend, type LimitEngine, type LimitState, type LimitStep, MemoryEngine } from './engine.ts'
import { FailoverEngine } from './failover-engine.ts'
import { HoldingEngine } from './holding-engine.ts'
import { KeyUse } from './key-use.ts'
import { RedisCounts } from './redis-counts.ts'
import { type AskSteps, PrimaryCounts, takeSteps } from './remote-engine.ts'
import { type Limiter, Reservation } from './reservation.ts'
import { SharedEngine } from './shared-engine.ts'
import { type SlotKind, takeSlot } from './slots.ts'
import { type ReadSpentBy, SpendRecount } from './spend-recount.ts'

export type { ReadSpent } from './earlier-spend.ts'
export type { LimitState, LimitStep } from './engine.ts'
export type { AskSteps } from './remote-engine.ts'

/** Dependencies of `Limits`. All have defaults. */
export interface LimitsOptions {
  /** Returns the Unix time in milliseconds. */
  readonly now?: () => number
  readonly log?: Log
  /** Redis, for counts shared between instances. */
  readonly redis?: RedisLink | undefined
  /** Sends steps to the primary process, which counts if Redis is missing or unreachable. */
  readonly ask?: AskSteps | undefined
  /** Coordination of a worker that uses Redis with its primary. */
  readonly primary?: PrimaryLimits | undefined
  /** Name of this process among those that share counts. Contains no dot. Random by default. */
  readonly owner?: string
  /** Reads the earlier spend of keys. By default, keys have none. */
  readonly spent?: ReadSpent
  /** Time after the shared counts came back until the spend is read again, in milliseconds. */
  readonly recountDelay?: number
  /** Reads the spend of several keys, with which shared counts are compared. By default, they are not compared. */
  readonly spentBy?: ReadSpentBy
  /** Milliseconds between two comparisons. */
  readonly recountInterval?: number
}

/** The primary's limits, as seen by a worker that uses Redis. */
export interface PrimaryLimits {
  /** Announces that this worker takes slots of a key in Redis. */
  takesSlots(key: string): void
  /** Returns true if the primary has transferred its counts to Redis. */
  isSettled(): Promise<boolean>
}

/**
 * Time after Redis came back until the spend in it is compared with the usage rows, in milliseconds. Until then, other
 * machines add to it what they counted meanwhile, which the rows already include.
 */
const RECOUNT_DELAY_MS = 10_000

/** Time between two comparisons of the spend in shared counts with the usage rows, in milliseconds. */
const RECOUNT_INTERVAL_MS = 60_000

/** Maximum number of keys whose remaining quota is remembered. */
const MAX_KEYS = 10_000

/** Applies the limits of all keys, with counts in this process, in the primary process or in Redis. */
export class Limits implements Limiter {
  readonly engine: LimitEngine
  /** Counts of the workers, which hold quota themselves. Their slots keep the names of their owners here. */
  private readonly counts: LimitEngine
  readonly now: () => number
  private readonly keys = new Map<string, KeyUse>()
  private readonly owner: string
  private readonly redis: RedisCounts | undefined
  private readonly shared: readonly (SharedEngine | FailoverEngine)[]
  private readonly spent: EarlierSpend
  private slotCount = 0
  private recountTimer: NodeJS.Timeout | undefined
  private readonly recount: SpendRecount | undefined

  constructor(options: LimitsOptions = {}) {
    const { now = Date.now, log = SILENT, owner = randomBytes(6).toString('hex') } = options
    const { spent = async () => NO_SPEND, spentBy, recountInterval: interval = RECOUNT_INTERVAL_MS } = options
    this.now = now
    this.owner = owner
    this.redis = options.redis && new RedisCounts(options.redis, now)
    const { recountDelay = RECOUNT_DELAY_MS } = options
    const recount = () => {
      clearTimeout(this.recountTimer)
      this.recountTimer = setTimeout(() => this.recountSpend(), recountDelay).unref()
    }
    options.redis?.onConnected(recount)
    this.shared = sharedEngines(options, this.redis, { now, log, recount })
    this.counts = this.shared[0] ?? new MemoryEngine(now)
    this.engine = engineOver(this.counts, this.redis !== undefined, now)
    this.spent = earlierSpend(spent, now, log)
    const { counts, keys } = this
    if (this.shared.length > 0 && spentBy !== undefined)
      this.recount = new SpendRecount({ ...{ counts, spentBy, keys, now, interval }, isAlone: () => this.isAlone })
  }

  /** Creates the reservation for one request in the limits of its key. Does not count anything yet. */
  of(key: string, settings: LimitSettings): Reservation {
    let use = this.keys.get(key)
    if (use === undefined) {
      use = new KeyUse()
      putNewest(this.keys, key, use, MAX_KEYS)
    }
    use.limit(settings)
    return new Reservation(key, use, this)
  }

  slotName(): string {
    return `${this.owner}.${(this.slotCount++).toString(36)}`
  }

  /**
   * Takes one of the `count` slots that a key has across all processes. Returns a function that releases the slot, or
   * undefined if none is free.
   */
  takeSlot(kind: SlotKind, key: string, count: number): Promise<(() => void) | undefined> {
    return takeSlot(this.engine, kind, key, count, this.slotName())
  }

  earlierSpend(key: string): Promise<InitialSpend | undefined> {
    return this.spent.of(key)
  }

  /**
   * Has the next step of each key raise the spend in the shared counts to that of its usage rows. Redis may have come
   * back with older data, after a loss of its memory or a failover to a replica that was behind. Refunds whose answers
   * were lost may have been counted twice.
   */
  private recountSpend(): void {
    for (const use of this.keys.values()) use.recountSpend()
  }

  /** True if this process or machine currently counts on its own although counts should be shared. */
  get isAlone(): boolean {
    return this.shared.some(({ isShared }) => !isShared)
  }

  /** Number of steps that were not counted by the intended engine. */
  get missed(): number {
    return this.shared[0]?.missed ?? 0
  }

  /** Applies steps of a worker, in order. */
  take(steps: readonly LimitStep[]): Promise<LimitState[]> {
    return takeSteps(this.counts, steps)
  }

  /** Records that a worker takes slots of a key in Redis. */
  noteOwner(owner: string, key: string): void {
    this.redis?.noteOwner(owner, key)
  }

  /** Releases the slots of a worker that ended. */
  leaveAll(owner: string): void {
    this.counts.leaveAll(owner)
  }

  close(): void {
    clearTimeout(this.recountTimer)
    this.recount?.close()
    this.engine.close()
  }
}

const NO_SPEND = { day: 0, month: 0 }

/** Builds the engine that requests of this process use. Only Redis can be far away. */
function engineOver(counts: LimitEngine, usesRedis: boolean, now: () => number): LimitEngine {
  if (counts instanceof MemoryEngine) return counts
  return new HoldingEngine(usesRedis ? new EarlyEngine(counts, now) : counts, now)
}

/** Builds the engine of a process with shared counts, followed by its fallbacks. */
function sharedEngines(
  { ask, primary, ...options }: LimitsOptions,
  redis: RedisCounts | undefined,
  { now, log, recount }: { readonly now: () => number; readonly log: Log; readonly recount: () => void },
): readonly (SharedEngine | FailoverEngine)[] {
  const asking =
    ask &&
    new SharedEngine(new PrimaryCounts(ask), {
      local: new MemoryEngine(now),
      ...outageListeners(log, 'primary', { recount }),
    })
  // The Redis link logs that Redis is unreachable.
  const outage = options.redis && outageListeners(log, 'redis', { shouldLog: () => options.redis!.isUp, recount })
  if (redis === undefined) return asking === undefined ? [] : [asking]
  if (asking === undefined) return [new SharedEngine(redis, { local: new MemoryEngine(now), ...outage })]
  const failover = new FailoverEngine(redis, {
    ...{ primary: asking, now, ...outage },
    isSettled: async () => primary?.isSettled() ?? true,
    onFirstSlot: key => primary?.takesSlots(key),
  })
  return [failover, asking]
}

/** Logs the start and end of a period in which counts are not shared. */
function outageListeners(
  log: Log,
  limits: 'primary' | 'redis',
  { shouldLog = () => true, recount = () => {} }: { shouldLog?: () => boolean; recount?: () => void } = {},
) {
  const scope = limits === 'primary' ? 'process' : 'machine'
  const message = `limits are counted only for this ${scope}`
  const outage = new Outage(log, { began: message, ended: 'limits are shared again' })
  return {
    onFault: (thrown: unknown) => {
      if (shouldLog()) outage.start(thrown, { limits })
    },
    onRecovery() {
      recount()
      outage.end()
    },
  }
}

/** Reads earlier spend, and logs when it is unavailable. */
function earlierSpend(read: ReadSpent, now: () => number, log: Log): EarlierSpend {
  const texts = {
    began: 'budgets are not enforced: the spend of keys cannot be read',
    ended: 'budgets are enforced again',
  }
  const outage = new Outage(log, texts)
  return new EarlierSpend({
    ...{ read, now },
    onFault(thrown) {
      outage.start(thrown)
      outage.countAffected()
    },
    onRecovery: () => outage.end(),
  })
}
