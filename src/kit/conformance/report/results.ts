import { type Check, type Counts, countsOf, type Meaning } from '../checks.ts'
import type { Headers } from '../format.ts'
import type { CellResult, Target, WireRecord } from '../run-cells.ts'
import { type SpecDocument, specDocuments } from './judged-by.ts'
import { redactor, withTexts } from './secrets.ts'

/* The results document of a run. All other reports are derived from it. */

/** One message on the wire, without credentials. Long bodies are truncated. */
export interface Dump {
  readonly head: string
  readonly headers: Headers
  /** Trailer fields after the body, if there are any. */
  readonly trailers?: Headers
  readonly body: string
  /** Size of the complete body, in bytes. */
  readonly bytes: number
}

export interface CellDocument {
  readonly id: string
  readonly caller: string
  readonly upstream?: string
  /** Kind of work that the cell's caller requests. Absent for sessions. */
  readonly work?: string
  readonly scenario: string
  readonly mode: string
  /** Duration in milliseconds. */
  readonly took?: number
  /** Command that runs this cell alone. */
  readonly command: string
  /** Wire dumps, for cells in which a check did not pass. */
  readonly wire?: WireDocument & {
    /** Wire dumps of the steps after the first. */
    readonly later?: readonly WireDocument[]
  }
}

export interface WireDocument {
  readonly request: Dump
  readonly answer?: Dump
  readonly upstream: readonly Dump[]
  readonly fault?: string
  /** Wire dumps of the other callers at the same time. */
  readonly beside?: readonly WireDocument[]
}

export interface Results {
  readonly schema: 'interlingua-conformance-1'
  readonly kit: string
  readonly started: string
  readonly mode: 'live' | 'translation'
  /** True if the run ended before all its cells had run. */
  readonly interrupted?: true
  /** `peer` names the folder with the target's configuration. */
  readonly target: { readonly name: string; readonly version?: string; readonly peer?: string }
  /** Version and schema source of each format in the run. */
  readonly specs?: { readonly [format: string]: SpecDocument }
  readonly counts: Counts
  readonly meanings: { readonly [meaning in Meaning]?: number }
  readonly cells: readonly CellDocument[]
  readonly checks: readonly Check[]
}

/** Maximum length of a dumped body, in characters. */
const MAX_BODY_LENGTH = 16_384

/** Maximum number of bytes per character in UTF-8. */
const MAX_BYTES_PER_CHARACTER = 4

/** Names of headers that hold credentials. */
const SECRET_HEADER = /(^|[-_])(authorization|auth|cookie|key|token|secret|password|credential)$/i

const redacted = (headers: Headers): Headers =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, SECRET_HEADER.test(name) ? '[redacted]' : value]),
  )

function dumpOf(head: string, headers: Headers, body: Buffer, trailers: Headers = {}): Dump {
  const text = body.subarray(0, MAX_BODY_LENGTH * MAX_BYTES_PER_CHARACTER).toString('utf8')
  const cut = text.length > MAX_BODY_LENGTH ? `${text.slice(0, MAX_BODY_LENGTH)}… (cut)` : text
  return {
    ...{ head, headers: redacted(headers), body: cut, bytes: body.length },
    ...(Object.keys(trailers).length === 0 ? {} : { trailers: redacted(trailers) }),
  }
}

function wireOf(record: WireRecord): NonNullable<CellDocument['wire']> {
  const { sent, got, fault } = record.exchange
  return {
    request: dumpOf(`${sent.method} ${sent.url}`, sent.headers, sent.body),
    ...(got === undefined ? {} : { answer: dumpOf(`HTTP ${got.status}`, got.headers, got.body, got.trailers) }),
    upstream: [...record.arrivals.map(arrival => arrival.sent), ...(record.strays ?? [])].map(
      ({ method, url, headers, body }) => dumpOf(`${method} ${url}`, headers, body),
    ),
    ...(fault === undefined ? {} : { fault: `${fault.kind}: ${fault.detail}` }),
    ...(record.beside === undefined ? {} : { beside: record.beside.map(wireOf) }),
    ...(record.later === undefined ? {} : { later: record.later.map(wireOf) }),
  }
}

export interface RunFacts {
  readonly kit: string
  readonly started: Date
  readonly target: Target
  /** Command line of the run, without the selection of cells and without the key. */
  readonly command: string
  readonly isInterrupted?: boolean
}

function cellDocument(result: CellResult, { command }: RunFacts): CellDocument {
  const { caller, upstream, scenario, mode, id } = result.cell
  const { record } = result
  const took = record?.exchange.took
  const hasPassed = result.checks.every(({ status }) => status === 'pass')
  const wire = hasPassed || record === undefined ? undefined : wireOf(record)
  return {
    ...{ id, caller: caller.name, scenario: scenario.id, mode },
    ...(upstream === undefined ? {} : { upstream: upstream.name }),
    ...(caller.work === undefined ? {} : { work: caller.work }),
    ...(took === undefined ? {} : { took }),
    command: `${command} --only '${id}'`,
    ...(wire === undefined ? {} : { wire }),
  }
}

/**
 * Builds the results document of a run, without the target's key and configured secrets. Schema:
 * `conformance/results.schema.json`.
 */
export function resultsOf(results: readonly CellResult[], facts: RunFacts): Results {
  const { kit, started, target } = facts
  const checks = results.flatMap(result => result.checks)
  const meanings = Object.groupBy(
    checks.flatMap(({ meaning }) => meaning ?? []),
    meaning => meaning,
  )
  const document: Results = {
    ...{ schema: 'interlingua-conformance-1', kit, started: started.toISOString() },
    mode: results.some(({ cell }) => cell.upstream !== undefined) ? 'translation' : 'live',
    ...(facts.isInterrupted ? { interrupted: true as const } : {}),
    target: {
      name: target.name,
      ...(target.version === undefined ? {} : { version: target.version }),
      ...(target.peer === undefined ? {} : { peer: target.peer }),
    },
    specs: specDocuments(results, target),
    counts: countsOf(checks),
    meanings: Object.fromEntries(Object.entries(meanings).map(([meaning, list]) => [meaning, list.length])),
    cells: results.map(result => cellDocument(result, facts)),
    checks,
  }
  return withTexts(document, redactor(target.key, ...(target.secrets ?? [])))
}
