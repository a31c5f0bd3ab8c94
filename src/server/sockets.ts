import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { WebSocket, WebSocketServer } from 'ws'
import type { Caller } from '../accounts/index.ts'
import { SumsByKey } from '../accounts/sums-by-key.ts'
import { type ErrorKind, GatewayError } from '../canonical/error.ts'
import { loadOnce } from '../canonical/load-once.ts'
import type { Config } from '../config/index.ts'
import { type MatchedRoute, ROUTES } from '../formats/routes.ts'
import { callAt } from '../gateway/call-at.ts'
import type { RecordedSocket } from '../gateway/capture/recorded-socket.ts'
import type { Call, Gateway } from '../gateway/index.ts'
import type { MeterReaders } from '../gateway/metrics/index.ts'
import { type CreateFrame, errorEvent } from '../gateway/stored/index.ts'
import { MemoryTurns } from '../store/memory.ts'
import type { Turns } from '../store/turns.ts'
import { requestId } from '../store/usage/request-id.ts'
import { inOriginForm, pathOf, queryOf } from './address.ts'
import { answerOf } from './connection.ts'
import type { Cors } from './cors.ts'
import { refuseLast } from './handlers.ts'
import { countIncompleteMessages } from './incomplete-messages.ts'
import { ResponsesSocket } from './socket.ts'
import type { SocketReply } from './socket-reply.ts'
import { REALTIME_PATH, VoiceSessions } from './voice-sessions.ts'

/** Handles upgrade requests to one path. */
type SocketHandler = (message: IncomingMessage, socket: Duplex, head: Buffer) => void

/** A connection waiting to be upgraded. */
interface Opening {
  readonly message: IncomingMessage
  readonly socket: Duplex
  readonly head: Buffer
}

type Refuse = (message: IncomingMessage, socket: Duplex, thrown: unknown) => void

/** Opens, refuses and closes the WebSockets of a server. */
export class Sockets {
  private readonly gateway: Gateway
  private readonly open = new Map<ResponsesSocket, Caller>()
  /** Numbers of open connections by key. */
  private readonly connections = new SumsByKey()
  private readonly handlers: ReadonlyMap<string, SocketHandler>
  private readonly sessions: VoiceSessions
  private readonly cors: Cors
  private servers: () => Promise<Servers>
  private config: Pick<Config, 'server' | 'realtime'>
  private isClosing = false

  constructor(gateway: Gateway, config: Config, cors: Cors) {
    this.gateway = gateway
    this.cors = cors
    this.config = config
    this.servers = this.newServers()
    this.sessions = new VoiceSessions(gateway)
    gateway.services.access.onEnded(this.endRevoked)
    this.handlers = new Map([
      ['/v1/responses', this.responses],
      [REALTIME_PATH, this.realtime],
    ])
  }

  /** Gauges for metrics. */
  get readings(): MeterReaders {
    return {
      interlingua_open_sockets: () => this.open.size,
      interlingua_open_sessions: () => this.sessions.size,
    }
  }

  /** Applies another config to new connections. */
  reload(config: Config): void {
    this.config = config
    this.servers = this.newServers()
  }

  /** Listener for a server's `upgrade` event. Opens a WebSocket, or refuses it over HTTP. */
  readonly upgrade = (message: IncomingMessage, socket: Duplex, head: Buffer): void => {
    socket.on('error', () => socket.destroy())
    message.url = inOriginForm(message.url!)
    const handler = this.handlers.get(pathOf(message))
    const currentAnswer = answerOf(socket)
    if (currentAnswer !== undefined) {
      currentAnswer.once('close', () => this.refuse(message, socket, PIPELINED))
      return
    }
    try {
      if (handler === undefined) throw NO_SOCKET
      if (this.isClosing) throw CLOSING
      if (!this.cors.allowsSocket(message)) throw FOREIGN_ORIGIN
      handler(message, socket, head)
    } catch (thrown) {
      this.refuse(message, socket, thrown)
    }
  }

  /** Closes every connection after its current turn. Resolves when all are closed. */
  async close(): Promise<void> {
    this.isClosing = true
    for (const connection of this.open.keys()) connection.end()
    await Promise.all([this.sessions.close(), ...[...this.open.keys()].map(({ closed }) => closed)])
  }

