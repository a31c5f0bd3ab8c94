import type { LookupAddress } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { contains, type Range } from '../../config/ranges.ts'
import { foreignLookup } from './lookup.ts'

/**
 * Returns true if the gateway may fetch from the address. Only the public internet is allowed. Private, loopback,
 * link-local (used by cloud metadata services), reserved and translated addresses are refused unless they are in
 * `allowed`.
 */
export function isReachable(address: string, allowed: readonly Range[] = []): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  if (allowed.some(range => contains(range, parsed))) return true
  return parsed.range() === 'unicast' && !SEEMINGLY_PUBLIC.some(range => contains(range, parsed))
}

/**
 * Addresses that only look public: Azure's service for its own machines (Azure documentation, 2026-11), and IPv4
 * addresses within IPv6 in the form that RFC 4291 (section 2.5.5.1) deprecates.
 */
const SEEMINGLY_PUBLIC: readonly Range[] = ['168.63.129.16', '::/96']

/** Error for a host from which the gateway must not fetch. Its message is logged and not shown to the caller. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable'
}

/**
 * Creates a lookup function that resolves names to reachable addresses only. The connection uses the checked address,
 * so the name cannot resolve to a different one in between.
 */
export const guardedLookup =
  (allowed: readonly Range[], resolve = foreignLookup): LookupFunction =>
  (host, options, done) => {
    resolve(host, { ...options, all: true }, (fault, found) => {
      if (fault !== null) return done(fault, [])
      const all = found as unknown as readonly LookupAddress[]
      const reachable = all.filter(({ address }) => isReachable(address, allowed))
      const first = reachable[0]
      if (first === undefined || reachable.length < all.length)
        return done(new Unreachable(`${host} resolves to an address that the gateway must not fetch from`), [])
      if (options.all === true) done(null, reachable)
      else done(null, first.address, first.family)
    })
  }

/** Checks a host that is an IP address, because it is never resolved. */
export function checkHost(hostname: string, allowed: readonly Range[]): void {
  const bare = hostname.replace(/^\[|\]$/g, '')
  if (isIP(bare) !== 0 && !isReachable(bare, allowed)) throw new Unreachable(`fetching from ${bare} is not allowed`)
}

/** Returns true if a host name is not public (RFC 6761, RFC 6762, RFC 8375, and names used by clouds and clusters). */
export function isInternalName(host: string): boolean {
  const name = host.replace(/\.$/, '').toLowerCase()
  const labels = name.split('.')
  return labels.length === 1 || INTERNAL_DOMAINS.has(labels.at(-1)!) || name.endsWith('.home.arpa')
}

const INTERNAL_DOMAINS: ReadonlySet<string> = new Set([
  'localhost',
  'local',
  'internal',
  'lan',
  'intranet',
  'corp',
  'home',
])

/**
 * Checks a host whose name the proxy resolves. Internal names are refused, unless the operator allows non-public
 * addresses.
 */
export function checkProxied({ hostname }: URL, allowed: readonly Range[]): void {
  const isName = isIP(hostname.replace(/^\[|\]$/g, '')) === 0
  if (isName && allowed.length === 0 && isInternalName(hostname))
    throw new Unreachable(`fetching from ${hostname} is not allowed`)
}
