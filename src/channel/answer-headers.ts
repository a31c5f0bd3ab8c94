import { type Headers, single } from './headers.ts'

/** Delays beyond a day are no delays but outages. */
const LONGEST_SECONDS = 86_400

/**
 * How long an upstream asks to be left alone, in seconds: `retry-after-ms`, else `retry-after` as seconds or as an
 * HTTP date. Undefined where it says nothing, or nonsense (trap 78).
 */
export function retryAfterSeconds(headers: Headers, now: number): number | undefined {
  const milliseconds = Number.parseFloat(single(headers['retry-after-ms']))
  if (Number.isFinite(milliseconds)) return bounded(milliseconds / 1000)
  const text = single(headers['retry-after']).trim()
  if (/^\d+(\.\d+)?$/.test(text)) return bounded(Number(text))
  const date = Date.parse(text)
  return Number.isNaN(date) ? undefined : bounded((date - now) / 1000)
}

const bounded = (seconds: number): number => Math.min(Math.max(seconds, 0), LONGEST_SECONDS)

const FORWARDED = /^(x-ratelimit-|anthropic-ratelimit-|x-should-retry$)/

/** What a caller who speaks the upstream's format may see of its headers: how much it may still ask (trap 78). */
export function forwardable(headers: Headers): { readonly [name: string]: string } {
  const out: Record<string, string> = {}
  for (const name in headers) if (FORWARDED.test(name)) out[name] = single(headers[name])
  return out
}

/** The upstream's own id of the exchange, for the log. */
export const upstreamId = (headers: Headers): string | undefined =>
  single(headers['request-id']) || single(headers['x-request-id']) || undefined
