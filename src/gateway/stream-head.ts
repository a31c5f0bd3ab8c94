import type { CanonicalError, GatewayError } from '../canonical/error.ts'
import type { Loss } from '../canonical/loss.ts'
import { WRITERS } from '../egress/index.ts'
import { shownLosses } from '../egress/losses.ts'
import { FRAMINGS } from '../egress/transport/framings.ts'
import { EventStream, type Source, streamHeaders } from '../egress/transport/sse.ts'
import type { EventWriter, NativeEventWriter } from '../egress/writer.ts'
import type { Call } from './call.ts'
import { headersOf } from './failures.ts'
import { ForeignErrors, NativeForeignErrors } from './foreign-errors.ts'
import { fallbackHeaders, headersOfLosses } from './locate-losses.ts'
import { withHead } from './public-answer.ts'
import { SavingStream, type Sink } from './stored/index.ts'
import type { Attempt, Early, Incoming, WholeAnswer } from './types.ts'

/** Source of an answer that is already complete. Pausing has no effect. */
export const NO_SOURCE: Source = { pause: () => {}, resume: () => {} }

/** Creates the writer of an answer's events in the caller's format. */
export function eventWriter({ incoming: { call }, request, echo }: Attempt): EventWriter {
  const writer = WRITERS[call.format]!.events!(echo?.request ?? request)
  const { errors } = call.route
  return errors === undefined ? writer : new ForeignErrors(writer, WRITERS[errors]!.events!(request))
}

/** Creates a writer that can also pass on events of the caller's own format unchanged, if the format has one. */
export function nativeEventWriter({ incoming: { call }, request, echo }: Attempt): NativeEventWriter | undefined {
  const writer = WRITERS[call.format]!.nativeEvents?.(echo?.request ?? request)
  const { errors } = call.route
  return writer === undefined || errors === undefined
    ? writer
    : new NativeForeignErrors(writer, WRITERS[errors]!.events!(request))
}

/** Sends status and headers, and opens the stream for the answer's events. */
export function beginStream(
  attempt: Attempt,
  losses: readonly Loss[],
  headers: WholeAnswer['headers'],
  source: Source,
): Sink {
  const { heartbeat, echo } = attempt
  const { call, report } = attempt.incoming
  const reported = [...shownLosses(losses), ...(echo?.losses ?? [])]
  report.recordLosses(reported)
  report.recordFirstByte()
  call.reply.begin({
    ...streamHeaders(FRAMINGS[call.framing]),
    ...headersOfLosses(reported, attempt),
    ...fallbackHeaders(report),
    ...headers,
  })
  const stream = streamTo(call, heartbeat, source)
  return echo?.save === undefined ? stream : new SavingStream(stream, echo.save, echo.format!, echo.request)
}

const streamTo = ({ reply, framing, route }: Call, interval: number, source: Source): EventStream =>
  new EventStream(reply, { framing: FRAMINGS[framing], heartbeat: route.heartbeat, interval, source })

/** Backpressure for events that are pulled: their consumer waits while the gate is closed. */
export class Gate implements Source {
  private closedGate: PromiseWithResolvers<void> | undefined

  pause(): void {
    this.closedGate ??= Promise.withResolvers<void>()
  }

  resume(): void {
    this.closedGate?.resolve()
    this.closedGate = undefined
  }

  /** Resolves when the gate opens, or undefined while it is open. */
  get opening(): Promise<void> | undefined {
    return this.closedGate?.promise
  }
}

/**
 * Writes a failure as a stream, if the caller requested one and the format's clients look for this failure only in
 * streams (Codex reads `context_length_exceeded` only in `response.failed`).
 *
 * @param heartbeat interval between two keep-alives on a silent stream, in milliseconds.
 * @returns whether the failure was written. If not, write it as an ordinary answer with its status.
 */
export function writeErrorStream(
  { call, request, report }: Incoming,
  failure: GatewayError,
  heartbeat: number,
): boolean {
  if (!request.stream || request.state?.background === true || call.reply.started || call.reply.gone) return false
  const head = { id: call.id, model: request.model, createdAt: Math.floor(Date.now() / 1000) }
  const events = WRITERS[call.format]!.errorAsStream?.(failure.error, request, head, call.framing === 'lines')
  if (events === undefined) return false
  report.recordOnlyError(failure)
  report.recordFirstByte()
  call.reply.begin({ ...streamHeaders(FRAMINGS[call.framing]), ...headersOf(failure) })
  const stream = streamTo(call, heartbeat, NO_SOURCE)
  stream.push(events)
  stream.end()
  return true
}

/**
 * Returns true if the head may be sent before the upstream answers. The caller must have requested a stream over HTTP,
 * because frames on a WebSocket have no head.
 */
export const mayBeginEarly = ({ call, request }: Pick<Incoming, 'call' | 'request'>): boolean =>
  request.stream && call.framing !== 'lines' && request.state?.background !== true

/**
 * Sends the head of a streamed answer before a slow upstream answers, because clients and proxies give up on silent
 * connections. After that, no other channel can be tried, and a failure becomes an event of the stream.
 */
export class EarlyHead implements Early {
  private readonly timer: NodeJS.Timeout
  private isDue = false
  /** Attempt whose answer starts when the timer fires. */
  private attempt: Attempt | undefined
  private losses: readonly Loss[] = []
  private openStream: { readonly sink: Sink; readonly source: LateSource } | undefined

  /** @param interval time after which the stream starts, in milliseconds. */
  constructor(interval: number) {
    this.timer = setTimeout(this.begin, interval)
  }

  announce(attempt: Attempt, losses: readonly Loss[]): void {
    this.attempt = attempt
    this.losses = losses
    if (this.isDue) this.begin()
  }

  /** Forgets the attempt after a failure, if the stream has not started yet, so that another channel can be tried. */
  withdraw(): void {
    if (this.openStream === undefined) this.attempt = undefined
  }

  takeOpenStream(source: Source): Sink | undefined {
    clearTimeout(this.timer)
    this.attempt = undefined
    const { openStream: open } = this
    this.openStream = undefined
    open?.source.attach(source)
    return open?.sink
  }

  /**
   * Sends a final error event on a stream that has started but whose upstream never answered. Returns false if no
   * stream has started.
   */
  fail(error: CanonicalError): boolean {
    const { openStream: open, attempt } = this
    if (open === undefined || attempt === undefined) return false
    const writer = eventWriter(attempt)
    open.sink.push(writer.push(withHead({ type: 'result-start' }, attempt)))
    open.sink.push(writer.push({ type: 'error', error }))
    open.sink.push(writer.end())
    open.sink.end()
    this.openStream = undefined
    return true
  }

  /** Stops the timer and the stream when the request is over. */
  close(): void {
    clearTimeout(this.timer)
    this.openStream?.sink.stop()
    this.openStream = undefined
  }

  private readonly begin = (): void => {
    this.isDue = true
    const { attempt, losses } = this
    if (attempt === undefined || this.openStream !== undefined) return
    const source = new LateSource()
    this.openStream = { source, sink: beginStream(attempt, losses, {}, source) }
    // Node sends a head only with the first byte of the body.
    this.openStream.sink.beat()
  }
}

/** A source that can be paused before its upstream is attached. */
class LateSource implements Source {
  private source: Source | undefined
  private isPaused = false

  attach(source: Source): void {
    this.source = source
    if (this.isPaused) source.pause()
  }

  pause(): void {
    this.isPaused = true
    this.source?.pause()
  }

  resume(): void {
    this.isPaused = false
    this.source?.resume()
  }
}
