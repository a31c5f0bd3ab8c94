import { GatewayError } from '../../canonical/error.ts'
import type { Range } from '../../config/ranges.ts'
import type { ProxyConfig } from '../../config/types.ts'
import { Exchange } from './exchange.ts'
import { Agents } from './fetch.ts'
import type { Headers } from './headers.ts'
import { checkHost, checkProxied, guardedLookup, Unreachable } from './reachable.ts'
import { Watchdog } from './watchdog.ts'

/** Timeouts for the connection, for the head of the answer, and between two chunks of the body, in milliseconds. */
const TIMEOUTS = { connect: 10_000, head: 60_000, idle: 60_000 } as const

/**
 * Downloads files in chunks from URLs that upstreams return. Sends no credentials. Allows only http and https, and only
 * public addresses, which are checked after name resolution (trap 50). `trusted` URLs, which belong to an upstream that
 * an operator configured, are not checked.
 */
export class Downloads {
  private readonly allow: readonly Range[]
  private readonly proxy: ProxyConfig | undefined
  private readonly guarded: Agents
  private readonly trusted: Agents
  private readonly watchdog = new Watchdog(TIMEOUTS.idle)

  /** @param allow non-public addresses from which files may be fetched. */
  constructor(allow: readonly Range[], proxy?: ProxyConfig) {
    this.allow = allow
    this.proxy = proxy
    const options = { headersTimeout: 0, bodyTimeout: 0 }
    const connect = { timeout: TIMEOUTS.connect }
    this.guarded = new Agents({ ...options, connect: { ...connect, lookup: guardedLookup(allow) } }, proxy)
    this.trusted = new Agents({ ...options, connect }, proxy)
  }

  /**
   * Requests a file. Does not follow redirects.
   *
   * @throws GatewayError `upstream-failed` if the URL must not be fetched.
   */
  get(address: string, headers: { readonly [name: string]: string }, trusted: boolean): Exchange {
    const { origin, pathname, search } = this.checkedUrl(address, trusted)
    const exchange = new Exchange({
      ...{ watchdog: this.watchdog, head: TIMEOUTS.head, idle: TIMEOUTS.idle },
      ...{ staleRetry: undefined, silence: undefined },
      endInFlight: () => {},
    })
    const requestHeaders: Headers = {
      accept: '*/*',
      'accept-encoding': 'identity',
      'user-agent': 'interlingua',
      ...headers,
    }
    const agents = trusted ? this.trusted : this.guarded
    agents
      .to(origin)
      .dispatch({ origin, path: `${pathname}${search}`, method: 'GET', headers: requestHeaders }, exchange)
    return exchange
  }

  async close(): Promise<void> {
    await Promise.all([this.guarded.destroy(), this.trusted.destroy()])
  }

  private checkedUrl(address: string, trusted: boolean): URL {
    const url = URL.canParse(address) ? new URL(address) : undefined
    if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) throw refusal()
    try {
      if (!trusted) checkHost(url.hostname, this.allow)
      if (!trusted && this.proxy !== undefined) checkProxied(url, this.allow)
    } catch (thrown) {
      throw thrown instanceof Unreachable ? refusal(thrown) : thrown
    }
    return url
  }
}

const refusal = (cause?: Error): GatewayError =>
  new GatewayError(
    { kind: 'upstream-failed', message: 'The upstream returned a file URL that the gateway must not fetch.' },
    cause === undefined ? {} : { cause },
  )
