import { GatewayError, rateLimited } from '../../canonical/error.ts'
import type { KeyLimits, LimitName, Refusal } from './engine.ts'

/** Error message and code of a limit. */
interface Wording {
  readonly message: string
  readonly code: string
  /** Maximum `Retry-After`, in seconds. */
  readonly maxRetryAfter: number
}

const HOUR_SECONDS = 3600

const perMinute = (what: string): Wording => ({
  message: `This key has reached its limit of ${what} per minute.`,
  code: 'rate_limit_exceeded',
  maxRetryAfter: HOUR_SECONDS,
})

const budget = (period: string): Wording => ({
  message: `This key's budget for this ${period} (UTC) does not cover the request.`,
  code: 'insufficient_quota',
  maxRetryAfter: 24 * HOUR_SECONDS,
})

const WORDINGS: { readonly [L in LimitName]: Wording } = {
  requests: perMinute('requests'),
  tokens: perMinute('tokens'),
  concurrent: {
    message: 'This key has reached its limit of concurrent requests.',
    code: 'rate_limit_exceeded',
    maxRetryAfter: HOUR_SECONDS,
  },
  day: budget('day'),
  month: budget('month'),
}

const NANODOLLARS = 1e9

/** Formats an amount of nanodollars, exact enough to compare with a budget, without an exponent. */
const dollars = (amount: number): string =>
  `$${(amount / NANODOLLARS).toLocaleString('en-US', { maximumSignificantDigits: 3, useGrouping: false })}`

/**
 * Builds the error for a request whose estimated cost exceeds an entire budget, so that waiting does not help
 * (docs/keys-and-limits.md#limits). Returns undefined if the budget covers the request.
 *
 * @param cost estimated cost in nanodollars, as are the budgets.
 * @param output number of output tokens that the estimate assumes.
 */
export function budgetError(cost: number, { day, month }: KeyLimits, output: number): GatewayError | undefined {
  const budget = Math.min(day ?? Number.POSITIVE_INFINITY, month ?? Number.POSITIVE_INFINITY)
  if (cost <= budget) return undefined
  return new GatewayError({
    kind: 'rate-limited',
    message:
      `The estimated cost of this request, ${dollars(cost)} for its input and ${Math.ceil(output)} expected output tokens, ` +
      `exceeds this key's whole budget of ${dollars(budget)} for a ${budget === day ? 'day' : 'month'}. Waiting does not ` +
      'help: send less input, or set a lower output limit (such as `max_tokens`).',
    code: 'insufficient_quota',
  })
}

/** Converts a refusal into the error for the caller. */
export function limitError({ limit, wait }: Refusal): GatewayError {
  const { message, code, maxRetryAfter } = WORDINGS[limit]
  const retryAfterSeconds = Math.min(maxRetryAfter, Math.max(1, Math.ceil(wait / 1000)))
  return rateLimited(message, retryAfterSeconds, code)
}
