import type { WireEvent } from '../../canonical/wire.ts'

/** Where an answer's text goes; an HTTP response is one. */
export interface Outlet {
  /** False when the reader is behind: write no more until `drain`. */
  write(text: string): boolean
  end(text: string): unknown
  once(event: 'drain', listener: () => void): unknown
  destroy(): unknown
}

/** Where the events come from, as far as it can be held up. */
export interface Source {
  pause(): void
  resume(): void
}

/** How a stream of events becomes text. */
export interface Framing {
  readonly contentType: string
  /** The text of an event; `first` says that it is the first of its stream. */
  frame(event: WireEvent, first: boolean): string
  /** What ends the stream; `empty` says that it had no events. */
  close(empty: boolean): string
  /** What shows the reader that the stream lives, where the format has no event for it. */
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

/** One JSON array, an element for each event; white space between elements says nothing. */
export const JSON_ARRAY: Framing = {
  contentType: 'application/json; charset=utf-8',
  frame: ({ data }, first) => (first ? `[${data}` : `,\r\n${data}`),
  close: empty => (empty ? '[]' : ']'),
  sign: '\n',
}

/** One event a line, for connections that show by themselves that they live. */
export const JSON_LINES: Framing = {
  contentType: 'application/x-ndjson',
  frame: ({ data }) => `${data}\n`,
  close: () => '',
  sign: '',
}

/** The head of a stream, which nobody on the way to its reader is to store or to hold back. */
export const streamHeaders = ({ contentType }: Framing) => ({
  'content-type': contentType,
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
})

export interface StreamOptions {
  readonly framing: Framing
  /** The event that shows that the stream lives; the framing's own sign where the format has none. */
  readonly heartbeat: WireEvent | undefined
  /** Milliseconds of silence after which the reader is shown that the stream lives. */
  readonly interval: number
  readonly source: Source
}

/** A reader that takes nothing for so many heartbeats is gone. */
export const PATIENCE = 8

/** Milliseconds between two writes of a stream in full spate: a write costs more than many events. */
const GAP = 4

/**
 * Writes a stream of events: what comes after a pause goes out at once, all of one tick in one write; what follows
 * closely is gathered for a moment. A reader that is behind holds up the source, and silence is broken by heartbeats.
 * Whoever opens it ends it, or stops it when the reader is gone.
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

  /** What was pushed goes out now, whatever else the same tick may bring: the first word of an answer is waited for. */
  send(): void {
    if (!this.over && this.text !== '') this.outletTakes()
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
    this.outletTakes()
  }

  private outletTakes(): void {
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

  private readonly beat = (): void => {
    if (this.behind > 0) {
      if (++this.behind > PATIENCE) this.outlet.destroy()
      return
    }
    const { framing, heartbeat } = this.options
    this.text += heartbeat === undefined || this.empty ? framing.sign : framing.frame(heartbeat, false)
    this.flush()
  }
}
