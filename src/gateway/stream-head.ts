import type { CanonicalError, GatewayError } from '../canonical/error.ts'
import type { Loss } from '../canonical/loss.ts'
import { WRITERS } from '../egress/index.ts'
import { shown } from '../egress/losses.ts'
import { EventStream, FRAMINGS, type Source, streamHeaders } from '../egress/transport/sse.ts'
import type { EventWriter, OwnEventWriter } from '../egress/writer.ts'
import type { Call } from './call.ts'
import { headersOf } from './failures.ts'
import { headersOfLosses } from './locate-losses.ts'
import { withHead } from './public-answer.ts'
import { KeptStream, type Sink } from './stored/index.ts'
import type { Attempt, Early, Incoming, WholeAnswer } from './types.ts'

/** The source of an answer that is whole already: there is nothing to hold up. */
export const NO_SOURCE: Source = { pause: () => {}, resume: () => {} }

/** What writes an answer's events in the caller's format. */
export const eventWriter = ({ call, request, echo }: Attempt): EventWriter =>
  WRITERS[call.format]!.events!(echo?.request ?? request)

/** The same for events of the caller's own format; undefined where such are written anew, too. */
export const ownEventWriter = ({ call, request, echo }: Attempt): OwnEventWriter | undefined =>
  WRITERS[call.format]!.ownEvents?.(echo?.request ?? request)

/** Sends status and headers, and opens what the events of an answer are written to. */
export function beginStream(
  attempt: Attempt,
  losses: readonly Loss[],
  headers: WholeAnswer['headers'],
  source: Source,
): Sink {
  const { call, report, heartbeat, echo } = attempt
  const reported = [...shown(losses), ...(echo?.losses ?? [])]
  report.reported(reported)
  report.begun()
  call.reply.begin({ ...streamHeaders(FRAMINGS[call.framing]), ...headersOfLosses(reported, attempt), ...headers })
  const stream = streamTo(call, heartbeat, source)
  return echo?.keep === undefined ? stream : new KeptStream(stream, echo.keep)
}

const streamTo = ({ reply, framing, route }: Call, interval: number, source: Source): EventStream =>
  new EventStream(reply, { framing: FRAMINGS[framing], heartbeat: route.heartbeat, interval, source })

/** Pauses events that are pulled: whoever pulls them waits until the way is free. */
export class Gate implements Source {
  private closed: PromiseWithResolvers<void> | undefined

  pause(): void {
    this.closed ??= Promise.withResolvers<void>()
  }

  resume(): void {
    this.closed?.resolve()
    this.closed = undefined
  }

  /** Settles when the way is free. */
  get free(): Promise<void> | undefined {
    return this.closed?.promise
  }
}

/**
 * Writes a failure as a stream where the caller requested one and clients of its format find that kind of failure
 * nowhere else (Codex reads `context_length_exceeded` only in `response.failed`).
 *
 * @param heartbeat milliseconds between signs of life on a silent stream.
 * @returns whether it was written; otherwise it is to be written with its status.
 */
export function writeErrorStream(
  { call, request, report }: Incoming,
  failure: GatewayError,
  heartbeat: number,
): boolean {
  if (!request.stream || request.state?.background === true || call.reply.begun || call.reply.gone) return false
  const head = { id: call.id, model: request.model, createdAt: Math.floor(Date.now() / 1000) }
  const events = WRITERS[call.format]!.refused?.(failure.error, request, head, call.framing === 'lines')
  if (events === undefined) return false
  report.unanswered(failure)
  report.begun()
  call.reply.begin({ ...streamHeaders(FRAMINGS[call.framing]), ...headersOf(failure) })
  const stream = streamTo(call, heartbeat, NO_SOURCE)
  stream.push(events)
  stream.end()
  return true
}

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