  /** Closes the connections of revoked keys after their current turn. */
  private readonly endRevoked = (): void => {
    for (const [connection, caller] of this.open) {
      const { code = 'invalid_api_key', message } = this.gateway.services.access.endOf(caller)?.error ?? {}
      if (message !== undefined) connection.end(POLICY_VIOLATION, errorEvent(code, message, null, 401), message)
    }
    this.sessions.endRevoked()
  }

  /** Ends voice sessions that exceed the grace period. The gateway itself ends the turns of responses sockets. */
  stop(): void {
    this.sessions.stop()
  }

  /** Drops all connections that are still open. */
  cut(): void {
    for (const connection of this.open.keys()) connection.cut()
    this.sessions.cut()
  }

  private readonly responses: SocketHandler = (message, socket, head) => {
    const { services } = this.gateway
    const callerLookup = services.callerOf({ message, ...credential(message) }, RESPONSES.format)
    const opening = { message, socket, head }
    if (!(callerLookup instanceof Promise) && callerLookup.record === undefined)
      return this.openResponses(callerLookup, opening)
    const open = async (): Promise<void> => {
      const caller = await callerLookup
      const recordedSocket = caller.record && (await services.recordings.beginSession(message, caller.record))
      this.openResponses(caller, opening, recordedSocket)
    }
    open().catch(thrown => this.refuse(message, socket, thrown))
  }

  private openResponses(caller: Caller, { message, socket, head }: Opening, recordedSocket?: RecordedSocket): void {
    if (this.isClosing) throw CLOSING
    if (message.headers['sec-websocket-version'] !== WEBSOCKET_VERSION) throw WRONG_VERSION
    if (socket.destroyed) return
    const { server } = this.config
    if (this.connections.of(caller.id) >= server.limits.connections) throw TOO_MANY
    const meter = this.gateway.services.bodiesInMemory.open(caller.id)
    this.connections.add(caller.id, 1)
    socket.once('close', () => {
      meter.close()
      this.connections.add(caller.id, -1)
    })
    const { heartbeat, sockets } = server
    this.accept('responses', { message, socket, head }, accepted => {
      recordedSocket?.follow(accepted)
      const turns = new MemoryTurns(sockets.turns, sockets.memory)
      const connection = new ResponsesSocket(accepted, {
        ...sockets,
        heartbeat,
        size: limitOf(server),
        meter,
        weigh: frame => this.gateway.services.requestMemory.open(caller.id, frame),
        reportsLosses: message.headers['interlingua-on-loss'] === 'show',
        answer: async (turn, reply) => {
          await this.gateway.handle(callOf(message, turn, reply, turns))
          if (reply.failed && turn.previous !== undefined) await turns.drop(caller.id, turn.previous)
        },
      })
      countIncompleteMessages(socket, accepted, meter, connection.overflow)
      this.open.set(connection, caller)
      void connection.closed.then(() => this.open.delete(connection))
    })
  }

  /** Connects to the upstream before accepting the WebSocket, so that failures can be answered over HTTP. */
  private readonly realtime: SocketHandler = (message, socket, head) => {
    if (message.headers['sec-websocket-version'] !== WEBSOCKET_VERSION) throw WRONG_VERSION
    const accept = (accepted: (socket: WebSocket) => void): void =>
      this.accept('realtime', { message, socket, head }, accepted)
    this.sessions.begin({ message, socket, accept }).catch(thrown => this.refuse(message, socket, thrown))
  }

  /** Completes an upgrade with the `ws` package, which is loaded on first use. */
  private accept(kind: keyof Servers, { message, socket, head }: Opening, accepted: (socket: WebSocket) => void): void {
    this.servers()
      .then(servers => {
        if (this.isClosing) throw CLOSING
        servers[kind].handleUpgrade(message, socket, head, accepted)
      })
      .catch(thrown => this.refuse(message, socket, thrown))
  }

  /** Returns a function that creates the WebSocket servers for the current config on first use. */
  private newServers(): () => Promise<Servers> {
    const { server, realtime } = this.config
    const limits = { responses: limitOf(server), realtime: realtime.message }
    return loadOnce(() => serversOf(limits, (...refused) => this.refuse(...refused)))
  }

  /** Refuses an upgrade immediately and over HTTP, so that clients fall back to HTTP requests. */
  private readonly refuse: Refuse = (message, socket, thrown) => {
    const more = thrown === WRONG_VERSION ? { 'sec-websocket-version': WEBSOCKET_VERSION, upgrade: 'websocket' } : {}
    void this.gateway.services
      .delayWrongKey(thrown, message)
      .then(reason => refuseLast(this.gateway, reason, socket, pathOf(message), more))
  }
}

