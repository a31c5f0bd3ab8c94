import { GatewayError } from '../../../canonical/error.ts'
import { type JsonObject, parseObject, stringIn } from '../../../canonical/node.ts'
import { refusedSession } from '../../refused-session.ts'
import type { SessionSocket } from '../../session-socket.ts'
import { closedEarly, SESSION_TIMED_OUT } from '../../upstream-errors.ts'
import { NOT_AN_EVENT, readError } from './errors.ts'

export interface OpenRelayOptions {
  dial(signal: AbortSignal): Promise<SessionSocket>
  /** Settings that the connection must have. The caller is connected only after the upstream has acknowledged them. */
  readonly session: JsonObject | undefined
  /** Maximum time until the session is created, in milliseconds. */
  readonly firstEvent: number
  readonly signal: AbortSignal
}

/**
 * Connects to an upstream and waits for its session.
 *
 * @returns the paused connection, and the frames received so far, starting with `session.created`.
 * @throws GatewayError if another upstream may be tried.
 */
export async function openRelay({ dial, session, firstEvent, signal }: OpenRelayOptions) {
  const socket = await dial(signal)
  try {
    const deadline = AbortSignal.timeout(firstEvent)
    const [created, ...more] = await framesFrom(socket, 'session.created', AbortSignal.any([deadline, signal]))
    if (session === undefined) return { socket, first: [created!, ...more] }
    socket.send(JSON.stringify({ type: 'session.update', session }))
    const [updated, ...rest] = await framesFrom(socket, 'session.updated', AbortSignal.any([deadline, signal]))
    return { socket, first: [withSession(created!, updated!), ...more, ...rest] }
  } catch (thrown) {
    socket.terminate()
    throw thrown
  }
}

/**
 * Waits for the next frame of the given type and skips earlier frames. Also returns further frames from the same read,
 * because pausing does not stop them. Rejects if an `error` arrives first.
 */
async function framesFrom(socket: SessionSocket, type: string, signal: AbortSignal): Promise<readonly Buffer[]> {
  const frames: Buffer[] = []
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const take = (frame: Buffer): void => {
    if (frames.length > 0) {
      frames.push(frame)
      return
    }
    const value = parseObject(frame.toString())
    const name = stringIn(value?.['type'])
    if (name === '') reject(NOT_AN_EVENT)
    if (name === 'error') {
      const error = readError(value!['error'])
      reject(type === 'session.created' ? refusedSession(error) : new GatewayError(error))
    }
    if (name !== type) return
    frames.push(frame)
    socket.pause('starting')
    resolve()
  }
  const onAbort = (): void => reject(SESSION_TIMED_OUT)
  signal.addEventListener('abort', onAbort, { once: true })
  socket.listen({
    frame: take,
    onDrain: () => {},
    stalled: () => socket.terminate(),
    closed: code => reject(closedEarly(code)),
  })
  try {
    await promise
    return frames
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

function withSession(created: Buffer, updated: Buffer): Buffer {
  const session = parseObject(updated.toString())?.['session'] ?? {}
  return Buffer.from(JSON.stringify({ ...parseObject(created.toString()), session }))
}
