import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { Caller } from '../accounts/index.ts'
import { GatewayError } from '../canonical/error.ts'
import { defined } from '../canonical/node.ts'
import type { Gateway, LiveSession, OpenedSession, Realtime, VoiceSessionCall } from '../gateway/index.ts'
import { requestId } from '../store/usage/request-id.ts'
import { pathOf, queryOf } from './address.ts'
import { idHeaders } from './handlers.ts'
import { countIncompleteMessages } from './incomplete-messages.ts'
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
  private isClosing = false

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
    const abortController = new AbortController()
    const abort = (): void => abortController.abort()
    const { query, queryKey } = queryOf(message)
    this.opening.add(abortController)
    // A caller that ends the connection properly does not close this side of it.
    for (const event of ['end', 'close']) socket.once(event, abort)
    try {
      const { signal } = abortController
      const call = { id: requestId(), path: pathOf(message), message, query, signal, ...defined({ queryKey }) }
      const realtime = await this.gateway.realtime()
      if (realtime.awaitsModel(call)) {
        const release = await realtime.admitWaiting(call)
        socket.once('close', release)
        if (socket.destroyed || signal.aborted) release()
        accept(accepted => void this.openWhenNamed(realtime, call, accepted, socket, release))
        return
      }
      const openedSession = await realtime.open(call)
      const recordedSocket = await this.beginRecording(openedSession, message)
      if (socket.destroyed || abortController.signal.aborted) {
        openedSession.abandon()
        throw STOPPED
      }
      let isAccepted = false
      socket.once('close', () => {
        if (!isAccepted) openedSession.abandon()
      })
      accept(accepted => {
        isAccepted = true
        recordedSocket?.follow(accepted)
        this.add(openedSession.start(accepted), socket, accepted, openedSession.caller)
      })
    } catch (thrown) {
      throw this.isClosing ? STOPPED : thrown
    } finally {
      this.opening.delete(abortController)
      for (const event of ['end', 'close']) socket.off(event, abort)
    }
  }

  /**
   * Opens a session that only transcribes once its settings name its model. The caller has been accepted, so that
   * failures are `error` events.
   */
  private async openWhenNamed(
    realtime: Realtime,
    call: VoiceSessionCall,
    accepted: WebSocket,
    socket: Duplex,
    release: () => void,
  ): Promise<void> {
    const abortController = new AbortController()
    const waiting = { ...call, signal: abortController.signal, isAnnounced: true }
    this.opening.add(abortController)
    accepted.on('error', () => accepted.terminate())
    accepted.once('close', () => abortController.abort(STOPPED))
    try {
      if (this.isClosing) throw STOPPED
      const { model, replay } = await realtime.firstSettings(waiting, accepted)
      release()
      const openedSession = await realtime.open({ ...waiting, query: { ...call.query, model } })
      const recordedSocket = await this.beginRecording(openedSession, call.message)
      if (accepted.readyState !== accepted.OPEN) return openedSession.abandon()
      recordedSocket?.follow(accepted)
      this.add(openedSession.start(accepted), socket, accepted, openedSession.caller)
      replay()
    } catch (thrown) {
      realtime.refuse(accepted, this.isClosing ? SHUTTING_DOWN : thrown)
    } finally {
      release()
      this.opening.delete(abortController)
    }
  }

  /** Begins the recording of a session, if the caller's key demands one. */
  private async beginRecording({ caller }: OpenedSession, message: IncomingMessage) {
    return caller.record && this.gateway.services.recordings.beginSession(message, caller.record)
  }

  /** Lets every session finish its current response. Resolves when all sessions are closed. */
  async close(): Promise<void> {
    this.isClosing = true
    for (const controller of this.opening) controller.abort(STOPPED)
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
    countIncompleteMessages(connection, socket, meter, () => session.terminate())
    this.open.set(session, caller)
    void session.closed.then(() => {
      meter.close()
      this.open.delete(session)
    })
    if (this.isClosing) session.finish()
    // The key may have been revoked while the upstream was connecting.
    this.endRevoked()
  }
}

const STOPPED = new GatewayError({ kind: 'overloaded', message: 'The gateway is stopping.' })
/** Error of a stop for a caller whose WebSocket was accepted. */
const SHUTTING_DOWN = new GatewayError({ ...STOPPED.error, code: 'server_shutdown' })

/** Handles `POST /v1/realtime/client_secrets`. */
export function handleSecret(gateway: Gateway, message: IncomingMessage, response: ServerResponse): void {
  const id = requestId()
  const { queryKey } = queryOf(message)
  const reply = new HttpReply(message, response, idHeaders(id), gateway.services)
  gateway
    .realtime()
    .then(realtime => realtime.answerSecret({ id, format: 'chat', message, reply, ...defined({ queryKey }) }))
    .catch(() => response.destroy())
}
