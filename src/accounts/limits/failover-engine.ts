import { putNewest } from '../../canonical/bounded-map.ts'
import { type LimitEngine, type LimitState, type LimitStep, NO_AMOUNTS, type SeenLevels } from './engine.ts'
import { NOT_CONNECTED, Reachability } from './reachability.ts'
import type { RedisCounts } from './redis-counts.ts'
import type { SharedEngine } from './shared-engine.ts'

/** Options of the engine: the counts used while Redis is unreachable, the clock and the listeners. */
export interface FailoverOptions {
  /** Counts in the primary process, for all workers of the machine. */
  readonly primary: SharedEngine
  /** Returns the Unix time in milliseconds. */
  readonly now: () => number
  /**
   * Called before a key takes its first slot in Redis. Lets the primary release the slots if this worker is killed.
   */
  readonly onFirstSlot: (key: string) => void
  /** Returns true if the primary has transferred its counts to Redis. Rejects if the primary does not answer. */
  readonly isSettled: () => Promise<boolean>
  readonly onFault?: (thrown: unknown) => void
  readonly onRecovery?: () => void
}

/** Maximum number of keys whose levels in Redis are remembered. */
const MAX_KEYS = 10_000

/**
 * Counts a worker's requests in Redis, and in the primary process while Redis is unreachable, so that all workers of a
 * machine share one count. The primary transfers its counts to Redis itself.
 */
export class FailoverEngine implements LimitEngine {
  /** Number of steps that were not counted in Redis. */
  missed = 0
  private readonly redis: RedisCounts
  private readonly options: FailoverOptions
  private readonly reach: Reachability
  /** Names of slots taken in the primary, which must be released there. */
  private readonly primarySlots = new Set<string>()
  /** Last known levels in Redis by key, newest last. The primary starts counting from these levels. */
  private readonly levels = new Map<string, SeenLevels>()
  /** Keys whose first slot was announced to the primary. */
  private readonly announcedKeys = new Set<string>()
  /** Slots that Redis may hold although their requests were refused. */
  private pendingReleases: LimitStep[] = []

  constructor(redis: RedisCounts, options: FailoverOptions) {
    const { onFault, onRecovery } = options
    this.redis = redis
    this.options = options
    this.reach = new Reachability({ probe: () => this.settle(), onFault, onRecovery })
  }

  /** True if counts are in Redis, as far as is known. */
  get isShared(): boolean {
    return this.reach.isUp
  }

  step(step: LimitStep): LimitState | Promise<LimitState> {
    const { leave } = step
    if (leave !== undefined && this.primarySlots.delete(leave)) return this.options.primary.step(step)
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
      return this.stepAtPrimary(this.redis.mayBeCounted(thrown) ? { ...step, isPossiblyCounted: true } : step)
    }
  }

  private async stepAtPrimary(step: LimitStep): Promise<LimitState> {
    const { key, limits, enter, leave, isPossiblyCounted } = step
    this.missed++
    // The primary releases this slot in Redis, so this worker must stop renewing it.
    if (leave !== undefined) this.redis.forget(leave)
    const atMost = this.levels.get(key)
    this.levels.delete(key)
    const state = await this.options.primary.step(atMost === undefined ? step : { ...step, atMost })
    if (enter === undefined || limits.concurrent === undefined) return state
    if (state.refused === undefined && !state.unknown) this.primarySlots.add(enter)
    else if (isPossiblyCounted === true) this.pendingReleases.push({ ...NO_AMOUNTS, key, limits, leave: enter })
    return state
  }

  private announce(key: string): void {
    const { announcedKeys } = this
    if (announcedKeys.has(key)) return
    if (announcedKeys.size >= MAX_KEYS) announcedKeys.clear()
    announcedKeys.add(key)
    this.options.onFirstSlot(key)
  }

  private note(key: string, { requests, tokens }: LimitState): void {
    if (requests === undefined && tokens === undefined) return
    putNewest(this.levels, key, { requests, tokens, at: this.options.now() }, MAX_KEYS)
  }

  /**
   * Brings Redis up to date. Redis resumes counting only after the primary has transferred its counts, which would
   * otherwise be missing.
   */
  private async settle(): Promise<void> {
    const { redis, options } = this
    if (!redis.isUp) throw NOT_CONNECTED
    await redis.probe()
    for (let leave = this.pendingReleases[0]; leave !== undefined; leave = this.pendingReleases[0]) {
      await redis.step(leave)
      this.pendingReleases.shift()
    }
    if (!(await options.isSettled().catch(() => true))) throw NOT_TRANSFERRED
    this.reach.recovered()
  }
}

const NOT_TRANSFERRED = new Error('the primary has not transferred its counts to Redis yet')
