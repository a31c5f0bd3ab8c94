/** Delays beyond a day are no delays but outages: nobody is left alone for longer. */
const LONGEST_SECONDS = 86_400

/** Seconds somebody may be left alone, of those an upstream asks for. */
export const boundedDelay = (seconds: number): number => Math.min(Math.max(seconds, 0), LONGEST_SECONDS)

/**
 * How long an upstream's headers ask to leave it alone, in seconds: `retry-after-ms`, else `retry-after` as seconds or
 * as an HTTP date. Undefined where they say nothing, or nonsense (trap 78).
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
