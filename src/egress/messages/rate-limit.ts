import type { Quota, RateLimitHeaders } from '../../canonical/rate-limit.ts'

/** Anthropic's headers of limits (FORMATS §1): the time at which all is there again, in RFC 3339. */
export const rateLimitHeaders: RateLimitHeaders = ({ requests, tokens }, now) => ({
  ...quotaHeaders('requests', requests, now),
  ...quotaHeaders('tokens', tokens, now),
})

const quotaHeaders = (what: string, quota: Quota | undefined, now: number): ReturnType<RateLimitHeaders> =>
  quota === undefined
    ? {}
    : {
        [`anthropic-ratelimit-${what}-limit`]: String(quota.limit),
        [`anthropic-ratelimit-${what}-remaining`]: String(quota.remaining),
        [`anthropic-ratelimit-${what}-reset`]: timeText(now + quota.reset),
      }

const timeText = (at: number): string => `${new Date(Math.ceil(at / 1000) * 1000).toISOString().slice(0, 19)}Z`
