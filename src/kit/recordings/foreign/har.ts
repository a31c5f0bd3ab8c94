import * as v from 'valibot'
import { isInstant } from '../../../config/units.ts'
import { CLOSED, RULE } from '../recording.ts'

/* The parts of a HAR file (HTTP Archive 1.2) that recordings use, with the fields that Polly.JS and browsers add. */

const text = v.string('expected a string')
const number = v.pipe(v.number('expected a number'), v.finite('expected a number'))
/** A number that is written to a recording as it is. */
const positive = v.pipe(number, v.minValue(0, 'expected 0 or more'))
const list = <S extends v.GenericSchema>(item: S) => v.array(item, 'expected a list')
const object = <E extends v.ObjectEntries>(entries: E) =>
  v.object(entries, issue =>
    issue.path === undefined || issue.expected === 'Object' ? 'expected an object' : 'is missing',
  )

const NAMED = object({ name: text, value: text })

/** One field of a form. `_encoding` is `base64` for a file that is not text. */
const PARAM = object({
  name: text,
  value: v.optional(text, ''),
  fileName: v.optional(text),
  contentType: v.optional(text),
  _encoding: v.optional(text),
})

const POST_DATA = object({
  mimeType: v.optional(text),
  text: v.optional(v.nullable(text)),
  /** A body as JSON, as written by persisters that use YAML. */
  textJSON: v.optional(v.unknown()),
  encoding: v.optional(text),
  params: v.optional(list(PARAM)),
  _file: v.optional(text),
})

const CONTENT = object({
  mimeType: v.optional(text),
  text: v.optional(v.nullable(text)),
  textJSON: v.optional(v.unknown()),
  encoding: v.optional(text),
  /** Bytes of the content, which browsers count also where they leave the text out. */
  size: v.optional(v.unknown()),
  /** Name of a file beside this one with the content, as Playwright attaches it. */
  _file: v.optional(text),
  /** Times and sizes in bytes of the chunks in which a stream arrived. */
  _chunks: v.optional(list(object({ ms: positive, bytes: positive }))),
})

/** A message of a WebSocket session as written by Chrome: time in Unix seconds, data in base64 if `opcode` is 2. */
const MESSAGE = object({
  type: v.picklist(['send', 'receive'], 'expected send or receive'),
  time: number,
  opcode: number,
  data: text,
})

const ENTRY = object({
  startedDateTime: v.pipe(
    text,
    v.check(value => isInstant(Date.parse(value)), 'expected a date and time'),
  ),
  request: object({
    method: text,
    url: text,
    headers: v.optional(list(NAMED), []),
    bodySize: v.optional(v.unknown()),
    postData: v.optional(v.nullable(POST_DATA)),
  }),
  response: object({ status: number, headers: v.optional(list(NAMED), []), content: v.optional(CONTENT, {}) }),
  timings: v.optional(
    object({ send: v.optional(number, 0), wait: v.optional(number, 0), receive: v.optional(number, 0) }),
    {},
  ),
  _webSocketMessages: v.optional(list(MESSAGE)),
  /** Fields of recordings that HAR lacks. */
  _interlingua: v.optional(
    object({
      redact: v.optional(list(RULE)),
      ignore: v.optional(list(RULE)),
      content_encoding: v.optional(text),
      complete: v.optional(v.boolean('expected true or false')),
      protocol: v.optional(text),
      closed: v.optional(CLOSED),
    }),
  ),
})

export const HAR = object({ log: object({ entries: list(ENTRY) }) })

export type HarEntry = v.InferOutput<typeof ENTRY>
export type HarParam = v.InferOutput<typeof PARAM>
export type HarPostData = v.InferOutput<typeof POST_DATA>
export type HarContent = v.InferOutput<typeof CONTENT>
export type HarMessage = v.InferOutput<typeof MESSAGE>
