import type { Quota, RateLimits } from '../../canonical/rate-limit.ts'
import type { LimitSettings } from '../../config/index.ts'
import { quotaOf } from './bucket.ts'
import type { InitialSpend, KeyLimits, LimitEngine, LimitState, LimitStep } from './engine.ts'
import { limited } from './refusal.ts'

/** A request's expected tokens; `output` is the most the answer may have, where the request limits it. */
export interface ExpectedTokens {
  readonly input: number
  readonly output?: number
}

/** A request's actual tokens, as far as the upstream counted them. */
export interface SpentTokens {
  readonly input?: number
  readonly output?: number
}

/** The largest count of one request: a higher one is wrong. */
const MOST_TOKENS = 1e11

/** Nanodollars that so many tokens cost; undefined where a price is unknown. */
export type CostOf = (tokens: { readonly input: number; readonly output: number }) => number | undefined

/** A step that was taken, or a promise where another process counts. */
export type MaybePromise = undefined | Promise<void>

/** What allowances are taken from. */
export interface Limiter {
  readonly engine: LimitEngine
  /** Unix time in milliseconds. */
  readonly now: () => number
  /** A name for a place that no other has. */
  placeName(): string
  /** What a key spent before; undefined where that cannot be known now. */
  spentBefore(key: string): Promise<InitialSpend | undefined>
}

/** Where there is room for so many requests of a size, their exact size does not matter. */
const PLENTY = 8

/**
 * The share of one request in its key's limits: it enters, reserves what it is expected to use, and settles that when it
 * ends. Of simultaneous requests no more are admitted than the limits have room for. Steps that need an answer of another
 * process give a promise; others are done when they return.
 */
export class Allowance {
  private readonly key: string
  private readonly use: KeyUse
  private readonly limiter: Limiter
  private place: string | undefined
  private tokens = 0
  private cost = 0
  private reservedAt = 0
  /** What the answer is expected to have. */
  private answer = 0
  private expected: (() => ExpectedTokens) | undefined
  private costOf: CostOf = UNPRICED

  constructor(key: string, use: KeyUse, limiter: Limiter) {
    this.key = key
    this.use = use
    this.limiter = limiter
  }

  /**
   * Counts one request. Where there is room for many of its size it takes the tokens, too: `reserve` then takes nothing,
   * and only remembers what is expected.
   *
   * @param takesPlace whether it counts among the concurrent ones until `settle` or `leave`.
   * @param most an upper bound on its input, as for `reserve`.
   * @throws GatewayError `rate-limited` with `retryAfterSeconds` where a limit has no room, also from the promise.
   */
  enter(takesPlace = true, most = Number.POSITIVE_INFINITY): MaybePromise {
    const { use } = this
    const { limits } = use
    if (!isLimited(use)) return
    if (takesPlace && limits.concurrent !== undefined) this.place = this.limiter.placeName()
    if (limits.tpm !== undefined && this.isPlenty(most)) this.tokens = Math.ceil(most + use.typicalOutput)
    return this.enforce(this.step(1, this.tokens, 0, true, this.place, undefined), this.limiter.now())
  }

  /** Whether there is room for many requests with so much input, by the last step. */
  private isPlenty(most: number): boolean {
    const { hasBudget, tokensThen, typicalOutput } = this.use
    return !hasBudget && tokensThen >= PLENTY * (most + typicalOutput)
  }

  /**
   * Takes what a request is expected to use, unless `enter` did. A request larger than a minute's tokens needs all of them.
   *
   * @param expected called only where tokens are scarce or cost something.
   * @param most an upper bound on the input, by the size of the body; used where there is room for many of that size.
   * @throws GatewayError `rate-limited` where the key has less left, also from the promise.
   */
  reserve(expected: () => ExpectedTokens, most = Number.POSITIVE_INFINITY, costOf: CostOf = UNPRICED): MaybePromise {
    const { use } = this
    const { limits, typicalOutput, hasBudget } = use
    if (limits.tpm === undefined && !hasBudget) return
    if (this.tokens > 0 && most < Number.POSITIVE_INFINITY) return this.expect(expected, typicalOutput, costOf)
    const now = this.limiter.now()
    const isPlenty = this.isPlenty(most)
    const guess = isPlenty ? { input: most, output: typicalOutput } : expected()
    const { input, output = Number.POSITIVE_INFINITY } = guess
    const answer = Math.max(0, Math.min(output, typicalOutput))
    const tokens = limits.tpm === undefined ? 0 : Math.ceil(input + answer)
    const cost = hasBudget ? whole(costOf({ input, output: answer })) : 0
    const more = tokens - this.tokens
    this.tokens = tokens
    this.cost = cost
    this.reservedAt = now
    this.expect(isPlenty ? expected : () => guess, answer, costOf)
    return this.enforce(this.step(0, more, cost, true, undefined, undefined), now)
  }

