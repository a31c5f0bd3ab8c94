import type { Cell } from '../../../src/kit/conformance/cells.ts'
import { isJson } from '../../../src/kit/conformance/content-types.ts'
import type { ReceivedAnswer } from '../../../src/kit/conformance/exchange.ts'
import type { FormFile } from '../../../src/kit/conformance/format.ts'
import { type JsonObject, objectOf } from '../../../src/kit/conformance/json.ts'
import type { StepRecord } from '../../../src/kit/conformance/step-record.ts'
import type { Arrival } from '../../../src/kit/conformance/upstream.ts'
import { byteMutants, type Mutant, mutantsOf, streamMutants, textMutants } from './mutants.ts'

/* Records of a faulty target: those of a correct one with one change. */

export interface RecordMutant extends Mutant<readonly StepRecord[]> {
  readonly side: 'request' | 'answer' | 'error' | 'stream'
}

/** Returns copies of headers without one of them, or with another value of one of them. */
function* headerMutants(headers: { readonly [name: string]: string }): Generator<Mutant<{ [name: string]: string }>> {
  for (const [name, value] of Object.entries(headers)) {
    const { [name]: _, ...others } = headers
    yield { kind: 'header dropped', place: name, value: others }
    yield { kind: 'header emptied', place: name, value: { ...headers, [name]: '' } }
    yield { kind: 'header changed', place: name, value: { ...headers, [name]: `x${value}` } }
  }
}

function* fileMutants(files: readonly FormFile[]): Generator<Mutant<readonly FormFile[]>> {
  for (const [index, file] of files.entries()) {
    const place = `file ${file.field}`
    yield { kind: 'dropped', place, value: files.toSpliced(index, 1) }
    yield { kind: 'repeated', place, value: files.toSpliced(index, 0, file) }
    const next = files[index + 1]
    if (next !== undefined && !next.bytes.equals(file.bytes))
      yield { kind: 'swapped', place, value: files.toSpliced(index, 2, next, file) }
    yield { kind: 'renamed', place, value: files.with(index, { ...file, field: 'other' }) }
    yield { kind: 'file renamed', place, value: files.with(index, { ...file, name: 'other' }) }
    yield { kind: 'retyped', place, value: files.with(index, { ...file, type: 'application/x-other' }) }
    for (const { value: bytes, ...mutant } of byteMutants(file.bytes))
      yield { ...mutant, place: `${place} ${mutant.place}`, value: files.with(index, { ...file, bytes }) }
  }
}

function* arrivalMutants(arrival: Arrival): Generator<Mutant<Arrival>> {
  const { sent, body, files } = arrival
  const withBody = (other: JsonObject): Arrival => ({
    ...arrival,
    body: other,
    sent: { ...sent, body: Buffer.from(JSON.stringify(other)) },
  })
  for (const { value, ...mutant } of mutantsOf(body))
    if (mutant.place !== '') yield { ...mutant, value: withBody(objectOf(value)) }
  yield { kind: 'emptied', place: 'body', value: withBody({}) }
  for (const { value, ...mutant } of headerMutants(sent.headers))
    yield { ...mutant, value: { ...arrival, sent: { ...sent, headers: value } } }
  if (files !== undefined)
    for (const { value, ...mutant } of fileMutants(files)) yield { ...mutant, value: { ...arrival, files: value } }
}

const STATUSES = [200, 201, 204, 400, 401, 403, 404, 413, 422, 429, 500, 502, 503, 529]

function* answerMutants(cell: Cell, got: ReceivedAnswer): Generator<Mutant<ReceivedAnswer>> {
  const type = got.headers['content-type'] ?? ''
  for (const status of STATUSES)
    if (status !== got.status) yield { kind: 'status', place: `${got.status} to ${status}`, value: { ...got, status } }
  if (cell.caller.turns === undefined)
    for (const { value, ...mutant } of headerMutants(got.headers))
      yield { ...mutant, value: { ...got, headers: value } }
  const text = got.body.toString('utf8')
  const texts = type.startsWith('text/event-stream')
    ? streamMutants(text)
    : isJson(type)
      ? textMutants(text)
      : undefined
  if (texts === undefined)
    for (const { value, ...mutant } of byteMutants(got.body)) yield { ...mutant, value: { ...got, body: value } }
  else for (const { value, ...mutant } of texts) yield { ...mutant, value: { ...got, body: Buffer.from(value) } }
  if (got.isComplete) yield { kind: 'incomplete', place: 'body', value: { ...got, isComplete: false } }
}

/** Returns the records of every faulty target that differs from a correct one in a single place of a single step. */
export function* recordMutants(cell: Cell, records: readonly StepRecord[]): Generator<RecordMutant> {
  for (const [index, record] of records.entries()) {
    const [arrival] = record.arrivals
    const put = (other: Partial<StepRecord>): readonly StepRecord[] => records.with(index, { ...record, ...other })
    for (const { value, kind, place } of arrivalMutants(arrival!))
      yield { side: 'request', kind, place: place, value: put({ arrivals: [value] }) }
    yield { side: 'request', kind: 'dropped', place: 'request', value: put({ arrivals: [] }) }
    yield { side: 'request', kind: 'repeated', place: 'request', value: put({ arrivals: [arrival!, arrival!] }) }
    const { got } = record.exchange
    if (got === undefined) continue
    const side = got.status >= 400 ? 'error' : cell.mode === 'stream' ? 'stream' : 'answer'
    for (const { value, kind, place } of answerMutants(cell, got)) {
      const fault = value.isComplete ? {} : { fault: { kind: 'http.closed', detail: 'closed' } as const }
      yield { side, kind, place: place, value: put({ exchange: { ...record.exchange, ...fault, got: value } }) }
    }
  }
}
