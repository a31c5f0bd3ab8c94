import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** The token that requests of a session carry beside its cookie: made of the session's, which it does not reveal. */
export const csrfOf = (token: string): string => createHmac('sha256', token).update('csrf').digest('base64url')

const SAFE: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD'])
/** Fetch metadata of requests that a page of this origin made, or nobody's page. */
const OWN: ReadonlySet<unknown> = new Set([undefined, 'same-origin', 'none'])

/** Whether a request with a session's cookie was made by the console: reading changes nothing, and needs no token. */
export function isOwnRequest({ method, headers }: IncomingMessage, token: string): boolean {
  if (SAFE.has(method)) return true
  const given = Buffer.from(String(headers['x-csrf-token'] ?? ''))
  const expected = Buffer.from(csrfOf(token))
  return OWN.has(headers['sec-fetch-site']) && given.length === expected.length && timingSafeEqual(given, expected)
}

/**
 * Whether a request without a session may sign in: no page of another origin may have made it, so that nobody is signed in
 * as another without noticing.
 *
 * @param hosts those of the gateway's own addresses.
 */
export function isSameOrigin({ headers }: Pick<IncomingMessage, 'headers'>, hosts: readonly string[]): boolean {
  const { origin } = headers
  if (!OWN.has(headers['sec-fetch-site'])) return false
  if (origin === undefined || headers['sec-fetch-site'] === 'same-origin') return true
  return URL.canParse(origin) && hosts.includes(new URL(origin).host)
}
