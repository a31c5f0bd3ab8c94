/** Header fields as Node and the HTTP client give them: names in lower case. */
export interface Headers {
  readonly [name: string]: string | string[] | undefined
}

/** A header's value as one text; empty where there is none. */
export const single = (value: string | string[] | undefined): string =>
  Array.isArray(value) ? value.join(', ') : (value ?? '')

/** The same fields with one text each: most often all of them have one already. */
export function flat(headers: Headers): { readonly [name: string]: string } {
  if (isFlat(headers)) return headers
  const out: Record<string, string> = {}
  for (const name in headers) if (headers[name] !== undefined) out[name] = single(headers[name])
  return out
}

function isFlat(headers: Headers): headers is { readonly [name: string]: string } {
  for (const name in headers) if (typeof headers[name] !== 'string') return false
  return true
}

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
