import type { Check, Status } from './checks.ts'
import type { Exchange, SentRequest } from './exchange.ts'
import type { Headers } from './format.ts'
import type { LossEvent } from './sockets/turn-caller.ts'
import type { Specs } from './specs.ts'

/* Runs cells one after another. A cell is an exchange or a session. */

/** Target of a run: a gateway or provider that is already running. */
export interface Target {
  readonly name: string
  readonly version?: string
  /** The name of the peer that was started. */
  readonly peer?: string
  /** Base addresses by format, as their clients are given them. */
  readonly bases: { readonly [format: string]: string }
  readonly key: string
  /** Returns the model for an upstream of that format; for a live target, the only model. */
  readonly model: (upstream: string | undefined) => string
  /** Secrets of its configuration, which reports do not show. */
  readonly secrets?: readonly string[]
  /** Headers that callers send beside their own, for an upstream of that format. */
  readonly headers?: (upstream: string) => Headers
  /** Versions of formats that the run is about (default: the first of each). */
  readonly specs?: Specs
  /** The header in which it reports losses, in lower case. */
  readonly lossHeader?: string
  /** The event in which it reports losses on sockets. */
  readonly lossEvent?: LossEvent
  /** Whether the target translates. If not, cells of two formats are unsupported. */
  readonly translates: boolean
  /** Whether it claims a pair of formats (default: every pair). */
  readonly claims?: (caller: string, upstream: string) => boolean
}

/** Names of a cell, which reports show. */
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
  /** Requests that came to no path of the scenario's formats. */
  readonly strays?: readonly SentRequest[]
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
  /** Pause between two cells, in milliseconds. */
  readonly delay?: number
  readonly signal?: AbortSignal
  readonly onResult?: (result: CellResult, index: number, count: number) => void
}

/** Returns the result of a cell with a single check, made by the kit itself. */
const single = (cell: NamedCell, rule: string, status: Status, says: string, detail: string): CellResult => ({
  cell,
  checks: [
    {
      ...{ id: `${cell.id}/${rule}`, cell: cell.id, rule, level: 'must', status, says, source: 'the kit' },
      details: [detail],
    },
  ],
})

/** Headers that tell a target the upstream of a cell. */
export const upstreamHeaders = ({ upstream }: Pick<NamedCell, 'upstream'>, { headers }: Target): Headers =>
  (upstream && headers?.(upstream.name)) ?? {}

function isClaimed({ caller, upstream }: NamedCell, { bases, translates, claims }: Target): boolean {
  if (bases[caller.name] === undefined || (!translates && caller !== upstream)) return false
  return upstream === undefined || claims === undefined || claims(caller.name, upstream.name)
}

async function runCell<C extends NamedCell>(
  cell: C,
  target: Target,
  judged: (cell: C) => Promise<Omit<CellResult, 'cell'>>,
): Promise<CellResult> {
  if (!isClaimed(cell, target)) {
    const says = 'The target has the endpoint and the feature.'
    return single(cell, 'answer.supported', 'unsupported', says, 'The peer does not claim it.')
  }
  try {
    return { cell, ...(await judged(cell)) }
  } catch (fault) {
    const detail = (fault as Error).stack ?? String(fault)
    return single(cell, 'harness', 'harness-error', 'The kit itself works.', detail)
  }
}

/**
 * Runs cells one after another. If the signal is aborted, returns the results so far.
 *
 * @param judged runs one cell and judges it; an error that it throws is the kit's own.
 */
export async function runCells<C extends NamedCell>(
  cells: readonly C[],
  { target, delay, signal, onResult }: CellRunOptions,
  judged: (cell: C) => Promise<Omit<CellResult, 'cell'>>,
): Promise<CellResult[]> {
  const results: CellResult[] = []
  for (const [index, cell] of cells.entries()) {
    if (signal?.aborted) break
    if (delay && index > 0) await new Promise(resolve => setTimeout(resolve, delay))
    const result = await runCell(cell, target, judged)
    results.push(result)
    onResult?.(result, index, cells.length)
  }
  return results
}
