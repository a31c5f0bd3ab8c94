import { type Cell, cellsOf, type Wanted } from './cells.ts'
import type { Check } from './checks.ts'
import { BOUNDS, type Bounds, send } from './client.ts'
import type { Exchange, SentRequest } from './exchange.ts'
import { type CellRecord, judge } from './judge.ts'
import type { Upstream } from './upstream.ts'

/** The target of a run: a gateway or provider that already runs. */
export interface Target {
  readonly name: string
  readonly version?: string
  /** Base addresses by format, as their clients are given them. */
  readonly bases: { readonly [format: string]: string }
  readonly key: string
  /** The model for an upstream of that format; of a live target, its only one. */
  readonly model: (upstream: string | undefined) => string
  /** The header in which it reports losses, in lower case. */
  readonly lossHeader?: string
  /** Whether it translates; foreign cells of one that does not are unsupported. */
  readonly translates: boolean
}

/** The names of a cell, which reports show. */
export interface NamedCell {
  readonly id: string
  readonly caller: { readonly name: string }
  readonly upstream: { readonly name: string } | undefined
  readonly scenario: { readonly id: string }
  readonly mode: string
}

/** What went over the wire of a cell: the caller's exchange, and the requests that reached the upstream. */
export interface WireRecord {
  readonly exchange: Exchange
  readonly arrivals: readonly { readonly sent: SentRequest }[]
}

/** One cell with its checks and what went over the wire. */
export interface CellResult {
  readonly cell: NamedCell
  readonly checks: readonly Check[]
  readonly record?: WireRecord
}

export interface RunOptions extends Wanted {
  readonly target: Target
  /** Plays the upstream; none in live mode. */
  readonly upstream?: Upstream
  readonly bounds?: Bounds
  /** Milliseconds between cells. */
  readonly delay?: number
  readonly signal?: AbortSignal
  readonly onResult?: (result: CellResult, index: number, count: number) => void
}

const single = (cell: Cell, rule: string, status: Check['status'], says: string, detail: string): Check => ({
  ...{ id: `${cell.id}/${rule}`, cell: cell.id, rule, level: 'must', status, says, source: 'the kit' },
  details: [detail],
})

async function exchangeOf(cell: Cell, { target, upstream, bounds }: RunOptions): Promise<CellRecord> {
  const { caller, scenario, mode } = cell
  const model = target.model(cell.upstream?.name)
  const isStream = mode === 'stream'
  const asked = caller.addressed(scenario.wires[caller.name]!.request, model, isStream)
  upstream?.play(scenario)
  const sent = {
    method: 'POST',
    url: `${target.bases[caller.name]}${caller.path(model, isStream)}`,
    headers: { 'content-type': 'application/json', ...caller.headers(target.key) },
    body: Buffer.from(JSON.stringify(asked)),
  }
  const exchange = await send(sent, bounds ?? BOUNDS, scenario.caller)
  await upstream?.settled()
  return { exchange, asked, arrivals: upstream?.arrived ?? [] }
}

async function runCell(cell: Cell, options: RunOptions): Promise<CellResult> {
  const { target } = options
  if (target.bases[cell.caller.name] === undefined || (!target.translates && cell.caller !== cell.upstream)) {
    const says = 'The target has the endpoint and the feature.'
    return { cell, checks: [single(cell, 'answer.supported', 'unsupported', says, 'The peer does not claim it.')] }
  }
  try {
    const record = await exchangeOf(cell, options)
    return { cell, checks: judge(cell, record, target.lossHeader), record }
  } catch (fault) {
    const detail = (fault as Error).stack ?? String(fault)
    return { cell, checks: [single(cell, 'harness', 'harness-error', 'The kit itself works.', detail)] }
  }
}

/** Runs the wanted cells one after another. Stops early, with what ran, when the signal is aborted. */
export async function run(options: RunOptions): Promise<CellResult[]> {
  const cells = cellsOf(options)
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
