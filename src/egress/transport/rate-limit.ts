import type { AddRateLimits } from '../../canonical/rate-limit.ts'

/** Adds OpenAI's rate limit headers, which most formats' clients read (docs/wire/common.md#retries-and-rate-limits). */
export const addRateLimits: AddRateLimits = (head, { requests, tokens }) => {
  if (requests !== undefined) {
    head['x-ratelimit-limit-requests'] = `${requests.limit}`
    head['x-ratelimit-remaining-requests'] = `${requests.remaining}`
    head['x-ratelimit-reset-requests'] = durationText(requests.reset)
  }
  if (tokens !== undefined) {
    head['x-ratelimit-limit-tokens'] = `${tokens.limit}`
    head['x-ratelimit-remaining-tokens'] = `${tokens.remaining}`
    head['x-ratelimit-reset-tokens'] = durationText(tokens.reset)
  }
}

/** Formats a duration in Go's style: `120ms`, `7.66s`, `6m0s`. */
function durationText(milliseconds: number): string {
  const rounded = Math.ceil(milliseconds)
  if (rounded < 1000) return `${rounded}ms`
  if (rounded < 60_000) return `${rounded / 1000}s`
  const seconds = Math.ceil(rounded / 1000)
  return `${Math.floor(seconds / 60)}m${seconds % 60}s`
}
