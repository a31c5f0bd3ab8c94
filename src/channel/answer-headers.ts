import { type Headers, single } from './headers.ts'

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
