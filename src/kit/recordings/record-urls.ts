import type { IncomingHttpHeaders } from 'node:http'
import { isDecodable } from './chunks.ts'

/** Appends a caller's path to the upstream's URL. A version at the end of the one is not repeated by the other. */
export function upstreamUrl(upstream: string, path: string): string {
  const base = upstream.replace(/\/+$/, '')
  const version = /\/v\d\w*$/.exec(base)?.[0]
  return version !== undefined && path.startsWith(`${version}/`) ? base + path.slice(version.length) : base + path
}

/** Headers that belong to one connection. */
const OF_CONNECTION = new Set(['connection', 'host', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'upgrade'])

/** The caller's headers for the upstream, in which it accepts only encodings that a recording can decode. */
export function passedHeaders(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const passed: Record<string, string | string[]> = {}
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && !OF_CONNECTION.has(name)) passed[name] = value
  const accepted = headers['accept-encoding']?.toString().split(/\s*,\s*/)
  if (accepted !== undefined) passed['accept-encoding'] = accepted.filter(isDecodable).join(', ')
  return passed
}

/** Milliseconds since a time of `performance.now()`, with one decimal. */
export const msSince = (began: number): number => Math.round((performance.now() - began) * 10) / 10
