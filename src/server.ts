import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import express, { type NextFunction, type Request, type Response } from 'express'
import { GatewayError } from './canonical/error.ts'
import type { Config } from './config.ts'
import { type Call, Gateway, type Log, type ModelShape } from './gateway.ts'
import { contentsDoor, DOORS, type Door, formatOfPath, wireAt } from './server/doors.ts'
import { HttpReply } from './server/reply.ts'

export type { Log } from './gateway.ts'
export { type OpenLog, openLog } from './server/log.ts'

export interface ServerOptions {
  readonly config: Config
  readonly log: Log
}

export interface RunningServer {
  /** Where it listens, e.g. `http://127.0.0.1:4747`. */
  readonly address: string
  /** Takes no more requests, lets running ones end within the grace time (default: the config's), stops. */
  close(graceMs?: number): Promise<void>
  /** Takes another config without dropping a request; host and port stay as they are. */
  reload(config: Config): void
}

/** How long a caller may take to send its headers, its whole request, and its next request, in milliseconds. */
const PATIENCE = { headersTimeout: 20_000, requestTimeout: 300_000, keepAliveTimeout: 75_000 }
/** Connections that fell idle while the server closes are closed as often, in milliseconds. */
const SWEEP = 50
const LARGEST_HEAD = 32 * 1024

/** Opens the doors. Rejects where the address cannot be had. */
export async function openServer({ config, log }: ServerOptions): Promise<RunningServer> {
  const gateway = new Gateway(config, log)
  const state = { closing: false }
  const server = createServer({ maxHeaderSize: LARGEST_HEAD, ...PATIENCE })
  server.on('request', oneSlash(doors(gateway, state)))
  await listening(server, config.server).catch(async (fault: unknown) => {
    await gateway.close()
    throw fault
  })
  let grace = config.server.grace
  return {
    address: addressOf(server.address() as AddressInfo),
    reload: next => {
      grace = next.server.grace
      gateway.reload(next)
    },
    close: async (graceMs = grace) => {
      state.closing = true
      const closed = new Promise(resolve => server.close(resolve))
      const sweep = setInterval(() => server.closeIdleConnections(), SWEEP)
      const timer = setTimeout(() => server.closeAllConnections(), graceMs)
      await closed
      clearInterval(sweep)
      clearTimeout(timer)
      await gateway.close()
    },
  }
}

const listening = (server: Server, { host, port }: Config['server']): Promise<void> =>
  new Promise((resolve, reject) => server.once('error', reject).listen(port, host, resolve))

const addressOf = ({ address, family, port }: AddressInfo): string =>
  `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`

/** A base address that ends in a slash makes paths that begin with two. */
const oneSlash =
  (next: (message: IncomingMessage, response: ServerResponse) => void) =>
  (message: IncomingMessage, response: ServerResponse): void => {
    if (message.url!.startsWith('//')) message.url = message.url!.replace(/^\/+/, '/')
    next(message, response)
  }

