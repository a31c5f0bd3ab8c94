import type { Cell } from './cells.ts'
import type { CheckList } from './check-list.ts'
import { compare } from './compare.ts'
import { isContentType, isJson } from './content-types.ts'
import type { Exchange, ReceivedAnswer } from './exchange.ts'
import { leavesOf } from './facts.ts'
import type { Format, RequestOnWire } from './format.ts'
import { type JsonObject, objectOf, parseJson } from './json.ts'
import { dataOf, judgeErrorForm, judgeJsonForm, judgeRawForm, judgeStreamForm, parseAsRead } from './judge-form.ts'
import { type LossName, reportedInAnswer } from './reported-losses.ts'
import { wireFor } from './scenario-files.ts'
import { readSse } from './sse.ts'
import { HTTP_RULES } from './transport-rules.ts'
import { ANSWER_UNCHANGED, changesBetween } from './unchanged.ts'

/* Judges the answer that the caller received. */

/** Context of one judgement: the request as sent, and the losses that the target reported. */
export interface AnswerContext {
  readonly request: RequestOnWire
  readonly losses: readonly LossName[]
  /** True if the target answered without calling its upstream, and therefore chose the content itself. */
  readonly isLocal: boolean
}

const NO_ERROR = {
  id: 'no-error',
  level: 'must',
  source: 'docs/wire/errors.md#in-streams',
  says: 'A stream whose upstream has no error has none; clients raise it, whatever else arrived.',
} as const

/** Content types of errors and of streams. */
const CONTENT_TYPES = { error: 'application/json', stream: 'text/event-stream' } as const

/** Returns the facts of a whole answer with the given content type. */
const factsOfWhole = (format: Format, bytes: Buffer, type: string): object =>
  isJson(type) ? format.answer(objectOf(parseJson(bytes.toString('utf8')))) : format.answer({}, { type, bytes })

const factsOfStream = (format: Format, bytes: Buffer): object =>
  format.answer(format.assemble!(dataOf(format, readSse(bytes).events)))

export function factsOfAnswer({ caller, mode }: Cell, { body, headers }: ReceivedAnswer): object {
  const type = headers['content-type'] ?? ''
  const isStreamed = mode === 'stream' && caller.assemble !== undefined
  return isStreamed
    ? factsOfStream(caller, body)
    : factsOfWhole(caller, body, /json/.test(type) ? 'application/json' : type)
}

/** Returns the facts of the hand-written answer in a format. */
function scenarioFacts(format: Format, { scenario, mode }: Cell): object | undefined {
  const { whole, stream, type } = wireFor(scenario.wires, format)!
  const isStreamed = mode === 'stream' && format.assemble !== undefined
  if (isStreamed) return stream === undefined ? undefined : factsOfStream(format, stream)
  return whole === undefined ? undefined : factsOfWhole(format, whole, type)
}

/**
 * Returns true if an answer shows a fact that its upstream did not state: the upstream's answer lacks the fact, or the
 * fact is the same as in the hand-written answer in the caller's format.
 */
export function showsFact(cell: Cell, got: ReceivedAnswer, fact: string): boolean {
  const leaves = (facts: object = {}) => leavesOf({ answer: facts })
  const found = leaves(factsOfAnswer(cell, got)).get(fact)
  if (found === undefined) return false
  const isGiven = leaves(scenarioFacts(cell.upstream!, cell)).has(fact)
  return !isGiven || found === leaves(scenarioFacts(cell.caller, cell)).get(fact)
}

/** Returns the hand-written answer to a path as one JSON value, or undefined if it is not JSON. */
function scenarioAnswer(format: Format, { scenario, mode }: Cell, path: string): JsonObject | undefined {
  const { whole, stream, type } = wireFor(scenario.wires, format)!
  if (mode === 'stream' && format.assemble !== undefined)
    return stream && format.assemble(dataOf(format, readSse(stream).events))
  if (whole === undefined || !isJson(type)) return undefined
  const answer = objectOf(parseAsRead(format, whole.toString('utf8')))
  return format.adaptAnswer?.(answer, path) ?? answer
}

/** @param arrived the whole answer or the assembled stream, if it is JSON. */
function judgeMeaning(
  cell: Cell,
  found: object,
  list: CheckList,
  { losses, isLocal, request }: AnswerContext,
  arrived?: JsonObject,
): void {
  const { caller, upstream } = cell
  if (upstream === undefined || isLocal) return
  const source = scenarioFacts(upstream, cell)
  const reachable = scenarioFacts(caller, cell)
  if (source === undefined || reachable === undefined) return
  const leaves = { source: leavesOf(source), reachable: leavesOf(reachable), found: leavesOf(found) }
  const { extensions } = caller
  const isNative = caller === upstream
  const answer = scenarioAnswer(upstream, cell, request.path)
  const isReported = reportedInAnswer(losses, answer, one => leavesOf(upstream.answer(objectOf(one))))
  list.facts('answer', compare({ ...leaves, isNative, extensions }), isReported)
  if (isNative && answer !== undefined && arrived !== undefined)
    list.rule('answer', ANSWER_UNCHANGED, changesBetween(answer, arrived))
}

