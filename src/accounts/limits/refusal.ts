import { type GatewayError, rateLimited } from '../../canonical/error.ts'
import type { LimitName, Refusal } from './engine.ts'

interface Wording {
  readonly message: string
  readonly code: string
  /** The longest wait sent to a caller, in seconds. */
  readonly longest: number
}

const HOUR = 3600

const perMinute = (what: string): Wording => ({
  message: `This key has used up its ${what} for this minute.`,
  code: 'rate_limit_exceeded',
  longest: HOUR,
})

const budget = (period: string): Wording => ({
  message: `This key's budget for this ${period} (UTC) has no room for the request.`,
  code: 'insufficient_quota',
  longest: 24 * HOUR,
})

const WORDINGS: { readonly [L in LimitName]: Wording } = {
  requests: perMinute('requests'),
  tokens: perMinute('tokens'),
  concurrent: {
    message: 'This key has as many requests running as it may have at once.',
    code: 'rate_limit_exceeded',
    longest: HOUR,
  },
  day: budget('day'),
  month: budget('month'),
}

/** A refusal as an error for the caller. */
export function limited({ limit, wait }: Refusal): GatewayError {
  const { message, code, longest } = WORDINGS[limit]
  const retryAfterSeconds = Math.min(longest, Math.max(1, Math.ceil(wait / 1000)))
  return rateLimited(message, retryAfterSeconds, code)
}
