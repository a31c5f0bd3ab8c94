import { type Cell, cellsOf, type Wanted } from './cells.ts'
import { BOUNDS, type Bounds, send } from './client.ts'
import { type CellRecord, judge } from './judge.ts'
import { type CellResult, type CellRunOptions, runCells } from './run-cells.ts'
import type { Upstream } from './upstream.ts'

export interface RunOptions extends Wanted, CellRunOptions {
  /** Plays the upstream; none in live mode. */
  readonly upstream?: Upstream
  readonly bounds?: Bounds
}

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

/** Runs the wanted exchanges. */
export const run = (options: RunOptions): Promise<CellResult[]> =>
  runCells(cellsOf(options), options, async cell => {
    const record = await exchangeOf(cell, options)
    return { checks: judge(cell, record, options.target.lossHeader), record }
  })