/** One row per endpoint. What is asked a thousand times a second meets no middleware. */
function doors(gateway: Gateway, state: { readonly closing: boolean }) {
  const app = express().disable('x-powered-by').disable('etag').set('query parser', false)
  const takes = (door: (message: IncomingMessage) => Opened) => (message: IncomingMessage, response: ServerResponse) =>
    enter(gateway, state, door, message, response)
  const lists = (shape: (message: IncomingMessage) => ModelShape) => (request: Request, response: Response) =>
    list(gateway, shape(request), request, response)

  for (const door of DOORS)
    app.post(
      door.path,
      takes(() => ({ door, streams: false })),
    )
  app.post(
    ['/v1/models/*rest', '/v1beta/models/*rest', '/v1/tunedModels/*rest', '/v1beta/tunedModels/*rest'],
    takes(message => contentsDoor(decoded(pathOf(message)).replace(/^\/v1(beta)?\//, ''))),
  )
  app.get(['/v1/models', '/v1/models/*id'], lists(familyOf))
  app.get(
    ['/v1beta/models', '/v1beta/models/*id'],
    lists(() => 'contents'),
  )
  app.get('/healthz', (_, response) => plain(response, 200, 'ok'))
  app.get('/readyz', (_, response) =>
    gateway.ready && !state.closing ? plain(response, 200, 'ready') : plain(response, 503, 'not ready'),
  )
  app.all(KNOWN, (request, response) => refuse(gateway, request, response, wrongMethod(request)))
  app.use((request: Request, response: Response) => refuse(gateway, request, response, unknownPath(request)))
  app.use((thrown: unknown, request: Request, response: Response, _next: NextFunction) =>
    refuse(gateway, request, response, thrown instanceof URIError ? malformedPath() : thrown),
  )
  return app
}

const KNOWN = [
  ...DOORS.map(({ path }) => path),
  '/v1/models',
  '/v1/models/*rest',
  '/v1beta/models',
  '/v1beta/models/*rest',
  '/healthz',
  '/readyz',
]

interface Opened {
  readonly door: Door
  /** The path itself asks for a stream. */
  readonly streams: boolean
}

/** A request at a door. */
function enter(
  gateway: Gateway,
  state: { readonly closing: boolean },
  open: (message: IncomingMessage) => Opened,
  message: IncomingMessage,
  response: ServerResponse,
): void {
  const { door, streams } = open(message)
  const id = requestId()
  const { query, queryKey } = queryOf(message)
  const call: Call = {
    id,
    format: door.format,
    path: door.path,
    message,
    ...(queryKey === undefined ? {} : { queryKey }),
    wire: body => wireAt(door, { headers: message.headers, query }, body),
    framing: streams && query['alt'] !== 'sse' ? 'array' : 'events',
    ...(door.heartbeat === undefined ? {} : { heartbeat: door.heartbeat }),
    reply: new HttpReply(message, response, { ...idHeaders(id), ...(state.closing ? { connection: 'close' } : {}) }),
  }
  gateway.handle(call).catch(() => response.destroy())
}

/** The models a key can call, or one of them. */
function list(gateway: Gateway, shape: ModelShape, request: Request, response: Response): void {
  const { queryKey } = queryOf(request)
  const { id } = request.params as { id?: string[] }
  const text = gateway.models(
    { message: request, ...(queryKey === undefined ? {} : { queryKey }) },
    shape,
    id?.join('/'),
  )
  send(response, 200, idHeaders(requestId()), text)
}

/** Anthropic's clients say their version, Google's have their own key; all others speak OpenAI's (FORMATS §1). */
function familyOf(message: IncomingMessage): ModelShape {
  const { headers } = message
  if (headers['anthropic-version'] !== undefined || headers['msgfmt-version'] !== undefined) return 'messages'
  return headers['x-goog-api-key'] !== undefined || queryOf(message).queryKey !== undefined ? 'contents' : 'chat'
}

function refuse(gateway: Gateway, message: IncomingMessage, response: ServerResponse, thrown: unknown): void {
  const id = requestId()
  const path = pathOf(message)
  const format = path === '/v1/models' || /^\/v1\/models\/[^:]*$/.test(path) ? familyOf(message) : formatOfPath(path)
  const { status, headers, text } = gateway.error(format, thrown, id)
  new HttpReply(message, response, idHeaders(id)).whole(status, headers, text)
}

const wrongMethod = ({ method, headers }: IncomingMessage): GatewayError =>
  headers.upgrade === undefined
    ? new GatewayError({ kind: 'method-not-allowed', message: `This path does not take ${method}.` })
    : new GatewayError({ kind: 'not-found', message: 'There is no socket at this path.' })

function unknownPath(message: IncomingMessage): GatewayError {
  const path = pathOf(message)
  const hint = KNOWN.includes(`/v1${path}`) ? ` Did you mean /v1${path}?` : ''
  return new GatewayError({ kind: 'not-found', message: `There is nothing at ${message.method} ${path}.${hint}` })
}

const malformedPath = (): GatewayError =>
  new GatewayError({ kind: 'invalid-request', message: 'The path is malformed.' })

const requestId = (): string => `req_${randomUUID().replaceAll('-', '')}`

/** Each family's clients look for the id under their own name (FORMATS §1). */
const idHeaders = (id: string) => ({ 'x-request-id': id, 'request-id': id })

function send(response: ServerResponse, status: number, headers: { readonly [name: string]: string }, text: string) {
  const length = Buffer.byteLength(text)
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    ...headers,
    'content-length': length,
  })
  response.end(text)
}

const plain = (response: ServerResponse, status: number, word: string): void =>
  send(response, status, {}, JSON.stringify({ status: word }))

const pathOf = (message: IncomingMessage): string => message.url!.split('?', 1)[0]!

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    throw malformedPath()
  }
}

/** The query without the credential in it, and that credential. */
function queryOf(message: IncomingMessage): { query: { [name: string]: string }; queryKey?: string } {
  const mark = message.url!.indexOf('?')
  if (mark < 0) return { query: {} }
  const { key, ...query } = Object.fromEntries(new URLSearchParams(message.url!.slice(mark)))
  return key === undefined ? { query } : { query, queryKey: key }
}
