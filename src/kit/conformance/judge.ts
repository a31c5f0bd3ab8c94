import type { Cell } from './cells.ts'
import { CheckList } from './check-list.ts'
import type { Check } from './checks.ts'
import { isJson } from './content-types.ts'
import { isSameAction } from './format.ts'
import { judgeAnswer } from './judge-answer.ts'
import { judgeBroken, judgeDisconnect, judgeFlow } from './judge-behaviour.ts'
import { judgeCallers } from './judge-callers.ts'
import { judgeKeys, type Keys } from './judge-delivery.ts'
import { judgeRequest } from './judge-request.ts'
import { isRefused, judgeVersion } from './judge-version.ts'
import { lossNames } from './reported-losses.ts'
import { stepsOf } from './scenario.ts'
import { wireFor } from './scenario-files.ts'
import type { StepRecord } from './step-record.ts'
import { requestOnWire } from './step-request.ts'
import type { Arrival } from './upstream.ts'

/** Statuses of a target that does not have the endpoint or the feature. */
const UNSUPPORTED_STATUSES = new Set([404, 405, 501])

/** Statuses that refuse a request because of its content. */
const REFUSAL_STATUSES = new Set([400, 422])

const HAS_FEATURE = {
  id: 'supported',
  level: 'must',
  source: 'the target itself',
  says: 'The target has the endpoint and the feature.',
} as const

/** Facts about a target: the header in which it reports losses, and its keys. */
export interface Judged {
  readonly lossHeader?: string | undefined
  readonly keys?: Keys | undefined
}

/** Returns the checks of one cell, for all its steps. */
export function judge(cell: Cell, records: readonly StepRecord[], judged: Judged = {}): Check[] {
  return stepsOf(cell.scenario)
    .slice(0, records.length)
    .flatMap((scenario, index) => {
      const list = new CheckList(cell, { step: index + 1 })
      judgeStep({ ...cell, scenario }, records[index]!, judged, list)
      return list.checks
    })
}

/** Returns the requests that perform a step's action. Others are ignored, as a target may poll its jobs at any time. */
function arrivalsOf({ upstream, scenario, mode }: Cell, arrivals: readonly Arrival[]): readonly Arrival[] {
  const wire = upstream && wireFor(scenario.wires, upstream)
  if (wire === undefined) return arrivals
  const request = requestOnWire(upstream!, wire.request, mode === 'stream', { model: 'm', answers: [] })
  return arrivals.filter(
    ({ format, path, sent }) =>
      format !== upstream!.name || isSameAction(upstream!, { method: sent.method, path }, request),
  )
}

/**
 * Returns true if the upstream's format cannot express something that the scenario's request states. The upstream of a
 * live target may have any format.
 */
const isInexpressible = ({ upstream, scenario }: Cell): boolean =>
  scenario.differences.some(
    ({ fact, formats, other = false }) =>
      fact.startsWith('request.') &&
      !other &&
      (upstream === undefined || formats.includes(upstream.files ?? upstream.name)),
  )

/**
 * Returns true if an earlier step had the same method and path, so that the target has the endpoint. It then no longer
 * knows what the earlier step made.
 */
const isRepeated = ({ scenario, caller }: Cell): boolean => {
  const { request } = wireFor(scenario.wires, caller)!
  return scenario.earlier
    .map(wires => wireFor(wires, caller)?.request)
    .some(one => one !== undefined && one.method === request.method && one.path === request.path)
}

/** Judges one step. If the target reports that it lacks the endpoint, judges nothing else. */
function judgeStep(cell: Cell, record: StepRecord, { lossHeader, keys }: Judged, list: CheckList): void {
  const { exchange, request } = record
  const { got } = exchange
  const { scenario, mode } = cell
  if (isRefused(cell, exchange.sent.headers) && judgeVersion(cell, record, list)) return
  const arrivals = arrivalsOf(cell, record.arrivals)
  const expectsError = wireFor(scenario.wires, cell.caller)!.error !== undefined
  if (got !== undefined && !expectsError && arrivals.length === 0 && record.strays.length === 0) {
    const isMissing = UNSUPPORTED_STATUSES.has(got.status) && !isRepeated(cell)
    // A target may only refuse a request if its upstream's format cannot express it.
    const isRefusal = REFUSAL_STATUSES.has(got.status) && isInexpressible(cell)
    if (isMissing || isRefusal) {
      const detail = `Status ${got.status}: ${got.body.toString('utf8').slice(0, 300)}`
      return list.rule('answer', HAS_FEATURE, [detail], 'unsupported')
    }
  }
  const losses = lossHeader === undefined ? [] : lossNames(got?.headers[lossHeader], got?.trailers[lossHeader])
  const isLocal = scenario.local && arrivals.length === 0
  if (!isLocal) judgeRequest(cell, { ...record, arrivals }, losses, list)
  const [arrival] = arrivals
  if (arrival !== undefined && !isLocal) judgeKeys({ ...arrival.sent, path: arrival.path }, keys, list)
  if (scenario.caller.leaves_after !== undefined) judgeDisconnect(arrivals, list)
  else if (scenario.breaks) judgeBroken(cell, exchange, list, request)
  else judgeAnswer(cell, exchange, list, { request: request, losses, isLocal })
  const flows = mode === 'stream' || !isJson(wireFor(scenario.wires, cell.caller)!.type)
  if (flows && scenario.caller.leaves_after === undefined) judgeFlow(exchange, arrivals, list)
  judgeCallers(cell, record, list)
}
