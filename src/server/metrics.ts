import { timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { GatewayError } from '../canonical/error.ts'
import { hashOf } from '../config/hash.ts'
import type { MetricsConfig } from '../config/index.ts'
import type { Gateway } from '../gateway/index.ts'
import { METRICS_TYPE } from '../gateway/metrics/index.ts'
import { pathOf } from './address.ts'
import { refuseRequest } from './handlers.ts'
import { startListening } from './listening.ts'

export const METRICS_PATH = '/metrics'

type Settings = { readonly metrics: MetricsConfig }

/**
 * Serves `GET /metrics` at the gateway's address. Access requires an administrator token or the configured key. The key
 * is sent as a bearer token or as a basic password with any user name.
 */
export class MetricsEndpoint {
  private readonly gateway: Gateway
  private keyHash: string | undefined

  constructor(gateway: Gateway, config: Settings) {
    this.gateway = gateway
    this.keyHash = config.metrics.keyHash
  }

  reload({ metrics }: Settings): void {
    this.keyHash = metrics.keyHash
  }

  async answer(message: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      if (!(await this.allows(message))) throw REFUSAL
      sendPage(message, response, await this.gateway.services.metricsPage())
    } catch (thrown) {
      const challenge: Record<string, string> =
        thrown === REFUSAL ? { 'www-authenticate': 'Basic realm="metrics", charset="UTF-8"' } : {}
      refuseRequest(this.gateway, thrown, message, response, challenge)
    }
  }

  private async allows(message: IncomingMessage): Promise<boolean> {
    const credential = credentialOf(message)
    if (credential === undefined) return false
    const { keyHash } = this
    if (keyHash !== undefined && timingSafeEqual(Buffer.from(hashOf(credential)), Buffer.from(keyHash))) return true
    return this.gateway.services.isAdmin(credential)
  }
}

const BEARER_PATTERN = /^bearer\s+(\S+)\s*$/i
const BASIC_PATTERN = /^basic\s+([\w+/=-]+)\s*$/i

/** Returns the credential of a request: its bearer token or basic password. */
function credentialOf({ headers: { authorization = '' } }: IncomingMessage): string | undefined {
  const basic = BASIC_PATTERN.exec(authorization)?.[1]
  return basic === undefined
    ? BEARER_PATTERN.exec(authorization)?.[1]
    : /^[^:]*:(.+)$/s.exec(Buffer.from(basic, 'base64').toString())?.[1]
}

const REFUSAL = new GatewayError({
  kind: 'unauthenticated',
  message: 'Metrics require the key in `metrics.key` or an administrator token.',
})

/** Opens the separate address for metrics, which requires no credential. Rejects if the address cannot be used. */
export async function openMetrics(
  listen: NonNullable<MetricsConfig['listen']>,
  page: () => Promise<string>,
  onFault: (fault: unknown) => void,
): Promise<Server> {
  const server = createServer((message, response) => {
    message.resume()
    if (pathOf(message) !== METRICS_PATH) response.writeHead(404).end()
    else if (message.method !== 'GET' && message.method !== 'HEAD')
      response.writeHead(405, { allow: 'GET, HEAD' }).end()
    else
      page()
        .then(text => sendPage(message, response, text))
        .catch(() => response.destroy())
  })
  await startListening(server, listen, onFault, 'metrics.port')
  server.unref()
  return server
}

export const portOf = (server: Server): number => (server.address() as AddressInfo).port

function sendPage({ method }: IncomingMessage, response: ServerResponse, text: string): void {
  response.on('error', () => {})
  response.writeHead(200, { 'content-type': METRICS_TYPE, 'content-length': String(Buffer.byteLength(text)) })
  response.end(method === 'HEAD' ? undefined : text)
}
