import type { Quota, RateLimitHeaders } from '../canonical/rate-limit.ts'

/** OpenAI's headers of limits, which clients of most formats know (FORMATS §1). */
export const rateLimitHeaders: RateLimitHeaders = ({ requests, tokens }) => ({
  ...quotaHeaders('requests', requests),
  ...quotaHeaders('tokens', tokens),
})

const quotaHeaders = (what: string, quota: Quota | undefined): ReturnType<RateLimitHeaders> =>
  quota === undefined
    ? {}
    : {
        [`x-ratelimit-limit-${what}`]: String(quota.limit),
        [`x-ratelimit-remaining-${what}`]: String(quota.remaining),
        [`x-ratelimit-reset-${what}`]: durationText(quota.reset),
      }

/** A duration as Go writes it: `120ms`, `7.66s`, `6m0s`. */
function durationText(milliseconds: number): string {
  const rounded = Math.ceil(milliseconds)
  if (rounded < 1000) return `${rounded}ms`
  if (rounded < 60_000) return `${rounded / 1000}s`
  const seconds = Math.ceil(rounded / 1000)
  return `${Math.floor(seconds / 60)}m${seconds % 60}s`
}
