import { setTimeout as sleep } from 'node:timers/promises'
import { callerOf, callersBeside, inWordsOf } from './callers.ts'
import { type Cell, type CellSelection, cellsOf } from './cells.ts'
import { BOUNDS, type Bounds, send } from './client.ts'
import { retryAfterOf } from './error-facts.ts'
import type { Exchange, SentRequest } from './exchange.ts'
import type { Headers, RequestOnWire } from './format.ts'
import { type JsonObject, objectOf, parseJson } from './json.ts'
import { judge } from './judge.ts'
import { type CellResult, type CellRunOptions, runCells, type Target, upstreamHeaders } from './run-cells.ts'
import { stepsOf } from './scenario.ts'
import { wireFor } from './scenario-files.ts'
import { TurnCaller } from './sockets/turn-caller.ts'
import { clientHeaders, versionOf } from './specs.ts'
import { readSse } from './sse.ts'
import type { CallerRecord, StepRecord } from './step-record.ts'
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

/** Maximum number of times that a live target may limit the rate of one request. */
const MAX_LIMITED = 4
/** Waits after the first refusal, and at most, in seconds, if the target states none or a longer one. */
const LIMIT_WAITS = { first: 1, most: 30 } as const

/**
 * Repeats a request that a live target refuses because of its rate limit, which says nothing about its formats. The
 * kit's own upstream limits a rate only where a scenario tests it.
 */
async function sendWithinLimits(sends: () => Promise<Exchange>, signal: AbortSignal | undefined): Promise<Exchange> {
  for (let refusals = 0; ; refusals++) {
    const exchange = await sends()
    const { got } = exchange
    if (got?.status !== 429 || refusals === MAX_LIMITED || signal?.aborted) return exchange
    const seconds = retryAfterOf(got.headers) ?? LIMIT_WAITS.first * 2 ** refusals
    await sleep(Math.min(Math.max(0, seconds), LIMIT_WAITS.most) * 1000, undefined, signal && { signal }).catch(
      () => {},
    )
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

/** Sends the request of a cell for its other callers, each over a connection of its own. */
const sendBeside = (
  cell: Cell,
  options: RunOptions,
  requestOf: (caller: number) => Promise<CallerRequest>,
): Promise<Exchange>[] =>
  callersBeside(cell.scenario).map(async caller => {
    const { sent } = await requestOf(caller)
    const connection = connectionOf(cell, options)
    if (connection === undefined) return send(sent, options.bounds ?? BOUNDS)
    const exchange = await connection.send(objectOf(parseJson(sent.body.toString('utf8'))))
    connection.close()
    return exchange
  })

/** Returns the records of the other callers, whose exchanges have ended. */
function besideOf(exchanges: readonly Exchange[], { arrivedBeside }: Upstream): CallerRecord[] {
  return exchanges.map((exchange, index) => ({
    exchange,
    arrivals: arrivedBeside.filter(({ sent }) => callerOf(sent.body) === index + 1),
  }))
}

/** The request of a caller, and the message with its bytes. */
interface CallerRequest {
  readonly request: RequestOnWire
  readonly sent: SentRequest
}

/** Returns the request of a step for one of its callers. The answers of earlier steps fill in its placeholders. */
async function requestOf(
  cell: Cell,
  target: Target,
  answers: readonly JsonObject[],
  callerNumber: number,
): Promise<CallerRequest> {
  const { caller, scenario, mode } = cell
  const model = target.model(cell.upstream?.name)
  // Requests that test a refusal are sent as written. All other requests leave out what the version refuses.
  const version = caller.name in scenario.refusedBy ? undefined : versionOf(caller, target.specs)
  const written = wireFor(scenario.wires, caller)!.request
  const request = requestOnWire(caller, written, mode === 'stream', { model, answers, version })
  const { type, bytes } = await encodeRequest(request)
  const contentType = type === undefined ? {} : { 'content-type': type }
  const sent = {
    method: request.method,
    url: `${target.bases[caller.name]}${request.path}`,
    headers: { ...contentType, ...headersOf(cell, target) },
    body: inWordsOf(callerNumber, bytes),
  }
  return { request, sent }
}

/** Runs one step of a cell, after the records of the steps before. */
async function stepOf(
  cell: Cell,
  options: RunOptions,
  before: readonly StepRecord[],
  connection: TurnCaller | undefined,
): Promise<StepRecord> {
  const { target, upstream, bounds, signal } = options
  const { caller, scenario } = cell
  const requestOfCaller = (number: number): Promise<CallerRequest> =>
    requestOf(
      cell,
      target,
      before.map(record => answerIn(record.beside?.[number - 1]?.exchange ?? record.exchange, cell)),
      number,
    )
  const { until } = wireFor(scenario.wires, caller)!.request
  const { request, sent } = await requestOfCaller(0)
  upstream?.play(scenario)
  const behaviour = { ...scenario.caller, arrived: upstream?.firstArrival }
  const sendOnce = () => connection?.send(request.body, behaviour) ?? send(sent, bounds ?? BOUNDS, behaviour)
  if (upstream === undefined) {
    const exchange = await sendUntil(until, () => sendWithinLimits(sendOnce, signal))
    return { exchange, request, arrivals: [], strays: [] }
  }
  const sending = sendUntil(until, sendOnce)
  const others = await Promise.all(sendBeside(cell, options, requestOfCaller))
  const exchange = await sending
  await upstream.settled()
  const beside = others.length === 0 ? {} : { beside: besideOf(others, upstream) }
  return { exchange, request, arrivals: upstream.arrived, strays: upstream.strays, ...beside }
}

/** Returns the answer of a step to one caller as one JSON object. Later steps take values from it. */
function answerIn({ got }: Exchange, { caller, mode }: Cell): JsonObject {
  const body = got?.body ?? Buffer.alloc(0)
  if (mode !== 'stream' || caller.assemble === undefined) return objectOf(parseJson(body.toString('utf8')))
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
      records.push(await stepOf(step, options, records, connection))
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
    const { lossHeader, keys } = options.target
    const checks = judge(cell, records, { lossHeader, keys })
    return { checks, record: later.length === 0 ? record : { ...record, later } }
  })
