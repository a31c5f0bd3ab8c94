import type { Cell } from './cells.ts'
import { CheckList } from './check-list.ts'
import type { Check } from './checks.ts'
import type { Exchange } from './exchange.ts'
import type { JsonObject } from './json.ts'
import { judgeAnswer } from './judge-answer.ts'
import { judgeBroken, judgeFlow, judgeLeft } from './judge-behaviour.ts'
import { judgeRequest } from './judge-request.ts'
import type { Arrival } from './upstream.ts'

/** Everything one cell left behind. */
export interface CellRecord {
  readonly exchange: Exchange
  /** The request's body as the kit sent it. */
  readonly asked: JsonObject
  readonly arrivals: readonly Arrival[]
}

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

/** All checks of one cell. `lossHeader` names the header in which the target reports losses. */
export function judge(cell: Cell, record: CellRecord, lossHeader: string | undefined): Check[] {
  const { exchange, arrivals, asked } = record
  const list = new CheckList(cell)
  const { got } = exchange
  const expectsError = cell.scenario.wires[cell.caller.name]!.error !== undefined
  if (got !== undefined && !expectsError && arrivals.length === 0) {
    // Only a request that says what a format cannot say may be refused.
    const isUnsayable = cell.scenario.differences.some(({ fact }) => fact.startsWith('request.'))
    const isRefusal = REFUSED.has(got.status) && isUnsayable
    if (UNSUPPORTED.has(got.status) || isRefusal) {
      list.rule(
        'answer',
        SUPPORTED,
        [`Status ${got.status}: ${got.body.toString('utf8').slice(0, 300)}`],
        'unsupported',
      )
      return list.checks
    }
  }
  const isReported = lossHeader !== undefined && Boolean(got?.headers[lossHeader])
  judgeRequest(cell, arrivals, isReported, list)
  const { scenario, mode } = cell
  if (scenario.caller.leaves_after !== undefined) judgeLeft(arrivals, list)
  else if (scenario.breaks) judgeBroken(cell, exchange, list, asked)
  else judgeAnswer(cell, exchange, list, { asked, isReported })
  if (mode === 'stream' && scenario.caller.leaves_after === undefined) judgeFlow(exchange, arrivals, list)
  return list.checks
}
