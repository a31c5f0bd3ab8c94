import type { Cell } from './cells.ts'
import type { CheckList } from './check-list.ts'
import { compare } from './compare.ts'
import { isContentType, isJson } from './content-types.ts'
import type { Exchange, ReceivedAnswer } from './exchange.ts'
import { leavesOf } from './facts.ts'
import type { Format, RequestOnWire } from './format.ts'
import { objectOf, parseJson } from './json.ts'
import { dataOf, judgeErrorForm, judgeJsonForm, judgeRawForm, judgeStreamForm } from './judge-form.ts'
import { wireFor } from './scenario-files.ts'
import { readSse } from './sse.ts'
import { HTTP_RULES } from './transport-rules.ts'

/* Judges the answer that the caller received. */

/** Context of one judgement: the request as sent, and whether the target reported losses. */
export interface AnswerContext {
  readonly request: RequestOnWire
  readonly isReported: boolean
  /** True if the target answered without calling its upstream, and therefore chose the content itself. */
  readonly isLocal: boolean
}

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

function judgeMeaning(cell: Cell, found: object, list: CheckList, { isReported, isLocal }: AnswerContext): void {
  const { caller, upstream } = cell
  if (upstream === undefined || isLocal) return
  const source = scenarioFacts(upstream, cell)
  const reachable = scenarioFacts(caller, cell)
  if (source === undefined || reachable === undefined) return
  const leaves = { source: leavesOf(source), reachable: leavesOf(reachable), found: leavesOf(found) }
  const { extensions } = caller
  list.facts('answer', compare({ ...leaves, isNative: caller === upstream, extensions }), isReported)
}

function judgeStream(cell: Cell, got: ReceivedAnswer, list: CheckList, context: AnswerContext): void {
  const { caller } = cell
  const events = judgeStreamForm(caller, got, list, context.request)
  judgeMeaning(cell, caller.answer(caller.assemble!(dataOf(caller, events))), list, context)
}

function judgeWhole(cell: Cell, got: ReceivedAnswer, list: CheckList, context: AnswerContext): void {
  const { caller, scenario } = cell
  const { type } = wireFor(scenario.wires, caller)!
  const found = isJson(type)
    ? caller.answer(objectOf(judgeJsonForm(caller, got, list, context.request)))
    : caller.answer({}, judgeRawForm(caller, got, list, context.request))
  judgeMeaning(cell, found, list, context)
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
  list.facts('error', compare({ source, reachable: leavesOf(facts(caller)), found, isNative }), context.isReported)
}

/**
 * Returns true if the target sent a whole answer although the caller asked for a stream. The content type is then
 * wrong, but the content can be compared.
 */
const isWholeForStream = ({ caller, scenario }: Cell, { headers }: ReceivedAnswer): boolean =>
  caller.turns === undefined && isContentType(headers['content-type'] ?? '', wireFor(scenario.wires, caller)!.type)

/** Judges the answer that the caller received. An incomplete answer is judged as far as it arrived. */
export function judgeAnswer(cell: Cell, { got, fault }: Exchange, list: CheckList, context: AnswerContext): void {
  const { scenario, mode, caller, upstream } = cell
  const errors = [caller, upstream ?? caller].flatMap(format => wireFor(scenario.wires, format)!.error ?? [])
  const statuses =
    errors.length > 0 ? [...errors.map(({ status }) => status), ...(scenario.instead?.statuses ?? [])] : [200]
  const { type: whole } = wireFor(scenario.wires, caller)!
  const type = errors.length > 0 ? CONTENT_TYPES.error : mode === 'stream' ? CONTENT_TYPES.stream : whole
  const details: { readonly [rule: string]: readonly string[] } = {
    ...(fault === undefined ? {} : { [fault.kind]: [fault.detail] }),
    'http.status':
      got === undefined || statuses.includes(got.status)
        ? []
        : [`Status ${got.status}: ${got.body.toString('utf8').slice(0, 300)}`],
    'http.content-type':
      got === undefined || isContentType(got.headers['content-type'] ?? '', type)
        ? []
        : [`content-type: ${got.headers['content-type'] ?? 'none'}`],
  }
  // Answers over sockets have no content type.
  const rules = HTTP_RULES.filter(({ id }) => caller.turns === undefined || id !== 'http.content-type')
  for (const rule of rules) list.rule('answer', rule, details[rule.id] ?? [])
  if (got === undefined) return
  // A 200 answer instead of the upstream's error is the target's own work.
  const isOwn = got.status === 200 && statuses.includes(200)
  if (errors.length > 0 && !isOwn) judgeError(cell, got, list, context)
  else if (got.status !== 200) return
  else if (mode === 'stream' && !isWholeForStream(cell, got)) judgeStream(cell, got, list, context)
  else judgeWhole(cell, got, list, context)
}
