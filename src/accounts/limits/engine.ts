import { Bucket, refilled } from './bucket.ts'
import { DAYS, MONTHS, type Period, Spend } from './spend.ts'

/** Limits of one key; money in nanodollars. Those that are undefined limit nothing. */
export interface KeyLimits {
  /** Requests and tokens a minute. */
  readonly rpm?: number | undefined
  readonly tpm?: number | undefined
  readonly concurrent?: number | undefined
  /** Spend a day and a month, UTC. */
  readonly day?: number | undefined
  readonly month?: number | undefined
}

/** Nanodollars a key had spent in the day and the month (UTC) of a time, Unix milliseconds. */
export interface InitialSpend {
  readonly day: number
  readonly month: number
  readonly at: number
}

/** Levels of a minute's allowances that another engine saw at a time, Unix milliseconds. */
export interface SeenLevels {
  readonly requests?: number | undefined
  readonly tokens?: number | undefined
  readonly at: number
}

/**
 * One step of a request at its key's limits, plain JSON: it is sent to other processes. All of a step happens, or nothing
 * of it.
 */
export interface LimitStep {
  /** The key's id. */
  readonly key: string
  readonly limits: KeyLimits
  /** Requests to take. */
  readonly requests: number
  /** Tokens to take; negative ones are given back. */
  readonly tokens: number
  /** Nanodollars to spend; negative ones are given back. */
  readonly cost: number
  /** When the cost that this one corrects was reserved, Unix milliseconds: it counts in periods that still run. */
  readonly reservedAt?: number | undefined
  /** Takes a place among the key's concurrent requests, under this name: `OWNER.NUMBER`. */
  readonly enter?: string | undefined
  /** Gives the place of that name back. */
  readonly leave?: string | undefined
  /** Whether the step is refused where a limit has no room; one that settles takes what it takes. */
  readonly enforced: boolean
  /** What counts where the engine has not read yet what the key has spent. */
  readonly initial?: InitialSpend | undefined
  /** Lowers the minute's allowances to these levels, refilled since, before anything is taken. */
  readonly atMost?: SeenLevels | undefined
  /** Redis may have counted it without answering: it is counted elsewhere, and never sent there again. */
  readonly isDoubtful?: true | undefined
}

export type LimitName = 'requests' | 'tokens' | 'concurrent' | 'day' | 'month'

export interface Refusal {
  readonly limit: LimitName
  /** Milliseconds until there may be room. */
  readonly wait: number
}

export interface LimitState {
  readonly refused?: Refusal | undefined
  /** What the key has spent must be known first: nothing happened, the step is to be repeated with `initial`. */
  readonly unknown?: true
  /** What the minute's allowances hold after the step; negative where there is a debt. */
  readonly requests?: number | undefined
  readonly tokens?: number | undefined
}

/** Counts what keys use: in this process, in the primary of several, or in Redis for many instances. */
export interface LimitEngine {
  /**
   * Never rejects: an engine that cannot be reached is replaced by counting here.
   *
   * @param now Unix time in milliseconds, for an engine of this process, which would read the same clock.
   */
  step(step: LimitStep, now?: number): LimitState | Promise<LimitState>
  /** Gives back the places of an owner that is no more. */
  leaveAll(owner: string): void
  close(): void
}

/** Milliseconds after which there may be room among concurrent requests: how long they take is unknown. */
const TURN = 1000

const NAMES: readonly LimitName[] = ['requests', 'tokens', 'concurrent', 'day', 'month']

/** The refusal by the limit that takes longest to have room; undefined where all have. Milliseconds until each has. */
export function refusalBy(
  requests: number,
  tokens: number,
  isFull: boolean,
  day: number,
  month: number,
): Refusal | undefined {
  const concurrent = isFull ? TURN : 0
  if (requests + tokens + concurrent + day + month === 0) return undefined
  const wait = Math.max(requests, tokens, concurrent, day, month)
  return { limit: NAMES[[requests, tokens, concurrent, day, month].indexOf(wait)]!, wait }
}

/** Steps between two looks for keys to forget, besides one for each key. */
const SWEEP = 1024

/** Counts in this process. Keys whose counts equal those of a new key are forgotten. */
export class MemoryEngine implements LimitEngine {
  private readonly counts = new Map<string, KeyCount>()
  private readonly now: () => number
  private steps = 0

  /** @param now Unix time in milliseconds. */
  constructor(now: () => number = Date.now) {
    this.now = now
  }

  step(step: LimitStep, now = this.now()): LimitState {
    if (++this.steps > SWEEP + this.counts.size) this.sweep(now)
    let count = this.counts.get(step.key)
    if (count === undefined) this.counts.set(step.key, (count = new KeyCount()))
    return count.step(step, now)
  }

