import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, Server as NetServer } from 'node:net'
import type { Config } from '../config/index.ts'
import { matchedRoute } from '../formats/routes.ts'
import { Gateway, type Log } from '../gateway/index.ts'
import { Services } from '../gateway/services.ts'
import { wantsWebSocket } from '../kit/wants-websocket.ts'
import { LogOnce } from '../log.ts'
import type { Cluster } from '../store/cluster/cluster.ts'
import { SingleProcessCluster } from '../store/cluster/single-process.ts'
import { inOriginForm, isUnusual, pathOf } from './address.ts'
import { Cors } from './cors.ts'
import { handleRequest, refuseLast, refuseRequest } from './handlers.ts'
import { lazyApp } from './lazy-app.ts'
import { startListening } from './listening.ts'
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
  /**
   * Connection to the other processes. It is closed with the server. By default, this process runs alone on the
   * machine.
   */
  readonly cluster?: Cluster
}

export interface RunningServer {
  /** The server's URL, for example `http://127.0.0.1:4747`. */
  readonly address: string
  /** The config in use: the config file, merged with the channels and models in the store. */
  readonly config: Config
  /**
   * Prepares for shutdown: reports "not ready" to load balancers, and closes each connection after its next answer.
   * Still accepts requests for the given milliseconds. Default: from the config.
   */
  drain(milliseconds?: number): Promise<void>
  /**
   * Stops accepting connections, so that they go to other processes on the same socket, and closes each connection
   * after its next answer. Resolves once busy connections have had time for one more request.
   */
  retire(): Promise<void>
  /**
   * Stops the server: accepts no more requests, lets running requests finish within the grace period, and ends the
   * remaining ones with an error in the caller's format. Default grace period: from the config.
   *
   * @param hurry from its resolution on, running requests have at most the config's grace period.
   */
  close(graceMs?: number, hurry?: Promise<unknown>): Promise<void>
  /** Immediately reads key and group changes made by other processes. Never rejects. */
  refresh(): Promise<void>
  /** Switches to another config without dropping requests. Host and port stay the same. */
  reload(config: Config): void
}

/**
 * Maximum time for a caller to send its headers, and to send its whole request, in milliseconds. The latter is long
 * because hours of audio take long to upload. All other kinds of bodies have shorter limits elsewhere.
 */
const TIMEOUTS = { headersTimeout: 20_000, requestTimeout: 3_600_000 }
/** Time between sweeps of idle connections during shutdown, in milliseconds. */
const SWEEP_INTERVAL = 50
/** Minimum time that `retire` gives busy connections for one more request, in milliseconds. */
const RETIRE_TIME = 1000
/** Maximum time for sending final error events to requests that exceed the grace period, in milliseconds. */
const LAST_EVENTS_TIME = 1000
/** Maximum duration of a TLS handshake, in milliseconds. */
const HANDSHAKE_TIMEOUT = 20_000
/** Disables Node's own check of the host header, because Node would refuse the request without an error body. */
const HEADER_LIMITS = { maxHeaderSize: 32 * 1024, requireHostHeader: false }

