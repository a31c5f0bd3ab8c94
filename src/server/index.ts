import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, Server as NetServer } from 'node:net'
import express, { type NextFunction, type Request, type Response } from 'express'
import type { Cluster } from '../cluster/cluster.ts'
import { LoneCluster } from '../cluster/lone.ts'
import type { Config } from '../config/index.ts'
import { Gateway, IMAGES_PATH, type Log } from '../gateway/index.ts'
import { Cors } from './cors.ts'
import { counted } from './counted.ts'
import { handleRequest, listModels, refuseLast, refuseRequest, sendStatus } from './handlers.ts'
import { sendImage } from './images.ts'
import { lazyAdmin } from './lazy-admin.ts'
import { lazyConsole } from './lazy-console.ts'
import { refusingMalformed } from './malformed.ts'
import { METRICS_PATH, MetricsDoor, openMetrics } from './metrics.ts'
import { ready } from './ready.ts'
import { handleSecret, REALTIME_PATH, SECRETS_PATH } from './realtime.ts'
import { malformedPath, missingHost, unexpected, unknownPath, wrongMethod } from './refusals.ts'
import { contentsRoute, namesMethod, ROUTES, type Route } from './routes.ts'
import { Sockets } from './sockets.ts'
import { handleStored, STORED_METHODS, STORED_ROUTES } from './stored-routes.ts'
import { handleTask, REMIX_PATH, remixRoute, taskMethods, taskRoutes, vendorRoutes } from './task-routes.ts'
import { Certificate } from './tls.ts'
import { familyOf, inOriginForm, pathOf } from './url.ts'
import { within } from './within.ts'

