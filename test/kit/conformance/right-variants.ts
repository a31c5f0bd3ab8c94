import { isJson } from '../../../src/kit/conformance/content-types.ts'
import type { ReceivedAnswer } from '../../../src/kit/conformance/exchange.ts'
import { isObject, type Json, type JsonObject, objectOf, parseJson } from '../../../src/kit/conformance/json.ts'
import type { StepRecord } from '../../../src/kit/conformance/step-record.ts'

/* Ways in which right targets differ: spellings of JSON, of streams and of headers, and additions. */

type JsonVariant = (value: Json) => string

/** Returns a value with the fields of all its objects in the opposite order. */
const reversed = (value: Json): Json =>
  Array.isArray(value)
    ? value.map(reversed)
    : isObject(value)
      ? Object.fromEntries(
          Object.entries(value)
            .toReversed()
            .map(([name, one]) => [name, reversed(one)]),
        )
      : value

/** Escapes every character outside ASCII, and the slash. */
const escaped = (value: Json): string =>
  JSON.stringify(value)
    .replaceAll('/', '\\/')
    .replace(/[^\0-~]/g, one => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)

const extended = (value: Json): Json =>
  isObject(value)
    ? {
        ...value,
        ...(isObject(value['usage']) ? { usage: { ...value['usage'], x_cost: 0.1 } } : {}),
        x_vendor: { trace: ['a'] },
      }
    : value

const JSON_VARIANTS: { readonly [name: string]: JsonVariant } = {
  'fields in another order': value => JSON.stringify(reversed(value)),
  'escaped characters': escaped,
  'spaces within JSON': value => JSON.stringify(value, null, ' ').replaceAll('\n', '\t'),
  'unknown fields': value => JSON.stringify(extended(value)),
}

/** A line ends at CR or LF only. `.` and `$` would also end it at U+2028 and U+2029. */
const DATA = /^data: ?([^\r\n]*)/gm

type TextVariant = (text: string) => string

/** Other spellings of a stream (WHATWG HTML, section 9.2). */
const STREAM_VARIANTS: { readonly [name: string]: TextVariant } = {
  'comments between events': text => `: hello\n\n${text.replace(/(\r?\n){2}/g, '$&: keep-alive$1$1')}`,
  'ids and retries': text => text.replace(/^data:/gm, 'id: 7\nretry: 3000\ndata:'),
  'line ends of Windows': text => text.replace(/\r?\n/g, '\r\n'),
  'line ends of the old Macintosh': text => text.replace(/\r?\n/g, '\r'),
  'no space after the colon': text => text.replace(/^(data|event): /gm, '$1:'),
  'data before the name': text => text.replace(/^(event: [^\r\n]*)(\r?\n)(data: [^\r\n]*)/gm, '$3$2$1'),
  'data in several lines': text => text.replace(DATA, (line, data: string) => linesOf(data) ?? line),
}

const linesOf = (data: string): string | undefined => {
  const json = parseJson(data)
  return isObject(json)
    ? JSON.stringify(json, null, 1)
        .split('\n')
        .map(line => `data: ${line}`)
        .join('\n')
    : undefined
}

/** Other spellings of a media type. */
const TYPE_VARIANTS: { readonly [name: string]: TextVariant } = {
  'a media type in capitals': type => type.toUpperCase().replace(/;.*/, ''),
  'a charset': type => (/^(application\/json|text\/)/.test(type) ? `${type.split(';')[0]};charset=UTF-8` : type),
}

export interface RecordVariant {
  readonly name: string
  readonly value: readonly StepRecord[]
}

const isStream = ({ headers }: ReceivedAnswer): boolean => /^text\/event-stream/.test(headers['content-type'] ?? '')

function withJson(got: ReceivedAnswer, variant: JsonVariant): ReceivedAnswer {
  const text = got.body.toString('utf8')
  const spelled = (data: string): string => {
    const json = parseJson(data)
    return json === undefined ? data : variant(json)
  }
  if (isStream(got))
    return { ...got, body: Buffer.from(text.replace(DATA, (_, data: string) => `data: ${spelled(data)}`)) }
  return isJson(got.headers['content-type'] ?? '') ? { ...got, body: Buffer.from(spelled(text)) } : got
}

function withType(got: ReceivedAnswer, variant: TextVariant): ReceivedAnswer {
  const { 'content-type': type, ...headers } = got.headers
  return type === undefined ? got : { ...got, headers: { ...headers, 'content-type': variant(type) } }
}

function* answers(got: ReceivedAnswer): Generator<readonly [string, ReceivedAnswer]> {
  for (const [name, variant] of Object.entries(JSON_VARIANTS)) yield [name, withJson(got, variant)]
  for (const [name, variant] of Object.entries(TYPE_VARIANTS)) yield [name, withType(got, variant)]
  // Spellings of lines are those of whole streams: what an interruption cuts has none.
  if (isStream(got) && got.isComplete)
    for (const [name, variant] of Object.entries(STREAM_VARIANTS))
      yield [name, { ...got, body: Buffer.from(variant(got.body.toString('utf8'))) }]
  yield [
    'other headers',
    { ...got, headers: { ...got.headers, 'x-request-id': 'a', 'cache-control': 'no-store', server: 'b' } },
  ]
}

/** Returns the records of targets that are as right as the given one. */
export function* rightVariants(records: readonly StepRecord[], isSocket: boolean): Generator<RecordVariant> {
  for (const [index, record] of records.entries()) {
    const put = (other: Partial<StepRecord>): readonly StepRecord[] => records.with(index, { ...record, ...other })
    const { got } = record.exchange
    if (got !== undefined && !isSocket)
      for (const [name, value] of answers(got))
        yield { name: `an answer with ${name}`, value: put({ exchange: { ...record.exchange, got: value } }) }
    const [arrival] = record.arrivals
    if (arrival === undefined) continue
    const { sent } = arrival
    const body: JsonObject = objectOf(reversed(arrival.body))
    const headers = { ...sent.headers, 'user-agent': 'gateway/1', accept: '*/*', 'x-forwarded-for': '10.0.0.1' }
    yield { name: 'a request with fields in another order', value: put({ arrivals: [{ ...arrival, body }] }) }
    yield {
      name: 'a request with other headers',
      value: put({ arrivals: [{ ...arrival, sent: { ...sent, headers } }] }),
    }
  }
}
