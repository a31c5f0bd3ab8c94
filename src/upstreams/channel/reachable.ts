import { type LookupAddress, lookup as systemLookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { contains, type Range } from '../../config/ranges.ts'

/**
 * Whether media may be fetched from the address: only from the public internet. Private, loopback, link-local (the
 * metadata services of clouds are there), reserved and translated addresses are not, unless `allowed` names them.
 */
export function isReachable(address: string, allowed: readonly Range[] = []): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  if (allowed.some(range => contains(range, parsed))) return true
  return parsed.range() === 'unicast' && !INSIDE.some(range => contains(range, parsed))
}

/** Services of clouds for the machines in them, at addresses that look public: Azure's (its documentation, 2026-11). */
const INSIDE: readonly Range[] = ['168.63.129.16']

/** A host that is not reachable; its message goes to the log, not to the caller. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable'
}

/**
 * Name resolution that returns only reachable addresses. The connection is made to the address that was checked, so a
 * name cannot resolve to another one in between.
 */
export const guarded =
  (allowed: readonly Range[], resolve = systemLookup): LookupFunction =>
  (host, options, done) => {
    resolve(host, { ...options, all: true }, (fault, found) => {
      if (fault !== null) return done(fault, [])
      const all = found as unknown as readonly LookupAddress[]
      const reachable = all.filter(({ address }) => isReachable(address, allowed))
      const first = reachable[0]
      if (first === undefined || reachable.length < all.length)
        return done(new Unreachable(`${host} is at an address that is not fetched from`), [])
      if (options.all === true) done(null, reachable)
      else done(null, first.address, first.family)
    })
  }

/** Checks hosts that are addresses themselves, since they are never resolved. */
export function checkHost(hostname: string, allowed: readonly Range[]): void {
  const bare = hostname.replace(/^\[|\]$/g, '')
  if (isIP(bare) !== 0 && !isReachable(bare, allowed)) throw new Unreachable(`${bare} is not fetched from`)
}
