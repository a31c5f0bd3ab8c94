import type { IncomingHttpHeaders } from 'node:http'
import { withoutTrailingSlashes } from '../../canonical/text.ts'
import { isDecodable } from './chunks.ts'

/** Matches the scheme and the host of a URL. Clients of a proxy send whole URLs (RFC 9112, section 3.2.2). */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*(?=\/)/i

/**
 * Appends a caller's path to the upstream's URL. If both contain the version, it is not repeated.
 *
 * @throws Error if the target of the request is no path, because it could lead to another host.
 */
export function upstreamUrl(upstream: string, target: string): string {
  const path = target.replace(ORIGIN, '')
  if (!path.startsWith('/')) throw new Error(`${JSON.stringify(target)} is not a path`)
  const base = withoutTrailingSlashes(upstream)
  const version = /\/v\d\w*$/.exec(base)?.[0]
  return version !== undefined && path.startsWith(`${version}/`) ? base + path.slice(version.length) : base + path
}

/** Headers that belong to one connection. The password of a proxy is for this proxy, not for the upstream. */
const CONNECTION_HEADERS = new Set([
  ...['connection', 'host', 'keep-alive', 'proxy-authorization', 'proxy-connection', 'te', 'trailer', 'upgrade'],
])

/** Returns the caller's headers for the upstream, accepting only encodings that the recorder can decode. */
export function upstreamHeaders(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const forwarded: Record<string, string | string[]> = {}
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && !CONNECTION_HEADERS.has(name)) forwarded[name] = value
  const encodings = headers['accept-encoding']?.toString().split(',')
  if (encodings !== undefined)
    forwarded['accept-encoding'] = encodings
      .map(one => one.trim())
      .filter(isDecodable)
      .join(', ')
  return forwarded
}
