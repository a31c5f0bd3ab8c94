import type { Cell } from './cells.ts'
import type { CheckList } from './check-list.ts'
import { compare } from './compare.ts'
import type { Exchange, GotAnswer } from './exchange.ts'
import { leavesOf } from './facts.ts'
import { type Asked, type Format, type RawAnswer, schemaOf } from './format.ts'
import { isObject, type Json, objectOf, parsed } from './json.ts'
import { schemaFaults } from './schema.ts'
import { readSse, type SseEvent } from './sse.ts'
import { HTTP_RULES, SSE_RULES, schemaRule } from './transport-rules.ts'

/* Judges what the caller got. */

/** The input of one judgement: the request as it was sent, and whether the target reported losses. */
export interface AnswerContext {
  readonly asked: Asked
  readonly isReported: boolean
  /** Whether the target answered without its upstream: the facts of the answer are its own. */
  readonly isLocal: boolean
}

const isJson = (type: string): boolean => type === 'application/json'

/** The facts of a whole answer of a type. */
const factsOfWhole = (format: Format, bytes: Buffer, type: string): object =>
  isJson(type) ? format.answer(objectOf(parsed(bytes.toString('utf8')))) : format.answer({}, { type, bytes })

/** The data of events that are JSON; other data are the grammar's business. */
const dataOf = (events: readonly SseEvent[]): Json[] => events.flatMap(({ data }) => parsed(data) ?? [])

const factsOfStream = (format: Format, bytes: Buffer): object =>
  format.answer(format.assemble!(dataOf(readSse(bytes).events)))

/** The facts of the scenario's own answer in a format. */
function scenarioFacts(format: Format, { scenario, mode }: Cell): object | undefined {
  const { whole, stream, type } = scenario.wires[format.name]!
  if (mode === 'stream') return stream === undefined ? undefined : factsOfStream(format, stream)
  return whole === undefined ? undefined : factsOfWhole(format, whole, type)
}

function judgeMeaning(cell: Cell, found: object, list: CheckList, { isReported, isLocal }: AnswerContext): void {
  const { caller, upstream } = cell
  if (upstream === undefined || isLocal) return
  const source = scenarioFacts(upstream, cell)
  const reachable = scenarioFacts(caller, cell)
  if (source === undefined || reachable === undefined) return
  const leaves = { source: leavesOf(source), reachable: leavesOf(reachable), found: leavesOf(found) }
  list.facts('answer', compare({ ...leaves, isNative: caller === upstream }), isReported)
}

function judgeStream(cell: Cell, { body, isComplete }: GotAnswer, list: CheckList, context: AnswerContext): void {
  const { caller } = cell
  const { events, faults } = readSse(body)
  for (const rule of SSE_RULES)
    list.rule(
      'stream',
      rule,
      faults.filter(fault => fault.rule === rule.id).map(({ detail }) => detail),
    )
  const grammar = caller.grammar!({ body: context.asked.body })
  const schema = schemaOf(caller, 'event', context.asked.path)
  const schemaDetails = new Set<string>()
  for (const event of events) {
    const data = parsed(event.data)
    grammar.event(event, data)
    if (!isObject(data) || schema === undefined) continue
    for (const line of schemaFaults(caller.name, schema, data, caller.exceptions)) schemaDetails.add(line)
  }
  list.rules(caller.rules, 'stream', grammar.end(isComplete))
  if (schema !== undefined) list.rule('stream', schemaRule(caller.name), [...schemaDetails].slice(0, 5))
  judgeMeaning(cell, caller.answer(caller.assemble!(dataOf(events))), list, context)
}

function judgeWhole(cell: Cell, { body, headers }: GotAnswer, list: CheckList, context: AnswerContext): void {
  const { caller, scenario } = cell
  const { asked } = context
  const { type } = scenario.wires[caller.name]!
  if (!isJson(type)) {
    const raw: RawAnswer = { type: headers['content-type'] ?? '', bytes: body }
    list.rules(caller.rules, 'answer', caller.lint.answer({}, headers, asked, raw))
    return judgeMeaning(cell, caller.answer({}, raw), list, context)
  }
  const json = parsed(body.toString('utf8'))
  const schema = schemaOf(caller, 'answer', asked.path)
  const faults = isObject(json)
    ? schema === undefined
      ? []
      : schemaFaults(caller.name, schema, json, caller.exceptions)
    : [`The body is no JSON object: ${body.toString('utf8').slice(0, 100)}`]
  list.rule('answer', schemaRule(caller.name), faults)
  list.rules(caller.rules, 'answer', caller.lint.answer(objectOf(json), headers, asked))
  judgeMeaning(cell, caller.answer(objectOf(json)), list, context)
}

function judgeError(cell: Cell, got: GotAnswer, list: CheckList, context: AnswerContext): void {
  const { caller, upstream, scenario } = cell
  const json = parsed(got.body.toString('utf8'))
  const schema = caller.schemas.error
  if (schema !== undefined)
    list.rule('error', schemaRule(caller.name), schemaFaults(caller.name, schema, json, caller.exceptions))
  list.rules(caller.rules, 'error', caller.lint.error(got.status, json, got.headers))
  const facts = (format: Format): object => {
    const error = scenario.wires[format.name]!.error!
    const status = scenario.instead?.statuses.includes(got.status) ? got.status : error.status
    return format.error(status, error.headers, error.body)
  }
  const source = leavesOf(facts(upstream ?? caller))
  const found = leavesOf(caller.error(got.status, got.headers, json))
  const isNative = caller === upstream
  list.facts('error', compare({ source, reachable: leavesOf(facts(caller)), found, isNative }), context.isReported)
}

/** The content types of errors and of streams. */
const TYPES = { error: 'application/json', stream: 'text/event-stream' } as const

/** Whether a header names a content type, with parameters or without. */
const isType = (header: string, type: string): boolean => header.split(';')[0]!.trim().toLowerCase() === type

/** Checks of the answer that the caller got; an exchange that broke off is judged as far as it came. */
export function judgeAnswer(cell: Cell, { got, fault }: Exchange, list: CheckList, context: AnswerContext): void {
  const { scenario, mode, caller, upstream } = cell
  const errors = [caller, upstream ?? caller].flatMap(({ name }) => scenario.wires[name]!.error ?? [])
  const statuses =
    errors.length > 0 ? [...errors.map(({ status }) => status), ...(scenario.instead?.statuses ?? [])] : [200]
  const { type: whole } = scenario.wires[caller.name]!
  const type = errors.length > 0 ? TYPES.error : mode === 'stream' ? TYPES.stream : whole
  const details: { readonly [rule: string]: readonly string[] } = {
    ...(fault === undefined ? {} : { [fault.kind]: [fault.detail] }),
    'http.status':
      got === undefined || statuses.includes(got.status)
        ? []
        : [`Status ${got.status}: ${got.body.toString('utf8').slice(0, 300)}`],
    'http.content-type':
      got === undefined || isType(got.headers['content-type'] ?? '', type)
        ? []
        : [`content-type: ${got.headers['content-type'] ?? 'none'}`],
  }
  for (const rule of HTTP_RULES) list.rule('answer', rule, details[rule.id] ?? [])
  if (got === undefined) return
  // An answer that the target gives in place of the upstream's error is its own.
  const isOwn = got.status === 200 && statuses.includes(200)
  if (errors.length > 0 && !isOwn) judgeError(cell, got, list, context)
  else if (got.status !== 200) return
  else if (mode === 'stream') judgeStream(cell, got, list, context)
  else judgeWhole(cell, got, list, context)
}
