import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/**
 * Derives the CSRF token from the session token, without revealing the latter. Requests send the CSRF token along with
 * the session cookie.
 */
export const csrfOf = (token: string): string => createHmac('sha256', token).update('csrf').digest('base64url')

const SAFE_METHODS: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD'])
/** `sec-fetch-site` values of requests not made by a page of another origin. */
const SAME_SITE_VALUES: ReadonlySet<unknown> = new Set([undefined, 'same-origin', 'none'])

/** Returns true if a request with a session cookie came from the console. Read-only requests need no CSRF token. */
export function isConsoleRequest({ method, headers }: IncomingMessage, token: string): boolean {
  if (SAFE_METHODS.has(method)) return true
  const received = Buffer.from(String(headers['x-csrf-token'] ?? ''))
  const expected = Buffer.from(csrfOf(token))
  return (
    SAME_SITE_VALUES.has(headers['sec-fetch-site']) &&
    received.length === expected.length &&
    timingSafeEqual(received, expected)
  )
}

/**
 * Returns true if a request without a session may sign in. Requests from pages of other origins may not, because they
 * could sign somebody in to another person's account unnoticed.
 *
 * @param hosts hosts of the gateway's own addresses.
 */
export function isSameOrigin({ headers }: Pick<IncomingMessage, 'headers'>, hosts: readonly string[]): boolean {
  const { origin } = headers
  if (!SAME_SITE_VALUES.has(headers['sec-fetch-site'])) return false
  if (origin === undefined || headers['sec-fetch-site'] === 'same-origin') return true
  return URL.canParse(origin) && hosts.includes(new URL(origin).host)
}