  /** Remembers what is expected, for an answer whose use nobody counts. */
  private expect(expected: () => ExpectedTokens, answer: number, costOf: CostOf): undefined {
    this.expected = expected
    this.answer = answer
    this.costOf = costOf
  }

  /** About how many tokens an answer of the key has, where its request allows no more than `most`. */
  expectedAnswer(most = Number.POSITIVE_INFINITY): number {
    return Math.max(0, Math.min(most, this.use.typicalOutput))
  }

  /**
   * Replaces what was reserved by what was used, and gives the place back.
   *
   * @param cost nanodollars; undefined where it is unknown: then it is not counted.
   * @param isWhole whether it is the count of a whole answer, from which later answers are expected.
   */
  settle(spent: SpentTokens, cost?: number, isWhole = true): void {
    const output = counted(spent.output)
    if (isWhole) this.use.answered(output)
    this.replace(counted(spent.input) + output, whole(cost))
  }

  /**
   * The same where nobody knows what was used, as of an uncounted image: as much as was expected counts; nothing of a
   * request that ended before it was read.
   */
  settleUncounted(): void {
    const { expected, costOf, use } = this
    if (expected === undefined) return this.replace(0, 0)
    const { input, output = Number.POSITIVE_INFINITY } = expected()
    const answer = Math.min(this.answer, Math.max(0, output))
    const cost = use.hasBudget ? whole(costOf({ input, output: answer })) : 0
    this.replace(Math.ceil(input + answer), cost)
  }

  private replace(used: number, cost: number): void {
    const { limits, hasBudget } = this.use
    const tokens = limits.tpm === undefined ? 0 : used - this.tokens
    const extra = hasBudget ? cost - this.cost : 0
    if (tokens !== 0 || extra !== 0 || this.place !== undefined) this.take(tokens, extra)
    this.forget()
  }

  /** Gives the place back, if it has one; nothing else changes. */
  leave(): void {
    if (this.place !== undefined) this.take(0, 0)
  }

  /** Finds out what is left without taking anything, where no step was taken yet. */
  look(): void {
    const { limits } = this.use
    const { requests, tokens } = this.left
    const isKnown = (limits.rpm === undefined || requests) && (limits.tpm === undefined || tokens)
    if (!isKnown) this.take(0, 0)
  }

  /** What is left of the key's limits, by the last step of any request of it. */
  get left(): RateLimits {
    const now = this.limiter.now()
    return { requests: this.use.requests(now), tokens: this.use.tokens(now) }
  }

  /** Takes a step that cannot be refused, and leaves. */
  private take(tokens: number, cost: number): void {
    const { place, limiter, use } = this
    const now = limiter.now()
    this.place = undefined
    const state = limiter.engine.step(this.step(0, tokens, cost, false, undefined, place), now)
    if (state instanceof Promise) void state.then(state => use.saw(state, limiter.now()))
    else use.saw(state, now)
  }

  /** All steps have the same shape. */
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

  private enforce(step: LimitStep, now: number): MaybePromise {
    const state = this.limiter.engine.step(step, now)
    if (state instanceof Promise || state.unknown) return this.enforceLater(step, state)
    this.use.saw(state, now)
    if (state.refused !== undefined) throw this.refused(step, state.refused)
    return undefined
  }

  private async enforceLater(step: LimitStep, taken: ReturnType<LimitEngine['step']>): Promise<void> {
    const { limiter, use } = this
    let state = await taken
    if (state.unknown) state = await limiter.engine.step(await this.withSpend(step))
    if (state.unknown) return
    use.saw(state, limiter.now())
    if (state.refused !== undefined) throw this.refused(step, state.refused)
  }