export type { Log } from '../gateway/index.ts'
export { type OpenLog, openLog } from './log.ts'
export { within } from './within.ts'

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
  const certificate = tls && new Certificate(tls, log)
  const gateway = await openGateway(config, log, cluster)
  const cors = new Cors(config.server)
  const sockets = new Sockets(gateway, config, cors)
  const metrics = new MetricsDoor(gateway, config)
  const server = serverWith(certificate)
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
      cors.around(requiringHost(gateway, bypassing(gateway, routes(gateway, metrics, config.tasks.vendorPath)))),
    ),
  )
  server.on(
    'checkExpectation',
    cors.around((message, response) => refuseRequest(gateway, unexpected(), message, response)),
  )
  server.on('connect', (message: IncomingMessage, socket) =>
    refuseLast(gateway, wrongMethod(message), socket, '/', { allow: ANY }),
  )
  server.on('clientError', refusingMalformed(gateway))
  const { listen } = config.metrics
  await gateway.traces.opened
  const metricsServer = await listening(server, config.server)
    .then(() => listen && openMetrics(listen, () => gateway.metricsPage()))
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
    refresh: () => gateway.refresh(),
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
      gateway.endWatching()
      // Of HTTP's server, `close` would end connections that wait for their first or next request.
      NetServer.prototype.close.call(server)
      await new Promise(resolve => setTimeout(resolve, Math.max(drain, RETIREMENT)))
    },
    close: async (graceMs = grace) => {
      gateway.leaving = true
      gateway.endWatching()
      const closed = new Promise(resolve => server.close(resolve))
      const sweep = setInterval(() => server.closeIdleConnections(), SWEEP)
      const ended = Promise.all([closed, sockets.close(), gateway.idle()])
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
function serverWith(certificate: Certificate | undefined): Server {
  const options = { ...HEAD_LIMITS, ...TIMEOUTS, shouldUpgradeCallback: wantsSocket }
  if (certificate === undefined) return createServer(options)
  const server = createTlsServer({ ...options, ...certificate.pair, handshakeTimeout: HANDSHAKE })
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

const listening = (server: Server, { host, port }: Config['server']): Promise<void> =>
  new Promise((resolve, reject) => server.once('error', reject).listen(port, host, resolve))

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
  (gateway: Gateway, next: Listener): Listener =>
  (message, response) => {
    const route = message.method === 'POST' ? BY_PATH.get(pathOf(message)) : undefined
    if (route === undefined) next(message, response)
    else handleRequest(gateway, { route, streams: false }, message, response)
  }

const BY_PATH: ReadonlyMap<string, Route> = new Map(ROUTES.map(route => [route.path, route]))

/** One row per endpoint. */
function routes(gateway: Gateway, metrics: MetricsDoor, vendor: string) {
  const app = express().disable('x-powered-by').disable('etag').set('query parser', false)
  const wrong = (allow: string) => (message: Request, response: Response) =>
    refuseRequest(gateway, wrongMethod(message), message, response, { allow })
  const methods = taskMethods(vendor)
  for (const route of taskRoutes(vendor))
    app[route.method](
      route.path,
      counted(gateway, route.path, (message: Request, response) => handleTask(gateway, route, message, response)),
    )
  app.post(REMIX_PATH, (message, response) =>
    handleRequest(gateway, { route: remixRoute(message.params.id), streams: false }, message, response),
  )
  for (const route of [...ROUTES, ...vendorRoutes(vendor)])
    app
      .post(route.path, (message, response) => handleRequest(gateway, { route, streams: false }, message, response))
      .all(route.path, wrong(methods.get(route.path) ?? 'POST'))
  for (const { method, path, action } of STORED_ROUTES)
    app[method](
      path,
      counted(gateway, path, (message: Request, response) => handleStored(gateway, action, message, response)),
    )
  app.post(
    SECRETS_PATH,
    counted(gateway, SECRETS_PATH, (message, response) => handleSecret(gateway, message, response)),
  )
  app.post(MODEL_METHODS, (message, response) =>
    handleRequest(gateway, contentsRoute(pathOf(message)), message, response),
  )
  app.all(MODEL_METHODS, (message, response, next) =>
    namesMethod(pathOf(message)) ? wrong('POST')(message, response) : next(),
  )
  app.get(
    ['/v1/models', '/v1/models/*id'],
    counted(gateway, '/v1/models', (message: Request, response) =>
      listModels(gateway, familyOf(message), message, response, idOf(message.params)),
    ),
  )
  app.get(
    ['/v1beta/models', '/v1beta/models/*id'],
    counted(gateway, '/v1beta/models', (message: Request, response) =>
      listModels(gateway, 'contents', message, response, idOf(message.params)),
    ),
  )
  app.get(
    PICTURE_PATH,
    counted(gateway, PICTURE_PATH, (message: Request<{ token: string }>, response) =>
      sendImage(gateway, message.params.token, message, response),
    ),
  )
  app.get(METRICS_PATH, (message, response) => metrics.answer(message, response))
  app.use('/admin', lazyAdmin(gateway))
  app.all(['/console', '/console/*path'], lazyConsole(gateway))
  app.get('/healthz', (_, response) => sendStatus(gateway, response, 200, 'ok'))
  app.get('/readyz', (_, response) => ready(gateway, response))
  for (const [path, allow] of [...OTHERS, ...methods]) app.all(path, wrong(allow))
  app.use((message: Request, response: Response) =>
    refuseRequest(gateway, unknownPath(message, KNOWN), message, response),
  )
  app.use((thrown: unknown, message: Request, response: Response, _next: NextFunction) =>
    refuseRequest(gateway, thrown instanceof URIError ? malformedPath() : thrown, message, response),
  )
  return app
}

/** An id may hold slashes. */
const idOf = ({ id }: { readonly id?: string | string[] }): string | undefined =>
  Array.isArray(id) ? id.join('/') : id

const PICTURE_PATH = `${IMAGES_PATH}/:token`

const MODEL_METHODS = ['/v1/models/*rest', '/v1beta/models/*rest', '/v1/tunedModels/*rest', '/v1beta/tunedModels/*rest']

const READ = 'GET, HEAD'
const ANY = 'GET, HEAD, POST, DELETE'

/** The methods of the paths that are no format's endpoint. */
const OTHERS: ReadonlyMap<string, string> = new Map([
  ...STORED_METHODS,
  [REALTIME_PATH, 'GET'],
  [SECRETS_PATH, 'POST'],
  ...['/v1/models', '/v1/models/*rest', '/v1beta/models', '/v1beta/models/*rest'].map(path => [path, READ] as const),
  ...[PICTURE_PATH, METRICS_PATH, '/healthz', '/readyz'].map(path => [path, READ] as const),
])

const KNOWN: ReadonlySet<string> = new Set([...BY_PATH.keys(), ...OTHERS.keys(), ...taskMethods('videovendor').keys()])