const RESPONSES = ROUTES.find(({ path }) => path === '/v1/responses')!
const RESPONSES_ROUTE: MatchedRoute = { route: RESPONSES, streams: false }
/** WebSocket close code for a policy violation (RFC 6455, section 7.4.1). */
const POLICY_VIOLATION = 1008
/** WebSocket protocol version (RFC 6455). */
const WEBSOCKET_VERSION = '13'

const refusal = (kind: ErrorKind, message: string): GatewayError => new GatewayError({ kind, message })
const NO_SOCKET = refusal('not-found', 'This path does not support WebSockets.')
const CLOSING = refusal('overloaded', 'The gateway is stopping.')
const TOO_MANY = refusal('overloaded', 'This key has too many open connections.')
const FOREIGN_ORIGIN = refusal('forbidden', 'Pages of this origin may not open WebSockets here.')
const PIPELINED = refusal(
  'invalid-request',
  'A WebSocket cannot be opened before the previous answer on this connection has ended.',
)
const WRONG_VERSION = new GatewayError({
  kind: 'invalid-request',
  httpStatus: 426,
  message: `Only version ${WEBSOCKET_VERSION} of the WebSocket protocol is supported.`,
})

const limitOf = ({ limits }: Config['server']): number => limits.byFormat.get(RESPONSES.format) ?? limits.body

/** WebSocket servers by kind. They differ in the maximum message size. */
type Servers = { readonly [kind in 'responses' | 'realtime']: WebSocketServer }

async function serversOf(limits: { readonly [kind in keyof Servers]: number }, refuse: Refuse): Promise<Servers> {
  const { WebSocketServer } = await import('ws')
  const serverOf = (maxPayload: number) => serverWith(maxPayload, refuse, WebSocketServer)
  return { responses: serverOf(limits.responses), realtime: serverOf(limits.realtime) }
}

/**
 * Creates a WebSocket server without compression. Compression would cost a third of a megabyte per connection, although
 * most frames are small (docs/wire/responses.md#sockets).
 */
function serverWith(maxPayload: number, refuse: Refuse, Server: typeof WebSocketServer): WebSocketServer {
  const server = new Server({
    noServer: true,
    clientTracking: false,
    maxPayload,
    perMessageDeflate: false,
    handleProtocols: offered => selectedProtocol([...offered]) ?? false,
  })
  server.on('wsClientError', ({ message: reason }, socket, message) =>
    refuse(message, socket, refusal('invalid-request', `${reason}.`)),
  )
  return server
}

/** Prefix of OpenAI's subprotocol that carries a credential. It must not be sent back. */
const KEY_PROTOCOL = 'openai-insecure-api-key.'

/** Prefix of xAI's subprotocol. A browser that offers nothing else closes the socket unless it comes back. */
const SECRET_PROTOCOL = 'xai-client-secret.'

/** Returns the subprotocol to answer with: one without a credential, else xAI's, whose clients offer it alone. */
const selectedProtocol = (offered: readonly string[]): string | undefined =>
  offered.find(protocol => !protocol.startsWith(KEY_PROTOCOL) && !protocol.startsWith(SECRET_PROTOCOL)) ??
  offered.find(protocol => protocol.startsWith(SECRET_PROTOCOL))

const credential = (message: IncomingMessage): { readonly queryKey?: string } => {
  const { queryKey } = queryOf(message)
  return queryKey === undefined ? {} : { queryKey }
}

/** Converts one turn into a call of the responses endpoint. */
function callOf(message: IncomingMessage, turn: CreateFrame, reply: SocketReply, turns: Turns): Call {
  const parsedUrl = queryOf(message)
  return {
    ...callAt(RESPONSES_ROUTE, requestId(), message, parsedUrl, reply),
    head: { headers: withoutTransportBeta(message.headers), query: parsedUrl.query },
    framing: 'lines',
    body: turn.body,
    turns,
    strict: true,
    ...(turn.storeOnly ? { silent: true } : {}),
  }
}

/** Removes the beta flag that selects WebSockets, because only this endpoint needs it. */
function withoutTransportBeta(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const { 'openai-beta': betas, ...rest } = headers
  const others = String(betas ?? '')
    .split(',')
    .map(beta => beta.trim())
    .filter(beta => beta !== '' && !beta.startsWith('responses_websockets='))
  return others.length === 0 ? rest : { ...rest, 'openai-beta': others.join(', ') }
}