  /** The step with what the key spent before; without budgets and cost where that is not known: nobody is refused for it. */
  private async withSpend(step: LimitStep): Promise<LimitStep> {
    const initial = await this.limiter.spentBefore(step.key)
    if (initial !== undefined) return { ...step, initial }
    this.cost = 0
    return { ...step, cost: 0, limits: { ...step.limits, day: undefined, month: undefined } }
  }

  /** Nothing of the step happened. */
  private refused(step: LimitStep, refusal: Parameters<typeof limited>[0]): ReturnType<typeof limited> {
    if (step.enter !== undefined) this.place = undefined
    this.tokens -= step.tokens
    this.cost = 0
    this.expected = undefined
    return limited(refusal)
  }

  /** Nothing is reserved any more. */
  private forget(): void {
    this.tokens = 0
    this.cost = 0
    this.expected = undefined
  }
}

const isLimited = ({ limits, hasBudget }: KeyUse): boolean =>
  limits.rpm !== undefined || limits.tpm !== undefined || limits.concurrent !== undefined || hasBudget

const UNPRICED: CostOf = () => undefined

/** Whole nanodollars; what is unknown is not counted. */
const whole = (cost: number | undefined): number => Math.min(Math.ceil(Math.max(0, cost || 0)), MOST_COST)

/** The largest cost of one request, in nanodollars: a higher one is wrong. */
const MOST_COST = 1e14

/** A count of an upstream, which may have sent anything. */
const counted = (count: number | undefined): number => Math.min(Math.max(0, count || 0), MOST_TOKENS)

/** Expected tokens of an answer before the key has had one. */
const TYPICAL_OUTPUT = 1000
/** The weight of the latest answer in the average. */
const WEIGHT = 1 / 8
/** No answer is larger: a higher count is wrong. */
const LARGEST_OUTPUT = 1_000_000
const NANODOLLARS = 1e9

/** The state of a key in this process: its limits, what was left after the last step, and the size of its answers. */
export class KeyUse {
  limits: KeyLimits = {}
  /** The average number of tokens of the key's answers, the latest weighted most. */
  typicalOutput = TYPICAL_OUTPUT
  private settings: LimitSettings | undefined
  private requestsLevel: number | undefined
  private tokensLevel: number | undefined
  private at = 0

  /** Takes limits that may have changed. */
  limit(settings: LimitSettings): void {
    if (settings === this.settings) return
    this.settings = settings
    const { rpm, tpm, concurrent, budget } = settings
    this.limits = { rpm, tpm, concurrent, day: nanodollars(budget?.day), month: nanodollars(budget?.month) }
  }

  get hasBudget(): boolean {
    return this.limits.day !== undefined || this.limits.month !== undefined
  }

  saw({ requests, tokens }: LimitState, now: number): void {
    this.requestsLevel = requests
    this.tokensLevel = tokens
    this.at = now
  }

  answered(output: number): void {
    const seen = Math.min(Math.max(output, 0), LARGEST_OUTPUT)
    if (seen > 0) this.typicalOutput += (seen - this.typicalOutput) * WEIGHT
  }

  /** What should be left by now; undefined where there is no limit, or no step was taken yet. */
  requests(now: number): Quota | undefined {
    const { requestsLevel, at, limits } = this
    if (requestsLevel === undefined || limits.rpm === undefined) return undefined
    return quotaOf(limits.rpm, requestsLevel, now - at)
  }

  /** Tokens that were left after the last step; more may have come back since. */
  get tokensThen(): number {
    return this.tokensLevel ?? 0
  }

  tokens(now: number): Quota | undefined {
    const { tokensLevel, at, limits } = this
    if (tokensLevel === undefined || limits.tpm === undefined) return undefined
    return quotaOf(limits.tpm, tokensLevel, now - at)
  }
}

/** The largest budget: other processes get it as JSON, which has no infinity. */
const MOST_BUDGET = 1e18

const nanodollars = (dollars: number | undefined): number | undefined =>
  dollars === undefined ? undefined : Math.min(Math.round(dollars * NANODOLLARS), MOST_BUDGET)
