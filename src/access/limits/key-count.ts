import { Bucket } from './bucket.ts'
import { type LimitState, type LimitStep, type Refusal, refusalBy } from './engine.ts'
import { DAYS, MONTHS, type Period, Spend } from './spend.ts'

/** What one key has used of its limits. */
export class KeyCount {
  private requests: Bucket | undefined
  private tokens: Bucket | undefined
  /** Names of the places that are taken; absent before the first one is. */
  private places: string[] | undefined
  private day: Spend | undefined
  private month: Spend | undefined

  step(step: LimitStep, now: number): LimitState {
    const { limits, requests, tokens, enforced } = step
    if (limits.day !== undefined) this.day ??= initial(DAYS, step, step.initial?.day, now)
    if (limits.month !== undefined) this.month ??= initial(MONTHS, step, step.initial?.month, now)
    if (enforced && this.isUnknown(step)) return UNKNOWN
    this.requests = resized(this.requests, limits.rpm, now)
    this.tokens = resized(this.tokens, limits.tpm, now)
    const refused = enforced ? this.refusal(step, now) : undefined
    if (refused === undefined) {
      if (requests !== 0) this.requests?.take(requests, now)
      if (tokens !== 0) this.tokens?.take(tokens, now)
      if (step.cost !== 0) {
        this.day?.add(now, step.cost, step.reservedAt)
        this.month?.add(now, step.cost, step.reservedAt)
      }
      if (step.enter !== undefined && limits.concurrent !== undefined) this.enter(step.enter)
      if (step.leave !== undefined) this.leave(step.leave)
    }
    return { refused, requests: this.requests?.level(now), tokens: this.tokens?.level(now) }
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
      (day === undefined || day.current(now) === 0) &&
      (month === undefined || month.current(now) === 0)
    )
  }

  private isUnknown({ limits }: LimitStep): boolean {
    return (
      (limits.day !== undefined && this.day === undefined) || (limits.month !== undefined && this.month === undefined)
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

/** What was spent before the first step, where that is known; it may have been read in the period before. */
function initial(period: Period, step: LimitStep, amount: number | undefined, now: number): Spend | undefined {
  if (amount === undefined) return undefined
  return new Spend(period, now, period.at(step.initial!.at) === period.at(now) ? amount : 0)
}
