import type { IncomingMessage } from 'node:http'

/** A console cookie. Over TLS, its `__Host-` prefix guarantees that only this host can set it (RFC 6265bis, 4.1.3). */
export interface Cookie {
  readonly name: string
  readonly value: string
  /** Lifetime in seconds. 0 deletes the cookie. */
  readonly maxAge: number
  /** `Lax` for cookies that must survive the redirect from an identity provider. */
  readonly sameSite: 'Strict' | 'Lax'
}

const nameOf = (name: string, isSecure: boolean): string => (isSecure ? `__Host-${name}` : name)

/** Formats the `set-cookie` header of a cookie. */
export const formatCookie = ({ name, value, maxAge, sameSite }: Cookie, isSecure: boolean): string =>
  [
    `${nameOf(name, isSecure)}=${value}`,
    ...['Path=/', 'HttpOnly', `SameSite=${sameSite}`, `Max-Age=${maxAge}`],
    ...(isSecure ? ['Secure'] : []),
  ].join('; ')

/** Returns the first value of a cookie. Over TLS, only accepts a cookie set by this host. */
export function cookieIn(
  { headers }: Pick<IncomingMessage, 'headers'>,
  name: string,
  isSecure: boolean,
): string | undefined {
  const { cookie } = headers
  if (cookie === undefined) return undefined
  const prefix = `${nameOf(name, isSecure)}=`
  for (const pair of cookie.split(';')) {
    const text = pair.trim()
    if (text.startsWith(prefix)) return text.slice(prefix.length)
  }
  return undefined
}
