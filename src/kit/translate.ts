import { HeldBytes } from '../canonical/bytes.ts'
import type { Part } from '../canonical/content.ts'
import { GatewayError } from '../canonical/error.ts'
import type { Loss } from '../canonical/loss.ts'
import { type Format, isObject, type Json, type JsonObject } from '../canonical/node.ts'
import { reduced } from '../canonical/redundant.ts'
import type { CanonicalRequest, Message } from '../canonical/request.ts'
import { traced } from '../canonical/trace.ts'
import { drain } from '../canonical/transducer.ts'
import type { WireEvent, WireFile, WireRequest } from '../canonical/wire.ts'
import { WRITERS } from '../egress/index.ts'
import type { WriteOptions } from '../egress/writer.ts'
import { READERS } from '../ingress/index.ts'
import { eventParser } from '../ingress/transport/sse.ts'
import { familyDialect } from '../providers/index.ts'
import { pathFor } from '../server/routes.ts'

export type Kind = 'request' | 'result' | 'events'

export interface Translation {
  readonly from: Format
  readonly to: Format
  readonly kind: Kind
  /** For a value without a model, and for the path in formats that have the model there. */
  readonly model?: string
  /** The request that a result or a stream answers, as JSON text in the target format. */
  readonly requestText?: string
}

export const KNOWN_FORMATS: readonly Format[] = [...new Set([...Object.keys(READERS), ...Object.keys(WRITERS)])]

/** A wire value in another format, and the losses of the translation. */
export interface Translated {
  readonly wire: unknown
  readonly losses: readonly Loss[]
}

/**
 * Translates one wire value as the gateway would: a request or a result as JSON text, a stream as server-sent events.
 *
 * @throws GatewayError where the text is malformed, or the format does not have that direction.
 */
export function translate(text: string, options: Translation): Translated {
  return { request: requestOf, result: resultOf, events: eventsOf }[options.kind](text, options)
}

function requestOf(text: string, { from, to, model }: Translation): Translated {
  const read = READERS[from]?.request ?? missing(from, 'reads no requests')
  const write = WRITERS[to]?.request ?? missing(to, 'writes no requests')
  const canonical = read(exchangeOf(jsonOf(text), from, model))
  const request = model === undefined ? canonical : { ...canonical, model }
  const handed = handedTo(to, request)
  const options = writing(from, to, request.model)
  if (from === to) return write(handed, options)
  const { request: less, losses } = reduced(handed)
  const written = write(less, options)
  return { ...written, losses: [...losses, ...traced(written.losses, losses, handed.messages)] }
}

function resultOf(text: string, { from, to, model, requestText }: Translation): Translated {
  const read = READERS[from]?.result ?? missing(from, 'reads no results')
  const write = WRITERS[to]?.result ?? missing(to, 'writes no results')
  const body = jsonOf(text)
  const whole = isObject(body['body'] as Json) && typeof body['status'] === 'number'
  const request = requestFor(to, model, requestText, false)
  const result = read({ status: 200, headers: {}, body: whole ? (body['body'] as JsonObject) : body }, request)
  const { wire, losses } = write({ id: 'translated', createdAt: 0, ...result }, request)
  return { wire, losses }
}

function eventsOf(text: string, { from, to, model, requestText }: Translation): Translated {
  const read = READERS[from]?.events ?? missing(from, 'reads no streams')
  const write = WRITERS[to]?.events ?? missing(to, 'writes no streams')
  const request = requestFor(to, model, requestText, true)
  const reader = read(request)
  const writer = write(request)
  const passed = (event: WireEvent): readonly WireEvent[] => {
    const events = reader.push(event)
    const isRelayed = from === to && writer.relay !== undefined && reader.mended !== true
    return isRelayed ? writer.relay!(event, events) : events.flatMap(one => writer.push(one))
  }
  const wire = drain(eventParser(), [Buffer.from(text)]).flatMap(passed)
  return { wire: [...wire, ...reader.end().flatMap(one => writer.push(one)), ...writer.end()], losses: [] }
}

const missing = (format: Format, what: string): never => {
  throw new GatewayError({ kind: 'invalid-request', message: `The format ${format} ${what}.` })
}

function jsonOf(text: string): JsonObject {
  let value: Json
  try {
    value = JSON.parse(text) as Json
  } catch (thrown) {
    throw new GatewayError({ kind: 'invalid-request', message: `The text is not JSON: ${(thrown as Error).message}` })
  }
  if (isObject(value)) return value
  throw new GatewayError({ kind: 'invalid-request', message: 'The text is not a JSON object.' })
}

/** A body that stands alone gets the path of its format's requests. */
function exchangeOf(value: JsonObject, format: Format, model = 'model'): WireRequest {
  const { path, body, files, ...rest } = value
  if (typeof path !== 'string' || !isObject(body))
    return { path: pathFor(format, model, value), query: {}, headers: {}, body: value }
  const form = Array.isArray(files) ? { files: files.filter(isObject).map(fileOf) } : {}
  return { query: {}, headers: {}, ...(rest as Partial<WireRequest>), path, body, ...form }
}

/** A file whose bytes are base64. */
const fileOf = ({ field, name, mediaType, bytes }: JsonObject): WireFile => ({
  field: String(field),
  ...(name === undefined ? {} : { name: String(name) }),
  mediaType: String(mediaType),
  bytes: new HeldBytes(Buffer.from(String(bytes), 'base64')),
})

/** The request as the gateway passes it to a writer: few formats accept bytes as they are. */
function handedTo(format: Format, request: CanonicalRequest): CanonicalRequest {
  if (WRITERS[format]?.bytes !== undefined || !request.messages.some(holdsBytes)) return request
  return { ...request, messages: request.messages.map(one => ({ ...one, content: one.content.map(inBase64) })) }
}

const holdsBytes = ({ content }: Message): boolean =>
  content.some(part => part.type === 'media' && part.source.type === 'bytes')

function inBase64(part: Part): Part {
  if (part.type !== 'media' || part.source.type !== 'bytes' || !(part.source.bytes instanceof HeldBytes)) return part
  const { mediaType, bytes } = part.source
  return { ...part, source: { type: 'base64', mediaType, data: bytes.toJSON() } }
}

const writing = (from: Format, to: Format, model: string): WriteOptions => ({
  dialect: (from === to ? undefined : familyDialect(to, model)) ?? {},
  native: from === to,
})

/** The request that an answer is assumed to belong to. */
function requestFor(to: Format, model = 'model', requestText: string | undefined, stream: boolean): CanonicalRequest {
  if (requestText === undefined) return { model, messages: [], output: {}, sampling: {}, stream }
  const read = READERS[to]?.request ?? missing(to, 'reads no requests')
  return { ...read(exchangeOf(jsonOf(requestText), to, model)), stream }
}
