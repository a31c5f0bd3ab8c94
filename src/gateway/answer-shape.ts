import type { Reader } from '../ingress/reader.ts'
import { type Answer, single } from '../upstreams/channel/index.ts'

/** How an answer is to be read: as one JSON value, as a stream of events, or as what neither is. */
type Shape = 'json' | 'events' | 'raw'

/**
 * The shape of an answer. What it begins with decides, since upstreams and proxies send wrong types; the
 * type decides where that is ambiguous, and where an answer may be a text or a recording, which may begin like anything.
 *
 * @param stream whether a stream was requested.
 */
export function shapeOf(answer: Answer, { raw, events }: Reader, stream: boolean): Shape {
  const type = single(answer.headers['content-type']).toLowerCase()
  const shape = raw === true ? ofAny(type, answer, stream) : ofText(type, answer, stream)
  return shape === 'events' && events === undefined ? 'json' : shape
}

function ofText(type: string, { begins }: Answer, stream: boolean): Shape {
  if (begins === 'json' || begins === 'events') return begins
  return type.startsWith(EVENTS) || (stream && !type.includes('json')) ? 'events' : 'json'
}

function ofAny(type: string, { begins }: Answer, stream: boolean): Shape {
  const stated = type.startsWith(EVENTS) ? 'events' : type.includes('json') ? 'json' : undefined
  if (stated !== undefined) return begins === 'json' || begins === 'events' ? begins : stated
  if (begins === 'events') return stream || !isTextual(type) ? 'events' : 'raw'
  return stream && type === '' ? 'events' : 'raw'
}

/** Subtitles are text, too. */
const TEXTUAL = /^$|^text\/|^application\/x-subrip\b/i

/** Whether an answer of a media type is a text, which may begin like anything; without a type it is read as one. */
export const isTextual = (mediaType: string): boolean => TEXTUAL.test(mediaType)

const EVENTS = 'text/event-stream'
