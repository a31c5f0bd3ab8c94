import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, Server as NetServer } from 'node:net'
import type { Config } from '../config/index.ts'
import { matchedRoute } from '../formats/routes.ts'
import { Gateway, type Log } from '../gateway/index.ts'
import { LogOnce } from '../log.ts'
import type { Cluster } from '../store/cluster/cluster.ts'
import { LoneCluster } from '../store/cluster/lone.ts'
import { inOriginForm, pathOf } from './address.ts'
import { Cors } from './cors.ts'
import { handleRequest, refuseLast, refuseRequest } from './handlers.ts'
import { lazyApp } from './lazy-app.ts'
import { listening } from './listening.ts'
import { refusingMalformed } from './malformed.ts'
import { MetricsEndpoint, openMetrics } from './metrics.ts'
import { type Probe, probesOf } from './probes.ts'
import { missingHost, unexpected, wrongMethod } from './refusals.ts'
import { Sockets } from './sockets.ts'
import type { Certificate } from './tls.ts'

export type { Log } from '../gateway/index.ts'
export { type OpenLog, openLog } from './log.ts'

export interface ServerOptions {
  readonly config: Config
  readonly log: Log
  /** The other processes; it is closed with the server. By default there are none on this machine. */
  readonly cluster?: Cluster
}

export interface RunningServer {
  /** Its address, e.g. `http://127.0.0.1:4747`. */
  readonly address: string
  /**
   * Accepts requests for so many milliseconds (default: the config's), but lets balancers send them elsewhere: it
   * reports that it is not ready, and ends every connection with its answer.
   */
  drain(milliseconds?: number): Promise<void>
  /**
   * Leaves new connections to other processes that listen at the same socket, ends every connection with its answer, and
   * settles when those in use had time for one.
   */
  retire(): Promise<void>
  /**
   * Accepts no more requests, lets running ones end within the grace time (default: the config's), ends the others with
   * an error of their format, stops.
   */
  close(graceMs?: number): Promise<void>
  /** Reads at once what other processes changed of keys and groups. Never rejects. */
  refresh(): Promise<void>
  /** Uses another config without dropping a request; host and port stay as they are. */
  reload(config: Config): void
}

/**
 * Milliseconds a caller may take for its headers, its whole request, and its next request. Recordings of hours arrive
 * slowly; bodies of other kinds have a separate limit.
 */
const TIMEOUTS = { headersTimeout: 20_000, requestTimeout: 3_600_000, keepAliveTimeout: 75_000 }
/** Milliseconds between sweeps of idle connections while the server closes. */
const SWEEP = 50
/** Milliseconds for a request on each connection in use, where another process takes the new ones. */
const RETIREMENT = 1000
/** Milliseconds for sending the last error events of what outlasted the grace time. */
const LAST_EVENTS = 1000
/** Milliseconds for a TLS handshake. */
const HANDSHAKE = 20_000
/** Node would refuse a request without a host itself, without a body. */
const HEAD_LIMITS = { maxHeaderSize: 32 * 1024, requireHostHeader: false }

/** Opens the endpoints. Rejects where the address or the certificate cannot be used. */
export async function openServer({
  config,
  log,
  cluster = new LoneCluster(config, log),
}: ServerOptions): Promise<RunningServer> {
  const { tls } = config.server
  const certificate = tls && new (await import('./tls.ts')).Certificate(tls, log)
  const gateway = await openGateway(config, log, cluster)
  const cors = new Cors(config.server)
  const sockets = new Sockets(gateway, config, cors)
  const metrics = new MetricsEndpoint(gateway, config)
  const probes = probesOf(gateway, metrics)
  const server = await serverWith(certificate)
  gateway.metrics.reads({
    ...sockets.readings,
    ...(certificate === undefined
      ? {}
      : { interlingua_certificate_expiry_timestamp_seconds: () => certificate.expires }),
  })
  server.on('upgrade', sockets.upgrade)
  server.on(
    'request',
    withPlainPath(
      sharing(
        cors,
        requiringHost(gateway, bypassing(gateway, probes, lazyApp(gateway, probes, config.tasks.vendorPath))),
      ),
    ),
  )
  server.on(
    'checkExpectation',
    sharing(cors, (message, response) => refuseRequest(gateway, unexpected(), message, response)),
  )
  server.on('connect', (message: IncomingMessage, socket) =>
    refuseLast(gateway, wrongMethod(message), socket, '/', { allow: ANY }),
  )
  server.on('clientError', refusingMalformed(gateway))
  const { listen } = config.metrics
  await gateway.traces.opened
  const faults = new LogOnce(err => log.error({ err }, 'a connection could not be accepted'))
  const refused = (fault: unknown): void => faults.log(fault)
  const metricsServer = await listening(server, config.server, refused, 'server.port, or start with --port PORT')
    .then(() => listen && openMetrics(listen, () => gateway.metricsPage(), refused))
    .catch(async (fault: unknown) => {
      server.close()
      certificate?.close()
      await gateway.close()
      await cluster.close()
      throw fault
    })
  let { drain, grace } = config.server
  return {
    address: addressOf(certificate === undefined ? 'http' : 'https', server.address() as AddressInfo),
    refresh: () => gateway.access.refresh(),
    reload: next => {
      ;({ drain, grace } = next.server)
      gateway.reload(next)
      cors.reload(next.server)
      metrics.reload(next)
      sockets.reload(next)
      if (next.server.tls !== undefined) certificate?.reload(next.server.tls)
      if ((next.server.tls === undefined) !== (certificate === undefined))
        log.warn({}, 'server.tls: whether the port speaks TLS takes effect at the next start')
    },
    drain: async (milliseconds = drain) => {
      gateway.leaving = true
      await new Promise(resolve => setTimeout(resolve, milliseconds))
    },
    retire: async () => {
      gateway.leaving = true
      gateway.live.end()
      // Of HTTP's server, `close` would end connections that wait for their first or next request.
      NetServer.prototype.close.call(server)
      await new Promise(resolve => setTimeout(resolve, Math.max(drain, RETIREMENT)))
    },
    close: async (graceMs = grace) => {
      gateway.leaving = true
      gateway.live.end()
      const closed = new Promise(resolve => server.close(resolve))
      const sweep = setInterval(() => server.closeIdleConnections(), SWEEP)
      const ended = Promise.all([closed, sockets.close(), gateway.stored.background.idle()])
      if (!(await within(ended, graceMs))) {
        gateway.stop()
        sockets.stop()
        if (!(await within(ended, LAST_EVENTS))) {
          server.closeAllConnections()
          sockets.cut()
          await ended
        }
      }
      clearInterval(sweep)
      certificate?.close()
      metricsServer?.close()
      metricsServer?.closeAllConnections()
      await gateway.close()
      await cluster.close()
    },
  }
}

