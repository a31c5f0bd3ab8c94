import { askedOf } from './asked.ts'
import type { Cell } from './cells.ts'
import { CheckList } from './check-list.ts'
import type { Check } from './checks.ts'
import { isJson } from './content-types.ts'
import { isSameAction } from './format.ts'
import { judgeAnswer } from './judge-answer.ts'
import { judgeBroken, judgeFlow, judgeLeft } from './judge-behaviour.ts'
import { judgeRequest } from './judge-request.ts'
import { isRefused, judgeVersion } from './judge-version.ts'
import { stepsOf } from './scenario.ts'
import { wireFor } from './scenario-files.ts'
import type { StepRecord } from './step-record.ts'
import type { Arrival } from './upstream.ts'

/** Statuses of a target that does not have the endpoint or the feature. */
const UNSUPPORTED = new Set([404, 405, 501])

/** Statuses that refuse a request because of its content. */
const REFUSED = new Set([400, 422])

const SUPPORTED = {
  id: 'supported',
  level: 'must',
  source: 'the target itself',
  says: 'The target has the endpoint and the feature.',
} as const

/** Returns the checks of all steps of one cell. `lossHeader` names the header in which the target reports losses. */
export function judge(cell: Cell, records: readonly StepRecord[], lossHeader: string | undefined): Check[] {
  return stepsOf(cell.scenario)
    .slice(0, records.length)
    .flatMap((scenario, index) => {
      const list = new CheckList(cell, { step: index + 1 })
      judgeStep({ ...cell, scenario }, records[index]!, lossHeader, list)
      return list.checks
    })
}

/** Returns the requests with the action of a step. A target may poll the states of its jobs at any time. */
function arrivalsOf({ upstream, scenario, mode }: Cell, arrivals: readonly Arrival[]): readonly Arrival[] {
  const wire = upstream && wireFor(scenario.wires, upstream)
  if (wire === undefined) return arrivals
  const asked = askedOf(upstream!, wire.request, mode === 'stream', { model: 'm', answers: [] })
  return arrivals.filter(
    ({ format, path, sent }) =>
      format !== upstream!.name || isSameAction(upstream!, { method: sent.method, path }, asked),
  )
}

/** Judges one step. If the target reports that it lacks the endpoint, judges nothing else. */
function judgeStep(cell: Cell, record: StepRecord, lossHeader: string | undefined, list: CheckList): void {
  const { exchange, asked } = record
  const { got } = exchange
  const { scenario, mode } = cell
  if (isRefused(cell, exchange.sent.headers) && judgeVersion(cell, record, list)) return
  const arrivals = arrivalsOf(cell, record.arrivals)
  const expectsError = wireFor(scenario.wires, cell.caller)!.error !== undefined
  if (got !== undefined && !expectsError && arrivals.length === 0 && record.strays.length === 0) {
    // A target may only refuse a request if a format cannot express it.
    const isUnsayable = scenario.differences.some(({ fact }) => fact.startsWith('request.'))
    const isRefusal = REFUSED.has(got.status) && isUnsayable
    if (UNSUPPORTED.has(got.status) || isRefusal) {
      const detail = `Status ${got.status}: ${got.body.toString('utf8').slice(0, 300)}`
      return list.rule('answer', SUPPORTED, [detail], 'unsupported')
    }
  }
  const isReported = lossHeader !== undefined && Boolean(got?.headers[lossHeader] ?? got?.trailers[lossHeader])
  const isLocal = scenario.local && arrivals.length === 0
  if (!isLocal) judgeRequest(cell, { ...record, arrivals }, isReported, list)
  if (scenario.caller.leaves_after !== undefined) judgeLeft(arrivals, list)
  else if (scenario.breaks) judgeBroken(cell, exchange, list, asked.body)
  else judgeAnswer(cell, exchange, list, { asked, isReported, isLocal })
  const flows = mode === 'stream' || !isJson(wireFor(scenario.wires, cell.caller)!.type)
  if (flows && scenario.caller.leaves_after === undefined) judgeFlow(exchange, arrivals, list)
}
