import { askedOf } from './asked.ts'
import type { Cell } from './cells.ts'
import type { CheckList } from './check-list.ts'
import { compare, type FactVerdict } from './compare.ts'
import type { GotAnswer } from './exchange.ts'
import { leavesOf } from './facts.ts'
import type { Asked, Format } from './format.ts'
import { type JsonObject, objectOf, parsed } from './json.ts'
import { factsOfAnswer } from './judge-answer.ts'
import { judgeRequestForm } from './judge-form.ts'
import type { Scenario } from './scenario.ts'
import { wireFor } from './scenario-files.ts'
import type { StepRecord } from './step-record.ts'
import type { Arrival } from './upstream.ts'

/* Judges the requests that reached the upstream. */

const OURS = 'docs/decisions/2026-11-23-conformance-kit.md'

const ARRIVED = {
  id: 'arrives',
  level: 'must',
  source: OURS,
  says: 'A request reaches the upstream in the upstream’s format.',
} as const
const ONCE = {
  id: 'once',
  level: 'should',
  source: OURS,
  says: 'Each request of the caller causes one request to the upstream.',
} as const

/** Maximum number of stray requests listed in a check. */
const MOST_STRAYS = 5

/** Returns true if the status invites retries. Several requests are then fine. */
const isRetried = ({ status }: Arrival): boolean => status === 429 || status >= 500

/** Returns the format's answers to the earlier steps. They contain the ids that the upstream issued. */
const answersBefore = (format: Format, { earlier }: Scenario): JsonObject[] =>
  earlier.map(wires => objectOf(parsed(wireFor(wires, format)?.whole?.toString('utf8') ?? '')))

/**
 * Returns the caller's request as a single request in the upstream's format. Includes the earlier turns of a
 * connection, which an upstream over HTTP never received.
 */
function sourceOf({ caller, upstream, scenario: { wires } }: Cell, asked: Asked): Asked {
  const { files = caller.name, turns } = caller
  const whole = wires[files]?.request
  if (turns === undefined || upstream?.turns !== undefined || whole === undefined || files === caller.name) return asked
  return askedOf(caller, whole, true, { model: 'm', answers: [] })
}

/** Judges the requests that reached the upstream. `isReported` is true if the target reported losses to its caller. */
export function judgeRequest(
  cell: Cell,
  { arrivals, strays, asked, exchange }: StepRecord,
  isReported: boolean,
  list: CheckList,
): void {
  const { caller, upstream, scenario, mode } = cell
  if (upstream === undefined) return
  const { name } = upstream
  const written = wireFor(scenario.wires, upstream)!.request
  const known = { model: 'm', answers: answersBefore(upstream, scenario) }
  const { path: expectedPath } = askedOf(upstream, written, mode === 'stream', known)
  // A target may ask for the states of other jobs at the same time.
  const inFormat = arrivals.filter(({ format }) => format === name)
  const arrival = inFormat.find(({ path }) => path === expectedPath) ?? inFormat[0]
  const others = [
    ...arrivals.map(({ format, path }) => `A request arrived at ${path} (${format}).`),
    ...strays.slice(0, MOST_STRAYS).map(({ method, url }) => `${method} ${url} is not a path of the format.`),
  ]
  list.rule('request', ARRIVED, arrival === undefined ? [...others, 'None arrived in the format of the upstream.'] : [])
  if (arrival === undefined) return
  // A target may poll the state of a job as often as it likes.
  const tooMany = arrivals.length > 1 && !isRetried(arrival) && asked.method === 'POST'
  list.rule('request', ONCE, tooMany ? [`${arrivals.length} requests came.`] : [])
  const { path, files } = arrival
  const { method, headers } = arrival.sent
  const expected = askedOf(upstream, written, mode === 'stream', { ...known, version: upstream.versions?.of(headers) })
  const body = upstream.asRead?.request(arrival.body) ?? arrival.body
  const arrived = { method, path, body: arrival.body, files }
  judgeRequestForm(upstream, arrived, headers, list)
  const facts = (format: Format, asked: Asked) =>
    leavesOf(format.request(asked.body, asked.path, asked.files, asked.method))
  const verdicts = compare({
    source: facts(caller, sourceOf(cell, asked)),
    reachable: facts(upstream, expected),
    found: facts(upstream, { ...arrived, body }),
    isNative: caller === upstream,
  })
  list.facts(
    'request',
    verdicts.flatMap(verdict => verdictByAnswer(verdict, cell, exchange.got) ?? []),
    isReported,
  )
}

/**
 * Judges a fact that the upstream's format cannot express. The fact is kept if the answer shows that the target itself
 * did what the request asked for. An error leaves the verdict open, because it shows nothing about the answer.
 */
function verdictByAnswer(verdict: FactVerdict, cell: Cell, got: GotAnswer | undefined): FactVerdict | undefined {
  const { fate, sayable, path } = verdict
  const { caller, upstream, scenario } = cell
  if (fate !== 'lost' || sayable) return verdict
  if (wireFor(scenario.wires, caller)!.error !== undefined) return undefined
  const shown = scenario.differences.find(
    ({ fact, formats }) => fact === `request.${path}` && formats.includes(upstream!.name),
  )?.shown_by
  const isShown = shown !== undefined && got !== undefined && leavesOf({ answer: factsOfAnswer(cell, got) }).has(shown)
  return isShown ? { ...verdict, fate: 'kept' } : verdict
}
