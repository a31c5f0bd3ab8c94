import * as v from 'valibot'
import { isRule } from '../../config/recording-rules.ts'
import { describedAs, fields, instant, list, mapOf, oneOf, whole, yesOrNo } from '../../config/schema.ts'

/* The schema of a recording file: one exchange or one WebSocket session (docs/record-replay.md#files). */

/** Version of the recording files that this program writes, and newest version that it reads. */
export const VERSION = 1

/** Maximum number of items in a list: chunks of a stream, frames of a session, parts of a form. */
const MAX_ITEMS = 1_000_000

/** Maximum size of a recorded exchange, in bytes. A larger exchange is passed on without being recorded. */
export const MAX_RECORDED = 48 * 1024 * 1024

/** Size of a chunk or frame beside its bytes, in memory and in a file. */
const CHUNK_SIZE = 64

/** Returns the size of a chunk or frame that counts towards the maximum, in bytes. Empty ones take memory, too. */
export const recordedSize = (bytes: Uint8Array): number => bytes.length + CHUNK_SIZE

const anyText = v.string('expected a string')
const ms = v.pipe(
  v.number('expected milliseconds'),
  v.finite('expected milliseconds'),
  v.minValue(0, 'expected milliseconds, 0 or more'),
)
const headers = mapOf(anyText)

/** Returns true for base64. The pattern of `v.base64` uses up the stack in a text of several megabytes. */
const isBase64 = (text: string): boolean => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)

const base64 = describedAs(v.pipe(v.string('expected a string'), v.check(isBase64, 'is not base64')), {
  ...{ type: 'string', contentEncoding: 'base64' },
})

/** Fields for bytes: text for UTF-8, otherwise base64. */
const bytes = { text: v.optional(anyText), base64: v.optional(base64) }

/** Requires exactly one of the fields. */
const exactlyOne = <T extends object>(...names: readonly string[]) =>
  v.check<T, string>(
    value => names.filter(name => (value as { readonly [name: string]: unknown })[name] !== undefined).length === 1,
    `needs exactly one of ${names.join(', ')}`,
  )

/** One part of a form (`multipart/form-data`): a text field, or a file with a media type. */
const FORM_PART = v.pipe(
  fields({ field: anyText, name: v.optional(anyText), media_type: v.optional(anyText), ...bytes }),
  exactlyOne('text', 'base64'),
)

/** A body in the most readable form that restores the same bytes. JSON is written with `indent` spaces, or none. */
const body = {
  json: v.optional(v.unknown()),
  indent: v.optional(whole(1, 10)),
  ...bytes,
  form: v.optional(list(FORM_PART, MAX_ITEMS)),
}

const BODY = v.pipe(fields(body), exactlyOne('json', 'text', 'base64', 'form'))

const REQUEST = fields({
  method: anyText,
  path: anyText,
  query: v.optional(headers),
  headers,
  body: v.optional(BODY),
})

/** A chunk of a body as it arrived. `ms` counts from the start of the request. */
const CHUNK = v.pipe(fields({ ms, ...bytes }), exactlyOne('text', 'base64'))

/** Status of a final answer. A client would wait for the final answer after a lower one (RFC 9110 §15.2). */
export const STATUS = { min: 200, max: 599 } as const

/** Status of an answer in a file of another program. */
export const FOREIGN_STATUS = v.pipe(
  v.number('expected a number'),
  v.integer('expected a status'),
  v.minValue(STATUS.min, 'expected a status'),
  v.maxValue(STATUS.max, 'expected a status'),
)

const ANSWER = fields({
  status: whole(STATUS.min, STATUS.max),
  headers,
  /** Time from the start of the request to the head of the answer. */
  ms,
  /** Content encoding on the wire. The body below is decoded. */
  content_encoding: v.optional(anyText),
  body: v.optional(BODY),
  chunks: v.optional(list(CHUNK, MAX_ITEMS)),
  /** True if the answer arrived completely. */
  complete: yesOrNo,
})

/** One message of a session. `binary` marks a text that was sent in a binary frame, as in Gemini Live. */
const FRAME = v.pipe(
  fields({ ms, from: oneOf(['caller', 'upstream']), binary: v.optional(yesOrNo), ...bytes }),
  exactlyOne('text', 'base64'),
)

/** End of a session. */
export const CLOSED = fields({
  ...{ ms, from: oneOf(['caller', 'upstream']), code: whole(0, 4999), reason: v.optional(anyText) },
})

const SESSION = fields({
  /** The subprotocol that the upstream chose. */
  protocol: v.optional(anyText),
  frames: list(FRAME, MAX_ITEMS),
  closed: v.optional(CLOSED),
})

export const RULE = v.pipe(anyText, v.check(isRule, 'is neither a path nor a valid /expression/'))

/** A recording file. */
export const RECORDING = v.pipe(
  fields({
    version: v.literal(VERSION, `expected ${VERSION}`),
    /** Program that made the recording, such as `interlingua 0.1.0`. */
    program: anyText,
    recorded_at: instant,
    /** Format of the request. Absent for an endpoint that belongs to no format. */
    format: v.optional(anyText),
    /** Endpoint of the format, such as `/v1/messages`. */
    endpoint: v.optional(anyText),
    /** Rules of `--redact` and `--ignore` that were used for recording. They are part of the match key. */
    redact: v.optional(list(RULE)),
    ignore: v.optional(list(RULE)),
    /**
     * Paths in the canonical request. The recording answers every request for the same kind of work that has the
     * recorded values at these paths, unless another recording matches that request exactly.
     */
    match: v.optional(list(anyText)),
    request: REQUEST,
    answer: v.optional(ANSWER),
    session: v.optional(SESSION),
  }),
  exactlyOne('answer', 'session'),
  v.forward(
    v.check(({ match, session }) => match === undefined || session === undefined, 'has no effect on a session'),
    ['match'],
  ),
)

export type Recording = v.InferOutput<typeof RECORDING>
export type RecordedRequest = Recording['request']
export type RecordedAnswer = NonNullable<Recording['answer']>
export type RecordedSession = NonNullable<Recording['session']>
export type RecordedChunk = NonNullable<RecordedAnswer['chunks']>[number]
export type RecordedFrame = RecordedSession['frames'][number]
export type RecordedBody = NonNullable<RecordedRequest['body']>
export interface RecordedBytes {
  readonly text?: string | undefined
  readonly base64?: string | undefined
}
