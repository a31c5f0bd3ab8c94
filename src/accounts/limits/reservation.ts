import { setTimeout as sleep } from 'node:timers/promises'
import type { RateLimits } from '../../canonical/rate-limit.ts'
import type { InitialSpend, LimitEngine, LimitStep } from './engine.ts'
import type { KeyUse } from './key-use.ts'
import { budgetError, limitError } from './refusal.ts'

/** Expected tokens of a request. `output` is the maximum for the answer, if the request sets one. */
export interface ExpectedTokens {
  readonly input: number
  readonly output?: number
}

/** Actual tokens of a request, as far as the upstream counted them. */
export interface SpentTokens {
  readonly input?: number
  readonly output?: number
}

/** Estimated usage of an answer that was not counted. `cost` is undefined if it is unknown. */
export interface UncountedUsage {
  readonly input: number
  readonly output: number
  readonly cost: number | undefined
}

/** Maximum number of tokens per request. A higher count is an upstream's mistake. */
const MAX_TOKENS = 1e11

/** Returns the cost of a number of tokens in nanodollars, or undefined if a price is unknown. */
export type CostOf = (tokens: { readonly input: number; readonly output: number }) => number | undefined

/** Result of a reservation: undefined if this process counts, a promise if another process must answer. */
export type MaybePromise = undefined | Promise<void>

/** The part of `Limits` that reservations use. */
export interface Limiter {
  readonly engine: LimitEngine
  /** Returns the Unix time in milliseconds. */
  readonly now: () => number
  /** Creates a unique name for a concurrency slot. */
  slotName(): string
  /** Reads the earlier spend of a key. Returns undefined if the spend is currently unknown. */
  earlierSpend(key: string): Promise<InitialSpend | undefined>
}

/**
 * Pauses in milliseconds after which a request that got no slot of shared counts asks again. A caller may send it before
 * the release of its previous request's slot has reached the counts from another, busy process.
 */
const RELEASE_PAUSES_MS = [50, 200]

/** Number of equally large requests that the key must have room for, so that estimating the size suffices. */
const AMPLE_REQUESTS = 8

/**
 * The reservation of one request in the limits of its key. The request enters, reserves its expected usage, and at its
 * end settles with the actual usage. Concurrent requests together cannot exceed the limits. Methods return a promise
 * only if another process counts.
 */
export class Reservation {
  private readonly key: string
  private readonly use: KeyUse
  private readonly limiter: Limiter
  /** Name of the concurrency slot that the request holds. */
  private slot: string | undefined
  /** Reserved tokens. `cost` is the reserved cost in nanodollars. */
  private tokens = 0
  private cost = 0
  private reservedAt = 0
  /** Expected tokens of the answer. */
  private answer = 0
  private expected: (() => ExpectedTokens) | undefined
  private costOf: CostOf = UNPRICED

  constructor(key: string, use: KeyUse, limiter: Limiter) {
    this.key = key
    this.use = use
    this.limiter = limiter
  }

  /**
   * Counts one request. If there is ample room, also reserves tokens, so that `reserve` only records the expectation.
   *
   * @param takesSlot true if the request takes a concurrency slot until `settle` or `leave`.
   * @param maxInput upper bound of the input tokens, as for `reserve`.
   * @throws GatewayError `rate-limited` with `retryAfterSeconds` if a limit is reached. With remote counts, the promise
   * rejects with it.
   */
  enter(takesSlot = true, maxInput = Number.POSITIVE_INFINITY): MaybePromise {
    const { use } = this
    const { limits } = use
    if (!isLimited(use)) return
    if (takesSlot && limits.concurrent !== undefined) this.slot = this.limiter.slotName()
    if (limits.tpm !== undefined && this.hasAmpleRoom(maxInput)) this.tokens = Math.ceil(maxInput + use.typicalOutput)
    return this.enforce(this.step(1, this.tokens, 0, true, this.slot, undefined), this.limiter.now())
  }

  /** Returns true if there was ample room for requests of this size after the last step. */
  private hasAmpleRoom(maxInput: number): boolean {
    const { hasBudget, tokensAfterLastStep, typicalOutput } = this.use
    return !hasBudget && tokensAfterLastStep >= AMPLE_REQUESTS * (maxInput + typicalOutput)
  }

