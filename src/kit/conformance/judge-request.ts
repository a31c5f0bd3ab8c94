import type { Cell } from './cells.ts'
import type { CheckList } from './check-list.ts'
import { compare, type FactVerdict } from './compare.ts'
import type { ReceivedAnswer } from './exchange.ts'
import { leavesOf } from './facts.ts'
import type { Format, RequestOnWire, Work } from './format.ts'
import { type Json, type JsonObject, objectOf, parseJson } from './json.ts'
import { showsFact } from './judge-answer.ts'
import { judgeDelivery } from './judge-delivery.ts'
import { judgeRequestForm } from './judge-form.ts'
import { type LossName, reportedInRequest } from './reported-losses.ts'
import type { Scenario } from './scenario.ts'
import { wireFor } from './scenario-files.ts'
import type { StepRecord } from './step-record.ts'
import { requestOnWire } from './step-request.ts'
import { changesBetween, REQUEST_UNCHANGED } from './unchanged.ts'
import type { Arrival } from './upstream.ts'

/* Judges the requests that reached the upstream. */

const KIT_DECISION = 'docs/decisions/2026-11-23-conformance-kit.md'

const REACHES_UPSTREAM = {
  id: 'arrives',
  level: 'must',
  source: KIT_DECISION,
  says: 'A request reaches the upstream in the upstream’s format.',
} as const
const ONE_REQUEST = {
  id: 'once',
  level: 'should',
  source: KIT_DECISION,
  says: 'Each request of the caller causes one request to the upstream.',
} as const

const NOT_REPEATED = {
  id: 'repeated',
  level: 'must',
  source: KIT_DECISION,
  says: 'A request whose answer was complete is not sent again, because its tokens would be billed twice.',
} as const

/** Maximum number of stray requests listed in a check. */
const MAX_STRAYS = 5

/** Returns true if the status invites retries. Several requests are then fine. */
const invitesRetry = ({ status }: Arrival): boolean => status === 429 || status >= 500

/** Returns the format's answers to the earlier steps. They contain the ids that the upstream issued. */
const answersBefore = (format: Format, { earlier }: Scenario): JsonObject[] =>
  earlier.map(wires => objectOf(parseJson(wireFor(wires, format)?.whole?.toString('utf8') ?? '')))

/**
 * Returns the caller's request as a single request in the upstream's format. Includes the earlier turns of a
 * connection, which an upstream over HTTP never received.
 */
function sourceOf({ caller, upstream, scenario }: Cell, callerRequest: RequestOnWire): RequestOnWire {
  const { files = caller.name, turns } = caller
  const { wires } = scenario
  const wireRequest = wires[files]?.request
  if (turns === undefined || upstream?.turns !== undefined || wireRequest === undefined || files === caller.name)
    return callerRequest
  return requestOnWire(caller, wireRequest, true, { model: 'm', answers: answersBefore(caller, scenario) })
}

/** Returns the number of times that the same request was answered completely. */
const timesAnswered = ({ path, sent: { body } }: Arrival, arrivals: readonly Arrival[]): number =>
  arrivals.filter(one => one.status === 200 && one.path === path && one.sent.body.equals(body)).length

/** Kinds of work that providers do not bill. */
const FREE_WORK: readonly Work[] = ['tokens', 'models']

/** Facts of requests for several results, which a target may request one by one. */
const COUNTS = ['settings.candidates', 'settings.count']

/**
 * Returns true if a request may not be sent twice: a target may repeat an interrupted request, and one whose format has
 * no several results.
 */
const isSentOnce = ({ caller, scenario }: Cell, source: ReadonlyMap<string, Json>): boolean =>
  !FREE_WORK.includes(caller.work) &&
  !scenario.breaks &&
  Object.keys(scenario.upstream).length === 0 &&
  !COUNTS.some(count => source.has(count))

const asReadBy = ({ asRead }: Format, body: JsonObject): JsonObject => asRead?.request(body) ?? body

