import type { Cell } from './cells.ts'
import type { CheckList } from './check-list.ts'
import { compare } from './compare.ts'
import { isContentType, isJson } from './content-types.ts'
import type { Exchange, GotAnswer } from './exchange.ts'
import { leavesOf } from './facts.ts'
import { type Asked, type Format, type RawAnswer, schemaOf } from './format.ts'
import { isObject, type Json, objectOf, parsed } from './json.ts'
import { wireFor } from './scenario-files.ts'
import { answerFindings, type SchemaFindings } from './schema.ts'
import { readSse, type SseEvent } from './sse.ts'
import { HTTP_RULES, SSE_RULES } from './transport-rules.ts'

/* Judges the answer that the caller received. */

/** Context of one judgement: the request as sent, and whether the target reported losses. */
export interface AnswerContext {
  readonly asked: Asked
  readonly isReported: boolean
  /** Whether the target answered without calling its upstream. It then chose the content of the answer itself. */
  readonly isLocal: boolean
}

/** Content types of errors and of streams. */
const TYPES = { error: 'application/json', stream: 'text/event-stream' } as const

/** Returns the facts of a whole answer with the given content type. */
const factsOfWhole = (format: Format, bytes: Buffer, type: string): object =>
  isJson(type) ? format.answer(objectOf(parsed(bytes.toString('utf8')))) : format.answer({}, { type, bytes })

/** Parses JSON and normalizes it as readers of the format do. */
function readIn({ asRead }: Format, text: string): Json | undefined {
  const json = parsed(text)
  return isObject(json) && asRead?.answer !== undefined ? asRead.answer(json) : json
}

/** Returns the JSON data of events. The grammar reports data that is not JSON. */
const dataOf = (format: Format, events: readonly SseEvent[]): Json[] =>
  events.flatMap(({ data }) => readIn(format, data) ?? [])

const factsOfStream = (format: Format, bytes: Buffer): object =>
  format.answer(format.assemble!(dataOf(format, readSse(bytes).events)))

export function factsOfAnswer({ caller, mode }: Cell, { body, headers }: GotAnswer): object {
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

function judgeStream(cell: Cell, { body, isComplete }: GotAnswer, list: CheckList, context: AnswerContext): void {
  const { caller } = cell
  const { events, faults } = readSse(body)
  for (const rule of caller.turns === undefined ? SSE_RULES : [])
    list.rule(
      'stream',
      rule,
      faults.filter(fault => fault.rule === rule.id).map(({ detail }) => detail),
    )
  const grammar = caller.grammar!({ body: context.asked.body })
  const schema = schemaOf(caller, 'event', context.asked)
  const findings: SchemaFindings[] = []
  for (const event of events) {
    const data = readIn(caller, event.data)
    grammar.event(event, data)
    if (!isObject(data) || schema === undefined) continue
    findings.push(answerFindings(caller.name, schema, data, caller.exceptions))
  }
  list.rules(caller.rules, 'stream', grammar.end(isComplete))
  if (schema !== undefined) list.schema('stream', caller.name, findings)
  judgeMeaning(cell, caller.answer(caller.assemble!(dataOf(caller, events))), list, context)
}

function judgeWhole(cell: Cell, { body, headers }: GotAnswer, list: CheckList, context: AnswerContext): void {
  const { caller, scenario } = cell
  const { asked } = context
  const { type } = wireFor(scenario.wires, caller)!
  if (!isJson(type)) {
    const raw: RawAnswer = { type: headers['content-type'] ?? '', bytes: body }
    list.rules(caller.rules, 'answer', caller.lint.answer({}, headers, asked, raw))
    return judgeMeaning(cell, caller.answer({}, raw), list, context)
  }
  const json = readIn(caller, body.toString('utf8'))
  const schema = schemaOf(caller, 'answer', asked)
  const noObject = { faults: [`The body is not a JSON object: ${body.toString('utf8').slice(0, 100)}`], absent: [] }
  const findings = !isObject(json)
    ? [noObject]
    : schema === undefined
      ? []
      : [answerFindings(caller.name, schema, json, caller.exceptions)]
  list.schema('answer', caller.name, findings)
  list.rules(caller.rules, 'answer', caller.lint.answer(objectOf(json), headers, asked))
  judgeMeaning(cell, caller.answer(objectOf(json)), list, context)
}

/** Returns the error in a body or in a stream's error event. */
function errorIn({ body, headers }: GotAnswer): Json | undefined {
  if (!isContentType(headers['content-type'] ?? '', TYPES.stream)) return parsed(body.toString('utf8'))
  const events = readSse(body).events.map(({ data }) => objectOf(parsed(data)))
  return events.flatMap(event => [event, objectOf(event['response'])]).find(({ error }) => isObject(error))
}

function judgeError(cell: Cell, got: GotAnswer, list: CheckList, context: AnswerContext): void {
  const { caller, upstream, scenario } = cell
  const json = errorIn(got)
  const schema = caller.schemas.error
  if (schema !== undefined)
    list.schema('error', caller.name, [answerFindings(caller.name, schema, json, caller.exceptions)])
  list.rules(caller.rules, 'error', caller.lint.error(got.status, json, got.headers))
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
 * Whether the target sent a whole answer although the caller asked for a stream. The content type is then wrong, but
 * the content can be compared.
 */
const isWholeInstead = ({ caller, scenario }: Cell, { headers }: GotAnswer): boolean =>
  caller.turns === undefined && isContentType(headers['content-type'] ?? '', wireFor(scenario.wires, caller)!.type)

/** Judges the answer that the caller received. An incomplete answer is judged as far as it arrived. */
export function judgeAnswer(cell: Cell, { got, fault }: Exchange, list: CheckList, context: AnswerContext): void {
  const { scenario, mode, caller, upstream } = cell
  const errors = [caller, upstream ?? caller].flatMap(format => wireFor(scenario.wires, format)!.error ?? [])
  const statuses =
    errors.length > 0 ? [...errors.map(({ status }) => status), ...(scenario.instead?.statuses ?? [])] : [200]
  const { type: whole } = wireFor(scenario.wires, caller)!
  const type = errors.length > 0 ? TYPES.error : mode === 'stream' ? TYPES.stream : whole
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
  else if (mode === 'stream' && !isWholeInstead(cell, got)) judgeStream(cell, got, list, context)
  else judgeWhole(cell, got, list, context)
}
