import type { Json } from '../../canonical/node.ts'
import type { WireFile } from '../../canonical/wire.ts'
import { eventParser } from '../../ingress/transport/sse.ts'
import type { Bounded } from './bounded.ts'
import { cutText } from './bounded.ts'
import type { CapturedBody, CapturedEvent, CapturedFile } from './document.ts'
import { LARGEST, type Recording } from './recording.ts'
import type { Scrub } from './secrets.ts'

const EVENTS = 'text/event-stream'
const TEXTUAL = /^$|^text\/|json|xml|subrip|ndjson|^application\/octet-stream$/

/** What passed of a body, as it is shown: events with their times, JSON, text, or only its size. */
export function shownBody(
  recording: Recording,
  type: string,
  at: string,
  bounded: Bounded,
  scrub: Scrub,
): CapturedBody {
  const { pieces, size } = recording
  if (size === 0) return {}
  if (type.startsWith(EVENTS)) {
    if (recording.isCut) bounded.cut.push(`${at}/events`)
    return { events: eventsOf(recording, scrub) }
  }
  const bytes = Buffer.concat(pieces.map(({ content }) => Buffer.from(content as string)))
  if (!TEXTUAL.test(type) || bytes.subarray(0, 1024).includes(0)) return { bytes: size }
  const text = bytes.toString('utf8')
  if (recording.isCut) {
    bounded.cut.push(`${at}/text`)
    return { text: `${cutText(text, LARGEST, scrub)}… (${size} bytes)` }
  }
  const value = jsonIn(text)
  return value === undefined ? { text: bounded.text(text, `${at}/text`) } : { body: bounded.copy(value, `${at}/body`) }
}

/** Objects and lists only: a text that happens to be a number is a text. */
function jsonIn(text: string): Json | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

/** The events that came whole, with the times of their last bytes. */
function eventsOf({ pieces, isCut }: Recording, scrub: Scrub): CapturedEvent[] {
  const parser = eventParser()
  const events: CapturedEvent[] = []
  const add = (ms: number, found: ReturnType<typeof parser.push>): void => {
    for (const { event, data } of found)
      events.push({ ms, ...(event === undefined ? {} : { event: scrub(event) }), data: scrub(data) })
  }
  for (const { ms, content } of pieces) add(ms, parser.push(Buffer.from(content as string)))
  if (!isCut) add(pieces.at(-1)?.ms ?? 0, parser.end())
  return events
}

/** The files of a form, of which names and sizes are kept. */
export const shownFiles = (files: readonly WireFile[], bounded: Bounded, at: string): CapturedFile[] =>
  files.slice(0, MOST_FILES).map(({ field, name, mediaType, bytes }) => ({
    field: bounded.text(field, at),
    ...(name === undefined ? {} : { name: bounded.text(name, at) }),
    media_type: bounded.text(mediaType, at),
    ...(bytes.size === undefined ? {} : { size: bytes.size }),
  }))

const MOST_FILES = 100
