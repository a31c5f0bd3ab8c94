import { type Json, parseJson } from '../../canonical/node.ts'
import type { WireFile } from '../../canonical/wire.ts'
import { eventParser } from '../../ingress/transport/event-parser.ts'
import { FRAMES, loadedFrameParser } from '../../ingress/transport/frames.ts'
import { pointerOf } from '../../kit/pointer.ts'
import type { Scrub } from '../scrub.ts'
import { LARGEST, MARGIN, type Recording } from './recording.ts'
import type { CapturedBody, CapturedEvent, CapturedFile } from './shapes.ts'

/** Number of characters to which a string beyond the limit is cut. */
const CUT_LENGTH = 200
/** Maximum nesting depth that is copied. */
const DEEPEST = 200

/**
 * Copies values for a capture as JSON: removes secrets, cuts long values, and replaces bytes and vectors with their
 * length.
 */
export class BoundedCopy {
  /** JSON pointers to values that were cut, starting with the name of their section of the document. */
  readonly cut: string[] = []
  private remaining = LARGEST
  readonly scrub: Scrub

  constructor(scrub: Scrub) {
    this.scrub = scrub
  }

  /**
   * Copies one value. The limit applies to each value separately.
   *
   * @param at its JSON pointer, such as `/caller/body`.
   */
  copy(value: unknown, at: string): Json {
    this.remaining = LARGEST
    return this.value(value, at, 0)
  }

  /** Copies a string that is not inside a document. */
  text(text: string, at: string): string {
    this.remaining = LARGEST
    return this.string(text, at)
  }

  private value(value: unknown, at: string, depth: number): Json {
    if (typeof value === 'string') return this.string(value, at)
    if (typeof value !== 'object' || value === null) {
      this.remaining -= 8
      return typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value)) ? value : null
    }
    if (depth > DEEPEST || this.remaining <= 0) return this.omitted(at)
    if (Array.isArray(value)) return this.list(value, at, depth)
    const prototype: unknown = Object.getPrototypeOf(value)
    if (prototype !== Object.prototype && prototype !== null) return lengthOf(value)
    const entries: [string, Json][] = []
    for (const [name, item] of Object.entries(value)) {
      if (item === undefined) continue
      if (this.remaining <= 0) {
        this.cut.push(at)
        break
      }
      this.remaining -= name.length
      const shown = this.scrub(name)
      entries.push([shown, this.value(item, at + pointerOf([shown]), depth + 1)])
    }
    return Object.fromEntries(entries)
  }

  private list(list: readonly unknown[], at: string, depth: number): Json[] {
    const items: Json[] = []
    for (const [index, item] of list.entries()) {
      if (this.remaining <= 0) {
        this.cut.push(at)
        break
      }
      items.push(this.value(item, `${at}/${index}`, depth + 1))
    }
    return items
  }

  private string(text: string, at: string): string {
    if (text.length <= this.remaining) {
      const whole = this.scrub(text)
      this.remaining -= whole.length + 2
      return whole
    }
    this.cut.push(at)
    const beginning = cutText(text, Math.min(CUT_LENGTH, Math.max(this.remaining, 0)), this.scrub)
    this.remaining -= beginning.length
    return `${beginning}… (${text.length} characters)`
  }

  private omitted(at: string): string {
    this.cut.push(at)
    return '…'
  }
}

/**
 * Returns the start of a string without secrets. First scrubs the text beyond the cut, so that no secret is cut in half
 * and missed.
 *
 * @param isCut whether the text has already been cut. Its end may then hold half a secret and is not shown.
 */
export function cutText(text: string, maximum: number, scrub: Scrub, isCut = false): string {
  if (text.length <= maximum && !isCut) return scrub(text)
  const withMargin = text.slice(0, maximum + MARGIN)
  const clean = scrub(withMargin)
  // A replacement may be shorter than its secret and thus move half of another secret inside the cut. The last scrubbed
  // characters are therefore hidden.
  const end = isCut || withMargin.length < text.length ? clean.length - MARGIN : clean.length
  return clean.slice(0, Math.max(0, Math.min(maximum, end))).toWellFormed()
}

/** Returns the replacement of bytes, vectors and other values that are not JSON. */
function lengthOf(value: object): Json {
  const { length, size } = value as { readonly length?: unknown; readonly size?: unknown }
  if (ArrayBuffer.isView(value)) return { length: Number(length ?? value.byteLength) }
  return { bytes: typeof size === 'number' ? size : null }
}

const EVENTS = 'text/event-stream'
/** Content type of events on WebSockets: one event per line. */
const LINES = 'application/x-ndjson'
const TEXTUAL = /^$|^text\/|json|xml|subrip|ndjson|^application\/octet-stream$/

/** Returns a recorded body for display, as events with their times, as JSON or text, or only its size. */
export function shownBody(recording: Recording, type: string, at: string, bounded: BoundedCopy): CapturedBody {
  const { pieces, size } = recording
  if (size === 0) return {}
  if (type.startsWith(EVENTS) || type.startsWith(LINES)) {
    if (recording.isCut) bounded.cut.push(`${at}/events`)
    return { events: (type.startsWith(LINES) ? linesOf : eventsOf)(recording, bounded.scrub) }
  }
  const frames = type.startsWith(FRAMES) ? loadedFrameParser() : undefined
  if (frames !== undefined) {
    if (recording.isCut) bounded.cut.push(`${at}/events`)
    return { events: eventsOf(recording, bounded.scrub, frames) }
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

/** Parses objects and lists only. A string that happens to be a number remains text. */
const jsonIn = (text: string): Json | undefined => (/^\s*[[{]/.test(text) ? parseJson(text) : undefined)

/** Returns the complete events, each with the time of its last byte. */
function eventsOf({ pieces, isCut }: Recording, scrub: Scrub, parser = eventParser()): CapturedEvent[] {
  const events: CapturedEvent[] = []
  const add = (ms: number, found: ReturnType<typeof parser.push>): void => {
    for (const { event, data } of found) events.push({ ms, event: event && scrub(event), data: scrub(data) })
  }
  for (const { ms, content } of pieces) add(ms, parser.push(Buffer.from(content as string)))
  if (!isCut) add(pieces.at(-1)?.ms ?? 0, parser.end())
  return events
}

/** Returns the complete lines, each as one event. */
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

/** Returns the names, types and sizes of a form's files. Their bytes are not stored. */
export const shownFiles = (files: readonly WireFile[], bounded: BoundedCopy, at: string): CapturedFile[] =>
  files.slice(0, MOST_FILES).map(({ field, name, mediaType, bytes }) => ({
    field: bounded.text(field, at),
    name: name && bounded.text(name, at),
    media_type: bounded.text(mediaType, at),
    size: bytes.size,
  }))

const MOST_FILES = 100
