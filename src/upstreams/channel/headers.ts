/** Header fields as Node and the HTTP client deliver them, with names in lower case. */
export interface Headers {
  readonly [name: string]: string | string[] | undefined
}

/** Joins a header's values into one string, empty if the header is missing. */
export const headerValue = (value: string | string[] | undefined): string =>
  Array.isArray(value) ? value.join(', ') : (value ?? '')

/**
 * Returns the headers with one string per name. Usually returns the same object, because almost all headers have a
 * single value.
 */
export function withSingleValues(headers: Headers): { readonly [name: string]: string } {
  if (hasSingleValues(headers)) return headers
  const out: Record<string, string> = {}
  for (const name in headers) if (headers[name] !== undefined) out[name] = headerValue(headers[name])
  return out
}

/** Returns true if every header has a single value. */
function hasSingleValues(headers: Headers): headers is { readonly [name: string]: string } {
  for (const name in headers) if (typeof headers[name] !== 'string') return false
  return true
}

const FORWARDABLE_HEADERS = /^(x-ratelimit-|anthropic-ratelimit-|x-should-retry$)/

/** Returns the upstream headers that a native caller may see: rate limits and `x-should-retry` (trap 78). */
export function forwardable(headers: Headers): { readonly [name: string]: string } {
  const out: Record<string, string> = {}
  for (const name in headers) if (FORWARDABLE_HEADERS.test(name)) out[name] = headerValue(headers[name])
  return out
}

/** Returns the upstream's request id, for the log. */
export const upstreamId = (headers: Headers): string | undefined =>
  headerValue(headers['request-id']) || headerValue(headers['x-request-id']) || undefined
