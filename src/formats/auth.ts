import type { JsonObject } from '../canonical/node.ts'
import { isStrictVersion, messagesDialect } from './dialects/messages.ts'

/**
 * Method of sending the upstream's key. `bearer` and `token` are schemes of the `authorization` header, `jwt` is a
 * bearer token signed with the secret of an `access:secret` key, and all other values are header names.
 */
export type AuthStyle = 'bearer' | 'token' | 'x-api-key' | 'x-goog-api-key' | 'api-key' | 'xi-api-key' | 'jwt' | 'none'

/**
 * Returns the method by which a request with these headers sends its key. Anthropic's SDKs send a bearer token with
 * version 2026-10-21 and later, and `x-api-key` with earlier versions (docs/wire/messages.md#versions).
 */
export function sentStyle(
  { auth, dialect }: { readonly auth: AuthStyle; readonly dialect: JsonObject },
  headers: { readonly [name: string]: string } = {},
): AuthStyle {
  if (auth !== 'x-api-key') return auth
  const { key_as: style = auth } = messagesDialect(dialect)
  if (style !== 'version') return style
  return isStrictVersion(headers['anthropic-version'] ?? '') ? 'bearer' : auth
}

/**
 * Returns the header with the channel's credential: its key or, for `jwt`, a token signed with its secret. Returns no
 * header if the upstream needs no key.
 */
export function authHeaders(style: AuthStyle, key: string | undefined): { readonly [name: string]: string } {
  if (key === undefined || style === 'none') return {}
  if (style === 'bearer' || style === 'jwt') return { authorization: `Bearer ${key}` }
  return style === 'token' ? { authorization: `Token ${key}` } : { [style]: key }
}
