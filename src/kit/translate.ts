import { invalid } from '../canonical/error.ts'
import type { Loss } from '../canonical/loss.ts'
import { type Format, isObject, type Json, type JsonObject } from '../canonical/node.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { drain } from '../canonical/transducer.ts'
import type { WireEvent } from '../canonical/wire.ts'
import { WRITERS } from '../egress/index.ts'
import { bodyPaths, READERS } from '../ingress/index.ts'
import type { Locate } from '../ingress/locate.ts'
import { eventParser } from '../ingress/transport/event-parser.ts'
import { jsonOf, wireRequestOf } from './wire-text.ts'
import { writtenRequest } from './written-request.ts'

/** Kinds of texts that can be translated: a request, a complete answer, or a stream. */
export type Kind = 'request' | 'result' | 'events'

/** Formats and options of a translation. */
export interface Translation {
  readonly from: Format
  readonly to: Format
  readonly kind: Kind
  /** Model for texts that do not name one, and for formats that name the model in the path. */
  readonly model?: string
  /** JSON text of the request that the answer belongs to, in the target format. */
  readonly requestText?: string
}

export const KNOWN_FORMATS: readonly Format[] = [...new Set([...Object.keys(READERS), ...Object.keys(WRITERS)])]

/** A translated wire value with the losses of the translation. */
export interface Translated {
  readonly wire: unknown
  readonly losses: readonly Loss[]
  /** Maps the path of a loss to its path in the body of the request. */
  readonly bodyPath?: Locate
}

/**
 * Translates one text as the gateway would: a request or a result as JSON, a stream as server-sent events.
 *
 * @throws GatewayError if the text is malformed, or if a format cannot be read or written in this direction.
 */
export function translate(text: string, options: Translation): Translated {
  return { request: requestOf, result: resultOf, events: eventsOf }[options.kind](text, options)
}

function requestOf(text: string, { from, to, model }: Translation): Translated {
  const read = READERS[from]?.request ?? throwUnsupported(from, 'reads no requests')
  if (WRITERS[to]?.request === undefined) throwUnsupported(to, 'writes no requests')
  const canonical = read(wireRequestOf(jsonOf(text), from, model))
  const request = model === undefined ? canonical : { ...canonical, model }
  return { ...writtenRequest(request, from, to), bodyPath: bodyPaths(READERS[from]!, from, canonical) }
}

function resultOf(text: string, { from, to, model, requestText }: Translation): Translated {
  const read = READERS[from]?.result ?? throwUnsupported(from, 'reads no results')
  const write = WRITERS[to]?.result ?? throwUnsupported(to, 'writes no results')
  const body = jsonOf(text)
  const isWholeAnswer = isObject(body['body'] as Json) && typeof body['status'] === 'number'
  const request = requestFor(to, model, requestText, false)
  const result = read({ status: 200, headers: {}, body: isWholeAnswer ? (body['body'] as JsonObject) : body }, request)
  const { wire, losses } = write({ id: 'translated', createdAt: 0, ...result }, request)
  return { wire, losses }
}

function eventsOf(text: string, { from, to, model, requestText }: Translation): Translated {
  const read = READERS[from]?.events ?? throwUnsupported(from, 'reads no streams')
  const write = WRITERS[to]?.events ?? throwUnsupported(to, 'writes no streams')
  const request = requestFor(to, model, requestText, true)
  const reader = read(request)
  const nativeWriter = from === to ? WRITERS[to]!.nativeEvents?.(request) : undefined
  const writer = nativeWriter ?? write(request)
  const writeEvent = (event: WireEvent): readonly WireEvent[] => {
    const events = reader.push(event)
    if (nativeWriter !== undefined && reader.irregular !== true) return nativeWriter.relay(event, events)
    return events.flatMap(one => writer.push(one))
  }
  const wire = drain(eventParser(), [Buffer.from(text)]).flatMap(writeEvent)
  return { wire: [...wire, ...reader.end().flatMap(one => writer.push(one)), ...writer.end()], losses: [] }
}

const throwUnsupported = (format: Format, what: string): never => {
  throw invalid(`The format ${format} ${what}.`)
}

/** Returns the request that an answer is assumed to belong to. */
function requestFor(to: Format, model = 'model', requestText: string | undefined, stream: boolean): CanonicalRequest {
  if (requestText === undefined) return { model, messages: [], output: {}, sampling: {}, stream }
  const read = READERS[to]?.request ?? throwUnsupported(to, 'reads no requests')
  return { ...read(wireRequestOf(jsonOf(requestText), to, model)), stream }
}
