import { hasAmpleRoom, isAmple } from './ample-room.ts'
import { levelNow, sumOf } from './bucket.ts'
import { hasSameLimits, type KeyLimits, type LimitState, type LimitStep, NO_AMOUNTS } from './engine.ts'
import { DAYS } from './spend.ts'

/** Number of steps of a key between two adjustments from which holding quota saves messages. */
const BUSY_STEPS = 4

/** Amounts of the limits that are no slots. */
interface Amounts {
  requests: number
  tokens: number
  cost: number
}

/**
 * Quota of one key that this process has taken from shared counts before its requests need it, and slots that are taken
 * there although no request uses them now. While the process holds quota, steps that fit into it need no message.
 * `adjust` brings what is held to what the key used lately.
 */
export class HeldQuota {
  readonly key: string
  private readonly limits: KeyLimits
  /** Amounts that are taken in the shared counts and that no request has used. Negative for a debt. */
  private readonly held: Amounts = { requests: 0, tokens: 0, cost: 0 }
  /** Amounts that the shared counts have been asked for. */
  private readonly asked: Amounts = { requests: 0, tokens: 0, cost: 0 }
  /** Names of the slots that are taken in the shared counts and that no request uses. */
  private readonly slots: string[] = []
  /** Amounts that requests took since the last adjustment. */
  private readonly demand: Amounts = { requests: 0, tokens: 0, cost: 0 }
  private stepCount = 0
  /** Smallest number of unused slots since the last adjustment. */
  private leastSlots = 0
  /** True if steps may use what is held, and may leave there what they return. */
  private isHolding = false
  /** Time of the last adjustment. What is held counts in the budgets of its day. */
  private adjustedAt = 0
  private state: LimitState = {}
  private learntAt = 0

  constructor(key: string, limits: KeyLimits) {
    this.key = key
    this.limits = limits
  }

  /** Returns true if the key has these limits. */
  isAbout(limits: KeyLimits): boolean {
    return limits === this.limits || hasSameLimits(limits, this.limits)
  }

  /** Records a step, from which the next adjustment learns what the key needs. */
  count(step: LimitStep): void {
    this.stepCount++
    if (step.enforced) this.addTo(this.demand, step, 1)
  }

  /** Returns true if a step that may be refused fits into what is held. */
  covers({ requests, tokens, cost, enter }: LimitStep, now: number): boolean {
    const { held, limits } = this
    return (
      this.isUsable(now) &&
      (limits.rpm === undefined || requests <= held.requests) &&
      (limits.tpm === undefined || tokens <= held.tokens) &&
      (!hasBudget(limits) || cost <= held.cost) &&
      (limits.concurrent === undefined || enter === undefined || this.slots.length > 0)
    )
  }

  /** Returns true if a step that cannot be refused may be applied to what is held. */
  absorbs({ cost, reservedAt = this.adjustedAt, leave }: LimitStep, now: number): boolean {
    return (
      this.isUsable(now) &&
      // Without a budget, nothing of a cost is held, but the shared counts may have a reservation of an earlier budget.
      (cost === 0 || (hasBudget(this.limits) && DAYS.at(reservedAt) === DAYS.at(now))) &&
      (leave === undefined || isAmple(this.limits.concurrent, this.state.room?.concurrent, this.slots.length + 1))
    )
  }

  private isUsable(now: number): boolean {
    return this.isHolding && DAYS.at(now) === DAYS.at(this.adjustedAt)
  }

  /** Applies the amounts of a step to what is held. */
  take(step: LimitStep): void {
    this.addTo(this.held, step, -1)
  }

  /** Records the answer to the step that `adjust` planned to take more. */
  answered(taken: LimitStep, isTaken: boolean): void {
    this.addTo(this.asked, taken, -1)
    if (isTaken) this.addTo(this.held, taken, 1)
  }

  private addTo(amounts: Amounts, { requests, tokens, cost }: LimitStep, times: 1 | -1): void {
    const { limits } = this
    if (limits.rpm !== undefined) amounts.requests += times * requests
    if (limits.tpm !== undefined) amounts.tokens += times * tokens
    if (hasBudget(limits)) amounts.cost += times * cost
  }

  /** Takes an unused slot. Returns its name, or undefined if there is none. */
  takeSlot(): string | undefined {
    const name = this.slots.pop()
    this.leastSlots = Math.min(this.leastSlots, this.slots.length)
    return name
  }

  /** Keeps a slot that a request no longer uses. */
  keepSlot(name: string): void {
    this.slots.push(name)
  }

  /** Records a state that the shared counts reported. Returns it with what is held. */
  learn(state: LimitState, now: number): LimitState {
    if (state.unknown === true) return state
    this.state = state
    this.learntAt = now
    const { held } = this
    return { ...state, requests: sumOf(state.requests, held.requests), tokens: sumOf(state.tokens, held.tokens) }
  }