  leaveAll(owner: string): void {
    for (const count of this.counts.values()) count.leaveAll(owner)
  }

  /** Nanodollars a key spent in the day and the month of a time; undefined where either of its budgets is not known. */
  spent(key: string, { day, month }: KeyLimits, now = this.now()): InitialSpend | undefined {
    return this.counts.get(key)?.spent(day !== undefined, month !== undefined, now)
  }

  /** Keys it counts for. */
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

/** What one key has used of its limits. */
class KeyCount {
  private requests: Bucket | undefined
  private tokens: Bucket | undefined
  /** Names of the places that are taken; absent before the first one is. */
  private places: string[] | undefined
  private day: Spend | undefined
  private month: Spend | undefined

  step(step: LimitStep, now: number): LimitState {
    const { limits, requests, tokens, enforced } = step
    if (limits.day !== undefined) this.day = initial(this.day, DAYS, step, step.initial?.day, now)
    if (limits.month !== undefined) this.month = initial(this.month, MONTHS, step, step.initial?.month, now)
    const day = knownAt(this.day, now)
    const month = knownAt(this.month, now)
    if (enforced && ((limits.day !== undefined && !day) || (limits.month !== undefined && !month))) return UNKNOWN
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
        day?.add(now, step.cost, step.reservedAt)
        month?.add(now, step.cost, step.reservedAt)
      }
      if (step.enter !== undefined && limits.concurrent !== undefined) this.enter(step.enter)
      if (step.leave !== undefined) this.leave(step.leave)
    }
    return { refused, requests: this.requests?.level(now), tokens: this.tokens?.level(now) }
  }

  spent(hasDay: boolean, hasMonth: boolean, now: number): InitialSpend | undefined {
    const [day, month] = [knownAt(this.day, now), knownAt(this.month, now)]
    if ((hasDay && day === undefined) || (hasMonth && month === undefined)) return undefined
    return { day: day?.current(now) ?? 0, month: month?.current(now) ?? 0, at: now }
  }

  private cap({ rpm, tpm }: KeyLimits, { requests, tokens, at }: SeenLevels, now: number): void {
    if (rpm !== undefined && requests !== undefined) this.requests!.cap(refilled(requests, rpm, now - at), now)
    if (tpm !== undefined && tokens !== undefined) this.tokens!.cap(refilled(tokens, tpm, now - at), now)
  }

  /** Gives back the places of an owner. */
  leaveAll(owner: string): void {
    this.places = this.places?.filter(name => !name.startsWith(`${owner}.`))
  }

  /** Whether a key that was never seen would have the same counts; one whose spend is known has not. */
  isInitial(now: number): boolean {
    const { requests, tokens, places, day, month } = this
    return (
      (places === undefined || places.length === 0) &&
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
      this.tokens?.wait(now, tokens) ?? 0,
      enter !== undefined && concurrent !== undefined && !this.hasRoom(enter, concurrent),
      day === undefined ? 0 : this.day!.wait(now, cost, day),
      month === undefined ? 0 : this.month!.wait(now, cost, month),
    )
  }

  private hasRoom(name: string, concurrent: number): boolean {
    const { places } = this
    return (places?.length ?? 0) < concurrent || places?.includes(name) === true
  }

  private enter(name: string): void {
    this.places ??= []
    if (!this.places.includes(name)) this.places.push(name)
  }

  private leave(name: string): void {
    const { places } = this
    const place = places?.indexOf(name) ?? -1
    if (place < 0) return
    const last = places!.pop()!
    if (place < places!.length) places![place] = last
  }
}

const UNKNOWN: LimitState = { unknown: true }

function resized(bucket: Bucket | undefined, perMinute: number | undefined, now: number): Bucket | undefined {
  if (perMinute === undefined) return undefined
  if (bucket === undefined) return new Bucket(perMinute, now)
  bucket.resize(perMinute, now)
  return bucket
}

/** The spend, with what was spent before its first step in a period, where that is known; it may have been read earlier. */
function initial(
  spend: Spend | undefined,
  period: Period,
  step: LimitStep,
  amount: number | undefined,
  now: number,
): Spend | undefined {
  if (amount === undefined || spend?.isKnown(now) === true) return spend
  const before = period.at(step.initial!.at) === period.at(now) ? amount : 0
  if (spend === undefined) return new Spend(period, now, before)
  spend.begin(now, before)
  return spend
}

/** The spend where it is known in the period of a time. */
const knownAt = (spend: Spend | undefined, now: number): Spend | undefined =>
  spend?.isKnown(now) === true ? spend : undefined
