import type { ProxyConfig } from '../../config/types.ts'
import { Agents } from '../channel/fetch.ts'

/* HTTP clients for the clouds' libraries, so that they reach token servers through the proxy of the config. */

/** Addresses of metadata servers, which no proxy reaches. */
const METADATA_SERVERS = '169.254.0.0/16,fd00:ec2::/32,metadata.google.internal'

/** Returns a proxy that metadata servers are excluded from. */
export const withoutMetadata = (proxy: ProxyConfig): ProxyConfig => ({
  ...proxy,
  except: [proxy.except, METADATA_SERVERS].filter(Boolean).join(','),
})

/** A request of AWS's library. */
interface AwsRequest {
  readonly protocol: string
  readonly hostname: string
  readonly port?: number
  readonly method: string
  readonly path: string
  readonly query?: { readonly [name: string]: string | readonly string[] | null }
  readonly headers: { readonly [name: string]: string }
  readonly body?: string | Uint8Array
}

/** Maximum time to connect, and maximum silence of a server, in milliseconds. */
const TIMEOUT = 10_000

/** Returns an HTTP client for AWS's library (`requestHandler`) that connects through a proxy. */
export function awsClientThrough(proxy: ProxyConfig): object {
  const agents = new Agents(
    { headersTimeout: TIMEOUT, bodyTimeout: TIMEOUT, connect: { timeout: TIMEOUT } },
    withoutMetadata(proxy),
  )
  return {
    handle: async ({ protocol, hostname, port, method, path, query = {}, headers, body }: AwsRequest) => {
      const origin = `${protocol}//${hostname}${port === undefined ? '' : `:${port}`}`
      const pairs = Object.entries(query).flatMap(([name, value]) => [value ?? ''].flat().map(one => [name, one]))
      const search = new URLSearchParams(pairs as [string, string][]).toString()
      const answer = await agents.to(origin).request({
        ...{ origin, path: search === '' ? path : `${path}?${search}`, headers, body: body ?? null },
        method: method as 'GET',
      })
      return { response: { statusCode: answer.statusCode, headers: answer.headers, body: answer.body } }
    },
  }
}
