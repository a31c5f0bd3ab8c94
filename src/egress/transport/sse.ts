import type { WireEvent } from '../../canonical/wire.ts'

/** Receives an answer's text; an HTTP response is one. */
export interface Outlet {
  /** False when the reader is behind: write no more until `drain`. */
  write(text: string): boolean
  end(text: string): unknown
  once(event: 'drain', listener: () => void): unknown
  destroy(): unknown
}

/** The source of the events, as far as it can be paused. */
export interface Source {
  pause(): void
  resume(): void
}

/** How events of a stream are written as text. */
export interface Framing {
  readonly contentType: string
  /** The text of an event; `first` marks the first of its stream. */
  frame(event: WireEvent, first: boolean): string
  /** The text that ends the stream; `empty` marks a stream without events. */
  close(empty: boolean): string
  /** Written as a sign of life where the format has no event for it. */
  readonly sign: string
}

export const EVENT_STREAM: Framing = {
  contentType: 'text/event-stream; charset=utf-8',
  frame: ({ event, data }) => {
    const lines = data.includes('\n') || data.includes('\r') ? data.split(/\r\n|\r|\n/).join('\ndata: ') : data
    return event === undefined ? `data: ${lines}\n\n` : `event: ${event}\ndata: ${lines}\n\n`
  },
  close: () => '',
  sign: ': ping\n\n',
}

/** One JSON array, an element for each event; white space between elements is ignored. */
export const JSON_ARRAY: Framing = {
  contentType: 'application/json; charset=utf-8',
  frame: ({ data }, first) => (first ? `[${data}` : `,\r\n${data}`),
  close: empty => (empty ? '[]' : ']'),
  sign: '\n',
}

/** One event a line, for connections with their own sign of life. */
const JSON_LINES: Framing = {
  contentType: 'application/x-ndjson',
  frame: ({ data }) => `${data}\n`,
  close: () => '',
  sign: '',
}

/** How each kind of connection frames events. */
export const FRAMINGS = { events: EVENT_STREAM, array: JSON_ARRAY, lines: JSON_LINES } as const

/** The headers of a stream: no proxy may store it or buffer it. */
export const streamHeaders = ({ contentType }: Framing) => ({
  'content-type': contentType,
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
})

export interface StreamOptions {
  readonly framing: Framing
  /** The event sent as a sign of life; the framing's own sign where the format has none. */
  readonly heartbeat: WireEvent | undefined
  /** Milliseconds of silence after which a sign of life is written. */
  readonly interval: number
  readonly source: Source
}

/** A reader that takes nothing for so many heartbeats is disconnected. */
export const PATIENCE = 8

/** Milliseconds between two writes of a busy stream: a write costs more than many events. */
const GAP = 4

/**
 * Writes a stream of events: after a pause events are written at once, those of one tick in one write; events that
 * follow closely are gathered for a moment. A reader that is behind pauses the source, and heartbeats break silence.
 * The code that opens it ends it, or stops it when the reader has disconnected.
 */
export class EventStream {
  private readonly outlet: Outlet
  private readonly options: StreamOptions
  private readonly timer: NodeJS.Timeout
  private text = ''
  private empty = true
  private scheduled = false
  private wrote = Number.NEGATIVE_INFINITY
  /** Heartbeats since the reader fell behind, counted from 1; 0 while it keeps up. */
  private behind = 0
  private over = false

  constructor(outlet: Outlet, options: StreamOptions) {
    this.outlet = outlet
    this.options = options
    this.timer = setInterval(this.beat, options.interval)
  }

  push(events: readonly WireEvent[]): void {
    for (const event of events) {
      this.text += this.options.framing.frame(event, this.empty)
      this.empty = false
    }
    if (this.scheduled || this.text === '') return
    this.scheduled = true
    process.nextTick(this.settle)
  }

  end(): void {
    if (this.over) return
    this.stop()
    this.outlet.end(this.text + this.options.framing.close(this.empty))
  }

  /** Nothing is written from now on. */
  stop(): void {
    this.over = true
    clearInterval(this.timer)
  }

  private readonly settle = (): void => {
    if (performance.now() - this.wrote < GAP) setTimeout(this.flush, GAP)
    else this.flush()
  }

  private readonly flush = (): void => {
    this.scheduled = false
    if (this.over || this.text === '') return
    this.wrote = performance.now()
    this.writeText()
  }

  private writeText(): void {
    const text = this.text
    this.text = ''
    this.timer.refresh()
    if (this.outlet.write(text) || this.behind > 0) return
    this.behind = 1
    this.options.source.pause()
    this.outlet.once('drain', this.caughtUp)
  }

  private readonly caughtUp = (): void => {
    this.behind = 0
    if (!this.over) this.options.source.resume()
  }

  /** Writes a sign of life. */
  readonly beat = (): void => {
    if (this.behind > 0) {
      if (++this.behind > PATIENCE) this.outlet.destroy()
      return
    }
    const { framing, heartbeat } = this.options
    this.text += heartbeat === undefined || this.empty ? framing.sign : framing.frame(heartbeat, false)
    this.flush()
  }
}
