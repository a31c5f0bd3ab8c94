import { Bucket, refilled } from './bucket.ts'
import { SlotNames } from './slot-names.ts'
import { DAYS, MONTHS, type Period, Spend } from './spend.ts'

/** Limits of one key. An undefined limit does not apply. */
export interface KeyLimits {
  /** Maximum number of requests and tokens per minute. */
  readonly rpm?: number | undefined
  readonly tpm?: number | undefined
  readonly concurrent?: number | undefined
  /** Budget per UTC day and month, in nanodollars. */
  readonly day?: number | undefined
  readonly month?: number | undefined
}

/** The earlier spend of a key at time `at` (Unix milliseconds): nanodollars in that UTC day and month. */
export interface InitialSpend {
  readonly day: number
  readonly month: number
  readonly at: number
}

/** Remaining quota per minute that another engine reported at time `at` (Unix milliseconds). */
export interface SeenLevels {
  readonly requests?: number | undefined
  readonly tokens?: number | undefined
  readonly at: number
}

/** One atomic change of a key's counts. Plain JSON, because it is sent to other processes. */
export interface LimitStep {
  /** Id of the key. */
  readonly key: string
  readonly limits: KeyLimits
  /** Number of requests to take. */
  readonly requests: number
  /** Number of tokens to take. A negative number returns tokens. */
  readonly tokens: number
  /** Cost in nanodollars. A negative number is a refund. */
  readonly cost: number
  /**
   * Time at which the cost that this step corrects was reserved, in Unix milliseconds. The correction counts in that
   * day and month, and is dropped if they are no longer remembered.
   */
  readonly reservedAt?: number | undefined
  /** Takes a concurrency slot of the key under this name: `OWNER.NUMBER`. */
  readonly enter?: string | undefined
  /** Releases the concurrency slot of that name. */
  readonly leave?: string | undefined
  /** True if the engine must refuse the step when a limit is reached. A settling step is never refused. */
  readonly enforced: boolean
  /** Earlier spend of the key, used by an engine that does not have it yet. */
  readonly initial?: InitialSpend | undefined
  /**
   * True if the engine must raise the spend that it has to `initial`: costs were not counted while the key had no such
   * budget.
   */
  readonly raisesSpend?: true | undefined
  /** Levels to which the remaining quota is lowered before the step takes anything. The refill since then is added. */
  readonly atMost?: SeenLevels | undefined
  /** True if the engine must report the room in all limits. */
  readonly reportsRoom?: true | undefined
  /** True if Redis may have applied the step although it did not answer. Such a step is never sent to Redis again. */
  readonly isPossiblyCounted?: true | undefined
}

/** The limits that can refuse a step. */
export type LimitName = 'requests' | 'tokens' | 'concurrent' | 'day' | 'month'

/** Reason why a step was refused, and for how long. */
export interface Refusal {
  readonly limit: LimitName
  /** Number of milliseconds until the limit may have room again. */
  readonly wait: number
}

/** Result of a step. */
export interface LimitState {
  readonly refused?: Refusal | undefined
  /**
   * True if the engine lacks the key's earlier spend. The step changed nothing, and must be repeated with `initial`.
   */
  readonly unknown?: true
  /** Remaining quota per minute after the step, negative for a debt. */
  readonly requests?: number | undefined
  readonly tokens?: number | undefined
  /** Room in the other limits, if the engine reports it. */
  readonly room?: Room | undefined
}

/** Room in the limits that have no rate. An undefined value is unknown or has no limit. */
export interface Room {
  /** Number of free slots. */
  readonly concurrent: number | undefined
  /** Nanodollars. */
  readonly day: number | undefined
  readonly month: number | undefined
}

/** Counts the usage of keys: in this process, in the primary process, or in Redis for several instances. */
export interface LimitEngine {
  /**
   * Applies a step. Never rejects. If the shared counts are unreachable, the engine counts in this process.
   *
   * @param now Unix milliseconds. Saves an engine in this process from reading the clock.
   */
  step(step: LimitStep, now?: number): LimitState | Promise<LimitState>
  /** Releases all slots of an owner that ended. */
  leaveAll(owner: string): void
  close(): void
}

