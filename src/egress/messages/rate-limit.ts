import type { RateLimitHeaders } from '../../canonical/rate-limit.ts'

/** Anthropic's headers of limits (FORMATS §1): the time at which the quota is full again, in RFC 3339. */
export const rateLimitHeaders: RateLimitHeaders = ({ requests, tokens }, now) => ({
  ...(requests && {
    'anthropic-ratelimit-requests-limit': `${requests.limit}`,
    'anthropic-ratelimit-requests-remaining': `${requests.remaining}`,
    'anthropic-ratelimit-requests-reset': timeText(now + requests.reset),
  }),
  ...(tokens && {
    'anthropic-ratelimit-tokens-limit': `${tokens.limit}`,
    'anthropic-ratelimit-tokens-remaining': `${tokens.remaining}`,
    'anthropic-ratelimit-tokens-reset': timeText(now + tokens.reset),
  }),
})

const timeText = (at: number): string => `${new Date(Math.ceil(at / 1000) * 1000).toISOString().slice(0, 19)}Z`
