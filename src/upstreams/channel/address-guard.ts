import type { LookupAddress } from 'node:dns'
import { isIP } from 'node:net'
import { GatewayError } from '../../canonical/error.ts'
import type { Range } from '../../config/ranges.ts'
import { foreignLookup } from './lookup.ts'
import { isInternalName, isReachable } from './reachable.ts'

/** Resolves a host name to its addresses. */
export type Resolve = (name: string) => Promise<readonly { readonly address: string }[]>

const systemResolve: Resolve = name =>
  new Promise((resolve, reject) =>
    foreignLookup(name, { all: true }, (fault, found) =>
      fault === null ? resolve(found as LookupAddress[]) : reject(fault),
    ),
  )

/**
 * Checks media URLs before they are passed to an upstream, which fetches them on the caller's behalf. A URL that is not
 * public may lead into the upstream's own network (trap 50).
 */
export class AddressGuard {
  private readonly allowedRanges: readonly Range[]
  private readonly resolve: Resolve

  constructor(allowedRanges: readonly Range[], resolve = systemResolve) {
    this.allowedRanges = allowedRanges
    this.resolve = resolve
  }

  /**
   * Checks a URL without resolving its host.
   *
   * @returns the host if it is a name that must still be checked with `checkName`.
   * @throws GatewayError `invalid-request` if the URL is not public, or uses neither the web nor a cloud bucket.
   */
  check(address: string): string | undefined {
    if (!URL.canParse(address)) {
      if (FILE_PATH.test(address) || SCHEME_PREFIX.test(address)) throw refusal()
      return undefined
    }
    const { protocol, hostname } = new URL(address)
    if (PASSED_SCHEMES.has(protocol)) return undefined
    if (!WEB_SCHEMES.has(protocol) || !PLAIN_URL.test(address)) throw refusal()
    const host = hostname.replace(/^\[|\]$/g, '')
    if (isIP(host) !== 0 ? isReachable(host, this.allowedRanges) : !isInternalName(host))
      return isIP(host) === 0 ? host : undefined
    throw refusal()
  }

  /**
   * Checks the addresses that a name resolves to. Rejects with the same errors as `check`, also if the name does not
   * resolve.
   */
  async checkName(name: string): Promise<void> {
    const found = await this.resolve(name).catch(() => [])
    if (found.length === 0 || !found.every(({ address }) => isReachable(address, this.allowedRanges))) throw refusal()
  }
}

/**
 * Returns true if an upstream's base URL is not public. Such an upstream may resolve internal names, so the names in
 * media URLs must be checked.
 */
export function isInternal(baseUrl: string): boolean {
  const host = new URL(baseUrl).hostname.replace(/^\[|\]$/g, '')
  return isIP(host) === 0 ? isInternalName(host) : !isReachable(host)
}

const WEB_SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:'])
/** Schemes that are passed on unchecked: inline bytes, and cloud buckets, which require separate credentials. */
const PASSED_SCHEMES: ReadonlySet<string> = new Set(['data:', 'gs:', 's3:'])
const SCHEME_PREFIX = /^\s*[a-z][a-z0-9+.-]*:/i
/** Matches a file path. Base64 may start in the same way but is longer. */
const FILE_PATH = /^\s*[/\\.~].{0,4096}$/s
/** Matches URLs in which every URL parser finds the same host. Parsers disagree about backslashes and spaces. */
const PLAIN_URL = /^https?:\/\/[^/?#\s\\]+(?:[/?#]|$)/i

const refusal = (): GatewayError =>
  new GatewayError({
    kind: 'invalid-request',
    message: 'This media URL is not passed to the upstream.',
    code: 'media_address_refused',
  })
