import type { Check, Status } from './checks.ts'
import type { Exchange, SentRequest } from './exchange.ts'
import type { Headers } from './format.ts'
import type { Keys } from './judge-delivery.ts'
import type { LossEvent } from './sockets/turn-caller.ts'
import type { Specs } from './specs.ts'

/* Runs cells one after another. A cell is an exchange or a session. */

/** Target of a run: a running gateway or provider. */
export interface Target {
  readonly name: string
  readonly version?: string
  /** Name of the peer that the kit started. */
  readonly peer?: string
  /** Base URLs by format, as clients are configured with them. */
  readonly bases: { readonly [format: string]: string }
  readonly key: string
  /** Returns the model for an upstream of the given format. A live target has only one model. */
  readonly model: (upstream: string | undefined) => string
  /** Secrets in the target's configuration. Reports must not show them. */
  readonly secrets?: readonly string[]
  /** Additional headers that callers send for an upstream of the given format. */
  readonly headers?: (upstream: string) => Headers
  /** Versions of the formats. The default is the first version of each format. */
  readonly specs?: Specs
  /** The caller's key, and the one for upstreams, if the target is configured with one. */
  readonly keys?: Keys
  /** Header in which the target reports losses, in lower case. */
  readonly lossHeader?: string
  /** Event in which the target reports losses on sockets. */
  readonly lossEvent?: LossEvent
  /** True if the target translates between formats. If not, cells with two formats are unsupported. */
  readonly translates: boolean
  /** Returns true if the target claims to support a pair of formats. The default is every pair. */
  readonly claims?: (caller: string, upstream: string) => boolean
}

/** Names that identify a cell in reports. */
export interface NamedCell {
  readonly id: string
  readonly caller: { readonly name: string; readonly work?: string }
  readonly upstream: { readonly name: string } | undefined
  readonly scenario: { readonly id: string }
  readonly mode: string
}

/** Bytes of a cell: the caller's exchange, and the requests that reached the upstream. */
export interface WireRecord {
  readonly exchange: Exchange
  readonly arrivals: readonly { readonly sent: SentRequest }[]
  /** Requests to paths outside the scenario's formats. */
  readonly strays?: readonly SentRequest[]
  /** The other callers, in scenarios with several at once. */
  readonly beside?: readonly Pick<WireRecord, 'exchange' | 'arrivals'>[]
  /** The steps after the first. */
  readonly later?: readonly Omit<WireRecord, 'later'>[]
}

/** One cell with its checks and its wire record. */
export interface CellResult {
  readonly cell: NamedCell
  readonly checks: readonly Check[]
  readonly record?: WireRecord
}

export interface CellRunOptions {
  readonly target: Target
  /** Pause between cells, in milliseconds. */
  readonly delay?: number
  readonly signal?: AbortSignal
  readonly onResult?: (result: CellResult, index: number, count: number) => void
}

/** Returns a cell's result with a single check that the kit adds itself. */
const singleCheckResult = (
  cell: NamedCell,
  rule: string,
  status: Status,
  says: string,
  detail: string,
): CellResult => ({
  cell,
  checks: [
    {
      ...{ id: `${cell.id}/${rule}`, cell: cell.id, rule, level: 'must', status, says, source: 'the kit' },
      details: [detail],
    },
  ],
})

/** Headers that tell a target which upstream a cell needs. */
export const upstreamHeaders = ({ upstream }: Pick<NamedCell, 'upstream'>, { headers }: Target): Headers =>
  (upstream && headers?.(upstream.name)) ?? {}

function isClaimed({ caller, upstream }: NamedCell, { bases, translates, claims }: Target): boolean {
  if (bases[caller.name] === undefined || (!translates && caller !== upstream)) return false
  return upstream === undefined || claims === undefined || claims(caller.name, upstream.name)
}

async function runCell<C extends NamedCell>(
  cell: C,
  target: Target,
  runAndJudge: (cell: C) => Promise<Omit<CellResult, 'cell'>>,
): Promise<CellResult> {
  if (!isClaimed(cell, target)) {
    const says = 'The target has the endpoint and the feature.'
    return singleCheckResult(cell, 'answer.supported', 'unsupported', says, 'The peer does not claim it.')
  }
  try {
    return { cell, ...(await runAndJudge(cell)) }
  } catch (fault) {
    const detail = (fault as Error).stack ?? String(fault)
    return singleCheckResult(cell, 'harness', 'harness-error', 'The kit works without an internal error.', detail)
  }
}

/**
 * Runs cells one after another. If the signal is aborted, returns the results so far. Errors that `runAndJudge` throws
 * are faults of the kit.
 */
export async function runCells<C extends NamedCell>(
  cells: readonly C[],
  { target, delay, signal, onResult }: CellRunOptions,
  runAndJudge: (cell: C) => Promise<Omit<CellResult, 'cell'>>,
): Promise<CellResult[]> {
  const results: CellResult[] = []
  for (const [index, cell] of cells.entries()) {
    if (signal?.aborted) break
    if (delay && index > 0) await new Promise(resolve => setTimeout(resolve, delay))
    const result = await runCell(cell, target, runAndJudge)
    results.push(result)
    onResult?.(result, index, cells.length)
  }
  return results
}