/** A server for HTTP, or for HTTPS. */
async function serverWith(certificate: Certificate | undefined): Promise<Server> {
  const options = { ...HEAD_LIMITS, ...TIMEOUTS, shouldUpgradeCallback: wantsSocket }
  if (certificate === undefined) return createServer(options)
  const https = await import('node:https')
  const server = https.createServer({ ...options, ...certificate.pair, handshakeTimeout: HANDSHAKE })
  certificate.renews(server)
  // There is nothing to be said to one who does not speak TLS, and nothing of it concerns the log.
  server.prependListener('tlsClientError', (_, socket) => socket.destroy())
  return server
}

async function openGateway(config: Config, log: Log, cluster: Cluster): Promise<Gateway> {
  let gateway: Gateway | undefined
  try {
    await cluster.ready()
    gateway = new Gateway(config, log, cluster)
    await gateway.open()
    return gateway
  } catch (thrown) {
    await gateway?.close()
    await cluster.close()
    throw thrown
  }
}

const addressOf = (scheme: string, { address, family, port }: AddressInfo): string =>
  `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`

/** Requests to upgrade to any other protocol are answered in HTTP. */
const wantsSocket = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket'

type Listener = (message: IncomingMessage, response: ServerResponse) => void

/** Few addresses are not plain paths. */
const withPlainPath =
  (next: Listener): Listener =>
  (message, response) => {
    const url = message.url!
    if (url[0] !== '/' || url[1] === '/') message.url = inOriginForm(url)
    next(message, response)
  }

/** Only pages of browsers name their origin. */
const sharing =
  (cors: Cors, next: Listener): Listener =>
  (message, response) => {
    const { origin } = message.headers
    if (origin === undefined || !cors.preflights(origin, message, response)) next(message, response)
  }

/** HTTP 1.1 requires every request to name its host (RFC 9112, section 3.2). */
const requiringHost =
  (gateway: Gateway, next: Listener): Listener =>
  (message, response) => {
    if (message.headers.host === undefined && message.httpVersion === '1.1')
      refuseRequest(gateway, missingHost(), message, response, { connection: 'close' })
    else next(message, response)
  }

/** Bypasses express for frequent requests: routing would be a sixth of the work of a short request. */
const bypassing =
  (gateway: Gateway, probes: ReadonlyMap<string, Probe>, next: Listener): Listener =>
  (message, response) => {
    const { method } = message
    const path = pathOf(message)
    const matched = method === 'POST' ? matchedRoute(path) : undefined
    if (matched !== undefined) return handleRequest(gateway, matched, message, response)
    const probe = method === 'GET' || method === 'HEAD' ? probes.get(path) : undefined
    if (probe === undefined) next(message, response)
    else probe(message, response)
  }

/** Of any path, where a message is none of HTTP's usual ones. */
const ANY = 'GET, HEAD, POST, DELETE'

/** Whether a promise settles within so many milliseconds. */
export async function within(promise: Promise<unknown>, milliseconds: number): Promise<boolean> {
  const late = Promise.withResolvers<false>()
  const timer = setTimeout(() => late.resolve(false), milliseconds)
  try {
    return await Promise.race([promise.then(() => true), late.promise])
  } finally {
    clearTimeout(timer)
  }
}
