import type { Check } from '../checks.ts'
import type { CellResult, Target } from '../run.ts'
import { frameWith } from './frame.ts'
import { judgeSession, type SessionRecord } from './judge-session.ts'
import { play } from './play.ts'
import { type SessionCell, sessionCellsOf, type WantedSessions } from './session-cells.ts'
import type { SessionUpstream } from './session-upstream.ts'
import { wireOf } from './session-wire.ts'
import { connect, SOCKET_BOUNDS, type SocketBounds } from './socket.ts'

export interface SessionRunOptions extends WantedSessions {
  readonly target: Target
  /** Plays the upstream; none in live mode. */
  readonly upstream?: SessionUpstream
  readonly bounds?: SocketBounds
  /** Milliseconds to wait for a frame. */
  readonly patience?: number
  /** Milliseconds between cells. */
  readonly delay?: number
  readonly signal?: AbortSignal
  readonly onResult?: (result: CellResult, index: number, count: number) => void
}

/** Milliseconds that the caller waits for a frame, and for the close of a session. */
const PATIENCE = 5000
const CLOSED_WITHIN = 2000

const NORMAL = 1000

async function sessionOf(cell: SessionCell, options: SessionRunOptions): Promise<SessionRecord> {
  const { target, upstream, bounds = SOCKET_BOUNDS, patience = PATIENCE } = options
  const { caller, scenario } = cell
  const model = target.model(cell.upstream?.name)
  const arrivals = () => upstream?.arrived ?? []
  upstream?.play(scenario)
  const opened = await connect(`${target.bases[caller.name]}${caller.path(model)}`, caller.headers(target.key), bounds)
  if (!('socket' in opened)) return { client: [], server: [], ...opened, arrivals: arrivals() }
  const { socket } = opened
  const script = scenario.scripts[caller.name]!
  const { sent, missing } = await play(socket, { side: 'client', format: caller, script, model, patience })
  socket.close(NORMAL, '')
  if (!(await socket.until(() => socket.closed !== undefined, CLOSED_WITHIN))) socket.terminate()
  await socket.until(() => socket.closed !== undefined, CLOSED_WITHIN)
  await upstream?.settled(CLOSED_WITHIN)
  return {
    ...{ client: sent.map(frameWith), server: socket.received, arrivals: arrivals() },
    ...(socket.closed === undefined ? {} : { closed: socket.closed }),
    ...(missing === undefined ? {} : { missing }),
    ...(socket.fault === undefined ? {} : { fault: socket.fault }),
  }
}

const single = (cell: SessionCell, rule: string, status: Check['status'], says: string, detail: string): Check => ({
  ...{ id: `${cell.id}/${rule}`, cell: cell.id, rule, level: 'must', status, says, source: 'the kit' },
  details: [detail],
})

async function runCell(cell: SessionCell, options: SessionRunOptions): Promise<CellResult> {
  const { target } = options
  if (target.bases[cell.caller.name] === undefined || (!target.translates && cell.caller !== cell.upstream)) {
    const says = 'The target has the endpoint and the feature.'
    return { cell, checks: [single(cell, 'answer.supported', 'unsupported', says, 'The peer does not claim it.')] }
  }
  const began = performance.now()
  try {
    const record = await sessionOf(cell, options)
    const took = Math.round(performance.now() - began)
    return { cell, checks: judgeSession(cell, record, target.lossHeader), record: wireOf(cell, record, target, took) }
  } catch (fault) {
    const detail = (fault as Error).stack ?? String(fault)
    return { cell, checks: [single(cell, 'harness', 'harness-error', 'The kit itself works.', detail)] }
  }
}

/** Runs the wanted sessions one after another. Stops early, with what ran, when the signal is aborted. */
export async function runSessions(options: SessionRunOptions): Promise<CellResult[]> {
  const cells = sessionCellsOf(options)
  const results: CellResult[] = []
  for (const [index, cell] of cells.entries()) {
    if (options.signal?.aborted) break
    if (options.delay && index > 0) await new Promise(resolve => setTimeout(resolve, options.delay))
    const result = await runCell(cell, options)
    results.push(result)
    options.onResult?.(result, index, cells.length)
  }
  return results
}
