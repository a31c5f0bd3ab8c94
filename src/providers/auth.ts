import type { AuthStyle } from '../config/types.ts'

/** The header that shows an upstream our key, or for `jwt` the token it signed; none where there is nothing to show. */
export function authHeaders(style: AuthStyle, key: string | undefined): { readonly [name: string]: string } {
  if (key === undefined || style === 'none') return {}
  if (style === 'bearer' || style === 'jwt') return { authorization: `Bearer ${key}` }
  return style === 'token' ? { authorization: `Token ${key}` } : { [style]: key }
}
