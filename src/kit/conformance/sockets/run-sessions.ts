import { textOf } from '../json.ts'
import { type CellResult, type CellRunOptions, runCells, upstreamHeaders } from '../run-cells.ts'
import { secretOf } from './client-secret.ts'
import { frameWith } from './frame.ts'
import { judgeSession, type SessionRecord } from './judge-session.ts'
import { play } from './play.ts'
import { type SessionCell, sessionCellsOf, type WantedSessions } from './session-cells.ts'
import type { SessionUpstream } from './session-upstream.ts'
import { wireOf } from './session-wire.ts'
import { connect, SOCKET_BOUNDS, type SocketBounds } from './socket.ts'

export interface SessionRunOptions extends WantedSessions, CellRunOptions {
  /** The kit's upstream. Absent in live mode. */
  readonly upstream?: SessionUpstream
  readonly bounds?: SocketBounds
  /** Maximum time to wait for a frame, in milliseconds. */
  readonly patience?: number
}

/** Maximum time that the caller waits for a frame, and for the close of a session, in milliseconds. */
const PATIENCE = 5000
const CLOSED_WITHIN = 2000

const NORMAL = 1000

async function sessionOf(cell: SessionCell, options: SessionRunOptions): Promise<SessionRecord> {
  const { target, upstream, bounds = SOCKET_BOUNDS, patience = PATIENCE } = options
  const { caller, scenario } = cell
  const model = target.model(cell.upstream?.name)
  const arrivals = () => upstream?.arrived ?? []
  upstream?.play(scenario)
  const secret = await secretOf(cell, target, bounds)
  const key = secret === undefined ? target.key : textOf(secret.answer['value'])
  const kept = secret === undefined ? {} : { secret }
  if (!key && secret !== undefined) return { client: [], server: [], arrivals: arrivals(), ...kept }
  const headers = { ...caller.headers(key ?? ''), ...upstreamHeaders(cell, target) }
  const opened = await connect(`${target.bases[caller.name]}${caller.path(model)}`, headers, bounds)
  if (!('socket' in opened)) return { client: [], server: [], ...opened, arrivals: arrivals(), ...kept }
  const { socket } = opened
  const script = scenario.scripts[caller.name]!
  const { sent, missing } = await play(socket, { side: 'client', format: caller, script, model, patience })
  socket.close(NORMAL, '')
  if (!(await socket.until(() => socket.closed !== undefined, CLOSED_WITHIN))) socket.terminate()
  await socket.until(() => socket.closed !== undefined, CLOSED_WITHIN)
  await upstream?.settled(CLOSED_WITHIN)
  return {
    ...{ client: sent.map(frameWith), server: socket.received, arrivals: arrivals(), ...kept },
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
    return { checks: judgeSession(cell, record, target.lossHeader), record: wireOf(cell, record, target, took) }
  })
