import type { CheckList } from './check-list.ts'
import { isContentType, isJson } from './content-types.ts'
import type { ReceivedAnswer } from './exchange.ts'
import { type Format, type Headers, type RawAnswer, type RequestOnWire, schemaOf } from './format.ts'
import type { Ending } from './grammar.ts'
import { isObject, type Json, objectOf, parseJson } from './json.ts'
import { answerFindings, type SchemaFindings, schemaFindings } from './schema.ts'
import { readSse, type SseEvent } from './sse.ts'
import { SSE_RULES } from './transport-rules.ts'

/* Judges the form of requests and answers: schemas, rules, the order of events. Other files judge their meaning. */

/** Parses JSON and normalizes it as readers of the format do. */
export function parseAsRead({ asRead }: Format, text: string): Json | undefined {
  const json = parseJson(text)
  return isObject(json) && asRead?.answer !== undefined ? asRead.answer(json) : json
}

/** Returns the JSON data of events. The grammar reports data that is not JSON. */
export const dataOf = (format: Format, events: readonly SseEvent[]): Json[] =>
  events.flatMap(({ data }) => parseAsRead(format, data) ?? [])

/** Checks the form of a request. */
export function judgeRequestForm(format: Format, request: RequestOnWire, headers: Headers, list: CheckList): void {
  const { name, exceptions, rules, lint, asRead } = format
  const { method, path, files } = request
  const body = asRead?.request(request.body) ?? request.body
  const schema = schemaOf(format, 'request', request)
  if (schema !== undefined) list.schema('request', name, [schemaFindings(name, schema, body, exceptions)])
  list.rules(rules, 'request', lint.request(body, headers, path, files, method))
}

/** Rules that an interrupted stream breaks if the interruption cuts an event. */
const CUT_EVENT_RULES = new Set(['sse.unfinished', 'sse.field', 'sse.utf8', 'json', 'frame'])

/**
 * Checks the form of a stream. Returns its events, and its end according to them.
 *
 * @param isBroken true if the upstream interrupted the stream, so that an event may be cut.
 */
export function judgeStreamForm(
  format: Format,
  { body, isComplete }: Pick<ReceivedAnswer, 'body' | 'isComplete'>,
  list: CheckList,
  request: RequestOnWire,
  isBroken = false,
): { readonly events: readonly SseEvent[]; readonly ending: Ending | undefined } {
  const isFault = ({ rule }: { readonly rule: string }): boolean => !isBroken || !CUT_EVENT_RULES.has(rule)
  const { events, faults } = readSse(body)
  for (const rule of format.turns === undefined ? SSE_RULES : [])
    list.rule(
      'stream',
      rule,
      faults.filter(fault => fault.rule === rule.id && isFault(fault)).map(({ detail }) => detail),
    )
  const grammar = format.grammar!({ body: request.body })
  const schema = schemaOf(format, 'event', request)
  const findings: SchemaFindings[] = []
  for (const event of events) {
    const data = parseAsRead(format, event.data)
    grammar.event(event, data)
    if (!isObject(data) || schema === undefined) continue
    // The published events of most formats do not include errors.
    const own = isObject(data['error']) ? format.schemas.error : undefined
    findings.push(answerFindings(format.name, own ?? schema, data, format.exceptions))
  }
  list.rules(format.rules, 'stream', grammar.end(isComplete && !isBroken).filter(isFault))
  if (schema !== undefined) list.schema('stream', format.name, findings)
  return { events, ending: grammar.ending }
}

/** Checks the form of a whole JSON answer. Returns its body. */
export function judgeJsonForm(
  format: Format,
  { body, headers }: Pick<ReceivedAnswer, 'body' | 'headers'>,
  list: CheckList,
  request: RequestOnWire,
): Json | undefined {
  const json = parseAsRead(format, body.toString('utf8'))
  const schema = schemaOf(format, 'answer', request)
  const notAnObject = { faults: [`The body is not a JSON object: ${body.toString('utf8').slice(0, 100)}`], absent: [] }
  const findings = !isObject(json)
    ? [notAnObject]
    : schema === undefined
      ? []
      : [answerFindings(format.name, schema, json, format.exceptions)]
  list.schema('answer', format.name, findings)
  list.rules(format.rules, 'answer', format.lint.answer(objectOf(json), headers, request))
  return json
}

/** Checks the form of a whole answer that is not JSON, such as audio. */
export function judgeRawForm(
  format: Format,
  { body, headers }: Pick<ReceivedAnswer, 'body' | 'headers'>,
  list: CheckList,
  request: RequestOnWire,
): RawAnswer {
  const raw: RawAnswer = { type: headers['content-type'] ?? '', bytes: body }
  list.rules(format.rules, 'answer', format.lint.answer({}, headers, request, raw))
  return raw
}

/** Returns the error in a body or in a stream's error event. */
function errorIn({ body, headers }: Pick<ReceivedAnswer, 'body' | 'headers'>): Json | undefined {
  if (!isContentType(headers['content-type'] ?? '', 'text/event-stream')) return parseJson(body.toString('utf8'))
  const events = readSse(body).events.map(({ data }) => objectOf(parseJson(data)))
  return events.flatMap(event => [event, objectOf(event['response'])]).find(({ error }) => isObject(error))
}

/** Checks the form of an error. Returns its body. */
export function judgeErrorForm(
  format: Format,
  got: Pick<ReceivedAnswer, 'status' | 'body' | 'headers'>,
  list: CheckList,
): Json | undefined {
  const json = errorIn(got)
  const schema = format.schemas.error
  if (schema !== undefined)
    list.schema('error', format.name, [answerFindings(format.name, schema, json, format.exceptions)])
  list.rules(format.rules, 'error', format.lint.error(got.status, json, got.headers))
  return json
}

/** Checks the form of any answer. Its status and content type decide which checks apply. */
export function judgeAnswerForm(
  format: Format,
  got: Omit<ReceivedAnswer, 'trailers'>,
  list: CheckList,
  request: RequestOnWire,
): void {
  const type = got.headers['content-type'] ?? ''
  if (got.status >= 400) judgeErrorForm(format, got, list)
  else if (isContentType(type, 'text/event-stream') && format.grammar !== undefined)
    judgeStreamForm(format, got, list, request)
  else if (isJson(type)) judgeJsonForm(format, got, list, request)
  else judgeRawForm(format, got, list, request)
}
