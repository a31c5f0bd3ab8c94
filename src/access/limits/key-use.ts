import type { Quota } from '../../canonical/rate-limit.ts'
import type { LimitSettings } from '../../config/index.ts'
import { quotaOf } from './bucket.ts'
import type { KeyLimits, LimitState } from './engine.ts'

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

/** The largest budget: other processes are told of it as JSON, which has no infinity. */
const MOST_BUDGET = 1e18

const nanodollars = (dollars: number | undefined): number | undefined =>
  dollars === undefined ? undefined : Math.min(Math.round(dollars * NANODOLLARS), MOST_BUDGET)
