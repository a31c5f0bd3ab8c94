import type { CanonicalError } from '../canonical/error.ts'
import type { Loss } from '../canonical/loss.ts'
import type { Source } from '../egress/transport/sse.ts'
import type { Sink } from '../stored/index.ts'
import { withHead } from './public-answer.ts'
import { beginStream, eventWriter } from './stream-head.ts'
import type { Attempt, Early, Incoming } from './types.ts'

/** Whether a caller waits at a separate connection for the first event: frames of sockets have no head. */
export const mayBeginEarly = ({ call, request }: Pick<Incoming, 'call' | 'request'>): boolean =>
  request.stream && call.framing !== 'lines' && request.state?.background !== true

/**
 * Begins a streamed answer before its upstream does: callers, and proxies before them, give up on connections that are
 * silent for long. Once it has begun no other channel can be tried, and a failure is an event of the stream.
 */
export class EarlyHead implements Early {
  private readonly timer: NodeJS.Timeout
  private due = false
  /** The attempt whose answer is begun when it is due. */
  private attempt: Attempt | undefined
  private losses: readonly Loss[] = []
  private open: { readonly sink: Sink; readonly source: LateSource } | undefined

  /** @param interval milliseconds after which the stream begins. */
  constructor(interval: number) {
    this.timer = setTimeout(this.begin, interval)
  }

  beginWithOnceDue(attempt: Attempt, losses: readonly Loss[]): void {
    this.attempt = attempt
    this.losses = losses
    if (this.due) this.begin()
  }

  /** The channel failed before the stream began: another is tried. */
  withdraw(): void {
    if (this.open === undefined) this.attempt = undefined
  }

  takeBegun(source: Source): Sink | undefined {
    clearTimeout(this.timer)
    this.attempt = undefined
    const { open } = this
    this.open = undefined
    open?.source.attach(source)
    return open?.sink
  }

  /** Ends a stream that has begun and was not taken with an error; false where there is none. */
  fail(error: CanonicalError): boolean {
    const { open, attempt } = this
    if (open === undefined || attempt === undefined) return false
    const writer = eventWriter(attempt)
    open.sink.push(writer.push(withHead({ type: 'result-start' }, attempt)))
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
    const { attempt, losses } = this
    if (attempt === undefined || this.open !== undefined) return
    const source = new LateSource()
    this.open = { source, sink: beginStream(attempt, losses, {}, source) }
    // A head alone waits for the first byte of its body.
    this.open.sink.beat()
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
