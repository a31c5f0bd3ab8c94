import type { AddRateLimits } from '../../canonical/rate-limit.ts'

/**
 * Adds Anthropic's rate limit headers (docs/wire/common.md#retries-and-rate-limits). The reset time, in RFC 3339, is
 * the time at which the quota is full again.
 *
 * @param now Unix time in milliseconds.
 */
export const addRateLimits: AddRateLimits = (head, { requests, tokens }, now) => {
  if (requests !== undefined) {
    head['anthropic-ratelimit-requests-limit'] = `${requests.limit}`
    head['anthropic-ratelimit-requests-remaining'] = `${requests.remaining}`
    head['anthropic-ratelimit-requests-reset'] = timeText(now + requests.reset)
  }
  if (tokens !== undefined) {
    head['anthropic-ratelimit-tokens-limit'] = `${tokens.limit}`
    head['anthropic-ratelimit-tokens-remaining'] = `${tokens.remaining}`
    head['anthropic-ratelimit-tokens-reset'] = timeText(now + tokens.reset)
  }
}

/** Last reset time, in Unix seconds. Its text is cached, because most answers within one second share it. */
let second = Number.NaN
/** Text of the last reset time. */
let text = ''

function timeText(at: number): string {
  const rounded = Math.ceil(at / 1000)
  if (rounded !== second) {
    text = `${new Date(rounded * 1000).toISOString().slice(0, 19)}Z`
    second = rounded
  }
  return text
}
