import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { ProxyConfig, UpstreamTls } from '../../config/types.ts'
import { proxyFor } from './proxy-for.ts'

/** Settings of an agent's connections. */
export interface AgentOptions {
  readonly proxy?: ProxyConfig | undefined
  readonly tls?: UpstreamTls | undefined
  readonly keepAlive?: boolean
}

/**
 * Creates an agent for Node's own HTTP client, which the libraries for WebSockets and traces use. It connects to one
 * address: through the proxy, unless the address is excluded from it.
 */
export function proxyAgent(address: string, { proxy, tls, keepAlive = false }: AgentOptions): HttpAgent | HttpsAgent {
  const url = proxy && proxyFor(address, proxy)
  const options = url === undefined ? { keepAlive } : { keepAlive, proxyEnv: { HTTP_PROXY: url, HTTPS_PROXY: url } }
  return address.startsWith('https:') ? new HttpsAgent({ ...options, ...tls }) : new HttpAgent(options)
}
