import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import proxyAddr from 'proxy-addr'
import type { ServerConfig } from '../../config/index.ts'
import { forwardedHops, type Hop } from './forwarded.ts'

type Settings = Pick<ServerConfig, 'trustedProxies' | 'publicUrls'>

/** Parts of a request that show where it came from. */
export type RequestSource = Pick<IncomingMessage, 'headers' | 'socket'>

/** Default port of each scheme, which URLs leave out. */
const DEFAULT_PORT: { readonly [scheme: string]: RegExp } = { http: /:80$/, https: /:443$/ }

const HOST = /^[a-z0-9._-]+(?::\d{1,5})?$|^\[[0-9a-f:.]+\](?::\d{1,5})?$/i

/** Finds a request's caller and public address behind trusted proxies. */
export class Proxies {
  /** True if proxies are configured, so that several callers may share one connection. */
  readonly hasTrustedProxies: boolean
  private readonly trusts: (address: string, index: number) => boolean
  private readonly firstPublicUrl: string | undefined
  private readonly publicUrlByHost: ReadonlyMap<string, string>

  constructor({ trustedProxies, publicUrls }: Settings) {
    this.hasTrustedProxies = trustedProxies.length > 0
    this.trusts = this.hasTrustedProxies ? proxyAddr.compile(trustedProxies.flatMap(halves)) : () => false
    this.firstPublicUrl = publicUrls[0]
    // If several URLs have the same host, the first URL is used.
    this.publicUrlByHost = new Map([...publicUrls].reverse().map(url => [new URL(url).host, url]))
  }

  /**
   * Returns the caller's IP address: the last address that does not belong to a trusted proxy. Used for logs and for
   * delaying answers to wrong keys, never for permissions.
   */
  addressOf({ headers, socket }: RequestSource): string {
    const peer = peerOf(socket)
    if (!this.isTrustedPeer(peer)) return peer
    let address = peer
    for (const [index, forwarded] of forwardedAddresses(headers).toReversed().entries()) {
      const next = ipIn(forwarded)
      if (next === undefined) return address
      address = next
      if (!this.trusts(next, index + 1)) return address
    }
    return address
  }

  /** Returns the base URL by which the caller reaches the gateway, without a trailing slash. */
  baseOf(message: RequestSource): string {
    const { firstPublicUrl } = this
    if (firstPublicUrl === undefined) return this.originOf(message)
    if (this.publicUrlByHost.size === 1) return firstPublicUrl
    const { scheme, host } = this.target(message)
    return this.publicUrlByHost.get(host.toLowerCase().replace(DEFAULT_PORT[scheme]!, '')) ?? firstPublicUrl
  }

  /** Returns the origin that the caller used, according to the request and trusted proxies. */
  originOf(message: RequestSource): string {
    const { scheme, host } = this.target(message)
    return `${scheme}://${host}`
  }

  /** Returns the scheme and host that the caller used: as stated by a trusted proxy, or else by the request. */
  private target({ headers, socket }: RequestSource): { readonly scheme: string; readonly host: string } {
    const forwarded = this.isTrustedPeer(peerOf(socket)) ? forwardedTarget(headers) : {}
    const scheme = forwarded.proto?.toLowerCase() ?? ''
    const connectionScheme = (socket as { readonly encrypted?: boolean }).encrypted === true ? 'https' : 'http'
    const host = [forwarded.host, headers.host].find(candidate => candidate !== undefined && HOST.test(candidate))
    return { scheme: Object.hasOwn(DEFAULT_PORT, scheme) ? scheme : connectionScheme, host: host ?? localHost(socket) }
  }

  private isTrustedPeer(peer: string): boolean {
    return this.hasTrustedProxies && peer !== '' && this.trusts(peer, 0)
  }
}

/** Returns both halves of a range of all addresses, which the library refuses, or else the range. */
function halves(range: string): readonly string[] {
  const [base = '', bits] = range.split('/', 2)
  if (bits === undefined || Number(bits) !== 0) return [range]
  return base.includes(':') ? ['::/1', '8000::/1'] : ['0.0.0.0/1', '128.0.0.0/1']
}

type Headers = RequestSource['headers']

/** Returns the peer's IP address, empty if the connection is closed. */
const peerOf = ({ remoteAddress }: RequestSource['socket']): string => ipIn(remoteAddress ?? '') ?? ''

const localHost = ({ localAddress = '127.0.0.1', localPort }: RequestSource['socket']): string =>
  `${localAddress.includes(':') ? `[${localAddress}]` : localAddress}:${localPort}`

const splitList = (value: string | string[] | undefined): readonly string[] =>
  value === undefined
    ? []
    : String(value)
        .split(',')
        .map(item => item.trim())

const hopsIn = ({ forwarded }: Headers): readonly Hop[] => (forwarded === undefined ? [] : forwardedHops(forwarded))

/**
 * Returns the addresses that proxies report, starting with the caller's. Reads `forwarded` only if there is no
 * `x-forwarded-for`, because a proxy that sets one of the two headers passes on the other as the caller wrote it.
 */
function forwardedAddresses(headers: Headers): readonly string[] {
  const addresses = splitList(headers['x-forwarded-for'])
  return addresses.length > 0 ? addresses : hopsIn(headers).map(({ for: address = '' }) => address)
}

function forwardedTarget(headers: Headers): Hop {
  const [proto] = splitList(headers['x-forwarded-proto'])
  const [host] = splitList(headers['x-forwarded-host'])
  const [hop] = headers['x-forwarded-for'] === undefined ? hopsIn(headers) : []
  return { ...hop, ...(proto === undefined ? {} : { proto }), ...(host === undefined ? {} : { host }) }
}

/** Matches the prefix of an IPv4-mapped IPv6 address. */
const IPV4_MAPPED = /^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i
const WITH_PORT = /^(\d+\.\d+\.\d+\.\d+):\d+$|^\[([0-9a-f:.]+)\](?::\d+)?$/i

/**
 * Extracts the IP address from an address that a proxy reports, which may include a port. Returns undefined for names
 * such as `unknown` or `_hidden`.
 */
function ipIn(text: string): string | undefined {
  const [, v4, v6] = WITH_PORT.exec(text) ?? []
  const address = (v4 ?? v6 ?? text).replace(IPV4_MAPPED, '')
  return isIP(address) === 0 ? undefined : address
}
