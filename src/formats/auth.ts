/**
 * How the upstream's key is sent. `bearer` and `token` are schemes of the `authorization` header, `jwt` is a bearer
 * token signed with the secret of a key `access:secret`, other values are header names.
 */
export type AuthStyle = 'bearer' | 'token' | 'x-api-key' | 'x-goog-api-key' | 'api-key' | 'xi-api-key' | 'jwt' | 'none'

/**
 * Returns the header with the channel's credential: its key, or for `jwt` the token signed with it; no header if the
 * upstream needs no key.
 */
export function authHeaders(style: AuthStyle, key: string | undefined): { readonly [name: string]: string } {
  if (key === undefined || style === 'none') return {}
  if (style === 'bearer' || style === 'jwt') return { authorization: `Bearer ${key}` }
  return style === 'token' ? { authorization: `Token ${key}` } : { [style]: key }
}
