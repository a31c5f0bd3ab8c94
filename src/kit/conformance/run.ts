import { type Cell, type CellSelection, cellsOf } from './cells.ts'
import { BOUNDS, type Bounds, send } from './client.ts'
import type { Exchange } from './exchange.ts'
import type { Headers } from './format.ts'
import { type JsonObject, objectOf, parseJson } from './json.ts'
import { judge } from './judge.ts'
import { type CellResult, type CellRunOptions, runCells, type Target, upstreamHeaders } from './run-cells.ts'
import { stepsOf } from './scenario.ts'
import { wireFor } from './scenario-files.ts'
import { TurnCaller } from './sockets/turn-caller.ts'
import { clientHeaders, versionOf } from './specs.ts'
import { readSse } from './sse.ts'
import type { StepRecord } from './step-record.ts'
import { encodeRequest, requestOnWire } from './step-request.ts'
import type { Upstream } from './upstream.ts'

export interface RunOptions extends CellSelection, CellRunOptions {
  /** The kit's upstream. Absent in live mode. */
  readonly upstream?: Upstream
  readonly bounds?: Bounds
}

/** Interval between two polls of a job's state, in milliseconds. */
const POLL_INTERVAL_MS = 100
/** Time limit for polling a job, in milliseconds. */
const POLL_TIMEOUT_MS = 10_000

/** Repeats a request until the answer has the given fields, is an error, or the time is up. */
async function sendUntil(fields: JsonObject | undefined, sends: () => Promise<Exchange>): Promise<Exchange> {
  const deadline = performance.now() + POLL_TIMEOUT_MS
  for (;;) {
    const exchange = await sends()
    const { got } = exchange
    const body = objectOf(parseJson(got?.body.toString('utf8') ?? ''))
    const isReached = Object.entries(fields ?? {}).every(([name, value]) => body[name] === value)
    if (isReached || got === undefined || got.status >= 400 || performance.now() > deadline) return exchange
    await new Promise(resolve => setTimeout(resolve, POLL_INTERVAL_MS))
  }
}

/** Headers of a cell's caller, including the headers that select the upstream. */
const headersOf = (cell: Cell, target: Target): Headers => ({
  ...clientHeaders(cell.caller, target.key, target.specs),
  ...upstreamHeaders(cell, target),
})

/** Opens the WebSocket of a cell if the caller's format uses one. */
function connectionOf(cell: Cell, { target, bounds = BOUNDS }: RunOptions): TurnCaller | undefined {
  const { turns, name, path } = cell.caller
  const { lossEvent: event, lossHeader: header } = target
  if (turns === undefined) return undefined
  return new TurnCaller({
    ...{ url: `${target.bases[name]}${path('', true, {})}`, headers: headersOf(cell, target), turns, bounds },
    ...(event === undefined || header === undefined ? {} : { losses: { event, header } }),
  })
}

/** Runs one step of a cell. The answers of earlier steps fill in the placeholders of its request. */
async function stepOf(
  cell: Cell,
  { target, upstream, bounds }: RunOptions,
  answers: readonly JsonObject[],
  connection: TurnCaller | undefined,
): Promise<StepRecord> {
  const { caller, scenario, mode } = cell
  const model = target.model(cell.upstream?.name)
  const stepRequest = wireFor(scenario.wires, caller)!.request
  // Requests that test a refusal are sent as written. All other requests leave out what the version refuses.
  const version = caller.name in scenario.refusedBy ? undefined : versionOf(caller, target.specs)
  const request = requestOnWire(caller, stepRequest, mode === 'stream', { model, answers, version })
  upstream?.play(scenario)
  const { type, bytes } = await encodeRequest(request)
  const contentType = type === undefined ? {} : { 'content-type': type }
  const sent = {
    method: request.method,
    url: `${target.bases[caller.name]}${request.path}`,
    headers: { ...contentType, ...headersOf(cell, target) },
    body: bytes,
  }
  const behaviour = { ...scenario.caller, arrived: upstream?.firstArrival }
  const exchange = await sendUntil(
    stepRequest.until,
    () => connection?.send(request.body, behaviour) ?? send(sent, bounds ?? BOUNDS, behaviour),
  )
  await upstream?.settled()
  return { exchange, request: request, arrivals: upstream?.arrived ?? [], strays: upstream?.strays ?? [] }
}

/** Returns the answer of a step as one JSON object. Later steps take values from it. */
function answerIn({ exchange: { got }, request }: StepRecord, { caller }: Cell): JsonObject {
  const body = got?.body ?? Buffer.alloc(0)
  if (request.body['stream'] !== true || caller.assemble === undefined)
    return objectOf(parseJson(body.toString('utf8')))
  return caller.assemble(readSse(body).events.flatMap(({ data }) => parseJson(data) ?? []))
}

/**
 * Returns true to continue with the next step, which needs a successful answer or the error that the scenario expects.
 */
function continues({ exchange: { got } }: StepRecord, { scenario, caller }: Cell): boolean {
  if (got === undefined) return false
  return got.status < 400 || wireFor(scenario.wires, caller)!.error !== undefined
}

/** Runs the steps of a cell until one fails. */
async function recordOf(cell: Cell, options: RunOptions): Promise<readonly [StepRecord, ...StepRecord[]]> {
  const [first, ...later] = stepsOf(cell.scenario).map(scenario => ({ ...cell, scenario }))
  const connection = connectionOf(cell, options)
  try {
    const records: [StepRecord, ...StepRecord[]] = [await stepOf(first!, options, [], connection)]
    let previous = first!
    for (const step of later) {
      if (!continues(records.at(-1)!, previous)) break
      const answers = records.map(record => answerIn(record, cell))
      records.push(await stepOf(step, options, answers, connection))
      previous = step
    }
    return records
  } finally {
    connection?.close()
  }
}

export const run = (options: RunOptions): Promise<CellResult[]> =>
  runCells(cellsOf(options), options, async cell => {
    const records = await recordOf(cell, options)
    const [record, ...later] = records
    const checks = judge(cell, records, options.target.lossHeader)
    return { checks, record: later.length === 0 ? record : { ...record, later } }
  })
