import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import proxyAddr from 'proxy-addr'
import type { ServerConfig } from '../../config/index.ts'
import { forwardedHops, type Hop } from './forwarded.ts'

type Settings = Pick<ServerConfig, 'trustedProxies' | 'publicUrls'>

/** The parts of a request that show where it came from. */
export type Arrived = Pick<IncomingMessage, 'headers' | 'socket'>

/** Matches the default port of a scheme, which URLs leave out. */
const USUAL_PORT: { readonly [scheme: string]: RegExp } = { http: /:80$/, https: /:443$/ }

const HOST = /^[a-z0-9._-]+(?::\d{1,5})?$|^\[[0-9a-f:.]+\](?::\d{1,5})?$/i

/** Finds a request's caller and public address behind trusted proxies. */
export class Proxies {
  /** Whether proxies are configured, so that connections do not tell callers apart. */
  readonly present: boolean
  private readonly trusts: (address: string, index: number) => boolean
  private readonly first: string | undefined
  private readonly byHost: ReadonlyMap<string, string>

  constructor({ trustedProxies, publicUrls }: Settings) {
    this.present = trustedProxies.length > 0
    this.trusts = this.present ? proxyAddr.compile([...trustedProxies]) : () => false
    this.first = publicUrls[0]
    // Of several URLs with one host, the first one counts.
    this.byHost = new Map([...publicUrls].reverse().map(url => [new URL(url).host, url]))
  }

  /**
   * Returns the caller's IP address: the last address that is not a trusted proxy's. Used for logs and for slowing down
   * wrong keys; never for permissions.
   */
  addressOf({ headers, socket }: Arrived): string {
    const peer = peerOf(socket)
    if (!this.believes(peer)) return peer
    let address = peer
    for (const [index, stated] of statedBy(headers).toReversed().entries()) {
      const one = ipIn(stated)
      if (one === undefined) return address
      address = one
      if (!this.trusts(one, index + 1)) return address
    }
    return address
  }

  /** Returns the base URL by which the caller reaches the gateway, without a trailing slash. */
  baseOf(message: Arrived): string {
    const { first } = this
    if (first === undefined) return this.originOf(message)
    if (this.byHost.size === 1) return first
    const { scheme, host } = this.target(message)
    return this.byHost.get(host.toLowerCase().replace(USUAL_PORT[scheme]!, '')) ?? first
  }

  /** Returns the origin that the caller used, according to the request and trusted proxies. */
  originOf(message: Arrived): string {
    const { scheme, host } = this.target(message)
    return `${scheme}://${host}`
  }

  /** Returns the scheme and host that the caller used: as stated by a trusted proxy, or else by the request. */
  private target({ headers, socket }: Arrived): { readonly scheme: string; readonly host: string } {
    const stated = this.believes(peerOf(socket)) ? targetIn(headers) : {}
    const scheme = stated.proto?.toLowerCase() ?? ''
    const own = (socket as { readonly encrypted?: boolean }).encrypted === true ? 'https' : 'http'
    const host = [stated.host, headers.host].find(one => one !== undefined && HOST.test(one))
    return { scheme: Object.hasOwn(USUAL_PORT, scheme) ? scheme : own, host: host ?? ownHost(socket) }
  }

  private believes(peer: string): boolean {
    return this.present && peer !== '' && this.trusts(peer, 0)
  }
}

type Headers = Arrived['headers']

/** Returns the peer's IP address; empty if the connection is closed. */
const peerOf = ({ remoteAddress }: Arrived['socket']): string => ipIn(remoteAddress ?? '') ?? ''

const ownHost = ({ localAddress = '127.0.0.1', localPort }: Arrived['socket']): string =>
  `${localAddress.includes(':') ? `[${localAddress}]` : localAddress}:${localPort}`

const listed = (value: string | string[] | undefined): readonly string[] =>
  value === undefined
    ? []
    : String(value)
        .split(',')
        .map(one => one.trim())

const hopsIn = ({ forwarded }: Headers): readonly Hop[] => (forwarded === undefined ? [] : forwardedHops(forwarded))

/**
 * Returns the addresses that proxies state, the caller's first. `forwarded` is read only without `x-forwarded-for`: a
 * proxy that sets one of the two headers passes on the other as the caller wrote it.
 */
function statedBy(headers: Headers): readonly string[] {
  const addresses = listed(headers['x-forwarded-for'])
  return addresses.length > 0 ? addresses : hopsIn(headers).map(({ for: address = '' }) => address)
}

function targetIn(headers: Headers): Hop {
  const [proto] = listed(headers['x-forwarded-proto'])
  const [host] = listed(headers['x-forwarded-host'])
  const [hop] = headers['x-forwarded-for'] === undefined ? hopsIn(headers) : []
  return { ...hop, ...(proto === undefined ? {} : { proto }), ...(host === undefined ? {} : { host }) }
}

/** Matches the prefix of an IPv4-mapped IPv6 address. */
const MAPPED = /^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i
const WITH_PORT = /^(\d+\.\d+\.\d+\.\d+):\d+$|^\[([0-9a-f:.]+)\](?::\d+)?$/i

/**
 * Extracts the IP address from a proxy's statement, which may include a port; undefined for names such as `unknown` or
 * `_hidden`.
 */
function ipIn(text: string): string | undefined {
  const [, v4, v6] = WITH_PORT.exec(text) ?? []
  const address = (v4 ?? v6 ?? text).replace(MAPPED, '')
  return isIP(address) === 0 ? undefined : address
}
