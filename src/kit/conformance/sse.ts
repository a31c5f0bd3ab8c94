/* A reader of server-sent events that reports every violation of the framing. */

/** One event as received. */
export interface SseEvent {
  /** Value of the `event:` field, if there was one. */
  readonly name: string | undefined
  /** The `data:` lines, joined by line feeds. */
  readonly data: string
  /** Byte offset in the stream. The event's final empty line is included. */
  readonly start: number
  readonly end: number
}

export interface SseFault {
  readonly rule: 'sse.utf8' | 'sse.count' | 'sse.field' | 'sse.unfinished' | 'sse.bom'
  readonly at: number
  readonly detail: string
}

export interface SseStream {
  readonly events: readonly SseEvent[]
  readonly comments: number
  readonly faults: readonly SseFault[]
}

/** Maximum number of events that are read. */
const MAX_EVENTS = 50_000
/** Maximum number of faults that are recorded. */
const MAX_FAULTS = 100

const LF = 10
const CR = 13
const FIELDS = new Set(['event', 'data', 'id', 'retry'])

interface Line {
  readonly start: number
  readonly end: number
  /** Offset after the end of the line, or -1 for trailing bytes without a line end. */
  readonly next: number
}

/** Splits bytes into lines, which end with LF, CR or CRLF. */
function* linesOf(bytes: Uint8Array): Generator<Line> {
  let start = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte !== LF && byte !== CR) continue
    const end = at
    if (byte === CR && bytes[at + 1] === LF) at++
    yield { start, end, next: at + 1 }
    start = at + 1
  }
  if (start < bytes.length) yield { start, end: bytes.length, next: -1 }
}

class SseReader {
  readonly events: SseEvent[] = []
  readonly faults: SseFault[] = []
  comments = 0
  private name: string | undefined
  private data: string[] = []
  private start: number | undefined
  private readonly decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

  private readonly bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  read(): SseStream {
    for (const line of linesOf(this.bytes)) {
      const text = this.textOf(line)
      this.start ??= line.start
      if (this.events.length >= MAX_EVENTS) {
        this.faults.push({
          rule: 'sse.count',
          at: line.start,
          detail: `The stream has more than ${MAX_EVENTS} events.`,
        })
        break
      }
      if (this.faults.length >= MAX_FAULTS) break
      if (line.next === -1) this.field(text, line.start)
      else if (text === '') this.dispatch(line.next)
      else this.field(text, line.start)
    }
    if (this.name !== undefined || this.data.length > 0)
      this.faults.push({ rule: 'sse.unfinished', at: this.start ?? 0, detail: 'No empty line ends the last event.' })
    return { events: this.events, comments: this.comments, faults: this.faults }
  }

  private textOf({ start, end }: Line): string {
    const slice = this.bytes.subarray(start, end)
    try {
      const text = this.decoder.decode(slice)
      if (start !== 0 || !text.startsWith('\uFEFF')) return text
      this.faults.push({ rule: 'sse.bom', at: 0, detail: 'The stream begins with a byte order mark.' })
      return text.slice(1)
    } catch {
      this.faults.push({ rule: 'sse.utf8', at: start, detail: `The line at byte ${start} is not UTF-8.` })
      return Buffer.from(slice).toString('utf8')
    }
  }

  private field(line: string, at: number): void {
    if (line.startsWith(':')) {
      this.comments++
      return
    }
    const colon = line.indexOf(':')
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (field === 'data') this.data.push(value)
    else if (field === 'event') this.name = value
    else if (!FIELDS.has(field))
      this.faults.push({
        rule: 'sse.field',
        at,
        detail: `Not a field of an event: ${JSON.stringify(line.slice(0, 80))}`,
      })
  }

  private dispatch(end: number): void {
    // An event without data is not dispatched (WHATWG HTML, 9.2.6). A block that only has comments is not an event.
    if (this.data.length > 0)
      this.events.push({ name: this.name, data: this.data.join('\n'), start: this.start ?? 0, end })
    this.name = undefined
    this.data = []
    this.start = undefined
  }
}

/** Returns all events of a body and the faults of its framing (rules: WHATWG HTML, section 9.2). */
export const readSse = (bytes: Uint8Array): SseStream => new SseReader(bytes).read()
