import type { Reader } from '../ingress/reader.ts'
import { type EventParser, eventParser } from '../ingress/transport/event-parser.ts'
import { FRAMES, openFrameParser } from '../ingress/transport/frames.ts'
import { type Answer, headerValue } from '../upstreams/channel/index.ts'

/** Way to read an answer: as one JSON value, as a stream of events, or as raw text or bytes. */
type Shape = 'json' | 'events' | 'raw'

/**
 * Decides how to read an answer. The first bytes take precedence over the content type, because upstreams and proxies
 * often send a wrong one. The content type decides if the first bytes are ambiguous, or if the answer may be plain text
 * or a recording.
 *
 * @param stream whether a stream was requested.
 */
export function shapeOf(answer: Answer, { raw, events }: Reader, stream: boolean): Shape {
  const type = headerValue(answer.headers['content-type']).toLowerCase()
  const shape = raw === true ? shapeOfRaw(type, answer, stream) : shapeOfText(type, answer, stream)
  return shape === 'events' && events === undefined ? 'json' : shape
}

function shapeOfText(type: string, { bodyKind }: Answer, stream: boolean): Shape {
  if (bodyKind === 'json' || bodyKind === 'events') return bodyKind
  return isEvents(type) || (stream && !type.includes('json')) ? 'events' : 'json'
}

function shapeOfRaw(type: string, { bodyKind }: Answer, stream: boolean): Shape {
  const declaredShape = isEvents(type) ? 'events' : type.includes('json') ? 'json' : undefined
  if (declaredShape !== undefined) return bodyKind === 'json' || bodyKind === 'events' ? bodyKind : declaredShape
  if (bodyKind === 'events') return stream || !isTextual(type) ? 'events' : 'raw'
  return stream && type === '' ? 'events' : 'raw'
}

/** Media types of text, including subtitles. */
const TEXTUAL = /^$|^text\/|^application\/x-subrip\b/i

/** Returns true if an answer of this media type is plain text. An answer without a type is read as text. */
export const isTextual = (mediaType: string): boolean => TEXTUAL.test(mediaType)

const EVENTS = 'text/event-stream'

const isEvents = (type: string): boolean => type.startsWith(EVENTS) || type.startsWith(FRAMES)

/** Returns the parser for the events of an answer. The parser for binary frames is loaded on first use. */
export const eventParserOf = (answer: Answer): EventParser | Promise<EventParser> =>
  headerValue(answer.headers['content-type']).startsWith(FRAMES) ? openFrameParser() : eventParser()
