import { type LimitStep, type MemoryEngine, NO_AMOUNTS } from './engine.ts'
import { DAYS } from './spend.ts'

/**
 * Maximum number of pending steps of each kind. Further steps are dropped: the shared engine frees their slots when
 * the leases expire, and reads their spend from the stored usage rows.
 */
const MAX_STEPS = 100_000

/**
 * Steps that were counted only in this process and wait for their transfer to the shared engine: taken and released
 * slots, spend, and the remaining quota per minute.
 */
export class PendingSteps {
  /** Slots taken in this process, by name. */
  private readonly slots = new StepQueue()
  /** Costs by the UTC day in which they were reserved, and by key. */
  private readonly costs = new StepQueue()
  /** Slots to release in the shared engine, by name. */
  private readonly releases = new StepQueue()
  /** Steps that tell the shared engine what is left of a key's requests and tokens per minute, by key. */
  private readonly levels = new StepQueue()
  private readonly local: MemoryEngine

  /** @param local engine that counts in the meantime. */
  constructor(local: MemoryEngine) {
    this.local = local
  }

  /**
   * Records a step that was counted in this process.
   *
   * @param mayBeCounted true if the shared engine may also have counted the step. A cost is then not transferred, but a
   * refund is: the shared engine should have too little rather than too much, because the stored rows raise it later.
   */
  add(step: LimitStep, mayBeCounted: boolean): void {
    const { key, limits, requests, tokens, cost, reservedAt, enter, leave } = step
    const emptyStep = { ...NO_AMOUNTS, key, limits }
    if (enter !== undefined && limits.concurrent !== undefined) this.slots.add(enter, { ...emptyStep, enter })
    if (mustBeSent(cost, mayBeCounted) && (limits.day !== undefined || limits.month !== undefined))
      this.addCost({ ...emptyStep, reservedAt }, cost)
    if ((requests !== 0 && limits.rpm !== undefined) || (tokens !== 0 && limits.tpm !== undefined))
      this.levels.add(key, emptyStep)
    if (leave !== undefined && !this.slots.delete(leave)) this.releases.add(leave, { ...emptyStep, leave })
  }

  /** Records that the shared engine may have counted the cost of a step that was refused or is repeated here. */
  refund({ key, limits, cost, reservedAt }: LimitStep): void {
    if (cost > 0) this.addCost({ ...NO_AMOUNTS, key, limits, reservedAt }, -cost)
  }

  /** Releases the slot that the shared engine may have taken for a step that was counted in this process. */
  releasePossiblyCounted({ key, limits, enter }: LimitStep): void {
    if (enter !== undefined) this.releases.add(enter, { ...NO_AMOUNTS, key, limits, leave: enter })
  }

  /** Forgets a released slot. Returns true if this process had taken the slot. */
  forgetSlot(leave: string | undefined): boolean {
    return leave !== undefined && this.slots.size > 0 && this.slots.delete(leave)
  }

  /** Forgets the slots that an owner took in this process. */
  leaveAll(owner: string): void {
    for (const name of this.slots.keys()) if (name.startsWith(`${owner}.`)) this.slots.delete(name)
  }

  /**
   * Removes and returns the next step to transfer. Slots are last, because many of them are released in the meantime.
   */
  next(): LimitStep | undefined {
    const leave = this.releases.removeFirst()
    if (leave !== undefined) return leave
    const cost = this.costs.removeFirst()
    if (cost !== undefined) return this.withSpend(cost)
    const level = this.levels.removeFirst()
    if (level === undefined) return this.slots.removeFirst()
    const at = Date.now()
    const { requests, tokens } = this.local.step(level)
    return { ...level, atMost: { requests, tokens, at } }
  }

  /**
   * Puts back a step that could not be transferred.
   *
   * @param mayBeCounted true if the shared engine may have applied the step although its answer was lost. A cost is then
   * not sent again, so that it is never counted twice, but a refund is.
   */
  putBack(step: LimitStep, mayBeCounted: boolean): void {
    const { key, limits, cost, reservedAt, enter, leave, atMost } = step
    if (leave !== undefined) this.releases.add(leave, step)
    if (mustBeSent(cost, mayBeCounted)) this.addCost({ ...NO_AMOUNTS, key, limits, reservedAt }, cost)
    if (atMost !== undefined) this.levels.add(key, { ...NO_AMOUNTS, key, limits })
    if (enter !== undefined && !this.releases.has(enter)) this.slots.add(enter, step)
  }

  /** Adds a cost to the pending cost of a key in the day in which it was reserved. */
  private addCost({ reservedAt = Date.now(), ...emptyStep }: LimitStep, cost: number): void {
    const name = `${DAYS.at(reservedAt)} ${emptyStep.key}`
    const before = this.costs.get(name)?.cost ?? 0
    this.costs.add(name, { ...emptyStep, reservedAt, cost: before + cost })
  }

  /**
   * Adds what the key had spent before the step, from which a shared engine that lost its counts continues. A cost of
   * an earlier day is no part of what was spent today.
   */
  private withSpend({ reservedAt, ...step }: LimitStep): LimitStep {
    if (DAYS.at(reservedAt!) !== DAYS.at(Date.now())) return { ...step, reservedAt }
    const spent = this.local.spent(step.key, step.limits)
    if (spent === undefined) return step
    const { day, month, at } = spent
    return { ...step, initial: { day: Math.max(0, day - step.cost), month: Math.max(0, month - step.cost), at } }
  }
}

/** Returns true if a cost must be transferred. A negative cost is a refund of what was reserved. */
const mustBeSent = (cost: number, mayBeCounted: boolean): boolean => cost < 0 || (cost > 0 && !mayBeCounted)

/** Steps by name, in the order in which they were added. */
class StepQueue extends Map<string, LimitStep> {
  /** Stands behind the names that were removed. A new iterator would skip the gaps that they leave one by one. */
  private names = this.keys()

  /** Records a step unless too many are pending. */
  add(name: string, step: LimitStep): void {
    if (this.has(name) || this.size < MAX_STEPS) this.set(name, step)
  }

  /** Removes and returns the first step. */
  removeFirst(): LimitStep | undefined {
    let first = this.names.next()
    if (first.done) {
      // Names that were added since then are behind an iterator that has ended.
      this.names = this.keys()
      first = this.names.next()
    }
    if (first.done) return undefined
    const step = this.get(first.value)
    this.delete(first.value)
    return step
  }
}