  /**
   * Reserves the expected usage of a request, unless `enter` already did. A request larger than the quota per minute
   * needs the full quota.
   *
   * @param expected called only if tokens are scarce or a budget applies, because counting is expensive.
   * @param maxInput upper bound of the input tokens, from the size of the body. Used instead of `expected` if there is
   * ample room.
   * @throws GatewayError `rate-limited` if the key has too little left. With remote counts, the promise rejects with
   * it.
   */
  reserve(
    expected: () => ExpectedTokens,
    maxInput = Number.POSITIVE_INFINITY,
    costOf: CostOf = UNPRICED,
  ): MaybePromise {
    const { use } = this
    const { limits, typicalOutput, hasBudget } = use
    if (limits.tpm === undefined && !hasBudget) return this.expect(expected, typicalOutput, costOf)
    if (this.tokens > 0 && maxInput < Number.POSITIVE_INFINITY) return this.expect(expected, typicalOutput, costOf)
    const now = this.limiter.now()
    const isAmple = this.hasAmpleRoom(maxInput)
    const guess = isAmple ? { input: maxInput, output: typicalOutput } : expected()
    const { input, output = Number.POSITIVE_INFINITY } = guess
    const answer = Math.max(0, Math.min(output, typicalOutput))
    const tokens = limits.tpm === undefined ? 0 : Math.ceil(input + answer)
    const cost = hasBudget ? boundedCost(costOf({ input, output: answer })) : 0
    const more = tokens - this.tokens
    this.tokens = tokens
    this.cost = cost
    this.reservedAt = now
    this.expect(isAmple ? expected : () => guess, answer, costOf)
    return this.enforce(this.step(0, more, cost, true, undefined, undefined), now)
  }

  /**
   * Reserves the additional cost of the expected usage at the prices of another model.
   *
   * @throws GatewayError `rate-limited` if a budget does not cover the cost. With remote counts, the promise rejects
   * with it. The earlier reservation stays.
   */
  cover(costOf: CostOf): MaybePromise {
    const { use, expected, answer, cost: reserved, costOf: before } = this
    if (!use.hasBudget || expected === undefined) return undefined
    const cost = Math.max(reserved, boundedCost(costOf({ input: expected().input, output: answer })))
    const restore = (thrown: unknown): never => {
      Object.assign(this, { expected, cost: reserved, costOf: before })
      throw thrown
    }
    this.cost = cost
    this.costOf = costOf
    if (cost === reserved) return undefined
    try {
      const later = this.enforce(this.step(0, 0, cost - reserved, true, undefined, undefined), this.limiter.now())
      return later?.catch(restore)
    } catch (thrown) {
      return restore(thrown)
    }
  }

  /** Records the expected usage, which is charged if the answer is not counted. */
  private expect(expected: () => ExpectedTokens, answer: number, costOf: CostOf): undefined {
    this.expected = expected
    this.answer = answer
    this.costOf = costOf
  }

  /** Estimates the output tokens of the key's next answer, at most `maxOutput`. */
  expectedAnswer(maxOutput = Number.POSITIVE_INFINITY): number {
    return Math.max(0, Math.min(maxOutput, this.use.typicalOutput))
  }

  /**
   * Replaces the reserved usage by the actual usage, and releases the concurrency slot.
   *
   * @param cost cost in nanodollars. If undefined, nothing is charged.
   * @param isWhole true if the answer is complete, so that its size counts for later estimates.
   */
  settle(spent: SpentTokens, cost?: number, isWhole = true): void {
    const output = boundedTokens(spent.output)
    if (isWhole) this.use.recordAnswer(output)
    this.replace(boundedTokens(spent.input) + output, boundedCost(cost))
  }

  /**
   * Usage that is charged for an answer of unknown usage, such as an uncounted image: the expected usage, with its cost
   * in nanodollars. Undefined if the request ended before it was read.
   */
  get uncounted(): UncountedUsage | undefined {
    const { expected, costOf } = this
    if (expected === undefined) return undefined
    const { input, output = Number.POSITIVE_INFINITY } = expected()
    const answer = Math.min(this.answer, Math.max(0, output))
    const cost = costOf({ input, output: answer })
    return {
      ...{ input: Math.ceil(input), output: Math.ceil(answer) },
      cost: cost === undefined ? undefined : boundedCost(cost),
    }
  }

  /** Settles an answer of unknown usage. */
  settleUncounted(): void {
    const { input = 0, output = 0, cost = 0 } = this.uncounted ?? {}
    this.replace(input + output, cost)
  }

  private replace(used: number, cost: number): void {
    const { limits, hasBudget } = this.use
    const tokens = limits.tpm === undefined ? 0 : used - this.tokens
    // The key may have lost its budget since the reservation.
    const extra = (hasBudget ? cost : 0) - this.cost
    if (tokens !== 0 || extra !== 0 || this.slot !== undefined) this.take(tokens, extra)
    this.forget()
  }

  /** Releases the concurrency slot, if the request holds one. */
  leave(): void {
    if (this.slot !== undefined) this.take(0, 0)
  }

  /** Reads the remaining quota without using any of it, unless the quota is already known. */
  look(): void {
    const { limits } = this.use
    const { requests, tokens } = this.remaining
    const isKnown = (limits.rpm === undefined || requests) && (limits.tpm === undefined || tokens)
    if (!isKnown) this.take(0, 0)
  }

