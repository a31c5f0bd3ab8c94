import type { Cell } from './cells.ts'
import type { CheckList } from './check-list.ts'
import type { Exchange, FaultKind, ReceivedAnswer } from './exchange.ts'
import { leavesOf } from './facts.ts'
import type { Format, RequestOnWire } from './format.ts'
import { type Json, parseJson } from './json.ts'
import { judgeStreamForm } from './judge-form.ts'
import type { Rule } from './rules.ts'
import { wireFor } from './scenario-files.ts'
import { readSse, type SseEvent } from './sse.ts'
import type { Arrival } from './upstream.ts'

/* Judges behaviour other than content: interrupted answers, callers that disconnect, silent upstreams. */

type BehaviourRule = Omit<Rule, 'on'>

const ERRORS_IN_STREAMS = 'docs/wire/errors.md#in-streams'

const INTERRUPTION_REPORTED: BehaviourRule = {
  ...{ id: 'broken.told', level: 'must', source: ERRORS_IN_STREAMS },
  says: 'If an answer is interrupted, the caller gets an error or its connection is closed before the body is complete.',
}
const NO_NORMAL_END: BehaviourRule = {
  ...{ id: 'broken.no-normal-end', level: 'must', source: ERRORS_IN_STREAMS },
  says: 'An interrupted answer does not end normally.',
}
const TEXT_PREFIX: BehaviourRule = {
  ...{ id: 'broken.beginning', level: 'must', source: ERRORS_IN_STREAMS },
  says: 'The text before the interruption is the beginning of the upstream’s text.',
}
const UPSTREAM_CLOSED: BehaviourRule = {
  ...{
    id: 'left.closed',
    level: 'must',
    source: 'docs/decisions/2026-11-23-conformance-kit.md',
  },
  says: 'The upstream’s connection is closed soon after the caller disconnects, so that the model stops generating billed tokens.',
}
const NOT_BUFFERED: BehaviourRule = {
  ...{ id: 'flows', level: 'should', source: 'https://html.spec.whatwg.org/multipage/server-sent-events.html' },
  says: 'The beginning of an answer reaches the caller while the upstream is still writing. It is not buffered until complete.',
}

const dataOf = (events: readonly SseEvent[]): Json[] => events.flatMap(({ data }) => parseJson(data) ?? [])

/** Returns the text of the first candidate. */
export const textOfFacts = (facts: object): string => String(leavesOf(facts).get('candidates[0].text') ?? '')

const streamedText = (format: Format, events: readonly SseEvent[]): string =>
  textOfFacts(format.answer(format.assemble!(dataOf(events))))

/** Returns the text that the upstream sent before it cut the stream. */
function upstreamText({ upstream, scenario, caller }: Cell): string {
  const format = upstream ?? caller
  const { stream } = wireFor(scenario.wires, format)!
  return stream === undefined ? '' : streamedText(format, readSse(stream).events)
}

function judgeBrokenStream(cell: Cell, got: ReceivedAnswer, list: CheckList, request: RequestOnWire): void {
  const { isComplete } = got
  const { events, ending } = judgeStreamForm(cell.caller, got, list, request, true)
  const isReported = ending === 'error' || !isComplete
  list.rule('stream', INTERRUPTION_REPORTED, isReported ? [] : ['The body ended normally, without an error.'])
  list.rule('stream', NO_NORMAL_END, ending === 'normal' ? ['The stream ended normally.'] : [])
  const text = streamedText(cell.caller, events)
  const source = upstreamText(cell)
  list.rule(
    'stream',
    TEXT_PREFIX,
    source.startsWith(text) ? [] : [`${JSON.stringify(text)} is not the beginning of the upstream’s text.`],
  )
}

/** Faults of a connection that the target closed, before or after the head of its answer. */
const CLOSINGS: ReadonlySet<FaultKind> = new Set(['http.connect', 'http.closed'])

/** Checks an answer that its upstream interrupted. A whole or early refused answer must have an error status. */
export function judgeBroken(cell: Cell, { got, fault }: Exchange, list: CheckList, request: RequestOnWire): void {
  if (fault !== undefined && !CLOSINGS.has(fault.kind)) {
    list.rule('answer', INTERRUPTION_REPORTED, [fault.detail])
    return
  }
  if (got === undefined) return list.rule('answer', INTERRUPTION_REPORTED, [])
  if (got.status === 200 && cell.mode === 'stream') return judgeBrokenStream(cell, got, list, request)
  const isReported = got.status >= 500 || !got.isComplete
  list.rule(
    'answer',
    INTERRUPTION_REPORTED,
    isReported ? [] : [`Status ${got.status}: ${got.body.toString('utf8').slice(0, 300)}`],
  )
  if (got.status < 400) return
  const json = parseJson(got.body.toString('utf8'))
  list.rules(cell.caller.rules, 'error', cell.caller.lint.error(got.status, json, got.headers))
}

/** Checks that the upstream's connection is closed after the caller has disconnected. */
export function judgeDisconnect(arrivals: readonly Arrival[], list: CheckList): void {
  const open = arrivals.filter(({ end }) => end?.wasClosed !== true)
  const details = open.map(({ path }) => `The connection of ${path} stayed open until its answer was complete.`)
  list.rule('request', UPSTREAM_CLOSED, arrivals.length === 0 ? ['No request arrived.'] : details)
}

/** Checks that the beginning of a stream arrived during the upstream's pause. */
export function judgeFlow({ firstByte }: Exchange, arrivals: readonly Arrival[], list: CheckList): void {
  const resumed = arrivals.at(-1)?.end?.resumed
  if (resumed === undefined) return
  const isLate = firstByte === undefined || firstByte >= resumed
  list.rule('stream', NOT_BUFFERED, isLate ? ['Nothing arrived before the upstream’s pause ended.'] : [])
}
