import type { RawData, WebSocket } from 'ws'
import { GatewayError } from '../../../canonical/error.ts'
import { type JsonObject, parseObject, stringIn } from '../../../canonical/node.ts'
import { readError } from './errors.ts'

export interface OpenRelayOptions {
  dial(signal: AbortSignal): Promise<WebSocket>
  /** The `session` the connection is bound to; its update is acknowledged before the caller is connected. */
  readonly session: JsonObject | undefined
  /** Milliseconds until the session is created. */
  readonly firstEvent: number
  readonly signal: AbortSignal
}

/**
 * Connects to an upstream and waits for its session.
 *
 * @returns the paused socket and the frame of `session.created`.
 * @throws GatewayError where another upstream may be tried.
 */
export async function openRelay({ dial, session, firstEvent, signal }: OpenRelayOptions) {
  const socket = await dial(signal)
  try {
    const deadline = AbortSignal.timeout(firstEvent)
    const created = await nextOf(socket, 'session.created', AbortSignal.any([deadline, signal]))
    if (session === undefined) return { socket, first: created }
    socket.send(JSON.stringify({ type: 'session.update', session }))
    const updated = await nextOf(socket, 'session.updated', AbortSignal.any([deadline, signal]))
    return { socket, first: withSession(created, updated) }
  } catch (thrown) {
    socket.terminate()
    throw thrown
  }
}

/** The next frame of a type, others before it left out; an `error` before it is a refusal. */
function nextOf(socket: WebSocket, type: string, signal: AbortSignal): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const settle = (work: () => void): void => {
      socket.off('message', take)
      socket.off('close', closed)
      signal.removeEventListener('abort', aborted)
      socket.pause()
      work()
    }
    const take = (data: RawData): void => {
      const frame = Array.isArray(data) ? Buffer.concat(data) : (data as Buffer)
      const value = parseObject(frame.toString())
      const name = stringIn(value?.['type'])
      if (name === type) settle(() => resolve(frame))
      else if (name === 'error') settle(() => reject(new GatewayError(readError(value!['error']))))
    }
    const closed = (code: number): void => settle(() => reject(refused(code)))
    const aborted = (): void => settle(() => reject(SILENT))
    socket.on('message', take)
    socket.once('close', closed)
    signal.addEventListener('abort', aborted, { once: true })
    socket.resume()
  })
}

function withSession(created: Buffer, updated: Buffer): Buffer {
  const session = parseObject(updated.toString())?.['session'] ?? {}
  return Buffer.from(JSON.stringify({ ...parseObject(created.toString()), session }))
}

const refused = (code: number): GatewayError =>
  new GatewayError({ kind: 'unreachable', message: `The upstream closed the connection (${code}).` })

const SILENT = new GatewayError({ kind: 'timed-out', message: 'The upstream did not begin the session in time.' })
