import { isIP } from 'node:net'
import { containsText, isRange } from '../../config/ranges.ts'
import type { ProxyConfig } from '../../config/types.ts'

/*
 * The choice of a proxy, as in curl: `HTTPS_PROXY` is for https only. HTTP clients read `NO_PROXY` each in a way of its
 * own, so that voice sessions would take another way than requests, and none of them knows ranges of addresses.
 */

/** The destination of a connection. */
interface Destination {
  readonly host: string
  readonly port: string
}

const DEFAULT_PORTS: { readonly [protocol: string]: string } = { 'https:': '443', 'http:': '80' }

/** Returns the URL of the proxy for an address, or undefined if the address is reached directly. */
export function proxyFor(address: string | URL, { http, https, except }: ProxyConfig): string | undefined {
  const { protocol, hostname, port } = new URL(address)
  const host = hostname.replace(/^\[|\]$|\.$/g, '')
  const destination = { host, port: port || DEFAULT_PORTS[protocol] || '' }
  const isExcepted = except.split(/[,\s]+/).some(entry => entry !== '' && matches(entry.toLowerCase(), destination))
  return isExcepted ? undefined : (protocol === 'https:' ? https : http) || undefined
}

/** Matches an entry with a port: a name or an IPv4 address, or an IPv6 address in brackets. */
const WITH_PORT = /^(\[.+\]|[^:]+):(\d+)$/

/**
 * Returns true if an entry of `NO_PROXY` covers a destination. An entry is `*`, an address, a range of addresses, or a
 * name with its subdomains; `*.` in front of a name stands for the subdomains only.
 */
function matches(entry: string, { host, port }: Destination): boolean {
  const [, name = entry, entryPort = port] = WITH_PORT.exec(entry) ?? []
  if (entryPort !== port) return false
  if (name === '*') return true
  const bare = name.replace(/^\[|\]$/g, '')
  if (isIP(host) !== 0) return isRange(bare) && containsText(bare, host)
  const domain = bare.replace(/^\*?\./, '').replace(/\.$/, '')
  return host.endsWith(`.${domain}`) || (host === domain && !bare.startsWith('*'))
}
