import { type LookupAddress, lookup as systemLookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { networkInterfaces } from 'node:os'

/**
 * Resolves a name to addresses that this machine may reach. Node gives each address but the last half a second to
 * accept a connection. If the last one is of IPv6 and the machine has none, as most containers, it fails at once, so
 * that a single lost packet to the IPv4 address, or a long way to it, would be a failure of the upstream.
 */
export const lookup: LookupFunction = (host, options, done) => {
  systemLookup(host, options, (fault, found, family) => {
    if (fault !== null || !Array.isArray(found)) return done(fault, found, family)
    done(null, routable(found as readonly LookupAddress[]))
  })
}

/** Returns the addresses without those of IPv6, if there are others and the machine has no address of IPv6. */
export function routable(found: readonly LookupAddress[], hasIpv6 = machineHasIpv6): LookupAddress[] {
  const usable = found.filter(({ address, family }) => family === 4 || address === '::1')
  return usable.length === 0 || usable.length === found.length || hasIpv6() ? [...found] : usable
}

/**
 * Returns true if an interface has an address of IPv6 beyond its own link. Also true if the interfaces cannot be listed,
 * as in sandboxes without netlink sockets (`RestrictAddressFamilies` of systemd).
 */
export function machineHasIpv6(list: typeof networkInterfaces = networkInterfaces): boolean {
  try {
    return Object.values(list()).some(addresses =>
      addresses?.some(one => one.family === 'IPv6' && !one.internal && one.scopeid === 0),
    )
  } catch {
    return true
  }
}

/** A lookup that waits for its turn. */
interface Waiting {
  readonly start: () => void
  /** Reports that the lookup waited for too long. */
  readonly fail: () => void
  readonly since: number
}

/** Maximum time for which a lookup waits for its turn, in milliseconds. Its connection has then given up. */
const MAX_WAIT = 10_000

/** Threads of the process (`bin/interlingua.js`), at most half of which resolve names at a time. */
const THREADS = Number(process.env['UV_THREADPOOL_SIZE']) || 4

/** Maximum number of foreign names that are resolved at a time: half of what the process can. */
const MAX_FOREIGN = Math.max(1, Math.floor(THREADS / 4))

/**
 * Resolves a few names at a time. A name whose servers do not answer takes a thread for many seconds, so that some names
 * that callers chose would hold up the names of all upstreams.
 *
 * @param limit maximum number of names that are resolved at a time.
 * @param now returns milliseconds of a monotonic clock.
 */
export function fewAtATime(
  resolve: LookupFunction,
  limit = MAX_FOREIGN,
  now = () => performance.now(),
): LookupFunction {
  const waiting = new Set<Waiting>()
  let running = 0
  const next = (): void => {
    for (const first of waiting) {
      waiting.delete(first)
      if (now() - first.since <= MAX_WAIT) {
        running++
        return first.start()
      }
      first.fail()
    }
  }
  return (host, options, done) => {
    const start = (): void =>
      resolve(host, options, (...outcome) => {
        running--
        next()
        done(...outcome)
      })
    const fail = (): void =>
      done(Object.assign(new Error('too many names are being resolved'), { code: 'EAI_AGAIN' }), [])
    waiting.add({ start, fail, since: now() })
    if (running < limit) next()
  }
}

/** Resolves the names of callers' media, and of files that upstreams name. */
export const foreignLookup: LookupFunction = fewAtATime(lookup)
