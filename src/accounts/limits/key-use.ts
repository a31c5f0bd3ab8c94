import type { Quota } from '../../canonical/rate-limit.ts'
import type { LimitSettings } from '../../config/index.ts'
import { quotaOf } from './bucket.ts'
import type { KeyLimits, LimitState } from './engine.ts'

/** Expected number of output tokens before the key's first answer. */
const TYPICAL_OUTPUT = 1000
/** Weight of the latest answer in the moving average. */
const WEIGHT = 1 / 8
/** Maximum number of output tokens in the average. A higher count is a mistake. */
const MAX_OUTPUT = 1_000_000
const NANODOLLARS = 1e9

/**
 * State of a key in this process: its limits, the remaining quota after the last step, and the average size of its
 * answers.
 */
export class KeyUse {
  limits: KeyLimits = {}
  /** Moving average of the key's output tokens. */
  typicalOutput = TYPICAL_OUTPUT
  /** Periods for which the key got a budget although none had counted its spend until then, or counts may be missing. */
  private newBudgets = NO_NEW_BUDGETS
  private settings: LimitSettings | undefined
  private requestsLevel: number | undefined
  private tokensLevel: number | undefined
  private stateAt = 0
  private isUsed = false

  /** Applies the current limits of the key. */
  limit(settings: LimitSettings): void {
    if (settings === this.settings) return
    const before = this.settings && this.limits
    this.settings = settings
    const { rpm, tpm, concurrent, budget } = settings
    this.limits = { rpm, tpm, concurrent, day: nanodollars(budget?.day), month: nanodollars(budget?.month) }
    if (before === undefined) return
    const isNew = (period: 'day' | 'month'): boolean =>
      this.limits[period] !== undefined && (before[period] === undefined || this.newBudgets[period])
    this.newBudgets = { day: isNew('day'), month: isNew('month') }
  }

  /** Records that the counts of the spend may be out of date. */
  recountSpend(): void {
    this.newBudgets = { day: this.limits.day !== undefined, month: this.limits.month !== undefined }
  }

  /** True if the spend for a budget must be read, because it was not counted before. */
  get hasNewBudget(): boolean {
    return this.newBudgets.day || this.newBudgets.month
  }

  /** Records that the spend for all budgets was read. */
  spendWasRead(): void {
    this.newBudgets = NO_NEW_BUDGETS
  }

  get hasBudget(): boolean {
    return this.limits.day !== undefined || this.limits.month !== undefined
  }

  /** Records the remaining quota after a step. */
  recordState({ requests, tokens }: LimitState, now: number): void {
    this.isUsed = true
    this.requestsLevel = requests
    this.tokensLevel = tokens
    this.stateAt = now
  }

  /** Returns true if a step was counted since the last call. */
  takeUsed(): boolean {
    const { isUsed } = this
    this.isUsed = false
    return isUsed
  }

  /** Adds an answer to the average. */
  recordAnswer(output: number): void {
    const bounded = Math.min(Math.max(output, 0), MAX_OUTPUT)
    if (bounded > 0) this.typicalOutput += (bounded - this.typicalOutput) * WEIGHT
  }

  /** Estimates the requests that remain now. Returns undefined without a limit or before the first step. */
  requests(now: number): Quota | undefined {
    const { requestsLevel, stateAt, limits } = this
    if (requestsLevel === undefined || limits.rpm === undefined) return undefined
    return quotaOf(limits.rpm, requestsLevel, now - stateAt)
  }

  /** Remaining tokens after the last step, without the refill since then. */
  get tokensAfterLastStep(): number {
    return this.tokensLevel ?? 0
  }

  /** Estimates the tokens that remain now. Returns undefined without a limit or before the first step. */
  tokens(now: number): Quota | undefined {
    const { tokensLevel, stateAt, limits } = this
    if (tokensLevel === undefined || limits.tpm === undefined) return undefined
    return quotaOf(limits.tpm, tokensLevel, now - stateAt)
  }
}

const NO_NEW_BUDGETS = { day: false, month: false }

/** Maximum budget, in nanodollars. Budgets must be finite, because they are sent to other processes as JSON. */
const MAX_BUDGET = 1e18

const nanodollars = (dollars: number | undefined): number | undefined =>
  dollars === undefined ? undefined : Math.min(Math.round(dollars * NANODOLLARS), MAX_BUDGET)
