import { type Json, parseJson } from '../../canonical/node.ts'
import type { WireFile } from '../../canonical/wire.ts'
import { eventParser } from '../../ingress/transport/sse.ts'
import { pointerOf } from '../../kit/pointer.ts'
import type { Scrub } from '../scrub.ts'
import { LARGEST, MARGIN, type Recording } from './recording.ts'
import type { CapturedBody, CapturedEvent, CapturedFile } from './shapes.ts'

/** Characters kept of a text for which there is no room. */
const REST = 200
/** Levels of nesting. */
const DEEPEST = 200

/**
 * Copies values for a capture: as JSON, without secrets, and cut where they have more characters than may be kept. Bytes and
 * vectors are replaced by their length.
 */
export class Bounded {
  /** JSON pointers of what was cut, below the name of its view. */
  readonly cut: string[] = []
  private room = LARGEST
  readonly scrub: Scrub

  constructor(scrub: Scrub) {
    this.scrub = scrub
  }

  /** @param at where it stands: `/caller/body`. Each value has all the room there is for one. */
  copy(value: unknown, at: string): Json {
    this.room = LARGEST
    return this.value(value, at, 0)
  }

  /** A text that is no part of a document. */
  text(text: string, at: string): string {
    this.room = LARGEST
    return this.string(text, at)
  }

  private value(value: unknown, at: string, depth: number): Json {
    if (typeof value === 'string') return this.string(value, at)
    if (typeof value !== 'object' || value === null) {
      this.room -= 8
      return typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value)) ? value : null
    }
    if (depth > DEEPEST || this.room <= 0) return this.leftOut(at)
    if (Array.isArray(value)) return this.list(value, at, depth)
    const prototype: unknown = Object.getPrototypeOf(value)
    if (prototype !== Object.prototype && prototype !== null) return lengthOf(value)
    const entries: [string, Json][] = []
    for (const [name, item] of Object.entries(value)) {
      if (item === undefined) continue
      if (this.room <= 0) {
        this.cut.push(at)
        break
      }
      this.room -= name.length
      const shown = this.scrub(name)
      entries.push([shown, this.value(item, at + pointerOf([shown]), depth + 1)])
    }
    return Object.fromEntries(entries)
  }

  private list(list: readonly unknown[], at: string, depth: number): Json[] {
    const items: Json[] = []
    for (const [index, item] of list.entries()) {
      if (this.room <= 0) {
        this.cut.push(at)
        break
      }
      items.push(this.value(item, `${at}/${index}`, depth + 1))
    }
    return items
  }

  private string(text: string, at: string): string {
    if (text.length <= this.room) {
      const whole = this.scrub(text)
      this.room -= whole.length + 2
      return whole
    }
    this.cut.push(at)
    const kept = cutText(text, Math.min(REST, Math.max(this.room, 0)), this.scrub)
    this.room -= kept.length
    return `${kept}… (${text.length} characters)`
  }

  private leftOut(at: string): string {
    this.cut.push(at)
    return '…'
  }
}

/**
 * The beginning of a text without secrets: they are looked for beyond where it is cut, so that none is cut in half.
 *
 * @param isCut the text was cut already: what stands at its end is not shown.
 */
export function cutText(text: string, most: number, scrub: Scrub, isCut = false): string {
  if (text.length <= most && !isCut) return scrub(text)
  const beyond = text.slice(0, most + MARGIN)
  const clean = scrub(beyond)
  // What was replaced by less may have brought half of a secret nearer: the last that was looked at is not shown.
  const end = isCut || beyond.length < text.length ? clean.length - MARGIN : clean.length
  return clean.slice(0, Math.max(0, Math.min(most, end))).toWellFormed()
}

/** What stands for bytes, vectors and other things that are no JSON. */
function lengthOf(value: object): Json {
  const { length, size } = value as { readonly length?: unknown; readonly size?: unknown }
  if (ArrayBuffer.isView(value)) return { length: Number(length ?? value.byteLength) }
  return { bytes: typeof size === 'number' ? size : null }
}

const EVENTS = 'text/event-stream'
/** How events are framed on sockets. */
const LINES = 'application/x-ndjson'
const TEXTUAL = /^$|^text\/|json|xml|subrip|ndjson|^application\/octet-stream$/

/** What passed of a body, as it is shown: events with their times, JSON, text, or only its size. */
export function shownBody(recording: Recording, type: string, at: string, bounded: Bounded): CapturedBody {
  const { pieces, size } = recording
  if (size === 0) return {}
  if (type.startsWith(EVENTS) || type.startsWith(LINES)) {
    if (recording.isCut) bounded.cut.push(`${at}/events`)
    return { events: (type.startsWith(LINES) ? linesOf : eventsOf)(recording, bounded.scrub) }
  }
  const bytes = Buffer.concat(pieces.map(({ content }) => Buffer.from(content as string)))
  if (!TEXTUAL.test(type) || bytes.subarray(0, 1024).includes(0)) return { bytes: size }
  const text = bytes.toString('utf8')
  if (recording.isCut) {
    bounded.cut.push(`${at}/text`)
    return { text: `${cutText(text, LARGEST, bounded.scrub, true)}… (${size} bytes)` }
  }
  const value = jsonIn(text)
  return value === undefined ? { text: bounded.text(text, `${at}/text`) } : { body: bounded.copy(value, `${at}/body`) }
}

/** Objects and lists only: a text that happens to be a number is a text. */
const jsonIn = (text: string): Json | undefined => (/^\s*[[{]/.test(text) ? parseJson(text) : undefined)

/** The events that came whole, with the times of their last bytes. */
function eventsOf({ pieces, isCut }: Recording, scrub: Scrub): CapturedEvent[] {
  const parser = eventParser()
  const events: CapturedEvent[] = []
  const add = (ms: number, found: ReturnType<typeof parser.push>): void => {
    for (const { event, data } of found) events.push({ ms, event: event && scrub(event), data: scrub(data) })
  }
  for (const { ms, content } of pieces) add(ms, parser.push(Buffer.from(content as string)))
  if (!isCut) add(pieces.at(-1)?.ms ?? 0, parser.end())
  return events
}

/** The lines that came whole, each an event. */
function linesOf({ pieces, isCut }: Recording, scrub: Scrub): CapturedEvent[] {
  const events: CapturedEvent[] = []
  let rest = ''
  for (const { ms, content } of pieces) {
    const lines = (rest + Buffer.from(content as string).toString('utf8')).split('\n')
    rest = lines.pop()!
    for (const line of lines) events.push({ ms, data: scrub(line) })
  }
  if (rest !== '' && !isCut) events.push({ ms: pieces.at(-1)!.ms, data: scrub(rest) })
  return events
}

/** The files of a form, of which names and sizes are kept. */
export const shownFiles = (files: readonly WireFile[], bounded: Bounded, at: string): CapturedFile[] =>
  files.slice(0, MOST_FILES).map(({ field, name, mediaType, bytes }) => ({
    field: bounded.text(field, at),
    name: name && bounded.text(name, at),
    media_type: bounded.text(mediaType, at),
    size: bytes.size,
  }))

const MOST_FILES = 100
