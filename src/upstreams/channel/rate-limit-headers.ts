import { type Headers, headerValue } from './headers.ts'

/**
 * Headers for the remainder of a quota and for the time of its reset. OpenAI and compatible vendors send a duration
 * (`6m0s`, `20ms`), Anthropic sends a time (both vendors' pages on rate limits, 2026-11).
 */
interface QuotaHeaders {
  readonly remaining: string
  readonly reset: string
}

const QUOTAS: readonly QuotaHeaders[] = [
  ...['requests', 'tokens'].map(unit => ({
    remaining: `x-ratelimit-remaining-${unit}`,
    reset: `x-ratelimit-reset-${unit}`,
  })),
  ...['requests', 'tokens', 'input-tokens', 'output-tokens'].map(unit => ({
    ...{ remaining: `anthropic-ratelimit-${unit}-remaining`, reset: `anthropic-ratelimit-${unit}-reset` },
  })),
]

/**
 * Returns the number of seconds until all quotas that are exhausted according to an upstream's headers have been reset,
 * or undefined if none is exhausted.
 *
 * @param now Unix time in milliseconds.
 */
export function exhaustedSeconds(headers: Headers, now: number): number | undefined {
  let maxSeconds: number | undefined
  for (const { remaining, reset } of QUOTAS) {
    if (headerValue(headers[remaining]).trim() !== '0') continue
    const seconds = secondsUntil(headerValue(headers[reset]).trim(), now)
    if (seconds !== undefined && seconds > 0) maxSeconds = Math.max(maxSeconds ?? 0, seconds)
  }
  return maxSeconds
}

/** Matches a duration with optional days, hours, minutes, seconds and milliseconds. */
const DURATION = /^(?=.)(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?$/
/** Units of a duration, in seconds. */
const UNITS = [86_400, 3600, 60, 1, 0.001]

/** Smallest number that is a Unix time: in seconds, and in milliseconds. No quota is reset after decades. */
const MIN_UNIX_SECONDS = 1e9
const MIN_UNIX_MS = 1e12

/** Reads a duration, a number of seconds, or a time. Some vendors and gateways send a Unix time. */
function secondsUntil(text: string, now: number): number | undefined {
  if (/^\d+(\.\d+)?$/.test(text)) return secondsOf(Number(text), now)
  const found = DURATION.exec(text)
  if (found !== null) return UNITS.reduce((sum, unit, index) => sum + Number(found[index + 1] ?? 0) * unit, 0)
  const time = Date.parse(text)
  return Number.isNaN(time) ? undefined : (time - now) / 1000
}

function secondsOf(number: number, now: number): number {
  if (number < MIN_UNIX_SECONDS) return number
  return (number < MIN_UNIX_MS ? number : number / 1000) - now / 1000
}
