import type { AuthStyle } from '../config/types.ts'

/** The header with our key for an upstream, or for `jwt` with the token signed by it; none where it needs none. */
export function authHeaders(style: AuthStyle, key: string | undefined): { readonly [name: string]: string } {
  if (key === undefined || style === 'none') return {}
  if (style === 'bearer' || style === 'jwt') return { authorization: `Bearer ${key}` }
  return style === 'token' ? { authorization: `Token ${key}` } : { [style]: key }
}
