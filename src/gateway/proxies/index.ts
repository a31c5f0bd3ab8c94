import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import proxyAddr from 'proxy-addr'
import type { ServerConfig } from '../../config/index.ts'
import { forwardedHops, type Hop } from './forwarded.ts'

type Settings = Pick<ServerConfig, 'trustedProxies' | 'publicUrls'>

/** Where a request came from: its headers, and the connection it came over. */
export type Arrived = Pick<IncomingMessage, 'headers' | 'socket'>

/** Before the port a host stands for by itself. */
const USUAL_PORT: { readonly [scheme: string]: RegExp } = { http: /:80$/, https: /:443$/ }

const HOST = /^[a-z0-9._-]+(?::\d{1,5})?$|^\[[0-9a-f:.]+\](?::\d{1,5})?$/i

/** What stands between callers and the gateway: where a request came from, and the address it was sent to. */
export class Proxies {
  /** Requests come through proxies, so that their connections do not distinguish callers. */
  readonly present: boolean
  private readonly trusts: (address: string, index: number) => boolean
  private readonly first: string | undefined
  private readonly byHost: ReadonlyMap<string, string>

  constructor({ trustedProxies, publicUrls }: Settings) {
    this.present = trustedProxies.length > 0
    this.trusts = this.present ? proxyAddr.compile([...trustedProxies]) : () => false
    this.first = publicUrls[0]
    // The first of several with one host counts.
    this.byHost = new Map([...publicUrls].reverse().map(url => [new URL(url).host, url]))
  }

  /**
   * The IP address a request came from: the last one that no trusted proxy has. It identifies a caller in the log and
   * where wrong keys are slowed down; it allows nothing.
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

  /** The address below which a request's caller reaches the gateway, without a slash at the end. */
  baseOf(message: Arrived): string {
    const { first } = this
    if (first === undefined) return this.originOf(message)
    if (this.byHost.size === 1) return first
    const { scheme, host } = this.target(message)
    return this.byHost.get(host.toLowerCase().replace(USUAL_PORT[scheme]!, '')) ?? first
  }

  /** The origin that a request's caller used, as far as the request and trusted proxies state it. */
  originOf(message: Arrived): string {
    const { scheme, host } = this.target(message)
    return `${scheme}://${host}`
  }

  /** Scheme and host that the caller used: of trusted proxies as they state them, else of the request itself. */
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

/** Empty where the connection is closed already. */
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
 * The addresses that proxies state, the caller's first. `forwarded` counts only without `x-forwarded-for`: a proxy that
 * sets the one passes on the other as its caller wrote it.
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

/** An IPv4 address as IPv6 sockets show it. */
const MAPPED = /^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i
const WITH_PORT = /^(\d+\.\d+\.\d+\.\d+):\d+$|^\[([0-9a-f:.]+)\](?::\d+)?$/i

/** The IP address in what a proxy states, which may have a port; undefined for names such as `unknown` or `_hidden`. */
function ipIn(text: string): string | undefined {
  const [, v4, v6] = WITH_PORT.exec(text) ?? []
  const address = (v4 ?? v6 ?? text).replace(MAPPED, '')
  return isIP(address) === 0 ? undefined : address
}