  /** Remaining quota of the key after the last step of any of its requests. */
  get remaining(): RateLimits {
    const now = this.limiter.now()
    return { requests: this.use.requests(now), tokens: this.use.tokens(now) }
  }

  /** Applies a step that cannot be refused, and releases the concurrency slot. */
  private take(tokens: number, cost: number): void {
    const { slot, limiter, use } = this
    const now = limiter.now()
    this.slot = undefined
    const state = limiter.engine.step(this.step(0, tokens, cost, false, undefined, slot), now)
    if (state instanceof Promise) void state.then(state => use.recordState(state, limiter.now()))
    else use.recordState(state, now)
  }

  /** Builds a step. All steps have the same shape. */
  private step(
    requests: number,
    tokens: number,
    cost: number,
    enforced: boolean,
    enter: string | undefined,
    leave: string | undefined,
  ): LimitStep {
    const reservedAt = enforced || this.reservedAt === 0 ? undefined : this.reservedAt
    const { key, use } = this
    return { key, limits: use.limits, requests, tokens, cost, reservedAt, enter, leave, enforced, initial: undefined }
  }

  /** Applies a step that may be refused. Throws the refusal. */
  private enforce(step: LimitStep, now: number): MaybePromise {
    if (this.use.hasNewBudget) return this.enforceNewBudget(step)
    const state = this.limiter.engine.step(step, now)
    if (state instanceof Promise || state.unknown) return this.enforceLater(step, state)
    this.use.recordState(state, now)
    if (state.refused !== undefined) throw this.refusalOf(step, state.refused)
    return undefined
  }

  private async enforceLater(step: LimitStep, taken: ReturnType<LimitEngine['step']>): Promise<void> {
    const { limiter, use } = this
    let [final, state] = [step, await taken]
    if (state.unknown) state = await limiter.engine.step((final = await this.withSpend(step)))
    for (const pause of RELEASE_PAUSES_MS) {
      if (state.refused?.limit !== 'concurrent') break
      await sleep(pause)
      state = await limiter.engine.step(final)
    }
    if (state.unknown) return
    use.recordState(state, limiter.now())
    if (state.refused !== undefined) throw this.refusalOf(step, state.refused)
  }

  /** Applies the first step after the key got a budget that it did not have before, with what it spent meanwhile. */
  private async enforceNewBudget(step: LimitStep): Promise<void> {
    const { limiter, use } = this
    const initial = await limiter.earlierSpend(step.key)
    if (initial !== undefined) use.spendWasRead()
    const known: LimitStep = initial === undefined ? step : { ...step, initial, raisesSpend: true }
    await this.enforceLater(known, limiter.engine.step(known))
  }

  /**
   * Adds the key's earlier spend to the step. If the spend is unknown, removes budgets and cost, so that nobody is
   * refused because the store is unavailable.
   */
  private async withSpend(step: LimitStep): Promise<LimitStep> {
    const initial = await this.limiter.earlierSpend(step.key)
    if (initial !== undefined) return { ...step, initial }
    this.cost -= step.cost
    return { ...step, cost: 0, limits: { ...step.limits, day: undefined, month: undefined } }
  }

  /** Undoes the bookkeeping of a refused step, which changed no counts. */
  private refusalOf(step: LimitStep, refusal: Parameters<typeof limitError>[0]): ReturnType<typeof limitError> {
    const isBudget = refusal.limit === 'day' || refusal.limit === 'month'
    const overBudget = isBudget ? budgetError(this.cost, step.limits, this.answer) : undefined
    if (step.enter !== undefined) this.slot = undefined
    this.tokens -= step.tokens
    this.cost = 0
    this.expected = undefined
    return overBudget ?? limitError(refusal)
  }

  /** Clears the reservation. */
  private forget(): void {
    this.tokens = 0
    this.cost = 0
    this.expected = undefined
  }
}

/** Returns true if the key has any limit. */
const isLimited = ({ limits, hasBudget }: KeyUse): boolean =>
  limits.rpm !== undefined || limits.tpm !== undefined || limits.concurrent !== undefined || hasBudget

const UNPRICED: CostOf = () => undefined

/** Rounds a cost up to whole nanodollars and bounds it. An unknown cost is 0. */
const boundedCost = (cost: number | undefined): number => Math.min(Math.ceil(Math.max(0, cost || 0)), MAX_COST)

/** Maximum cost of one request, in nanodollars. A higher cost is a mistake. */
const MAX_COST = 1e14

/** Bounds an upstream's token count, which may be any number. */
const boundedTokens = (count: number | undefined): number => Math.min(Math.max(0, count || 0), MAX_TOKENS)
