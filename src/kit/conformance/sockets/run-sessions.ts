import { textOf } from '../json.ts'
import { type CellResult, type CellRunOptions, runCells, upstreamHeaders } from '../run-cells.ts'
import { secretOf } from './client-secret.ts'
import { frameWith } from './frame.ts'
import { judgeSession, type SessionRecord } from './judge-session.ts'
import { play } from './play.ts'
import { type SessionCell, type SessionSelection, sessionCellsOf } from './session-cells.ts'
import type { SessionUpstream } from './session-upstream.ts'
import { wireOf } from './session-wire.ts'
import { connect, SOCKET_BOUNDS, type SocketBounds } from './socket.ts'

export interface SessionRunOptions extends SessionSelection, CellRunOptions {
  /** The kit's upstream. Absent in live mode. */
  readonly upstream?: SessionUpstream
  readonly bounds?: SocketBounds
  /** Maximum time to wait for a frame, in milliseconds. */
  readonly frameTimeoutMs?: number
}

/** Maximum time that the caller waits for a frame, in milliseconds. */
const FRAME_TIMEOUT_MS = 5000
/** Maximum time that the caller waits for the close of a session, in milliseconds. */
const CLOSE_TIMEOUT_MS = 2000

/** Close code "normal closure" (RFC 6455, section 7.4.1). */
const NORMAL_CLOSURE = 1000

async function sessionOf(cell: SessionCell, options: SessionRunOptions): Promise<SessionRecord> {
  const { target, upstream, bounds = SOCKET_BOUNDS, frameTimeoutMs = FRAME_TIMEOUT_MS } = options
  const { caller, scenario } = cell
  const model = target.model(cell.upstream?.name)
  const arrivals = () => upstream?.arrived ?? []
  upstream?.play(scenario)
  const secret = await secretOf(cell, target, bounds)
  const key = secret === undefined ? target.key : textOf(secret.answer['value'])
  const secretRecord = secret === undefined ? {} : { secret }
  if (!key && secret !== undefined) return { client: [], server: [], arrivals: arrivals(), ...secretRecord }
  const headers = { ...caller.headers(key ?? ''), ...upstreamHeaders(cell, target) }
  const connection = await connect(`${target.bases[caller.name]}${caller.path(model)}`, headers, bounds)
  if (!('socket' in connection)) return { client: [], server: [], ...connection, arrivals: arrivals(), ...secretRecord }
  const { socket } = connection
  const script = scenario.scripts[caller.name]!
  const { sent, missing } = await play(socket, { side: 'client', format: caller, script, model, frameTimeoutMs })
  socket.close(NORMAL_CLOSURE, '')
  if (!(await socket.waitUntil(() => socket.closed !== undefined, CLOSE_TIMEOUT_MS))) socket.terminate()
  await socket.waitUntil(() => socket.closed !== undefined, CLOSE_TIMEOUT_MS)
  await upstream?.settled(CLOSE_TIMEOUT_MS)
  return {
    ...{ client: sent.map(frameWith), server: socket.received, arrivals: arrivals(), ...secretRecord },
    ...(socket.closed === undefined ? {} : { closed: socket.closed }),
    ...(missing === undefined ? {} : { missing }),
    ...(socket.fault === undefined ? {} : { fault: socket.fault }),
  }
}

export const runSessions = (options: SessionRunOptions): Promise<CellResult[]> =>
  runCells(sessionCellsOf(options), options, async cell => {
    const { target } = options
    const startedAt = performance.now()
    const record = await sessionOf(cell, options)
    const took = Math.round(performance.now() - startedAt)
    return { checks: judgeSession(cell, record, target.keys), record: wireOf(cell, record, target, took) }
  })
