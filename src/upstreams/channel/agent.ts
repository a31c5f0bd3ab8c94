import { Agent, type Dispatcher, EnvHttpProxyAgent } from 'undici'
import type { ProxyConfig } from '../../config/types.ts'

/** The options that agents with and without a proxy have in common. */
type Options = Pick<Agent.Options, 'connect' | 'connections' | 'headersTimeout' | 'bodyTimeout'>

/** Creates an agent that fetches from any host, through a proxy if there is one. */
export const agentFor = (options: Options, proxy: ProxyConfig | undefined): Dispatcher =>
  proxy === undefined
    ? new Agent(options)
    : new EnvHttpProxyAgent({ ...options, httpProxy: proxy.http, httpsProxy: proxy.https, noProxy: proxy.except })