/** Judges the requests that reached the upstream. `losses` are those that the target reported to its caller. */
export function judgeRequest(
  cell: Cell,
  { arrivals, strays, request: callerRequest, exchange }: StepRecord,
  losses: readonly LossName[],
  list: CheckList,
): void {
  const { caller, upstream, scenario, mode } = cell
  if (upstream === undefined) return
  const { name } = upstream
  const stepRequest = wireFor(scenario.wires, upstream)!.request
  const values = { model: 'm', answers: answersBefore(upstream, scenario) }
  const { path: expectedPath } = requestOnWire(upstream, stepRequest, mode === 'stream', values)
  // A target may ask for the states of other jobs at the same time.
  const inFormat = arrivals.filter(({ format }) => format === name)
  const arrival = inFormat.find(({ path }) => path === expectedPath) ?? inFormat[0]
  const strayLines = [
    ...arrivals.map(({ format, path }) => `A request arrived at ${path} (${format}).`),
    ...strays.slice(0, MAX_STRAYS).map(({ method, url }) => `${method} ${url} is not a path of the format.`),
  ]
  list.rule(
    'request',
    REACHES_UPSTREAM,
    arrival === undefined ? [...strayLines, 'None arrived in the format of the upstream.'] : [],
  )
  if (arrival === undefined) return
  // A target may poll the state of a job as often as it likes.
  const tooMany = arrivals.length > 1 && !invitesRetry(arrival) && callerRequest.method === 'POST'
  list.rule('request', ONE_REQUEST, tooMany ? [`${arrivals.length} requests came.`] : [])
  const { path, files } = arrival
  const { method, headers } = arrival.sent
  const expected = requestOnWire(upstream, stepRequest, mode === 'stream', {
    ...values,
    version: upstream.versions?.versionOf(headers),
  })
  const body = asReadBy(upstream, arrival.body)
  const received = { method, path, body: arrival.body, files }
  judgeDelivery(upstream, arrival, { caller, sent: callerRequest, expected }, list)
  judgeRequestForm(upstream, received, headers, list)
  const isNative = caller === upstream
  if (isNative) list.rule('request', REQUEST_UNCHANGED, changesBetween(asReadBy(upstream, expected.body), body))
  const facts = (format: Format, { body, path, files, method }: RequestOnWire) =>
    leavesOf({ ...format.request(body, path, files, method), ...(isNative ? format.native?.(body) : {}) })
  const source = sourceOf(cell, callerRequest)
  const sourceFacts = facts(caller, source)
  if (callerRequest.method === 'POST' && isSentOnce(cell, sourceFacts)) {
    const times = timesAnswered(arrival, arrivals)
    list.rule('request', NOT_REPEATED, times > 1 ? [`The upstream answered the same request ${times} times.`] : [])
  }
  const verdicts = compare({
    source: sourceFacts,
    reachable: facts(upstream, expected),
    found: facts(upstream, { ...received, body }),
    isNative,
  })
  list.facts(
    'request',
    verdicts
      .filter(verdict => !mayBeAdded(verdict, cell))
      .flatMap(verdict => verdictByAnswer(verdict, cell, exchange.got) ?? []),
    reportedInRequest(losses, [...new Set([source, callerRequest])], request => facts(caller, request)),
  )
}

/** Returns true if a target adds a fact to ask in words for what the upstream's format cannot express. */
const mayBeAdded = ({ fate, path }: FactVerdict, { upstream, scenario }: Cell): boolean =>
  fate === 'added' &&
  scenario.differences.some(({ may_add, formats }) => may_add === `request.${path}` && formats.includes(upstream!.name))

/**
 * Judges a fact that the upstream's format cannot express. The fact is kept if the answer shows that the target itself
 * did what the request asked for. An error leaves the verdict open, because it shows nothing about the answer.
 */
function verdictByAnswer(verdict: FactVerdict, cell: Cell, got: ReceivedAnswer | undefined): FactVerdict | undefined {
  const { fate, expressible, path } = verdict
  const { caller, upstream, scenario } = cell
  if (fate !== 'lost' || expressible) return verdict
  if (wireFor(scenario.wires, caller)!.error !== undefined) return undefined
  const proof = scenario.differences.find(
    ({ fact, formats }) => fact === `request.${path}` && formats.includes(upstream!.name),
  )?.shown_by
  const isProven = proof !== undefined && got !== undefined && showsFact(cell, got, proof)
  return isProven ? { ...verdict, fate: 'kept' } : verdict
}
