import type { Cell } from './cells.ts'
import { CheckList } from './check-list.ts'
import type { Check } from './checks.ts'
import { judgeAnswer } from './judge-answer.ts'
import { judgeBroken, judgeFlow, judgeLeft } from './judge-behaviour.ts'
import { judgeRequest } from './judge-request.ts'
import { stepsOf } from './scenario.ts'
import type { StepRecord } from './step-record.ts'

/** Statuses with which a target says that it has no such endpoint or feature. */
const UNSUPPORTED = new Set([404, 405, 501])

/** Statuses of a request that is refused for what it says. */
const REFUSED = new Set([400, 422])

const SUPPORTED = {
  id: 'supported',
  level: 'must',
  source: 'the target itself',
  says: 'The target has the endpoint and the feature.',
} as const

/** All checks of one cell: those of its steps. `lossHeader` names the header in which the target reports losses. */
export function judge(cell: Cell, records: readonly StepRecord[], lossHeader: string | undefined): Check[] {
  return stepsOf(cell.scenario)
    .slice(0, records.length)
    .flatMap((scenario, index) => {
      const list = new CheckList(cell, { step: index + 1 })
      judgeStep({ ...cell, scenario }, records[index]!, lossHeader, list)
      return list.checks
    })
}

/** Judges one step. A target that says that it has no such endpoint is not judged further. */
function judgeStep(cell: Cell, record: StepRecord, lossHeader: string | undefined, list: CheckList): void {
  const { exchange, arrivals, asked } = record
  const { got } = exchange
  const { scenario, mode } = cell
  const expectsError = scenario.wires[cell.caller.name]!.error !== undefined
  if (got !== undefined && !expectsError && arrivals.length === 0 && record.strays.length === 0) {
    // Only a request that says what a format cannot say may be refused.
    const isUnsayable = scenario.differences.some(({ fact }) => fact.startsWith('request.'))
    const isRefusal = REFUSED.has(got.status) && isUnsayable
    if (UNSUPPORTED.has(got.status) || isRefusal) {
      const detail = `Status ${got.status}: ${got.body.toString('utf8').slice(0, 300)}`
      return list.rule('answer', SUPPORTED, [detail], 'unsupported')
    }
  }
  const isReported = lossHeader !== undefined && Boolean(got?.headers[lossHeader])
  const isLocal = scenario.local && arrivals.length === 0
  if (!isLocal) judgeRequest(cell, record, isReported, list)
  if (scenario.caller.leaves_after !== undefined) judgeLeft(arrivals, list)
  else if (scenario.breaks) judgeBroken(cell, exchange, list, asked.body)
  else judgeAnswer(cell, exchange, list, { asked, isReported, isLocal })
  if (mode === 'stream' && scenario.caller.leaves_after === undefined) judgeFlow(exchange, arrivals, list)
}
