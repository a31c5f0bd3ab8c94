import type { AuthStyle } from '../config/types.ts'

/** The header with our key for an upstream; none where it needs none. */
export function authHeaders(style: AuthStyle, key: string | undefined): { readonly [name: string]: string } {
  if (key === undefined || style === 'none') return {}
  if (style === 'bearer') return { authorization: `Bearer ${key}` }
  return style === 'token' ? { authorization: `Token ${key}` } : { [style]: key }
}
