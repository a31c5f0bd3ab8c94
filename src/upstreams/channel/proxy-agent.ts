import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { ProxyConfig, UpstreamTls } from '../../config/types.ts'

/** Settings of an agent's connections. */
export interface AgentOptions {
  readonly proxy?: ProxyConfig | undefined
  readonly tls?: UpstreamTls | undefined
  readonly keepAlive?: boolean
}

/**
 * Creates an agent for Node's own HTTP client, which the libraries for WebSockets and traces use. Connects directly to
 * hosts that are excluded from the proxy, and to this machine if the proxy is from the environment.
 *
 * @param protocol protocol of the destination address.
 */
export function proxyAgent(protocol: string, { proxy, tls, keepAlive = false }: AgentOptions): HttpAgent | HttpsAgent {
  const proxyEnv = proxy && { HTTP_PROXY: proxy.http, HTTPS_PROXY: proxy.https, NO_PROXY: proxy.except }
  const options = proxyEnv === undefined ? { keepAlive } : { keepAlive, proxyEnv }
  return protocol === 'https:' ? new HttpsAgent({ ...options, ...tls }) : new HttpAgent(options)
}
