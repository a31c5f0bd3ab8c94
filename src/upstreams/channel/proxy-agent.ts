import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { ProxyConfig, UpstreamTls } from '../../config/types.ts'

/** Settings of the connections that an agent makes. */
export interface AgentOptions {
  readonly proxy?: ProxyConfig | undefined
  readonly tls?: UpstreamTls | undefined
  readonly keepAlive?: boolean
}

/**
 * Creates an agent of Node's own HTTP client, for libraries that use it: WebSockets and traces. Hosts excluded from the
 * proxy, and this machine if the proxy is the environment's, are connected to directly.
 *
 * @param protocol protocol of the address that is connected to.
 */
export function proxyAgent(protocol: string, { proxy, tls, keepAlive = false }: AgentOptions): HttpAgent | HttpsAgent {
  const proxyEnv = proxy && { HTTP_PROXY: proxy.http, HTTPS_PROXY: proxy.https, NO_PROXY: proxy.except }
  const options = proxyEnv === undefined ? { keepAlive } : { keepAlive, proxyEnv }
  return protocol === 'https:' ? new HttpsAgent({ ...options, ...tls }) : new HttpAgent(options)
}
