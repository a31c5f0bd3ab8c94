import * as v from 'valibot'
import { defined, isObject, type JsonObject, parseJson } from '../../../canonical/node.ts'
import { isInstant } from '../../../config/units.ts'
import { framesIn } from '../event-frames.ts'
import type { ArrivedAnswer } from '../recorder.ts'
import { FOREIGN_STATUS } from '../recording.ts'
import { type ForeignExchange, headersOf, targetOf, withoutEncoding } from './exchange.ts'
import { withNamesOfVcrpy } from './go-vcr.ts'
import { withNamesOfPython } from './ruby-vcr.ts'

/*
 * Cassettes of vcrpy: https://vcrpy.readthedocs.io, serializer `yaml` or `json`. Those of go-vcr and of VCR for Ruby get
 * the same names.
 */

const text = v.string('expected a string')
const object = <E extends v.ObjectEntries>(entries: E) =>
  v.object(entries, issue =>
    issue.path === undefined || issue.expected === 'Object' ? 'expected an object' : 'is missing',
  )

const BODY = v.union([text, v.instance(Uint8Array), v.null()], 'expected a string or binary')
/** A value of a header. That of boto3 is binary. */
const HEADER = v.union([text, v.instance(Uint8Array)])
const HEADERS = v.record(
  text,
  v.union([HEADER, v.array(HEADER)], 'expected a string or a list of strings'),
  'expected an object',
)

/** Returns an answer with today's names of its fields. Those of httpx had others before vcrpy 6. */
function withoutOldNames(response: unknown): unknown {
  if (!isObject(response) || response['status'] !== undefined || response['status_code'] === undefined) return response
  const { status_code: code, content: body, ...rest } = response as JsonObject
  return { status: { code }, ...defined({ body }), ...rest }
}

const INTERACTION_OF_VCRPY = object({
  request: object({
    ...{ method: text, uri: text, headers: v.optional(HEADERS, {}), body: v.optional(BODY) },
    /** A JSON body, as serializers for readable cassettes write it. */
    parsed_body: v.optional(v.unknown()),
  }),
  response: v.pipe(
    v.unknown(),
    v.transform(withoutOldNames),
    object({
      status: object({
        code: FOREIGN_STATUS,
      }),
      headers: v.optional(HEADERS, {}),
      body: v.optional(v.union([BODY, v.object({ string: v.optional(BODY) })])),
      parsed_body: v.optional(v.unknown()),
    }),
  ),
  /** Time that VCR for Ruby states. */
  recorded_at: v.optional(text),
})

const INTERACTION = v.pipe(v.unknown(), v.transform(withNamesOfVcrpy), INTERACTION_OF_VCRPY)

export const CASSETTE = object({ interactions: v.array(INTERACTION, 'expected a list') })

const INTERACTION_OF_RUBY = v.pipe(v.unknown(), v.transform(withNamesOfPython), INTERACTION_OF_VCRPY)

/** A cassette of VCR for Ruby. */
export const RUBY_CASSETTE = object({ http_interactions: v.array(INTERACTION_OF_RUBY, 'expected a list') })

type Interaction = v.InferOutput<typeof INTERACTION>
type Headers = v.InferOutput<typeof HEADERS>

/**
 * Converts the interactions of a cassette.
 *
 * @param at time of interactions whose answer has no date, because cassettes have no times.
 */
export const cassetteExchanges = (interactions: readonly Interaction[], at: Date): readonly ForeignExchange[] =>
  interactions.map(({ request, response, recorded_at: time }) => {
    const headers = withoutEncoding(joinedHeaders(request.headers))
    const body = bytesOf(request.parsed_body, request.body)
    const type = headers['content-type'] ?? (parseJson(body.toString('utf8')) === undefined ? undefined : JSON_TYPE)
    const answer = answerOf(response)
    const date = Date.parse(answer.headers['date'] ?? time ?? '')
    return {
      request: {
        ...{ method: request.method, url: targetOf(request.uri), body },
        headers: type === undefined ? headers : { ...headers, 'content-type': type },
      },
      answer,
      at: isInstant(date) ? new Date(date) : at,
    }
  })

const JSON_TYPE = 'application/json'
const FRAMES_TYPE = 'application/vnd.amazon.eventstream'

const joinedHeaders = (headers: Headers): Record<string, string> =>
  headersOf(
    Object.entries(headers).flatMap(([name, value]) =>
      [value].flat().map(one => [name, typeof one === 'string' ? one : Buffer.from(one).toString('latin1')] as const),
    ),
  )

type Body = v.InferOutput<typeof BODY>

/** First characters of gzip whose bytes were written as Latin-1 text. */
const LATIN_GZIP = '\u001f\u008b'

function bytesOf(parsed: unknown, body: Body | undefined): Buffer {
  if (parsed !== undefined) return Buffer.from(JSON.stringify(parsed))
  if (typeof body === 'string') return Buffer.from(body, body.startsWith(LATIN_GZIP) ? 'latin1' : 'utf8')
  return Buffer.from(body ?? [])
}

/**
 * Returns the media type of a body by its beginning. Many cassettes have no headers, because they were filtered, and
 * clients read an answer without a type as text.
 */
function typeOf(bytes: Buffer): string | undefined {
  const text = bytes.toString('utf8')
  if (/^\s*(?:event|data|id|retry)?:/.test(text)) return 'text/event-stream'
  if (/^\s*[[{]/.test(text) && parseJson(text) !== undefined) return JSON_TYPE
  return framesIn(bytes).length > 0 ? FRAMES_TYPE : undefined
}

function answerOf({ status, headers, body, parsed_body }: Interaction['response']): ArrivedAnswer {
  const isNested = typeof body === 'object' && body !== null && !(body instanceof Uint8Array)
  const content = isNested ? body.string : body
  const bytes = bytesOf(parsed_body, content)
  const singleHeaders = joinedHeaders(headers)
  return {
    ...{ status: status.code, ms: 0, isComplete: true },
    headers: {
      ...defined({ 'content-type': parsed_body === undefined ? typeOf(bytes) : JSON_TYPE }),
      ...singleHeaders,
    },
    chunks: bytes.length === 0 ? [] : [{ ms: 0, bytes }],
    // A plain-text body was decoded before it was written.
    isDecoded: parsed_body !== undefined || (typeof content === 'string' && !content.startsWith(LATIN_GZIP)),
  }
}
