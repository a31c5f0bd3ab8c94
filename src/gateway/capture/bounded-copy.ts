import { StringDecoder } from 'node:string_decoder'
import { isRawNumber } from '../../canonical/exact-numbers.ts'
import { type Json, parseJson } from '../../canonical/node.ts'
import type { WireFile } from '../../canonical/wire.ts'
import { eventParser } from '../../ingress/transport/event-parser.ts'
import { FRAMES, loadedFrameParser } from '../../ingress/transport/frames.ts'
import { pointerOf } from '../../kit/pointer.ts'
import { redactedEvents } from '../../kit/recordings/redact-events.ts'
import { Redaction } from '../../kit/recordings/redaction.ts'
import type { Scrub } from '../scrub.ts'
import { MAX_SHOWN_SIZE, type Recording, SCRUB_MARGIN } from './recording.ts'
import type { CapturedBody, CapturedEvent, CapturedFile } from './shapes.ts'

/** Number of characters to which a string beyond the limit is cut. */
const CUT_LENGTH = 200
/** Maximum nesting depth that is copied. */
const MAX_DEPTH = 200

/**
 * Copies values for a capture as JSON: removes secrets, cuts long values, and replaces bytes and vectors with their
 * length.
 */
export class BoundedCopy {
  /** JSON pointers to values that were cut, starting with the name of their section of the document. */
  readonly cutPointers: string[] = []
  private remaining = MAX_SHOWN_SIZE
  readonly scrub: Scrub
  private readonly redaction: Redaction

  /** @param redaction removes the known secrets from streams, where a secret may be spread over several events. */
  constructor(scrub: Scrub, redaction: Redaction = new Redaction([])) {
    this.scrub = scrub
    this.redaction = redaction
  }

  /** Returns a copy with another scrubber. */
  with(scrub: Scrub): BoundedCopy {
    return new BoundedCopy(scrub, this.redaction)
  }

  /** Removes secrets that are spread over several events. An event with too many levels leaves each event as it is. */
  private withoutSpreadSecrets(events: readonly string[]): readonly string[] {
    try {
      return redactedEvents(events, this.redaction)
    } catch (thrown) {
      if (thrown instanceof RangeError) return events
      throw thrown
    }
  }

  /** Scrubs the events of a stream. */
  events(events: readonly CapturedEvent[]): CapturedEvent[] {
    const texts = this.withoutSpreadSecrets(events.map(({ data }) => data))
    return events.map(({ ms, event }, index) => ({
      ms,
      event: event && this.scrub(event),
      data: this.scrub(texts[index]!),
    }))
  }

  /**
   * Copies one value. The limit applies to each value separately.
   *
   * @param at its JSON pointer, such as `/caller/body`.
   */
  copy(value: unknown, at: string): Json {
    this.remaining = MAX_SHOWN_SIZE
    return this.value(value, at, 0)
  }

  /** Copies a string that is not inside a document. */
  text(text: string, at: string): string {
    this.remaining = MAX_SHOWN_SIZE
    return this.string(text, at)
  }

  private value(value: unknown, at: string, depth: number): Json {
    if (typeof value === 'string') return this.string(value, at)
    if (typeof value !== 'object' || value === null) {
      this.remaining -= 8
      return typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value)) ? value : null
    }
    if (depth > MAX_DEPTH || this.remaining <= 0) return this.omitted(at)
    this.remaining -= 2
    if (isRawNumber(value)) return value
    if (Array.isArray(value)) return this.list(value, at, depth)
    const prototype: unknown = Object.getPrototypeOf(value)
    if (prototype !== Object.prototype && prototype !== null) return lengthOf(value)
    const entries: [string, Json][] = []
    for (const [name, item] of Object.entries(value)) {
      if (item === undefined) continue
      if (this.remaining <= 0) {
        this.cutPointers.push(at)
        break
      }
      this.remaining -= name.length
      const scrubbedName = this.scrub(name)
      entries.push([scrubbedName, this.value(item, at + pointerOf([scrubbedName]), depth + 1)])
    }
    return Object.fromEntries(entries)
  }

  private list(list: readonly unknown[], at: string, depth: number): Json[] {
    const items: Json[] = []
    for (const [index, item] of list.entries()) {
      if (this.remaining <= 0) {
        this.cutPointers.push(at)
        break
      }
      items.push(this.value(item, `${at}/${index}`, depth + 1))
    }
    return items
  }

  private string(text: string, at: string): string {
    if (text.length <= this.remaining) {
      const scrubbedText = this.scrub(text)
      this.remaining -= scrubbedText.length + 2
      return scrubbedText
    }
    this.cutPointers.push(at)
    const start = cutText(text, Math.min(CUT_LENGTH, Math.max(this.remaining, 0)), this.scrub)
    this.remaining -= start.length
    return `${start}… (${text.length} characters)`
  }

  private omitted(at: string): string {
    this.cutPointers.push(at)
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
  const withMargin = text.slice(0, maximum + SCRUB_MARGIN)
  const scrubbedPrefix = scrub(withMargin)
  // A replacement may be shorter than its secret and thus move half of another secret inside the cut. The last scrubbed
  // characters are therefore hidden.
  const end = isCut || withMargin.length < text.length ? scrubbedPrefix.length - SCRUB_MARGIN : scrubbedPrefix.length
  return scrubbedPrefix.slice(0, Math.max(0, Math.min(maximum, end))).toWellFormed()
}

