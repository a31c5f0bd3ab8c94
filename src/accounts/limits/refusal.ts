import { type GatewayError, rateLimited } from '../../canonical/error.ts'
import type { LimitName, Refusal } from './engine.ts'

/** Error message and code of a limit. */
interface Wording {
  readonly message: string
  readonly code: string
  /** Maximum `Retry-After`, in seconds. */
  readonly longest: number
}

const HOUR = 3600

const perMinute = (what: string): Wording => ({
  message: `This key has reached its limit of ${what} per minute.`,
  code: 'rate_limit_exceeded',
  longest: HOUR,
})

const budget = (period: string): Wording => ({
  message: `This key's budget for this ${period} (UTC) does not cover the request.`,
  code: 'insufficient_quota',
  longest: 24 * HOUR,
})

const WORDINGS: { readonly [L in LimitName]: Wording } = {
  requests: perMinute('requests'),
  tokens: perMinute('tokens'),
  concurrent: {
    message: 'This key has reached its limit of concurrent requests.',
    code: 'rate_limit_exceeded',
    longest: HOUR,
  },
  day: budget('day'),
  month: budget('month'),
}

/** Converts a refusal into the error for the caller. */
export function limited({ limit, wait }: Refusal): GatewayError {
  const { message, code, longest } = WORDINGS[limit]
  const retryAfterSeconds = Math.min(longest, Math.max(1, Math.ceil(wait / 1000)))
  return rateLimited(message, retryAfterSeconds, code)
}
