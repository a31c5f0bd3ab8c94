/** Longer delays are outages: they are cut to a day. */
const LONGEST_SECONDS = 86_400

/** A delay an upstream asks for, in seconds, kept between none and a day. */
export const boundedDelay = (seconds: number): number => Math.min(Math.max(seconds, 0), LONGEST_SECONDS)

/**
 * The delay before a retry that an upstream's headers ask for, in seconds: `retry-after-ms`, else `retry-after` as
 * seconds or as an HTTP date. Undefined where they have none, or a malformed one (trap 78).
 *
 * @param now Unix time in milliseconds.
 */
export function retryAfter(headers: { readonly [name: string]: string }, now: number = Date.now()): number | undefined {
  const milliseconds = Number.parseFloat(headers['retry-after-ms'] ?? '')
  if (Number.isFinite(milliseconds)) return boundedDelay(milliseconds / 1000)
  const text = (headers['retry-after'] ?? '').trim()
  if (/^\d+(\.\d+)?$/.test(text)) return boundedDelay(Number(text))
  const date = Date.parse(text)
  return Number.isNaN(date) ? undefined : boundedDelay((date - now) / 1000)
}