/** Starts the server. Rejects if the address or the certificate is unusable. */
export async function openServer({
  config,
  log,
  cluster = new SingleProcessCluster(config, log),
}: ServerOptions): Promise<RunningServer> {
  const { tls } = config.server
  const certificate = tls && new (await import('./tls.ts')).Certificate(tls, log)
  const services = await openServices(config, log, cluster)
  const gateway = new Gateway(services)
  const cors = new Cors(config.server)
  const sockets = new Sockets(gateway, config, cors)
  const metrics = new MetricsEndpoint(gateway, config)
  const probes = probesOf(gateway, metrics)
  const server = await serverWith(certificate)
  server.keepAliveTimeout = config.server.keepAlive
  services.metrics.registerReaders({
    ...sockets.readings,
    ...(certificate === undefined
      ? {}
      : { interlingua_certificate_expiry_timestamp_seconds: () => certificate.expires }),
  })
  server.on('upgrade', sockets.upgrade)
  server.on(
    'request',
    withPlainPath(
      withCors(
        cors,
        withHostCheck(gateway, withFastPaths(gateway, probes, lazyApp(gateway, probes, config.tasks.vendorPath))),
      ),
    ),
  )
  server.on(
    'checkExpectation',
    withCors(cors, (message, response) => refuseRequest(gateway, unexpected(), message, response)),
  )
  server.on('connect', (message: IncomingMessage, socket) =>
    refuseLast(gateway, wrongMethod(message), socket, '/', { allow: ALL_METHODS }),
  )
  server.on('clientError', refusingMalformed(gateway))
  const { listen } = config.metrics
  await services.traces.opened
  const faults = new LogOnce(err => log.error({ err }, 'a connection could not be accepted'))
  const logRefusal = (fault: unknown): void => faults.log(fault)
  const metricsServer = await startListening(
    server,
    config.server,
    logRefusal,
    'server.port, or start with --port PORT',
  )
    .then(() => listen && openMetrics(listen, () => services.metricsPage(), logRefusal))
    .catch(async (fault: unknown) => {
      server.close()
      certificate?.close()
      await services.close()
      await cluster.close()
      throw fault
    })
  let { drain, grace } = config.server
  return {
    address: addressOf(certificate === undefined ? 'http' : 'https', server.address() as AddressInfo),
    get config() {
      return services.config
    },
    refresh: () => services.access.refresh(),
    reload: next => {
      ;({ drain, grace } = next.server)
      server.keepAliveTimeout = next.server.keepAlive
      services.reload(next)
      cors.reload(next.server)
      metrics.reload(next)
      sockets.reload(next)
      if (next.server.tls !== undefined) certificate?.reload(next.server.tls)
      if ((next.server.tls === undefined) !== (certificate === undefined))
        log.warn({}, 'server.tls: turning TLS on or off takes effect after a restart')
    },
    drain: async (milliseconds = drain) => {
      services.isStopping = true
      await new Promise(resolve => setTimeout(resolve, milliseconds))
    },
    retire: async () => {
      services.isStopping = true
      services.live.end()
      // `close` of the HTTP server would also end idle connections that wait for a request.
      NetServer.prototype.close.call(server)
      await new Promise(resolve => setTimeout(resolve, Math.max(drain, RETIRE_TIME)))
    },
    close: async (graceMs = grace, hurry = new Promise(() => {})) => {
      services.isStopping = true
      services.live.end()
      const closed = new Promise(resolve => server.close(resolve))
      const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_INTERVAL)
      const ended = Promise.all([closed, sockets.close(), services.stored.background.idle()])
      const hurried = hurry.then(() => within(ended, grace))
      if (!(await Promise.race([within(ended, graceMs), hurried]))) {
        services.stop()
        sockets.stop()
        if (!(await within(ended, LAST_EVENTS_TIME))) {
          server.closeAllConnections()
          sockets.cut()
          await ended
        }
      }
      clearInterval(sweep)
      certificate?.close()
      metricsServer?.close()
      metricsServer?.closeAllConnections()
      await services.close()
      await cluster.close()
    },
  }
}

/** Creates an HTTPS server if there is a certificate, or else an HTTP server. */
async function serverWith(certificate: Certificate | undefined): Promise<Server> {
  const options = { ...HEADER_LIMITS, ...TIMEOUTS, shouldUpgradeCallback: wantsWebSocket }
  if (certificate === undefined) return createServer(options)
  const https = await import('node:https')
  const server = https.createServer({ ...options, ...certificate.pair, handshakeTimeout: HANDSHAKE_TIMEOUT })
  certificate.attach(server)
  // A client that does not speak TLS cannot be answered. Its failure is not logged.
  server.prependListener('tlsClientError', (_, socket) => socket.destroy())
  return server
}

async function openServices(config: Config, log: Log, cluster: Cluster): Promise<Services> {
  let services: Services | undefined
  try {
    await cluster.ready()
    services = new Services(config, log, cluster)
    await services.open()
    return services
  } catch (thrown) {
    await services?.close()
    await cluster.close()
    throw thrown
  }
}

const addressOf = (scheme: string, { address, family, port }: AddressInfo): string =>
  `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`

type Listener = (message: IncomingMessage, response: ServerResponse) => void

/** Normalizes the rare request targets that are not plain paths. */
const withPlainPath =
  (next: Listener): Listener =>
  (message, response) => {
    const url = message.url!
    if (isUnusual(url)) message.url = inOriginForm(url)
    next(message, response)
  }

/** Applies CORS to requests with an `origin` header, which only browsers send. */
const withCors =
  (cors: Cors, next: Listener): Listener =>
  (message, response) => {
    const { origin } = message.headers
    if (origin === undefined || !cors.handlePreflight(origin, message, response)) next(message, response)
  }

/** Refuses HTTP/1.1 requests without a host header (RFC 9112, section 3.2). */
const withHostCheck =
  (gateway: Gateway, next: Listener): Listener =>
  (message, response) => {
    if (message.headers.host === undefined && message.httpVersion === '1.1')
      refuseRequest(gateway, missingHost(), message, response, { connection: 'close' })
    else next(message, response)
  }

/**
 * Serves the most frequent requests without express, whose routing would take a sixth of a short request's time.
 */
const withFastPaths =
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

/** The `allow` header in answers to requests with an unusual method. */
const ALL_METHODS = 'GET, HEAD, POST, DELETE'

/** Waits for a promise. Resolves to false if it has not settled within the given milliseconds. */
export async function within(promise: Promise<unknown>, milliseconds: number): Promise<boolean> {
  const timeout = Promise.withResolvers<false>()
  const timer = setTimeout(() => timeout.resolve(false), milliseconds)
  try {
    return await Promise.race([promise.then(() => true), timeout.promise])
  } finally {
    clearTimeout(timer)
  }
}
