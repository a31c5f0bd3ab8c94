import type { Cell } from '../../../src/kit/conformance/cells.ts'
import type { ReceivedAnswer } from '../../../src/kit/conformance/exchange.ts'
import { baseFormatOf, type Format } from '../../../src/kit/conformance/format.ts'
import { type JsonObject, objectOf, parseJson } from '../../../src/kit/conformance/json.ts'
import { stepsOf } from '../../../src/kit/conformance/scenario.ts'
import { wireFor } from '../../../src/kit/conformance/scenario-files.ts'
import { clientHeaders, versionOf } from '../../../src/kit/conformance/specs.ts'
import { readSse } from '../../../src/kit/conformance/sse.ts'
import type { StepRecord } from '../../../src/kit/conformance/step-record.ts'
import { encodeRequest, requestOnWire } from '../../../src/kit/conformance/step-request.ts'
import { type Arrival, streamOf, wholeOf } from '../../../src/kit/conformance/upstream.ts'

/*
 * Records of a target that translates as the hand-written files of the scenarios do: the upstream gets the request of
 * its own files, the caller the answer of its own.
 */

const TYPE = 'content-type'

/** Returns the answers to the steps before, as a later step's placeholders take values from them. */
const answersBefore = ({ scenario, mode }: Cell, format: Format): JsonObject[] =>
  scenario.earlier.map(wires => {
    const wire = wireFor(wires, format)
    const isStreamed = mode === 'stream' && format.assemble !== undefined && wire?.stream !== undefined
    return isStreamed
      ? format.assemble!(readSse(wire!.stream!).events.flatMap(({ data }) => parseJson(data) ?? []))
      : objectOf(parseJson(wire?.whole?.toString('utf8') ?? ''))
  })

async function sentBy(cell: Cell, format: Format, model: string, version: string | undefined) {
  const { scenario, mode } = cell
  const written = wireFor(scenario.wires, format)!.request
  const values = { model, answers: answersBefore(cell, format), version }
  const request = requestOnWire(format, written, mode === 'stream', values)
  const { type, bytes } = await encodeRequest(request)
  const headers = { ...(type === undefined ? {} : { [TYPE]: type }), ...clientHeaders(format, 'kit-key', undefined) }
  return { request, sent: { method: request.method, url: request.path, headers, body: bytes } }
}

/** Returns the hand-written answer of a format to a request. */
function answerTo(cell: Cell, format: Format, request: { path: string; body: JsonObject }): ReceivedAnswer | undefined {
  const { scenario, mode } = cell
  const wire = wireFor(scenario.wires, format)!
  if (wire.error !== undefined) {
    const { status, headers, body } = wire.error
    const rest = { headers: { [TYPE]: 'application/json', ...headers }, trailers: {}, isComplete: true }
    return { status, ...rest, body: Buffer.from(JSON.stringify(body)) }
  }
  const isStreamed = mode === 'stream' && format.assemble !== undefined
  const { bytes, type } = isStreamed
    ? streamOf(wire.stream, format, request)
    : { bytes: wholeOf(wire.whole, format, request.path), type: wire.type }
  if (bytes === undefined) return undefined
  const { cut_at: cut } = scenario.upstream
  const body = cut === undefined ? bytes : bytes.subarray(0, Math.floor(bytes.length * cut))
  return { status: 200, headers: { [TYPE]: type! }, trailers: {}, body, isComplete: cut === undefined }
}

async function recordOf(cell: Cell): Promise<StepRecord> {
  const { caller, upstream, scenario } = cell
  const version = caller.name in scenario.refusedBy ? undefined : versionOf(caller, undefined)
  const { sent, request } = await sentBy(cell, caller, 'kit', version)
  const got = answerTo(cell, caller, request)
  const fault = got?.isComplete === false ? { kind: 'http.closed', detail: 'The connection was closed.' } : undefined
  const exchange = { sent, ...(got && { got }), ...(fault && { fault: fault as never }), firstByte: 0, took: 1 }
  const target = upstream ?? caller
  const upstreamVersion = target.versions?.names[0]
  const up = await sentBy(cell, target, `kit-${baseFormatOf(target)}`, upstreamVersion)
  const answered = answerTo(cell, target, up.request)
  const arrival: Arrival = {
    ...{ format: target.name, path: up.request.path, sent: up.sent, body: up.request.body, files: up.request.files },
    ...{ stream: cell.mode === 'stream', status: answered?.status ?? 200 },
    end: { wasClosed: scenario.caller.leaves_after !== undefined, resumed: 1 },
  }
  return { exchange, request, arrivals: [arrival], strays: [] }
}

/** Returns the records of a cell whose target translates as the hand-written files do. */
export const idealRecords = (cell: Cell): Promise<readonly StepRecord[]> =>
  Promise.all(stepsOf(cell.scenario).map(scenario => recordOf({ ...cell, scenario })))