/** Returns the replacement of bytes, vectors and other values that are not JSON. */
function lengthOf(value: object): Json {
  const { length, size } = value as { readonly length?: unknown; readonly size?: unknown }
  if (ArrayBuffer.isView(value)) return { length: Number(length ?? value.byteLength) }
  return { bytes: typeof size === 'number' ? size : null }
}

const EVENTS = 'text/event-stream'
/** Content type of events on WebSockets: one event per line. */
const EVENT_LINES = 'application/x-ndjson'
const TEXT_TYPES = /^$|^text\/|json|xml|subrip|ndjson|^application\/octet-stream$/

/** Returns a recorded body for display, as events with their times, as JSON or text, or only its size. */
export function shownBody(recording: Recording, type: string, at: string, bounded: BoundedCopy): CapturedBody {
  const { size } = recording
  if (size === 0) return {}
  if (type.startsWith(EVENTS) || type.startsWith(EVENT_LINES)) {
    if (recording.isCut) bounded.cutPointers.push(`${at}/events`)
    return { events: bounded.events((type.startsWith(EVENT_LINES) ? linesOf : eventsOf)(recording)) }
  }
  const frames = type.startsWith(FRAMES) ? loadedFrameParser() : undefined
  if (frames !== undefined) {
    if (recording.isCut) bounded.cutPointers.push(`${at}/events`)
    return { events: bounded.events(eventsOf(recording, frames)) }
  }
  const bytes = bytesOf(recording)
  if (!TEXT_TYPES.test(type) || bytes.subarray(0, 1024).includes(0)) return { bytes: size }
  const text = bytes.toString('utf8')
  if (recording.isCut) {
    bounded.cutPointers.push(`${at}/text`)
    return { text: `${cutText(text, MAX_SHOWN_SIZE, bounded.scrub, true)}… (${size} bytes)` }
  }
  const value = jsonIn(text)
  return value === undefined ? { text: bounded.text(text, `${at}/text`) } : { body: bounded.copy(value, `${at}/body`) }
}

const bytesOf = ({ pieces }: Recording): Buffer =>
  Buffer.concat(pieces.map(({ content }) => Buffer.from(content as string)))

/** Returns the recorded bytes as text. */
export const textOf = (recording: Recording): string => bytesOf(recording).toString('utf8')

/** Parses objects and lists only. A string that happens to be a number remains text. */
const jsonIn = (text: string): Json | undefined => (/^\s*[[{]/.test(text) ? parseJson(text) : undefined)

/** Returns the complete events, each with the time of its last byte. */
function eventsOf({ pieces, isCut }: Recording, parser = eventParser()): CapturedEvent[] {
  const events: CapturedEvent[] = []
  const add = (ms: number, found: ReturnType<typeof parser.push>): void => {
    for (const { event, data } of found) events.push({ ms, event, data })
  }
  for (const { ms, content } of pieces) add(ms, parser.push(Buffer.from(content as string)))
  if (!isCut) add(pieces.at(-1)?.ms ?? 0, parser.end())
  return events
}

/** Returns the complete lines, each as one event. */
function linesOf({ pieces, isCut }: Recording): CapturedEvent[] {
  const events: CapturedEvent[] = []
  const decoder = new StringDecoder('utf8')
  // Pieces of the line that has not ended. Joining them for each piece would take quadratic time.
  let remainder: string[] = []
  for (const { ms, content } of pieces) {
    const [first, ...lines] = decoder.write(Buffer.from(content as string)).split('\n')
    remainder.push(first!)
    for (const line of lines) {
      events.push({ ms, data: remainder.join('') })
      remainder = [line]
    }
  }
  const rest = remainder.join('')
  if (rest !== '' && !isCut) events.push({ ms: pieces.at(-1)!.ms, data: rest })
  return events
}

/** Returns the names, types and sizes of a form's files. Their bytes are not stored. */
export const shownFiles = (files: readonly WireFile[], bounded: BoundedCopy, at: string): CapturedFile[] =>
  files.slice(0, MAX_FILES).map(({ field, name, mediaType, bytes }) => ({
    field: bounded.text(field, at),
    name: name && bounded.text(name, at),
    media_type: bounded.text(mediaType, at),
    size: bytes.size,
  }))

const MAX_FILES = 100
