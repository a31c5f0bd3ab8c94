import type { CanonicalError } from '../canonical/error.ts'
import type { CanonicalEvent } from '../canonical/event.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { Transducer } from '../canonical/transducer.ts'
import type { WireEvent } from '../canonical/wire.ts'
import type { Source } from '../egress/transport/sse.ts'
import type { Sink } from '../stored/index.ts'
import type { Call } from './call.ts'

/** Whether a caller waits at a separate connection for the first event: frames of sockets have no head. */
export const mayBeginEarly = ({ call, request }: Requested): boolean =>
  request.stream && call.framing !== 'lines' && request.state?.background !== true

interface Requested {
  readonly call: Call
  readonly request: CanonicalRequest
}

/** How a stream begins whose upstream has sent nothing yet. */
export interface Beginning {
  /** Sends status and headers. */
  open(source: Source): Sink
  /** Canonical to the caller's format. */
  write(): Transducer<CanonicalEvent, WireEvent>
  /** The first event, with the answer's id, where the answer fails. */
  start(): CanonicalEvent
}

/**
 * Begins a streamed answer before its upstream does: callers, and proxies before them, give up on connections that are
 * silent for long. Once it has begun no other channel can be tried, and a failure is an event of the stream.
 */
export class EarlyHead {
  private readonly timer: NodeJS.Timeout
  private due = false
  private beginning: Beginning | undefined
  private open: { readonly sink: Sink; readonly source: LateSource } | undefined

  /** @param interval milliseconds after which the stream begins. */
  constructor(interval: number) {
    this.timer = setTimeout(this.begin, interval)
  }

  /** A request goes to a channel: the beginning its answer would have. */
  offer(beginning: Beginning): void {
    this.beginning = beginning
    if (this.due) this.begin()
  }

  /** The channel failed before the stream began: another is tried. */
  withdraw(): void {
    if (this.open === undefined) this.beginning = undefined
  }

  /** The upstream answers: the sink of the stream that has begun, if any; `source` can be held up from now on. */
  take(source: Source): Sink | undefined {
    clearTimeout(this.timer)
    this.beginning = undefined
    const { open } = this
    this.open = undefined
    open?.source.attach(source)
    return open?.sink
  }

  /** Ends a stream that has begun and was not taken with an error; false where there is none. */
  fail(error: CanonicalError): boolean {
    const { open, beginning } = this
    if (open === undefined || beginning === undefined) return false
    const writer = beginning.write()
    open.sink.push(writer.push(beginning.start()))
    open.sink.push(writer.push({ type: 'error', error }))
    open.sink.push(writer.end())
    open.sink.end()
    this.open = undefined
    return true
  }

  /** The request is over. */
  close(): void {
    clearTimeout(this.timer)
    this.open?.sink.stop()
    this.open = undefined
  }

  private readonly begin = (): void => {
    this.due = true
    if (this.beginning === undefined || this.open !== undefined) return
    const source = new LateSource()
    this.open = { source, sink: this.beginning.open(source) }
  }
}

/** A source that can be paused before it is attached. */
class LateSource implements Source {
  private source: Source | undefined
  private paused = false

  attach(source: Source): void {
    this.source = source
    if (this.paused) source.pause()
  }

  pause(): void {
    this.paused = true
    this.source?.pause()
  }

  resume(): void {
    this.paused = false
    this.source?.resume()
  }
}
