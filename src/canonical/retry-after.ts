/** Maximum delay, in seconds: one day. A longer delay indicates an outage and is reduced to one day. */
const MAX_DELAY_SECONDS = 86_400

/** Clamps a retry delay, in seconds, to the range from zero to one day. */
export const boundedDelay = (seconds: number): number => Math.min(Math.max(seconds, 0), MAX_DELAY_SECONDS)

/** Matches the beginning of a date. `Date.parse` alone would also accept `-5` and other strings. */
const IS_DATE = /^(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? |\d{4}-\d\d-\d\d)/i
/** Matches the time zone at the end of a date. Dates of HTTP without one are in UTC. */
const HAS_ZONE = /(?:[a-z]|[+-]\d\d:?\d\d)$/i

/**
 * Reads the retry delay from an upstream's headers, in seconds: `retry-after-ms`, else `retry-after` as seconds or as
 * an HTTP date. Returns undefined if both are missing or malformed (trap 78).
 *
 * @param now Unix time in milliseconds.
 */
export function retryAfter(headers: { readonly [name: string]: string }, now: number = Date.now()): number | undefined {
  const milliseconds = Number.parseFloat(headers['retry-after-ms'] ?? '')
  if (milliseconds >= 0 && Number.isFinite(milliseconds)) return boundedDelay(milliseconds / 1000)
  const text = (headers['retry-after'] ?? '').trim()
  if (/^\d+(\.\d+)?$/.test(text)) return boundedDelay(Number(text))
  const date = IS_DATE.test(text) ? Date.parse(HAS_ZONE.test(text) ? text : `${text}Z`) : Number.NaN
  return Number.isNaN(date) ? undefined : boundedDelay((date - now) / 1000)
}