function judgeStream(cell: Cell, got: ReceivedAnswer, list: CheckList, context: AnswerContext): void {
  const { caller } = cell
  const { events, ending } = judgeStreamForm(caller, got, list, context.request)
  list.rule('stream', NO_ERROR, ending === 'error' ? ['The stream has an error.'] : [])
  const assembled = caller.assemble!(dataOf(caller, events))
  judgeMeaning(cell, caller.answer(assembled), list, context, assembled)
}

function judgeWhole(cell: Cell, got: ReceivedAnswer, list: CheckList, context: AnswerContext): void {
  const { caller, scenario } = cell
  const { type } = wireFor(scenario.wires, caller)!
  if (isJson(type)) {
    const json = objectOf(judgeJsonForm(caller, got, list, context.request))
    judgeMeaning(cell, caller.answer(json), list, context, json)
  } else judgeMeaning(cell, caller.answer({}, judgeRawForm(caller, got, list, context.request)), list, context)
}

function judgeError(cell: Cell, got: ReceivedAnswer, list: CheckList, context: AnswerContext): void {
  const { caller, upstream, scenario } = cell
  const json = judgeErrorForm(caller, got, list)
  const facts = (format: Format): object => {
    const error = wireFor(scenario.wires, format)!.error!
    const status = scenario.instead?.statuses.includes(got.status) ? got.status : error.status
    return format.error(status, error.headers, error.body)
  }
  const source = leavesOf(facts(upstream ?? caller))
  const found = leavesOf(caller.error(got.status, got.headers, json))
  const isNative = caller === upstream
  const isReported = reportedInAnswer(context.losses)
  list.facts('error', compare({ source, reachable: leavesOf(facts(caller)), found, isNative }), isReported)
  const written = wireFor(scenario.wires, caller)!.error
  if (isNative && got.status === written?.status)
    list.rule('error', ANSWER_UNCHANGED, changesBetween(written.body, json ?? null))
}

/**
 * Returns true if the target sent a whole answer although the caller asked for a stream. The content type is then
 * wrong, but the content can be compared.
 */
const isWholeForStream = ({ caller, scenario }: Cell, { headers }: ReceivedAnswer): boolean =>
  caller.turns === undefined && isContentType(headers['content-type'] ?? '', wireFor(scenario.wires, caller)!.type)

/** Returns the status of an answer with the beginning of its body, or with the address of a redirect. */
const statusText = ({ status, headers: { location }, body }: ReceivedAnswer): string =>
  `Status ${status}: ${location === undefined ? body.toString('utf8').slice(0, 300) : `a redirect to ${location.slice(0, 300)}, which the kit does not follow`}`

/** Rules on headers, which answers over sockets do not have. */
const OF_HEADERS: ReadonlySet<string> = new Set(['http.content-type', 'http.coding'])

/** Judges the answer that the caller received. An incomplete answer is judged as far as it arrived. */
export function judgeAnswer(cell: Cell, { got, fault }: Exchange, list: CheckList, context: AnswerContext): void {
  const { scenario, mode, caller, upstream } = cell
  const errors = [caller, upstream ?? caller].flatMap(format => wireFor(scenario.wires, format)!.error ?? [])
  const statuses =
    errors.length > 0 ? [...errors.map(({ status }) => status), ...(scenario.instead?.statuses ?? [])] : [200]
  const { type: whole } = wireFor(scenario.wires, caller)!
  const isStreamed = mode === 'stream' && caller.grammar !== undefined
  const type = errors.length > 0 ? CONTENT_TYPES.error : isStreamed ? CONTENT_TYPES.stream : whole
  const details: { readonly [rule: string]: readonly string[] } = {
    ...(fault === undefined ? {} : { [fault.kind]: [fault.detail] }),
    'http.status': got === undefined || statuses.includes(got.status) ? [] : [statusText(got)],
    'http.content-type':
      got === undefined || isContentType(got.headers['content-type'] ?? '', type)
        ? []
        : [`content-type: ${got.headers['content-type'] ?? 'none'}`],
  }
  const rules = HTTP_RULES.filter(({ id }) => caller.turns === undefined || !OF_HEADERS.has(id))
  for (const rule of rules) list.rule('answer', rule, details[rule.id] ?? [])
  if (got === undefined) return
  // A 200 answer instead of the upstream's error is the target's own work.
  const isOwn = got.status === 200 && statuses.includes(200)
  if (errors.length > 0 && !isOwn) judgeError(cell, got, list, context)
  else if (got.status !== 200) return
  else if (isStreamed && !isWholeForStream(cell, got)) judgeStream(cell, got, list, context)
  else judgeWhole(cell, got, list, context)
}
