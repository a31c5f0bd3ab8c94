import { type Headers, single } from './headers.ts'

const FORWARDED = /^(x-ratelimit-|anthropic-ratelimit-|x-should-retry$)/

/** The upstream's headers that a caller of the same format may see: its rate limits (trap 78). */
export function forwardable(headers: Headers): { readonly [name: string]: string } {
  const out: Record<string, string> = {}
  for (const name in headers) if (FORWARDED.test(name)) out[name] = single(headers[name])
  return out
}

/** The upstream's id of the exchange, for the log. */
export const upstreamId = (headers: Headers): string | undefined =>
  single(headers['request-id']) || single(headers['x-request-id']) || undefined