/** Suggested wait for a concurrency slot, in milliseconds. The remaining time of running requests is unknown. */
const SLOT_WAIT_MS = 1000

const LIMIT_NAMES: readonly LimitName[] = ['requests', 'tokens', 'concurrent', 'day', 'month']

/**
 * Builds the refusal for the limit with the longest wait, or returns undefined if no limit is reached. The arguments
 * are the milliseconds until each limit has room.
 */
export function refusalBy(
  requests: number,
  tokens: number,
  isFull: boolean,
  day: number,
  month: number,
): Refusal | undefined {
  const concurrent = isFull ? SLOT_WAIT_MS : 0
  if (requests + tokens + concurrent + day + month === 0) return undefined
  const wait = Math.max(requests, tokens, concurrent, day, month)
  return { limit: LIMIT_NAMES[[requests, tokens, concurrent, day, month].indexOf(wait)]!, wait }
}

/** Number of steps between two sweeps, in addition to one step per key. */
const SWEEP_STEPS = 1024

/** Counts in this process. Forgets keys whose counts equal those of a new key. */
export class MemoryEngine implements LimitEngine {
  private readonly counts = new Map<string, KeyCount>()
  private readonly now: () => number
  private steps = 0

  /** @param now Unix time in milliseconds. */
  constructor(now: () => number = Date.now) {
    this.now = now
  }

  step(step: LimitStep, now = this.now()): LimitState {
    if (++this.steps > SWEEP_STEPS + this.counts.size) this.sweep(now)
    let count = this.counts.get(step.key)
    if (count === undefined) this.counts.set(step.key, (count = new KeyCount()))
    return count.step(step, now)
  }

  leaveAll(owner: string): void {
    for (const count of this.counts.values()) count.leaveAll(owner)
  }

  /**
   * Returns a key's spend in the day and month of a time, or undefined if the spend for one of its budgets is unknown.
   */
  spent(key: string, { day, month }: KeyLimits, now = this.now()): InitialSpend | undefined {
    return this.counts.get(key)?.spent(day !== undefined, month !== undefined, now)
  }

  /** Number of counted keys. */
  get size(): number {
    return this.counts.size
  }

  close(): void {
    this.counts.clear()
  }

  private sweep(now: number): void {
    this.steps = 0
    for (const [key, count] of this.counts) if (count.isInitial(now)) this.counts.delete(key)
  }
}

/** Counts of one key. */
class KeyCount {
  private requests: Bucket | undefined
  private tokens: Bucket | undefined
  /** Names of the slots in use, or undefined until the first slot is taken. */
  private slots: SlotNames | undefined
  private day: Spend | undefined
  private month: Spend | undefined

  step(step: LimitStep, now: number): LimitState {
    const { limits, requests, tokens, enforced } = step
    if (limits.day !== undefined) this.day = initialSpend(this.day, DAYS, step, step.initial?.day, now)
    if (limits.month !== undefined) this.month = initialSpend(this.month, MONTHS, step, step.initial?.month, now)
    const day = knownAt(this.day, now)
    const month = knownAt(this.month, now)
    if (enforced && ((limits.day !== undefined && !day) || (limits.month !== undefined && !month))) return UNKNOWN_SPEND
    day?.current(now)
    month?.current(now)
    this.requests = resized(this.requests, limits.rpm, now)
    this.tokens = resized(this.tokens, limits.tpm, now)
    if (step.atMost !== undefined) this.cap(limits, step.atMost, now)
    const refused = enforced ? this.refusal(step, now) : undefined
    if (refused === undefined) {
      if (requests !== 0) this.requests?.take(requests, now)
      if (tokens !== 0) this.tokens?.take(tokens, now)
      if (step.cost !== 0) {
        this.day?.add(step.reservedAt ?? now, step.cost)
        this.month?.add(step.reservedAt ?? now, step.cost)
      }
      if (step.enter !== undefined && limits.concurrent !== undefined) (this.slots ??= new SlotNames()).add(step.enter)
      if (step.leave !== undefined) this.slots?.remove(step.leave)
    }
    const room = step.reportsRoom === true ? this.room(limits, now) : undefined
    return { refused, requests: this.requests?.level(now), tokens: this.tokens?.level(now), room }
  }