  /** Returns the state of the key: what is left in the shared counts, and what is held. */
  stateAt(now: number): LimitState {
    const { limits, state, held, learntAt } = this
    return {
      requests: sumOf(levelNow(state.requests, limits.rpm, now - learntAt), held.requests),
      tokens: sumOf(levelNow(state.tokens, limits.tpm, now - learntAt), held.tokens),
    }
  }

  /** True if nothing is held or owed, and no step was recorded since the last adjustment. */
  get isIdle(): boolean {
    return this.stepCount === 0 && this.slots.length === 0 && isNothing(this.held)
  }

  /** True if the shared counts would have more room if everything were given back. */
  get holdsAnything(): boolean {
    const { held, slots } = this
    return slots.length > 0 || held.requests > 0 || held.tokens > 0 || held.cost > 0
  }

  /**
   * Plans the steps that bring what is held to twice what requests took since the last adjustment, or to nothing if the
   * key is not busy or one of its limits is scarce. The held amounts change at once by what is returned. What is taken
   * counts only after `answered`.
   */
  adjust(now: number): Adjustment {
    const wanted = this.wanted(now)
    this.isHolding = wanted !== NOTHING
    const adjustment = { returned: this.returned(wanted), slots: this.unusedSlots(), taken: this.missing(wanted) }
    this.adjustedAt = now
    this.stepCount = 0
    Object.assign(this.demand, NOTHING)
    this.leastSlots = this.slots.length
    return adjustment
  }

  /** Plans the steps that return everything. */
  giveBack(now: number): Adjustment {
    this.stepCount = 0
    return this.adjust(now)
  }

  private wanted(now: number): Readonly<Amounts> {
    const { requests, tokens, cost } = this.demand
    // Amounts of yesterday do not count in the budget of today.
    const isNewDay = this.adjustedAt !== 0 && DAYS.at(now) !== DAYS.at(this.adjustedAt)
    if (this.stepCount < BUSY_STEPS || isNewDay) return NOTHING
    const wanted = { requests: 2 * requests, tokens: Math.max(0, 2 * tokens), cost: 2 * cost }
    return hasAmpleRoom(this.limits, this.state, { ...wanted, slots: this.slots.length }) ? wanted : NOTHING
  }

  /** Removes what is held beyond the wanted amounts, and debts. Returns the step for it, unless there is nothing. */
  private returned(wanted: Readonly<Amounts>): LimitStep | undefined {
    const amounts = { requests: 0, tokens: 0, cost: 0 }
    for (const name of NAMES) {
      const kept = Math.max(0, Math.min(this.held[name], wanted[name]))
      amounts[name] = kept - this.held[name]
      this.held[name] = kept
    }
    return isNothing(amounts) ? undefined : this.step({ ...amounts, reservedAt: this.adjustedAt })
  }

  /** Removes the slots that no request needed. Returns their names. */
  private unusedSlots(): readonly string[] {
    return this.slots.splice(0, this.isHolding ? this.leastSlots : this.slots.length)
  }

  /** Returns the step that takes what is missing, unless nothing is. */
  private missing(wanted: Readonly<Amounts>): LimitStep | undefined {
    const amounts = { requests: 0, tokens: 0, cost: 0 }
    for (const name of NAMES) amounts[name] = Math.max(0, wanted[name] - this.held[name] - this.asked[name])
    if (isNothing(amounts)) return undefined
    const step = this.step({ ...amounts, enforced: true })
    this.addTo(this.asked, step, 1)
    return step
  }

  /** Returns the step that releases a slot in the shared counts. */
  releaseOf(leave: string): LimitStep {
    return this.step({ leave })
  }

  private step(change: Partial<LimitStep>): LimitStep {
    return { ...NO_AMOUNTS, key: this.key, limits: this.limits, ...change }
  }
}

/** Steps in the shared counts that bring what is held to what is needed. */
export interface Adjustment {
  /** Returns amounts that are not needed, and pays debts. Cannot be refused. */
  readonly returned: LimitStep | undefined
  /** Names of slots to release. */
  readonly slots: readonly string[]
  /** Takes more, unless a limit is reached. */
  readonly taken: LimitStep | undefined
}

const NAMES = ['requests', 'tokens', 'cost'] as const

const NOTHING: Readonly<Amounts> = { requests: 0, tokens: 0, cost: 0 }

const isNothing = ({ requests, tokens, cost }: Amounts): boolean => requests === 0 && tokens === 0 && cost === 0

const hasBudget = ({ day, month }: KeyLimits): boolean => day !== undefined || month !== undefined
