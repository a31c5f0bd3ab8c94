import type { WireEvent } from '../../canonical/wire.ts'

/** The destination of a stream, such as an HTTP response. */
export interface Outlet {
  /** Returns false if the reader is behind, in which case writing should pause until `drain`. */
  write(chunk: string | Uint8Array): boolean
  end(text: string): unknown
  once(event: 'drain', listener: () => void): unknown
  destroy(): unknown
}

/** A source of events that can be paused. */
export interface Source {
  pause(): void
  resume(): void
}

/** Encodes the events of a stream as text. */
export interface Framing {
  readonly contentType: string
  /** True if each character of the text represents one byte. */
  readonly binary?: true
  /** Encodes an event. `first` marks the stream's first event. */
  frame(event: WireEvent, first: boolean): string
  /** Encodes the end of the stream. `empty` marks a stream without events. */
  close(empty: boolean): string
  /** Heartbeat for formats without a heartbeat event. */
  readonly defaultHeartbeat: string
}

/** Server-sent events. */
export const EVENT_STREAM: Framing = {
  contentType: 'text/event-stream; charset=utf-8',
  frame: ({ event, data }) => {
    const lines = data.includes('\n') || data.includes('\r') ? data.split(/\r\n|\r|\n/).join('\ndata: ') : data
    return event === undefined ? `data: ${lines}\n\n` : `event: ${event}\ndata: ${lines}\n\n`
  },
  close: () => '',
  defaultHeartbeat: ': ping\n\n',
}

/** One JSON array with an element per event. Clients ignore white space between elements. */
export const JSON_ARRAY: Framing = {
  contentType: 'application/json; charset=utf-8',
  frame: ({ data }, first) => (first ? `[${data}` : `,\r\n${data}`),
  close: empty => (empty ? '[]' : ']'),
  defaultHeartbeat: '\n',
}

/** One event per line, for connections that have their own heartbeats. */
export const JSON_LINES: Framing = {
  contentType: 'application/x-ndjson',
  frame: ({ data }) => `${data}\n`,
  close: () => '',
  defaultHeartbeat: '',
}

/** Headers of a stream. They tell proxies not to store or buffer it. */
export const streamHeaders = ({ contentType }: Framing) => ({
  'content-type': contentType,
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
})

/** The framing, heartbeat and source of a stream. */
export interface StreamOptions {
  readonly framing: Framing
  /** Heartbeat event. If the format has none, the framing's heartbeat is written. */
  readonly heartbeat: WireEvent | undefined
  /** Maximum silence of the stream before a heartbeat is written, in milliseconds. */
  readonly interval: number
  readonly source: Source
}

/** Maximum number of unread heartbeats. After that many, the reader is disconnected. */
export const MAX_MISSED_HEARTBEATS = 8

/** Minimum time between writes of a busy stream, in milliseconds. One write costs more than many events. */
const WRITE_GAP = 4

/**
 * Writes events to an outlet. After a pause, the events of one tick are written together. Events in quick succession
 * are batched for a few milliseconds. A slow reader pauses the source. Heartbeats interrupt long silences. The creator
 * must call `end`, or `stop` once the reader has disconnected.
 */
export class EventStream {
  private readonly outlet: Outlet
  private readonly options: StreamOptions
  private readonly timer: NodeJS.Timeout
  private text = ''
  private isEmpty = true
  private isScheduled = false
  private lastWrite = Number.NEGATIVE_INFINITY
  /** Number of heartbeats since the reader fell behind, starting at 1, or 0 while the reader keeps up. */
  private missedHeartbeats = 0
  private isOver = false

  constructor(outlet: Outlet, options: StreamOptions) {
    this.outlet = outlet
    this.options = options
    this.timer = setInterval(this.beat, options.interval)
  }

  push(events: readonly WireEvent[]): void {
    for (const event of events) {
      this.text += this.options.framing.frame(event, this.isEmpty)
      this.isEmpty = false
    }
    if (this.isScheduled || this.text === '') return
    this.isScheduled = true
    process.nextTick(this.scheduleFlush)
  }

  end(): void {
    if (this.isOver) return
    this.stop()
    const rest = this.text + this.options.framing.close(this.isEmpty)
    const bytes = this.encoded(rest)
    if (typeof bytes === 'string') return void this.outlet.end(bytes)
    if (bytes.length > 0) this.outlet.write(bytes)
    this.outlet.end('')
  }

  /** Stops all writing. */
  stop(): void {
    this.isOver = true
    clearInterval(this.timer)
  }

  private readonly scheduleFlush = (): void => {
    if (performance.now() - this.lastWrite < WRITE_GAP) setTimeout(this.flush, WRITE_GAP)
    else this.flush()
  }

  private readonly flush = (): void => {
    this.isScheduled = false
    if (this.isOver || this.text === '') return
    this.lastWrite = performance.now()
    this.writeText()
  }

  private writeText(): void {
    const text = this.text
    this.text = ''
    this.timer.refresh()
    if (this.outlet.write(this.encoded(text)) || this.missedHeartbeats > 0) return
    this.missedHeartbeats = 1
    this.options.source.pause()
    this.outlet.once('drain', this.onDrain)
  }

  private encoded(text: string): string | Uint8Array {
    return this.options.framing.binary === true ? Buffer.from(text, 'latin1') : text
  }

  private readonly onDrain = (): void => {
    this.missedHeartbeats = 0
    if (!this.isOver) this.options.source.resume()
  }

  /** Writes a heartbeat, or disconnects a reader that has been behind for too long. */
  readonly beat = (): void => {
    if (this.missedHeartbeats > 0) {
      if (++this.missedHeartbeats > MAX_MISSED_HEARTBEATS) this.outlet.destroy()
      return
    }
    const { framing, heartbeat } = this.options
    this.text += heartbeat === undefined || this.isEmpty ? framing.defaultHeartbeat : framing.frame(heartbeat, false)
    this.flush()
  }
}