  spent(hasDay: boolean, hasMonth: boolean, now: number): InitialSpend | undefined {
    const [day, month] = [knownAt(this.day, now), knownAt(this.month, now)]
    if ((hasDay && day === undefined) || (hasMonth && month === undefined)) return undefined
    return { day: day?.current(now) ?? 0, month: month?.current(now) ?? 0, at: now }
  }

  private room({ concurrent, day, month }: KeyLimits, now: number): Room {
    return {
      concurrent: concurrent === undefined ? undefined : concurrent - (this.slots?.size ?? 0),
      day: day === undefined ? undefined : day - (this.day?.current(now) ?? 0),
      month: month === undefined ? undefined : month - (this.month?.current(now) ?? 0),
    }
  }

  private cap({ rpm, tpm }: KeyLimits, { requests, tokens, at }: SeenLevels, now: number): void {
    if (rpm !== undefined && requests !== undefined) this.requests!.cap(refilled(requests, rpm, now - at), now)
    if (tpm !== undefined && tokens !== undefined) this.tokens!.cap(refilled(tokens, tpm, now - at), now)
  }

  /** Releases all slots of an owner. */
  leaveAll(owner: string): void {
    this.slots?.removeOwner(owner)
  }

  /**
   * Returns true if the counts equal those of a new key and can be forgotten. Spend in the current period prevents
   * this.
   */
  isInitial(now: number): boolean {
    const { requests, tokens, slots, day, month } = this
    return (
      (slots === undefined || slots.size === 0) &&
      (requests === undefined || requests.isFull(now)) &&
      (tokens === undefined || tokens.isFull(now)) &&
      (day === undefined || day.isIdle(now)) &&
      (month === undefined || month.isIdle(now))
    )
  }

  private refusal({ limits, requests, tokens, cost, enter }: LimitStep, now: number): Refusal | undefined {
    const { concurrent, day, month } = limits
    return refusalBy(
      requests > 0 ? (this.requests?.wait(now, requests) ?? 0) : 0,
      requests > 0 || tokens > 0 ? (this.tokens?.wait(now, tokens) ?? 0) : 0,
      enter !== undefined && concurrent !== undefined && !this.hasRoom(enter, concurrent),
      day === undefined ? 0 : this.day!.wait(now, cost, day),
      month === undefined ? 0 : this.month!.wait(now, cost, month),
    )
  }

  private hasRoom(name: string, concurrent: number): boolean {
    const { slots } = this
    return (slots?.size ?? 0) < concurrent || slots?.has(name) === true
  }
}

const UNKNOWN_SPEND: LimitState = { unknown: true }

function resized(bucket: Bucket | undefined, perMinute: number | undefined, now: number): Bucket | undefined {
  if (perMinute === undefined) return undefined
  if (bucket === undefined) return new Bucket(perMinute, now)
  bucket.resize(perMinute, now)
  return bucket
}

/**
 * Starts counting the spend of a period. Includes the amount spent before the first step if the step states it. That
 * amount may belong to an earlier period.
 */
function initialSpend(
  spend: Spend | undefined,
  period: Period,
  step: LimitStep,
  amount: number | undefined,
  now: number,
): Spend | undefined {
  if (amount === undefined) return spend
  const before = period.at(step.initial!.at) === period.at(now) ? amount : 0
  if (spend === undefined) return new Spend(period, now, before)
  if (spend.isKnown(now)) {
    if (step.raisesSpend === true) spend.raise(now, before)
    return spend
  }
  spend.begin(now, before)
  return spend
}

/** Returns the spend if it is known for the period of a time. */
const knownAt = (spend: Spend | undefined, now: number): Spend | undefined =>
  spend?.isKnown(now) === true ? spend : undefined

/** Returns true if all limits of two keys are equal. */
export const hasSameLimits = (one: KeyLimits, other: KeyLimits): boolean =>
  one.rpm === other.rpm &&
  one.tpm === other.tpm &&
  one.concurrent === other.concurrent &&
  one.day === other.day &&
  one.month === other.month

/** Amounts of a step that takes nothing. */
export const NO_AMOUNTS = { requests: 0, tokens: 0, cost: 0, enforced: false } as const satisfies Partial<LimitStep>
