import { askedOf, encoded } from './asked.ts'
import { type Cell, cellsOf, type Wanted } from './cells.ts'
import { BOUNDS, type Bounds, send } from './client.ts'
import type { Exchange } from './exchange.ts'
import { type JsonObject, objectOf, parsed } from './json.ts'
import { judge } from './judge.ts'
import { type CellResult, type CellRunOptions, callerHeaders, runCells } from './run-cells.ts'
import { stepsOf } from './scenario.ts'
import type { StepRecord } from './step-record.ts'
import type { Upstream } from './upstream.ts'

export interface RunOptions extends Wanted, CellRunOptions {
  /** The kit's upstream. None in live mode. */
  readonly upstream?: Upstream
  readonly bounds?: Bounds
}

/** ms between two questions for the state of a job, and ms after which the last answer counts. */
const POLLED_EVERY = 100
const POLLED_WITHIN = 10_000

/** Repeats a request until its answer has the fields, or says that there is none, or the time is over. */
async function sentUntil(fields: JsonObject | undefined, sends: () => Promise<Exchange>): Promise<Exchange> {
  const deadline = performance.now() + POLLED_WITHIN
  for (;;) {
    const exchange = await sends()
    const { got } = exchange
    const body = objectOf(parsed(got?.body.toString('utf8') ?? ''))
    const isReached = Object.entries(fields ?? {}).every(([name, value]) => body[name] === value)
    if (isReached || got === undefined || got.status >= 400 || performance.now() > deadline) return exchange
    await new Promise(resolve => setTimeout(resolve, POLLED_EVERY))
  }
}

/** Runs one step of a cell. The answers of the steps before it fill in the placeholders of its request. */
async function stepOf(
  cell: Cell,
  { target, upstream, bounds }: RunOptions,
  answers: readonly JsonObject[],
): Promise<StepRecord> {
  const { caller, scenario, mode } = cell
  const model = target.model(cell.upstream?.name)
  const written = scenario.wires[caller.name]!.request
  const asked = askedOf(caller, written, mode === 'stream', { model, answers })
  upstream?.play(scenario)
  const { type, bytes } = await encoded(asked)
  const typed = type === undefined ? {} : { 'content-type': type }
  const sent = {
    method: asked.method,
    url: `${target.bases[caller.name]}${asked.path}`,
    headers: { ...typed, ...callerHeaders(cell, target) },
    body: bytes,
  }
  const exchange = await sentUntil(written.until, () => send(sent, bounds ?? BOUNDS, scenario.caller))
  await upstream?.settled()
  return { exchange, asked, arrivals: upstream?.arrived ?? [], strays: upstream?.strays ?? [] }
}

/** Runs the steps of a cell, up to the first that is not answered with success. */
async function recordOf(cell: Cell, options: RunOptions): Promise<readonly [StepRecord, ...StepRecord[]]> {
  const [first, ...later] = stepsOf(cell.scenario)
  const records: [StepRecord, ...StepRecord[]] = [await stepOf({ ...cell, scenario: first! }, options, [])]
  for (const scenario of later) {
    const { got } = records.at(-1)!.exchange
    if (got === undefined || got.status >= 400) break
    const answers = records.map(({ exchange }) => objectOf(parsed(exchange.got!.body.toString('utf8'))))
    records.push(await stepOf({ ...cell, scenario }, options, answers))
  }
  return records
}

/** Runs the selected exchanges. */
export const run = (options: RunOptions): Promise<CellResult[]> =>
  runCells(cellsOf(options), options, async cell => {
    const records = await recordOf(cell, options)
    const [record, ...later] = records
    const checks = judge(cell, records, options.target.lossHeader)
    return { checks, record: later.length === 0 ? record : { ...record, later } }
  })
