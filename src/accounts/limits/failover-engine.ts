import type { LimitEngine, LimitState, LimitStep, SeenLevels } from './engine.ts'
import { Reachability } from './reachability.ts'
import type { RedisCounts } from './redis-counts.ts'
import type { SharedEngine } from './shared-engine.ts'

export interface FailoverOptions {
  /** Counts at the primary process, for all workers of the machine. */
  readonly primary: SharedEngine
  /** Unix time in milliseconds. */
  readonly now: () => number
  /** Called before the first place of a key is taken in Redis: the primary releases those of a worker that was killed. */
  readonly onFirstPlace: (key: string) => void
  /** Whether Redis has what the primary counted; rejects where the primary cannot be asked. */
  readonly isSettled: () => Promise<boolean>
  readonly onFault?: (thrown: unknown) => void
  readonly onRecovery?: () => void
}

/** Keys of which the levels in Redis are remembered. */
const MOST_KEYS = 10_000

/**
 * The counts of a worker in Redis, and at its primary while Redis cannot be reached: one count for each machine. What the
 * primary counts it settles with Redis itself.
 */
export class FailoverEngine implements LimitEngine {
  /** Steps that were not counted in Redis. */
  missed = 0
  private readonly redis: RedisCounts
  private readonly options: FailoverOptions
  private readonly reach: Reachability
  /** Places that were taken at the primary: they are given back there. */
  private readonly entered = new Set<string>()
  /** Levels of keys in Redis, with which the primary begins to count; the latest last. */
  private readonly levels = new Map<string, SeenLevels>()
  /** Keys of which the primary knows that places were taken. */
  private readonly announced = new Set<string>()
  /** Places that Redis may hold although the request was refused. */
  private leaves: LimitStep[] = []

  constructor(redis: RedisCounts, options: FailoverOptions) {
    const { onFault, onRecovery } = options
    this.redis = redis
    this.options = options
    this.reach = new Reachability({ probe: () => this.settle(), onFault, onRecovery })
  }

  /** Counts are in Redis, as far as is known. */
  get isShared(): boolean {
    return this.reach.isUp
  }

  step(step: LimitStep): LimitState | Promise<LimitState> {
    const { leave } = step
    if (leave !== undefined && this.entered.delete(leave)) return this.options.primary.step(step)
    if (this.isShared && !this.redis.isUp) this.reach.failed(NOT_CONNECTED)
    return this.isShared ? this.stepInRedis(step) : this.stepAtPrimary(step)
  }

  leaveAll(owner: string): void {
    this.redis.leaveAll(owner)
    this.options.primary.leaveAll(owner)
  }

  close(): void {
    this.reach.close()
    this.redis.close()
    this.options.primary.close()
  }

  private async stepInRedis(step: LimitStep): Promise<LimitState> {
    if (step.enter !== undefined && step.limits.concurrent !== undefined) this.announce(step.key)
    try {
      const state = await this.redis.step(step)
      this.note(step.key, state)
      return state
    } catch (thrown) {
      this.reach.failed(thrown)
      return this.stepAtPrimary(this.redis.mayBeCounted(thrown) ? { ...step, isDoubtful: true } : step)
    }
  }

  private async stepAtPrimary(step: LimitStep): Promise<LimitState> {
    const { key, limits, enter, leave, isDoubtful } = step
    this.missed++
    // The primary gives this place back to Redis; here it must not be renewed.
    if (leave !== undefined) this.redis.forget(leave)
    const atMost = this.levels.get(key)
    this.levels.delete(key)
    const state = await this.options.primary.step(atMost === undefined ? step : { ...step, atMost })
    if (enter === undefined || limits.concurrent === undefined) return state
    if (state.refused === undefined && !state.unknown) this.entered.add(enter)
    else if (isDoubtful === true) this.leaves.push({ ...NOTHING, key, limits, leave: enter })
    return state
  }

  private announce(key: string): void {
    const { announced } = this
    if (announced.has(key)) return
    if (announced.size >= MOST_KEYS) announced.clear()
    announced.add(key)
    this.options.onFirstPlace(key)
  }

  private note(key: string, { requests, tokens }: LimitState): void {
    if (requests === undefined && tokens === undefined) return
    const { levels } = this
    levels.delete(key)
    if (levels.size >= MOST_KEYS) levels.delete(levels.keys().next().value!)
    levels.set(key, { requests, tokens, at: this.options.now() })
  }

  /** Redis is used again once it has what the primary counted: before, its counts are too low. */
  private async settle(): Promise<void> {
    const { redis, options } = this
    if (!redis.isUp) throw NOT_CONNECTED
    await redis.probe()
    for (let leave = this.leaves[0]; leave !== undefined; leave = this.leaves[0]) {
      await redis.step(leave)
      this.leaves.shift()
    }
    if (!(await options.isSettled().catch(() => true))) throw UNSETTLED
  }
}

const NOTHING = { requests: 0, tokens: 0, cost: 0, enforced: false } as const
const NOT_CONNECTED = new Error('there is no connection')
const UNSETTLED = new Error('the primary has not settled its counts yet')
