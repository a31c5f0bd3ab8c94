import { randomBytes } from 'node:crypto'
import type { LimitSettings } from '../../config/index.ts'
import type { Log } from '../../log.ts'
import { Outage } from '../../outage.ts'
import type { RedisLink } from '../../store/cluster/redis-link.ts'
import { Allowance, KeyUse, type Limiter } from './allowance.ts'
import { type InitialSpend, type LimitEngine, type LimitState, type LimitStep, MemoryEngine } from './engine.ts'
import { FailoverEngine } from './failover-engine.ts'
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
  /** Has steps counted by the primary process, where there is no Redis or it cannot be reached. */
  readonly ask?: AskSteps | undefined
  /** What else a worker with a Redis and its primary have to say to each other. */
  readonly primary?: PrimaryLimits | undefined
  /** Names this process among those that count together; no dots. By default something random. */
  readonly owner?: string
  /** What keys spent before; by default nothing. */
  readonly spent?: ReadSpent
}

/** The primary's limits as a worker with a Redis sees them. */
export interface PrimaryLimits {
  /** Takes places of a key in Redis from now on. */
  takesPlaces(key: string): void
  /** Whether Redis has what the primary counted. */
  isSettled(): Promise<boolean>
}

/** Keys of which is remembered what is left of their limits. */
const MOST_KEYS = 10_000

/** What keys use of their limits. */
export class Limits implements Limiter {
  readonly engine: LimitEngine
  readonly now: () => number
  private readonly keys = new Map<string, KeyUse>()
  private readonly owner: string
  private readonly redis: RedisCounts | undefined
  private readonly shared: readonly (SharedEngine | FailoverEngine)[]
  private readonly spent: SpentBefore
  private places = 0

  constructor(options: LimitsOptions = {}) {
    const { now = Date.now, log = SILENT, owner = randomBytes(6).toString('hex') } = options
    const { spent = async () => NOTHING } = options
    this.now = now
    this.owner = owner
    this.redis = options.redis && new RedisCounts(options.redis, now)
    this.shared = sharedEngines(options, this.redis, now, log)
    this.engine = this.shared[0] ?? new MemoryEngine(now)
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

  /** Whether this process or its machine counts for itself although it should not. */
  get isAlone(): boolean {
    return this.shared.some(({ isShared }) => !isShared)
  }

  /** Steps that were not counted where they should have been. */
  get missed(): number {
    return this.shared[0]?.missed ?? 0
  }

  /** Counts steps of a worker, in their order. */
  take(steps: readonly LimitStep[]): Promise<LimitState[]> {
    return takeSteps(this.engine, steps)
  }

  /** A worker takes places of a key in Redis from now on. */
  noteOwner(owner: string, key: string): void {
    this.redis?.noteOwner(owner, key)
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

/** The engine of a process that counts with others, and those it falls back to. */
function sharedEngines(
  { ask, primary, ...options }: LimitsOptions,
  redis: RedisCounts | undefined,
  now: () => number,
  log: Log,
): readonly (SharedEngine | FailoverEngine)[] {
  const asking =
    ask && new SharedEngine(new RemoteCounts(ask), { local: new MemoryEngine(now), ...alone(log, 'primary') })
  // The link logs that Redis cannot be reached.
  const outage = options.redis && alone(log, 'redis', () => options.redis!.isUp)
  if (redis === undefined) return asking === undefined ? [] : [asking]
  if (asking === undefined) return [new SharedEngine(redis, { local: new MemoryEngine(now), ...outage })]
  const failover = new FailoverEngine(redis, {
    ...{ primary: asking, now, ...outage },
    isSettled: async () => primary?.isSettled() ?? true,
    onFirstPlace: key => primary?.takesPlaces(key),
  })
  return [failover, asking]
}

/** Logs that limits are not counted where they should be: its cause, and once it is over how long it lasted. */
function alone(log: Log, limits: 'primary' | 'redis', logs = () => true) {
  const who = limits === 'primary' ? 'process' : 'machine'
  const began = `limits count for this ${who} alone`
  const outage = new Outage(log, { began, ended: 'limits are shared again' })
  return {
    onFault: (thrown: unknown) => {
      if (logs()) outage.began(thrown, { limits })
    },
    onRecovery: () => outage.ended(),
  }
}

function spentBefore(read: ReadSpent, now: () => number, log: Log): SpentBefore {
  const texts = {
    began: 'budgets are not enforced: what keys have spent cannot be read',
    ended: 'budgets are enforced again',
  }
  const outage = new Outage(log, texts)
  return new SpentBefore({
    ...{ read, now },
    onFault(thrown) {
      outage.began(thrown)
      outage.affects()
    },
    onRecovery: () => outage.ended(),
  })
}
