import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { Caller } from '../accounts/index.ts'
import { GatewayError } from '../canonical/error.ts'
import { defined } from '../canonical/node.ts'
import type { Gateway, LiveSession } from '../gateway/index.ts'
import { requestId } from '../store/usage/request-id.ts'
import { pathOf, queryOf } from './address.ts'
import { idHeaders } from './handlers.ts'
import { countUnfinished } from './incomplete-messages.ts'
import { HttpReply } from './reply.ts'

export const REALTIME_PATH = '/v1/realtime'
export const SECRETS_PATH = '/v1/realtime/client_secrets'

export interface Upgrade {
  readonly message: IncomingMessage
  readonly socket: Duplex
  /** Completes the upgrade and passes the WebSocket to `accepted`. */
  accept(accepted: (socket: WebSocket) => void): void
}

/** Opens, tracks and closes the voice sessions of a server. */
export class VoiceSessions {
  private readonly gateway: Gateway
  private readonly open = new Map<LiveSession, Caller>()
  /** Sessions whose upstream is still connecting. */
  private readonly opening = new Set<AbortController>()
  private closing = false

  constructor(gateway: Gateway) {
    this.gateway = gateway
  }

  get size(): number {
    return this.open.size
  }

  /**
   * Opens a voice session: connects to the upstream first, then accepts the caller.
   *
   * @throws GatewayError to be answered over HTTP.
   */
  async begin({ message, socket, accept }: Upgrade): Promise<void> {
    const abandoned = new AbortController()
    const leave = (): void => abandoned.abort()
    const { query, queryKey } = queryOf(message)
    this.opening.add(abandoned)
    socket.once('close', leave)
    try {
      const call = { id: requestId(), path: pathOf(message), message, query, signal: abandoned.signal }
      const realtime = await this.gateway.realtime
      const opened = await realtime.open({ ...call, ...defined({ queryKey }) })
      const { record } = opened.caller
      const recorded = record && (await this.gateway.services.recordings.beginSession(message, record))
      if (socket.destroyed || abandoned.signal.aborted) {
        opened.abandon()
        throw STOPPED
      }
      let isAccepted = false
      socket.once('close', () => {
        if (!isAccepted) opened.abandon()
      })
      accept(accepted => {
        isAccepted = true
        recorded?.follow(accepted)
        this.add(opened.start(accepted), socket, accepted, opened.caller)
      })
    } catch (thrown) {
      throw this.closing ? STOPPED : thrown
    } finally {
      this.opening.delete(abandoned)
      socket.off('close', leave)
    }
  }

  /** Lets every session finish its current response. Resolves when all sessions are closed. */
  async close(): Promise<void> {
    this.closing = true
    for (const controller of this.opening) controller.abort()
    for (const session of this.open.keys()) session.finish()
    await Promise.all([...this.open.keys()].map(({ closed }) => closed))
  }

  /** Ends sessions whose key is no longer valid, with an `error` event. */
  endRevoked(): void {
    for (const [session, caller] of this.open) {
      const end = this.gateway.services.access.endOf(caller)
      if (end !== undefined) session.refuse(end.error)
    }
  }

  /** Ends all sessions immediately with an `error` event. */
  stop(): void {
    for (const session of this.open.keys()) session.stop()
  }

  cut(): void {
    for (const session of this.open.keys()) session.terminate()
  }

  private add(session: LiveSession, connection: Duplex, socket: WebSocket, caller: Caller): void {
    const meter = this.gateway.services.bodiesInMemory.open(caller.id)
    countUnfinished(connection, socket, meter, () => session.terminate())
    this.open.set(session, caller)
    void session.closed.then(() => {
      meter.close()
      this.open.delete(session)
    })
    if (this.closing) session.finish()
    // The key may have been revoked while the upstream was connecting.
    this.endRevoked()
  }
}

const STOPPED = new GatewayError({ kind: 'overloaded', message: 'The gateway is stopping.' })

/** Handles `POST /v1/realtime/client_secrets`. */
export function handleSecret(gateway: Gateway, message: IncomingMessage, response: ServerResponse): void {
  const id = requestId()
  const { queryKey } = queryOf(message)
  const reply = new HttpReply(message, response, idHeaders(id), gateway.services)
  gateway.realtime
    .then(realtime => realtime.answerSecret({ id, format: 'chat', message, reply, ...defined({ queryKey }) }))
    .catch(() => response.destroy())
}
